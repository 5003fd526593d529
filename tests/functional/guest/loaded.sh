# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt with timestamps on both sides of a router; a transfer keeps one full.
# shellcheck source=tests/functional/guest/router.sh
. "$LAB/router.sh"
slow r out0 5mbit target 1s timestamps
tc -n r qdisc add dev in0 root zrtt timestamps
begin 10.0.1.2
becomes shows r out0 '"backlog_packets":[1-9][0-9]{2}'
