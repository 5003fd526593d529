# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Why packets were dropped, as the kernel's tracepoints say.
pair
tracing=/sys/kernel/tracing
grep -q " $tracing " /proc/mounts || mount -t tracefs tracefs $tracing
event=$tracing/events/qdisc/qdisc_drop
part reasons.kind
if [ -d $event ]; then
	echo qdisc
else
	event=$tracing/events/skb/kfree_skb
	echo skb
fi

# drops NAME WORDS...: of frames, six times as many as the link takes in a second
drops() {
	name=$1
	shift
	tc -n a qdisc add dev a0 root zrtt bandwidth 1mbit "$@"
	inject a0 10 <"$LAB/load"
	sleep 1
	echo >$tracing/trace
	tc -n a -s -j qdisc show dev a0 >/tmp/before
	echo 1 >$event/enable
	inject a0 200 <"$LAB/load"
	sleep 3
	echo 0 >$event/enable
	part "reasons.$name.before"
	cat /tmp/before
	stats "reasons.$name.after" a a0
	part "reasons.$name"
	sed -n 's/.*reason[:=] *//p' $tracing/trace
	tc -n a qdisc del dev a0 root
}

drops drop_limit limit 5
drops drop_mark mode blue threshold 1 increment 100% decrement 0.0000001% freeze 2s
drops drop_late
