# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A host behind a router with NAT, and a server 40 ms away:
#
#   a: a0 192.168.1.2 ---- eth1 192.168.1.1 :r: eth0 203.0.113.1 ---- b0 203.0.113.2 :b
hosts a r b
link a a0 r eth1
link r eth0 b b0
ip -n a addr add 192.168.1.2/24 dev a0
ip -n r addr add 192.168.1.1/24 dev eth1
ip -n r addr add 203.0.113.1/24 dev eth0
ip -n b addr add 203.0.113.2/24 dev b0
ip -n a route add default via 192.168.1.1
ip -n r route add default via 203.0.113.2
ip netns exec r sysctl -qw net.ipv4.ip_forward=1
ip netns exec r nft "add table nat; add chain nat out { type nat hook postrouting \
	priority srcnat; }; add rule nat out oifname eth0 masquerade"
tc -n b qdisc add dev b0 root netem delay 40ms limit 10000
for host in a b; do
	ip netns exec $host sysctl -qw net.ipv4.tcp_ecn=1
done

# recipe NAME: the block of that name, on the router
recipe() {
	ip netns exec r sh -eu "$LAB/recipe-$1"
}

# upload KBYTES PORT, download KBYTES PORT: to their ends; what the server saw of the client
upload() {
	ip netns exec b nc -l -p "$2" <>/tmp/never >/dev/null &
	sleep 0.1
	dd if=/dev/zero bs=1k count="$1" 2>/dev/null | ip netns exec "${3:-a}" nc 203.0.113.2 "$2"
	wait $!
}

download() {
	dd if=/dev/zero bs=1k count="$1" 2>/dev/null | ip netns exec b nc -l -p "$2" &
	sleep 0.1
	ip netns exec "${3:-a}" nc 203.0.113.2 "$2" <>/tmp/never >/dev/null
	wait $!
}
