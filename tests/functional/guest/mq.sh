# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A zrtt below each queue of a device, which two processors send through, each by its own:
#
#   a: a0 (mq: two queues, htb and zrtt each)  ------  b: b0
hosts a b
link_of_two a a0 b b0
ip -n a addr add 10.0.0.1/24 dev a0
ip -n b addr add 10.0.0.2/24 dev b0
ip -n a neigh add 10.0.0.2 lladdr 02:00:00:00:00:0b dev a0
ip -n b neigh add 10.0.0.1 lladdr 02:00:00:00:00:0a dev b0

# a frame takes 2 ms, some times what even a busy machine needs to send it
tc -n a qdisc add dev a0 root handle 1: mq
for queue in 1 2; do
	tc -n a qdisc add dev a0 parent 1:$queue handle 1$queue: htb default 1
	tc -n a class add dev a0 parent 1$queue: classid 1$queue:1 htb rate 4mbit \
		burst 1600 cburst 1600 quantum 1600
	tc -n a qdisc add dev a0 parent 1$queue:1 handle 2$queue: zrtt limit 200$queue
done

# send CPU KBYTES PORT: a transfer from that processor, to its end
send() {
	ip netns exec b nc -l -p "$3" <>/tmp/never >/dev/null &
	listens b "$3"
	dd if=/dev/zero bs=1k count="$2" 2>/dev/null |
		ip netns exec a busybox taskset "$1" nc 10.0.0.2 "$3"
	wait $!
}

# flood CPU: frames from that processor that no mark slows down, until they are all sent
flood() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		ip netns exec a busybox taskset "$1" "$LAB/frames" send a0 500 <"$LAB/load"
		sleep 0.05
	done
	becomes empty
}

# empty: whether nothing is queued in either
empty() {
	! tc -n a -s qdisc show dev a0 | grep -Eq 'backlog ([1-9]|0b [1-9])'
}

flood 1
stats mq.first a a0
flood 2
stats mq.second a a0
flood 1 &
flood 2 &
for words in "flows 64" no_split_gso "flows 4096" split_gso "mode paper" "mode zrtt"; do
	# shellcheck disable=SC2086 # words
	tc -n a qdisc change dev a0 parent 12:1 handle 22: zrtt $words
	tc -n a -s qdisc show dev a0 >/dev/null
done
wait
stats mq.both a a0
send 1 1000 5001 &
send 2 1000 5002 &
for limit in 301 302 303; do
	tc -n a qdisc replace dev a0 parent 12:1 handle 23: pfifo
	tc -n a qdisc replace dev a0 parent 12:1 handle 24: zrtt limit $limit
done
wait
becomes empty
stats mq.replaced a a0
part mq.cpus
nproc
