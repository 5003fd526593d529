# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: a home router
# shellcheck source=tests/recipes/guest/wan.sh
. "$LAB/wan.sh"
recipe home-router
upload 1500 5001
stats router.uplink r eth0
download 3000 5002
stats router.downlink r ifb0
tc -n r qdisc change dev eth0 parent 1:1 zrtt timestamps
tc -n r qdisc change dev ifb0 parent 1:1 zrtt timestamps
download 1000 5003
stats router.ts.ifb r ifb0
stats router.ts.eth0 r eth0
tc -n r qdisc replace dev eth1 root zrtt timestamps
tc -n r qdisc change dev ifb0 parent 1:1 zrtt notimestamps
upload 1000 5004
download 1000 5005
stats router.ts2.eth1 r eth1
stats router.ts2.eth0 r eth0
