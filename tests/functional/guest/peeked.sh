# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# tbf peeks at the queue through red, which on some kernels then takes a packet without a
# look at the one that was peeked at: it counts, but is not in the queue.
pair
tc -n a qdisc add dev a0 root handle 1: tbf rate 4mbit burst 10kb limit 10mb
tc -n a qdisc add dev a0 parent 1:1 handle 2: red limit 1mb min 300kb max 900kb avpkt 1000 \
	burst 500 bandwidth 4mbit
tc -n a qdisc add dev a0 parent 2:1 handle 3: zrtt
part peeked.pings
ip netns exec a ping -q -c 10 -i 0.1 -W 1 10.0.0.2 || :
# late packets, too
inject a0 400 <"$LAB/load"
sleep 1
stats peeked.stats a a0
