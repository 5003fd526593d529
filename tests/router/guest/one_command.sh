# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: a home router by zrtt-link, and zrtt-check on it.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
hosts a r
link a a0 r eth0
ip -n a addr add 10.9.0.2/24 dev a0
ip -n r addr add 10.9.0.1/24 dev eth0

# state NAME: of the router, as parts
state() {
	stats "link.$1" r eth0
	stats "link.$1.ifb" r ifb-eth0
}
part link.refused
ip netns exec r zrtt-link up 2>&1 || echo "rc=$?"
ip netns exec r zrtt-link sideways eth0 2>&1 || echo "rc=$?"
ip netns exec r zrtt-link up eth7 2>/dev/null || echo "rc=$?"
ip netns exec r sh -eu "$LAB/recipe-one-command"
ip netns exec a ping -q -c 3 -i 0.2 10.9.0.1 >/dev/null
state up
ip netns exec r sh -eu "$LAB/recipe-one-command"
state again
part link.filters
tc -n r filter show dev eth0 ingress
part link.check
ip netns exec r sh -eu "$LAB/recipe-check"
ip -n r link set dev eth0 xdpgeneric obj "$LAB/pass.o" section xdp
part link.xdp
ip netns exec r zrtt-check eth0
ip -n r link set dev eth0 xdpgeneric off
ip netns exec r zrtt-link up eth0
stats link.unlimited r eth0
ip netns exec r zrtt-link down eth0
tc -n r qdisc add dev eth0 root pfifo
ip netns exec r zrtt-link down eth0
part link.down
tc -n r -j qdisc show dev eth0
echo
ip -n r -br link
ip netns exec a ping -q -c 3 -i 0.2 10.9.0.1 | grep received

# The recipe with htb makes the same ifb device, and its filter outlives zrtt-link's.
part link.by_hand
tc -n r qdisc del dev eth0 root
tc -n r qdisc del dev eth0 clsact
ip netns exec r sh -eu "$LAB/recipe-home-router"
ip netns exec r sh -eu "$LAB/recipe-one-command"
ip netns exec r zrtt-link down eth0 2>&1
ip -n r -br link show type ifb
ip netns exec a ping -q -c 3 -i 0.2 10.9.0.1 | grep received
