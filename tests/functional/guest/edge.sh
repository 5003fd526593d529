# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A router at the edge of a domain removes hints from all packets of a connection.
# shellcheck source=tests/functional/guest/router.sh
. "$LAB/router.sh"

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
