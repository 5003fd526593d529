# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Parameters change while packets are queued: none is lost, nothing is forgotten.
pair
slow a a0 10mbit mode blue threshold 1000000 limit 1000000
listen b b0 1000 /tmp/got
inject a0 2000 <"$LAB/load"
stats live.loaded a a0
for words in "limit 500000" "flows 64" "flows 65536" "flows 128" "mode paper" \
	"mode mrtt" "mode prto" "mode blue" "hint ignore" "hint trust" strip nostrip \
	noecn ecn no_split_gso split_gso "target 1ms" "tupdate 1ms" handshake; do
	# shellcheck disable=SC2086 # words
	tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt $words
done
stats live.changed a a0
wait $!
part live.received
wc -l </tmp/got
stats live.drained a a0

tc -n a qdisc replace dev a0 parent 1:1 handle 3: zrtt mode blue threshold 1 \
	increment 30% decrement 0.0000001% freeze 2s
# a flow counts once it sent in two epochs
inject a0 20 <"$LAB/load"
sleep 0.3
inject a0 20 <"$LAB/load"
stats live.learnt a a0
tc -n a qdisc change dev a0 parent 1:1 handle 3: zrtt flows 64 limit 777
stats live.kept a a0
tc -n a qdisc change dev a0 parent 1:1 handle 3: zrtt flows 32768 mode mrtt
stats live.kept_again a a0
