# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What experiments share. Two hosts, IPv6 and ARP silent, nothing on the way:
#
#   a: a0 10.0.0.1  ------  b: b0 10.0.0.2

part() {
	echo "@@ $1"
}

hosts() {
	[ -p /tmp/never ] || busybox mkfifo /tmp/never
	for host in "$@"; do
		ip netns add "$host"
		ip netns exec "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
		ip -n "$host" link set lo up
	done
}

# link HOST DEV HOST DEV [QUEUES]: a cable between two hosts, of devices with so many queues
link() {
	queues=${5:+numtxqueues $5 numrxqueues $5}
	# shellcheck disable=SC2086 # words
	ip link add "$2" netns "$1" address 02:00:00:00:00:0a $queues type veth \
		peer name "$4" netns "$3" address 02:00:00:00:00:0b $queues
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
}

# link_of_two HOST DEV HOST DEV: the same, and each of two processors sends by a queue of its own
link_of_two() {
	link "$@" 2
	for queue in 0 1; do
		ip netns exec "$1" sh -c \
			"echo $((1 << queue)) >/sys/class/net/$2/queues/tx-$queue/xps_cpus"
	done
}

pair() {
	hosts a b
	link a a0 b b0
	ip -n a addr add 10.0.0.1/24 dev a0
	ip -n b addr add 10.0.0.2/24 dev b0
	ip -n a neigh add 10.0.0.2 lladdr 02:00:00:00:00:0b dev a0
	ip -n b neigh add 10.0.0.1 lladdr 02:00:00:00:00:0a dev b0
}

# rate HOST DEV RATE: of the bottleneck, at first and later
rate() {
	tc -n "$1" class replace dev "$2" parent 1: classid 1:1 htb rate "$3" \
		burst 1600 cburst 1600 quantum 1600
}

# slow HOST DEV RATE WORDS...: zrtt behind a bottleneck
slow() {
	host=$1 dev=$2
	tc -n "$host" qdisc add dev "$dev" root handle 1: htb default 1
	rate "$host" "$dev" "$3"
	shift 3
	tc -n "$host" qdisc add dev "$dev" parent 1:1 handle 2: zrtt "$@"
}

# stats NAME HOST DEV: statistics of its qdiscs, as a part
stats() {
	part "$1"
	tc -n "$2" -s -j qdisc show dev "$3"
	echo
}

# listen HOST DEV MS FILE: records frames, in the background
listen() {
	ip netns exec "$1" "$LAB/frames" recv "$2" "$3" >"$4" &
	sleep 0.1
}

# clock FILE: when frames arrive at b, in the background
clock() {
	ip netns exec b "$LAB/frames" times b0 700 >"$1" &
	sleep 0.1
}

inject() {
	ip netns exec a "$LAB/frames" send "$@"
}

# inject_flows DEVICE <FRAMES: twice, as a flow counts once it sent in two epochs
inject_flows() {
	cat >/tmp/flows
	inject "$@" </tmp/flows
	sleep 0.3
	inject "$@" </tmp/flows
}

# listens HOST PORT: waits until somebody does
listens() {
	until ip netns exec "$1" cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		grep -q "$(printf ':%04X 0*:0000 0A' "$2")"; do
		sleep 0.01
	done
}

# shows HOST DEV PATTERN: whether its qdiscs' statistics, as JSON, have it
shows() {
	tc -n "$1" -s -j qdisc show dev "$2" | grep -Eq "$3"
}

# becomes COMMAND...: waits until it succeeds, a minute at most. What runs in real time
# takes as long as the machine wants.
becomes() {
	for _ in $(seq 600); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "never: $*"
	return 1
}

# bulk KBYTES [PORT]: a TCP transfer from a to b, to its end
bulk() {
	port=${2:-5000}
	# nc ends when its input does, and that of a pipe open both ways never does
	ip netns exec b nc -l -p "$port" <>/tmp/never >/dev/null &
	listens b "$port"
	dd if=/dev/zero bs="$1"k count=1 2>/dev/null |
		ip netns exec a nc 10.0.0.2 "$port"
	wait $!
}
