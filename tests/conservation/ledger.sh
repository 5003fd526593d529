# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Rounds of $LAB/plan: each changes zrtt while packets are queued, passes packets, and
# compares books. A line of the plan is
#	WORDS OF ZRTT | 1 IF GSO PACKETS ARE SPLIT | PACKETS LEFT IN THE QUEUE | PACKETS TO PASS
set -eu
books=/sys/module/qledger/parameters

ip link add q0 type dummy # left down: nobody else sends
tc qdisc add dev q0 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
tc qdisc add dev q0 parent 1:1 handle 2: zrtt
insmod "$LAB/qledger.ko" dev=q0 "$@"

while IFS='|' read -r words split backlog packets; do
	# shellcheck disable=SC2086 # a list of words
	tc qdisc change dev q0 parent 1:1 handle 2: zrtt $words
	echo "$split" >$books/split
	echo "$backlog" >$books/backlog
	echo "$packets" >$books/run
	{
		echo "@books"
		cat $books/ledger
		echo "@qdiscs"
		tc -s -j qdisc show dev q0
		echo
	} >>"$RESULT"
done <"$LAB/plan"
