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
		sleep 0.005
	done
}

# nothing: what is done to queues while they have frames
nothing() {
	:
}

# timed NAME QUEUE...: when the frames arrive that come at once for these; $meanwhile is done then
meanwhile=nothing
timed() {
	name=$1
	shift
	clock /tmp/got
	clocked=$!
	for queue in "$@"; do
		flood "$queue"
	done
	$meanwhile
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

# changed: each has its parameters again, and a frame more, five times
changed() {
	for queue in 1 2 3 4; do
		to $queue
		for limit in 501 502 503 504 505; do
			tc -n a qdisc change dev a0 parent 1:$queue handle 1$queue: \
				zrtt bandwidth 1mbit limit $limit
			inject a0 1 <"$LAB/load"
		done
	done
}

queues bandwidth 1mbit
meanwhile=changed
timed changed 1 2 3 4
meanwhile=nothing

# slow QUEUE: all begin anew, and it has a rate that all must keep to, and frames
slow() {
	tc -n a qdisc del dev a0 root
	queues bandwidth 1mbit
	tc -n a qdisc change dev a0 parent 1:"$1" handle 1"$1": zrtt bandwidth 250kbit
	flood "$1"
}

# one that has frames goes, and leaves its rate to nobody
for mode in paper mrtt prto blue; do
	slow 3
	tc -n a qdisc change dev a0 parent 1:3 handle 13: zrtt mode $mode
	flood 3
	sleep 1.5
	timed $mode 1 2
	tc -n a qdisc change dev a0 parent 1:3 handle 13: zrtt mode zrtt
	timed ${mode}_back 1 2
done
slow 3
tc -n a qdisc replace dev a0 parent 1:3 handle 33: pfifo
timed replaced 1 2
tc -n a qdisc replace dev a0 parent 1:3 handle 13: zrtt bandwidth 1mbit
slow 3
tc -n a qdisc del dev a0 parent 1:3
timed deleted 1 2
tc -n a qdisc replace dev a0 parent 1:3 handle 13: zrtt bandwidth 1mbit
timed again 1 2 3

# channels QUEUES: that the device uses
channels() {
	ip netns exec a ethtool -L a0 tx "$1"
}

# fewer: queues that have frames go, and come back
fewer() {
	for round in 1 2 3; do
		channels 2
		flood 1
		channels 4
		flood 3
	done
	channels 2
}
meanwhile=fewer
timed fewer 1 2 3 4
meanwhile=nothing
timed two_left 1 2
channels 1
timed one_left 1
channels 4
tc -n a qdisc change dev a0 parent 1:4 handle 14: zrtt bandwidth 500kbit
channels 2
timed taken_away 1 2
channels 4
tc -n a qdisc change dev a0 parent 1:4 handle 14: zrtt bandwidth 1mbit
timed four_again 1 2 3 4

# some of one kind, some of another
tc -n a qdisc change dev a0 parent 1:1 handle 11: zrtt fair srchost
timed hosts_on_some 1 2 3 4
stats peers.regrouped a a0
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
