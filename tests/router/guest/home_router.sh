# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: a home router, and who sees what there.
# shellcheck source=tests/router/guest/wan.sh
. "$LAB/wan.sh"
masquerade
recipe home-router
took router.upload upload a 1200 5001
stats router.uplink r eth0
took router.download download a 2500 5002
stats router.downlink r ifb-eth0
part router.nat
ip netns exec r nft list table nat

# timestamps, by ifb and by eth1
tc -n r qdisc change dev eth0 parent 1:1 zrtt timestamps
tc -n r qdisc change dev ifb-eth0 parent 1:1 zrtt timestamps
download a 500 5003
stats router.ifb r ifb-eth0
tc -n r qdisc replace dev eth1 root zrtt timestamps
download a 500 5004
stats router.eth1 r eth1
ln -s /bin/busybox /bin/dirname
part router.check
ip netns exec r /lab/root/usr/local/sbin/zrtt-check -j eth0
part router.ash
ip netns exec r busybox ash /lab/root/usr/local/sbin/zrtt-check eth0 || echo "rc=$?"
