# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A parent peeks at zrtt and then takes packets without a look at the one peeked at.
set -eu
ip link add q0 type dummy # left down: nobody else sends
tc qdisc add dev q0 root zrtt target 100us tupdate 1ms
insmod "$LAB/qpeek.ko" dev=q0
echo "@@ stats"
tc -s -j qdisc show dev q0
echo
echo "@@ dmesg"
dmesg
