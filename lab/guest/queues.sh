# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Puts a device of several queues in the way of a scenario's packets, before its bottleneck,
# which becomes a link without a limit:
#
#	router: bot (egress) > queues (mq: a qdisc for each queue) > bot (meter) > receivers
#
# $1 is what that device is: an mqlink of RATE, or an ifb, without a limit, whose qdiscs shape.
# $2 is RATE, bit/s; $3 how many queues there are; $4 "each", if $5 are words of the qdisc of
# each, or "root", if they are of one that has children itself; $6 the port that the first flow
# goes to, the others following. The rest is the queue of each flow, from 1 on.
set -eu
# shellcheck source=lab/guest/around.sh
. "$LAB/around.sh"

# add_qdiscs HOW_MANY PLACE WORDS
add_qdiscs() {
	if [ "$2" = root ]; then
		# shellcheck disable=SC2086 # words
		tc -n router qdisc add dev queues root handle 10: $3
		return
	fi
	tc -n router qdisc add dev queues root handle 10: mq
	for queue in $(seq "$1"); do
		# shellcheck disable=SC2086 # words
		tc -n router qdisc add dev queues parent "10:$queue" handle "2$queue:" $3
	done
}

queues() {
	[ "$1" != mqlink ] || echo "$2" >/sys/module/mqlink/parameters/rate_bps
	ip -n router link add queues numtxqueues "$3" numrxqueues "$3" type "$1"
	ip -n router link set queues txqueuelen 1000 up
	add_qdiscs "$3" "$4" "$5"
	port=$6
	shift 6
	tc -n router qdisc add dev queues clsact
	for queue in "$@"; do
		tc -n router filter add dev queues egress prio 1 protocol ip \
			flower ip_proto tcp dst_port "$port" \
			action skbedit queue_mapping $((queue - 1))
		port=$((port + 1))
	done
	tc -n router qdisc add dev bot clsact
	tc -n router filter add dev bot egress prio 1 protocol ip matchall \
		action mirred egress redirect dev queues
	tc -n router class change dev bot parent 1: classid 1:1 htb rate 40gbit \
		burst 1mb cburst 1mb quantum 1514
}

beside queues "$@"
sh "$LAB/scenario"
wait "$beside"
