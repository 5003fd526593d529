# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Whose packet is it behind NAT: three hosts of a, which leave by one address.
hosts a r b
link r r1 b b1
link a a0 r r0
ip -n r addr add 10.0.0.254/24 dev r0
ip -n r addr add 10.9.0.1/24 dev r1
ip -n r route add 10.0.0.2 dev r1
ip -n r neigh add 10.0.0.2 lladdr 02:00:00:00:00:0b dev r1
ip netns exec r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
	net.ipv4.conf.r0.rp_filter=0
ip netns exec r nft "add table nat; add chain nat out { type nat hook postrouting priority 100; }; \
	add rule nat out oifname r1 masquerade"
# behind NAME WORDS...: hosts that the queue of r1 sees
behind() {
	name=$1
	shift
	tc -n r qdisc replace dev r1 root handle 7: pfifo
	tc -n r qdisc replace dev r1 root handle 8: zrtt "$@"
	inject_flows a0 <"$LAB/nat"
	stats "nat.$name" r r1
}
behind off fair srchost nonat
behind on fair srchost nat
