# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Hosts that have flows in several queues are one host in all of them, as long as both have them
# and mean the same.
#
#   a: a0 (mq: two queues, a zrtt each)  ------  b: b0
hosts a b
link a a0 b b0 2
tc -n a qdisc add dev a0 clsact
tc -n a qdisc add dev a0 root handle 1: mq

# queue NUMBER WORDS...: its zrtt
queue() {
	number=$1
	shift
	tc -n a qdisc replace dev a0 parent "1:$number" handle "1$number:" zrtt "$@"
}

# rounds TIMES QUEUE...: frames of all flows to each of these, once per 0.3 s
rounds() {
	times=$1
	shift
	for _ in $(seq "$times"); do
		for number in "$@"; do
			tc -n a filter del dev a0 egress
			tc -n a filter add dev a0 egress prio 1 matchall \
				action skbedit queue_mapping $((number - 1))
			inject a0 <"$LAB/hosts_v4"
		done
		sleep 0.3
	done
}

# flows NAME: what classes say of hosts
flows() {
	for number in 1 2; do
		part "joint.$1.$number"
		tc -n a class show dev a0 parent "1$number:"
	done
}

queue 1 fair srchost
queue 2 fair srchost
rounds 5 1 2
flows both
# the second queue has no packet to say with that it has none
rounds 15 1
flows silent
rounds 5 1 2
tc -n a qdisc change dev a0 parent 1:2 handle 12: zrtt fair dsthost
rounds 15 1 2
flows differ
tc -n a qdisc change dev a0 parent 1:2 handle 12: zrtt fair srchost
rounds 15 1 2
flows alike
tc -n a qdisc change dev a0 parent 1:2 handle 12: zrtt weight mark 0xff
rounds 5 1 2
flows weighted
tc -n a qdisc change dev a0 parent 1:2 handle 12: zrtt noweight
tc -n a qdisc change dev a0 parent 1:1 handle 11: zrtt flows 65536
rounds 15 1 2
flows grown
# no packet passes the queue of a link that is down
ip -n a link set a0 down
ip -n a link set a0 up
rounds 15 1 2
flows reset
tc -n a qdisc replace dev a0 parent 1:2 handle 22: pfifo
rounds 15 1 2
flows gone
queue 2 fair srchost flows 64
rounds 5 1 2
flows back
stats joint.end a a0
# with the other end, by mark, and of both ends
for words in "fair dsthost" "fair mark 0xff" "fair dualhost"; do
	# shellcheck disable=SC2086 # words
	queue 1 $words
	# shellcheck disable=SC2086 # words
	queue 2 $words
	rounds 15 1 2
	flows "${words#fair }"
done
ip -n a link del a0
