# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# P_b at 100 %: what can be marked is marked, the rest is dropped.
pair
slow a a0 1mbit mode blue threshold 1 increment 100% decrement 0.0000001% freeze 2s
inject a0 5 <"$LAB/load"
sleep 1

# verdicts NAME: what arrives of the file "ecn"
verdicts() {
	listen b b0 1000 /tmp/got
	inject a0 <"$LAB/ecn"
	wait $!
	part "ecn.$1"
	cat /tmp/got
	stats "ecn.$1.stats" a a0
}

verdicts marked
tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt mark_max 10%
verdicts above_mark_max
tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt mark_max 100% noecn
verdicts noecn
