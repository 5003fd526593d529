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

# An address and port of r that were one host's become another's, while that has a flow of its own
# already: both are of one host then.
ip netns exec r sysctl -qw net.netfilter.nf_conntrack_udp_timeout=2 \
	net.netfilter.nf_conntrack_udp_timeout_stream=2
classes() {
	part "nat.$1"
	tc -n r class show dev "$2"
}
sleep 4
inject_flows a0 <"$LAB/nat_two"
classes two r1
sleep 4
inject_flows a0 <"$LAB/nat_reused"
classes reused r1

# What an ifb has, which comes before connection tracking does: it knows of no entry when the first
# packet of a connection from outside comes, which is one of a host of a.
ip -n r link set r1 address 02:00:00:00:00:0b
ip netns exec r nft "add chain nat in { type nat hook prerouting priority -100; }; \
	add rule nat in iifname r1 udp sport 9001 dnat to 10.0.0.1; \
	add rule nat in iifname r1 udp sport 9003 dnat to 10.0.0.3; \
	add rule nat in iifname r1 udp sport 9004 dnat to 10.0.0.4"
ip -n r link add ifb0 type ifb
ip -n r link set ifb0 up
tc -n r qdisc add dev ifb0 root handle 8: zrtt fair dsthost nat
tc -n r qdisc add dev r1 clsact
tc -n r filter add dev r1 ingress matchall action mirred egress redirect dev ifb0
outside() {
	ip netns exec b "$LAB/frames" send b1 <"$LAB/nat_in"
}
outside
sleep 0.3
outside
classes in ifb0
# nor does it where entries are gone: flows keep their hosts
sleep 4
outside
classes in.again ifb0
