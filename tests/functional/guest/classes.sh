# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Live flows as classes: what is said of them, and what cannot be done to them.
pair
slow a a0 10mbit flows 64 hint trust names
part classes.none
tc -n a class show dev a0 parent 2:
inject_flows a0 <"$LAB/named"
part classes.shown
tc -n a -s class show dev a0 parent 2:
part classes.refused
for words in "add dev a0 parent 2: classid 2:1 zrtt" "change dev a0 classid 2:1 zrtt" \
	"del dev a0 classid 2:1" "del dev a0 classid 2:77"; do
	# shellcheck disable=SC2086 # words
	tc -n a class $words 2>/dev/null && echo "done: $words"
done
tc -n a qdisc add dev a0 parent 2:1 pfifo 2>/dev/null && echo "done: leaf"
tc -n a filter add dev a0 parent 2: matchall classid 2:1 2>/dev/null && echo "done: filter"
tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt nonames
part classes.unnamed
tc -n a class show dev a0 parent 2:
tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt names flows 128
inject a0 <"$LAB/named"
part classes.renamed
tc -n a class show dev a0 parent 2:
sleep 3
inject a0 <"$LAB/load"
part classes.gone
tc -n a class show dev a0 parent 2:
# as many as the table holds, listed while more come
tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt limit 100000 flows 32768
inject_flows a0 <"$LAB/many"
part classes.many
for _ in 1 2 3; do
	inject a0 <"$LAB/many" &
	tc -n a class show dev a0 parent 2: | grep -c "class zrtt"
	wait $!
done
stats classes.stats a a0
