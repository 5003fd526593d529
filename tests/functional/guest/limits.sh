# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What a queue may hold: packets and memory, lowered while it is full, and filled up.
pair

memory=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) * 1024))
part limits.machine
echo "$memory"
ip link add lim0 type dummy
for words in "mode zrtt" "mode blue" "memory_limit $memory"; do
	part "limits.${words%% *}.${words##* }"
	# shellcheck disable=SC2086 # words
	tc qdisc replace dev lim0 root zrtt $words
	tc -j qdisc show dev lim0
	echo
done
part limits.beyond
tc qdisc replace dev lim0 root zrtt memory_limit $((memory + 1)) 2>&1 || echo "rc=$?"
ip link del lim0

# lower NAME WORDS: a frame takes 8 ms, and BLUE drops none that is late
lower() {
	slow a a0 1mbit mode blue threshold 1000000
	listen b b0 1000 /tmp/got
	inject a0 <"$LAB/queued"
	stats "limits.$1.loaded" a a0
	# shellcheck disable=SC2086 # words
	tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt $2
	sleep 0.06
	stats "limits.$1.trimmed" a a0
	wait $!
	part "limits.$1.received"
	cat /tmp/got
	stats "limits.$1.drained" a a0
	tc -n a qdisc del dev a0 root
}

lower packets "limit 10"
lower memory "memory_limit 20k"
lower one "memory_limit 1"
lower raised "limit 500 memory_limit 16m"

# offer NAME WORDS: one flow, 20 epochs long and three times as fast as the link; BLUE is
# kept from raising P_b
offer() {
	# shellcheck disable=SC2086 # words
	slow a a0 1mbit mode blue threshold 1000000 increment 0.0000001% $2
	i=0
	while [ $i -lt 27 ]; do
		inject a0 50 <"$LAB/load"
		[ $((i % 3)) -ne 0 ] || stats "limits.$1.$((i / 3))" a a0
		sleep 0.1
		i=$((i + 1))
	done
	part "limits.$1.flow"
	tc -n a -s class show dev a0 parent 2:
	stats "limits.$1.offered" a a0
	sleep 15
	stats "limits.$1.emptied" a a0
	tc -n a qdisc del dev a0 root
}

offer roomy "limit 100000"
offer narrow "limit 100000 memory_limit 64k"
offer few "limit 20"
