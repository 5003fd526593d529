# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: a home router where hosts are equal; then subscribers, told apart by marks.
# shellcheck source=tests/router/guest/wan.sh
. "$LAB/wan.sh"
hosts c
link c c0 r eth2
ip -n c addr add 192.168.3.2/24 dev c0
ip -n r addr add 192.168.3.1/24 dev eth2
ip -n c route add default via 192.168.3.1
masquerade
recipe home-router
recipe equal-hosts
download a 2000 5001
download c 2000 5002
stats equal.uplink r eth0
stats equal.downlink r ifb-eth0
upload a 1000 5003
upload c 1000 5004
stats equal.uploaded r eth0

# an uplink of subscribers, whose addresses need no translation
ip netns exec r nft flush ruleset
tc -n r qdisc del dev eth0 root
ip -n b route add 100.64.0.0/10 via 10.9.0.1
ip -n a addr add 100.64.0.10/32 dev a0
ip -n c addr add 100.64.0.20/32 dev c0
ip -n a route replace default via 192.168.1.1 src 100.64.0.10
ip -n c route replace default via 192.168.3.1 src 100.64.0.20
ip -n r route add 100.64.0.10/32 dev eth1
ip -n r route add 100.64.0.20/32 dev eth2
recipe subscribers
upload a 2000 5005
upload c 2000 5006
stats equal.subscribers r eth0
part equal.classes
tc -n r class show dev eth0
