# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What zrtt says of time, where it is known: RTTs of handshakes over a quiet and over a
# busy link, and a train of packets at the shaper's rate.
#
# Arrivals on a busy link share readings of the clock. Trains of packets keep it busy: each
# comes at once and leaves within 7 to 12 ms, the next comes after 12.2 ms. A SYN leaves
# behind a train, so that what answers it comes some ms after the start of another: lengths
# differ, for this to be any time, and for others than a train's last packet to read the clock.
pair
tc -n a qdisc add dev a0 root zrtt bandwidth 200mbit raw names target 1s limit 100000
port=6000

# greet PORT: two words from a to b, in different epochs: then the flow counts
greet() {
	ip netns exec b nc -l -p "$1" <>/tmp/never >/dev/null &
	sleep 0.01
	{
		echo once
		sleep 0.35
		echo again
	} | ip netns exec a nc 10.0.0.2 "$1"
	wait $!
}

# handshakes HOW TIMES
handshakes() {
	for rtt in 5 20 100; do
		tc -n b qdisc replace dev b0 root netem delay ${rtt}ms limit 10000
		part "clocks.$1.$rtt"
		for _ in $(seq "$2"); do
			port=$((port + 1))
			greet $port
			tc -n a class show dev a0 | grep ":$port\$"
			# away from multiples of the trains' and the ticks' period
			sleep 0.0137
		done
	done
}

handshakes quiet 2
touch /tmp/busy
while [ -e /tmp/busy ]; do
	for frames in 172 200 226 251 275 299; do
		inject a0 $frames <"$LAB/load"
		sleep 0.0122
	done
done &
trains=$!
sleep 1
handshakes busy 12
rm /tmp/busy
wait $trains
stats clocks.end a a0

# how long a train takes to leave
for rate in 1mbit 20mbit 200mbit; do
	tc -n a qdisc change dev a0 root zrtt bandwidth $rate
	clock /tmp/got
	inject a0 400 <"$LAB/load"
	wait $!
	part "clocks.rate.$rate"
	cat /tmp/got
done
