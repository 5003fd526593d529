# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A link slows down: packets that waited too long are dropped at the head.
pair

# slow_down NAME WORDS...: some 20 Mbit/s of frames on a link that falls to 4, and
# pings beside them that see the queue
# (for less than a second: a flow of more counts in the due share, and may raise the target)
slow_down() {
	name=$1
	shift
	slow a a0 100mbit "$@"
	: >/tmp/loading
	while [ -e /tmp/loading ]; do
		inject a0 50 <"$LAB/load"
		sleep 0.02
	done &
	sleep 0.3
	stats "late.$name.fast" a a0
	rate a a0 4mbit
	part "late.$name.pings"
	ip netns exec a ping -q -c 40 -i 0.02 10.0.0.2
	stats "late.$name.slow" a a0
	rm /tmp/loading
	wait
	sleep 3
	stats "late.$name.drained" a a0
	tc -n a qdisc del dev a0 root
}

slow_down pi2 nolanes
slow_down pblue mode blue controller pblue
slow_down blue mode blue

# 10 targets are the time of two frames here
slow a a0 100kbit
listen b b0 1000 /tmp/got
inject a0 <"$LAB/late"
wait $!
part late.received
cat /tmp/got
stats late.kept a a0
