# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The zrtts below one mq are as one: they share a rate and the controller.
#
#   a: a0 (mq: four queues, a zrtt each)  ------  b: b0
hosts a b
link a a0 b b0 4
tc -n a qdisc add dev a0 clsact

# to QUEUE: where frames go from now on
to() {
	tc -n a filter del dev a0 egress
	tc -n a filter add dev a0 egress prio 1 matchall \
		action skbedit queue_mapping $(($1 - 1))
}

# queues WORDS...: a zrtt for each
queues() {
	tc -n a qdisc replace dev a0 root handle 1: mq
	for queue in 1 2 3 4; do
		tc -n a qdisc replace dev a0 parent 1:$queue handle 1$queue: zrtt "$@"
	done
}

# flood QUEUE [TIMES]: 20 frames to it, so many times
flood() {
	to "$1"
	for _ in $(seq "${2:-1}"); do
		inject a0 20 <"$LAB/load"
	done
}

# timed NAME QUEUE...: when the frames arrive that come at once for these
timed() {
	name=$1
	shift
	clock /tmp/got
	clocked=$!
	for queue in "$@"; do
		flood "$queue"
	done
	wait "$clocked"
	part "peers.$name"
	cat /tmp/got
}

queues bandwidth 1mbit
timed one 1
timed two 1 2
timed four 1 2 3 4
tc -n a qdisc change dev a0 parent 1:3 handle 13: zrtt bandwidth 500kbit
timed least 1 2
tc -n a qdisc change dev a0 parent 1:3 handle 13: zrtt unlimited
timed without_third 1 2
tc -n a qdisc replace dev a0 parent 1:2 handle 22: htb default 1
tc -n a class add dev a0 parent 22: classid 22:1 htb rate 1gbit quantum 1600
tc -n a qdisc add dev a0 parent 22:1 handle 12: zrtt bandwidth 1mbit
timed below_htb 1 2
stats peers.counted a a0
tc -n a qdisc del dev a0 root

queues bandwidth 1mbit
flood 1 20
flood 2
flood 3
stats peers.marked a a0
tc -n a qdisc del dev a0 root

# children come and go while others have packets
queues bandwidth 20mbit
for round in 1 2 3 4 5; do
	flood 1
	flood 2
	tc -n a qdisc replace dev a0 parent 1:2 handle 32: pfifo
	flood 2
	flood 1
	tc -n a qdisc replace dev a0 parent 1:2 handle 12: zrtt bandwidth 20mbit limit 10$round
	tc -n a qdisc change dev a0 parent 1:1 handle 11: zrtt mode blue
	flood 1
	tc -n a qdisc change dev a0 parent 1:1 handle 11: zrtt mode zrtt
	flood 3
	tc -n a qdisc replace dev a0 root handle 2: mq
	flood 1
	queues bandwidth 20mbit
done
flood 4
sleep 0.5
stats peers.end a a0
ip -n a link del a0
