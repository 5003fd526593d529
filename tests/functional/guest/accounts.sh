# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Every packet is accounted for, whatever happens to it.
pair
slow a a0 20mbit limit 100 split_gso
bulk 3000
stats accounts.split a a0
tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt no_split_gso
bulk 3000
stats accounts.whole a a0
inject a0 500 <"$LAB/load"
stats accounts.overload a a0
sleep 3
stats accounts.drained a a0
inject a0 50 <"$LAB/load"
ip -n a link set a0 down
stats accounts.purged a a0
ip -n a link set a0 up
ip -n a neigh replace 10.0.0.2 lladdr 02:00:00:00:00:0b dev a0
bulk 100
stats accounts.up_again a a0
tc -n a qdisc del dev a0 root

# tbf looks at the head before it takes it, and lets whole GSO packets in
tc -n a qdisc add dev a0 root handle 1: tbf rate 4mbit burst 70kb limit 10mb
tc -n a qdisc add dev a0 parent 1:1 handle 2: zrtt
bulk 1000
stats accounts.peeked a a0
inject a0 600 <"$LAB/load"
stats accounts.peeked_overload a a0
sleep 3
stats accounts.peeked_drained a a0
