# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A host behind a router with NAT, and a server 40 ms away:
#
#   a: a0 192.168.1.2 ---- eth1 192.168.1.1 :r: eth0 10.9.0.1 ---- b0 10.9.0.2 :b
hosts a r b
link a a0 r eth1
link r eth0 b b0
ip -n a addr add 192.168.1.2/24 dev a0
ip -n r addr add 192.168.1.1/24 dev eth1
ip -n r addr add 10.9.0.1/24 dev eth0
ip -n b addr add 10.9.0.2/24 dev b0
ip -n a route add default via 192.168.1.1
ip netns exec r sysctl -qw net.ipv4.ip_forward=1
tc -n b qdisc add dev b0 root netem delay 40ms limit 10000
for host in a r b; do
	ip netns exec $host sysctl -qw net.ipv4.tcp_ecn=1
done

masquerade() {
	ip netns exec r nft "add table nat; add chain nat out { type nat hook postrouting \
		priority srcnat; }; add rule nat out oifname eth0 counter masquerade"
}

# recipe NAME: the block of that name, on the router
recipe() {
	ip netns exec r sh -eu "$LAB/recipe-$1"
}

# upload HOST KBYTES PORT, download HOST KBYTES PORT: to their ends
upload() {
	ip netns exec b nc -l -p "$3" <>/tmp/never >/dev/null &
	sleep 0.1
	dd if=/dev/zero bs=1k count="$2" 2>/dev/null | ip netns exec "$1" nc 10.9.0.2 "$3"
	wait $!
}

download() {
	dd if=/dev/zero bs=1k count="$2" 2>/dev/null | ip netns exec b nc -l -p "$3" &
	sleep 0.1
	ip netns exec "$1" nc 10.9.0.2 "$3" <>/tmp/never >/dev/null
	wait $!
}

# took NAME COMMAND...: by the clock before and after it, in s, as a part
took() {
	name=$1
	shift
	began=$(cut -d' ' -f1 /proc/uptime)
	"$@"
	part "$name"
	echo "$began"
	cut -d' ' -f1 /proc/uptime
}
