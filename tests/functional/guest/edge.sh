# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A router at the edge of a domain removes hints from all packets of a connection.
#
#   a: a0 10.0.0.1 ------ in0 10.0.0.2 :r: out0 10.0.1.1 ------ b0 10.0.1.2 :b
#         fd00::1                fd00::2      fd01::1              fd01::2
hosts a r b
link a a0 r in0
link r out0 b b0
for host in a r b; do
	ip netns exec "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 \
		net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1
done

# address HOST DEV NETWORK ID: IPv4 and IPv6
address() {
	ip -n "$1" addr add "10.0.$3.$4/24" dev "$2"
	ip -n "$1" addr add "fd0$3::$4/64" dev "$2" nodad
}
address a a0 0 1
address r in0 0 2
address r out0 1 1
address b b0 1 2
ip -n a route add default via 10.0.0.2
ip -n a route add default via fd00::2
ip -n b route add default via 10.0.1.1
ip -n b route add default via fd01::1

# transfer KIND NAME ADDRESS OPTIONS: what arrives of 64 KB, and the heads of its
# packets
transfer() {
	listen b b0 2000 /tmp/got
	recorder=$!
	ip netns exec b nc -l -p 5000 <>/tmp/never | wc -c >/tmp/bytes &
	sleep 0.1
	ip netns exec a "$LAB/stream" "$3" 5000 1 "$1" "$4"
	wait "$recorder"
	part "edge.$1.$2.bytes"
	cat /tmp/bytes
	part "edge.$1.$2.heads"
	cut -c1-160 /tmp/got
}

# transfers NAME: one of each kind
transfers() {
	transfer ipv4 "$1" 10.0.1.2 9e0404e2
	transfer hop "$1" fd01::2 00001e0204e20100
	transfer dst "$1" fd01::2 00001e0204e20100
}

tc -n r qdisc add dev out0 root zrtt strip
transfers split
tc -n r qdisc change dev out0 root zrtt no_split_gso
transfers whole
# the device cannot segment: that is done between the queue and it
ip -n r link set out0 gso_max_segs 1
transfers late
ip -n r link set out0 gso_max_segs 65535
stats edge.stats r out0
tc -n r qdisc change dev out0 root zrtt nostrip
transfers left
tc -n r qdisc del dev out0 root

# on the way in, before the own stack reads the packets
ip -n b link add ifb0 type ifb
ip -n b link set ifb0 up
tc -n b qdisc add dev ifb0 root zrtt strip
tc -n b qdisc add dev b0 ingress
tc -n b filter add dev b0 ingress matchall action mirred egress redirect dev ifb0
transfers ifb
stats edge.ifb b ifb0
