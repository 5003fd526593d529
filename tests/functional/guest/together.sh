# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Two zrtts below one mq, each with the packets of a processor: they split a rate while one of
# them goes, comes back and changes.
hosts a b
link_of_two a a0 b b0
tc -n a qdisc add dev a0 root handle 1: mq
for queue in 1 2; do
	tc -n a qdisc add dev a0 parent 1:$queue handle 1$queue: zrtt bandwidth 8mbit fair srchost
done

# flood CPU: frames from that processor until somebody says stop
flood() {
	until [ -e /tmp/stop ]; do
		ip netns exec a busybox taskset "$1" "$LAB/frames" send a0 50 <"$LAB/load"
		sleep 0.01
	done
}

rm -f /tmp/stop
flood 1 &
flood 2 &
for round in $(seq 10); do
	tc -n a qdisc replace dev a0 parent 1:2 handle 32: pfifo
	tc -n a qdisc replace dev a0 parent 1:2 handle 12: zrtt bandwidth 8mbit limit "20$round" fair srchost
	for words in "mode blue" "bandwidth 4mbit" "mode zrtt" "fair srchost" "flows 1024" "fair flow" "fair srchost flows 65536"; do
		# shellcheck disable=SC2086 # words
		tc -n a qdisc change dev a0 parent 1:1 handle 11: zrtt $words
		tc -n a -s qdisc show dev a0 >/dev/null
	done
	tc -n a qdisc change dev a0 parent 1:1 handle 11: zrtt bandwidth 8mbit fair srchost
	sleep 0.2
done
sleep 2
touch /tmp/stop
wait
stats together.end a a0
ip -n a link del a0
