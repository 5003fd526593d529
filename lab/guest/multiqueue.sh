# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Puts two queues that are served in turn in the place of the scenario's one. $1 are the
# words of their qdiscs, the rest is the numbers of hosts whose packets take the second:
#
#	htb RATE > meter > drr > qdisc (most hosts)
#	                       > qdisc (those)
set -eu
# shellcheck source=lab/guest/around.sh
. "$LAB/around.sh"

split() {
	words=$1
	shift
	tc -n router qdisc del dev bot parent 2:1
	tc -n router -batch - <<-END
		qdisc add dev bot parent 2:1 handle 3: drr
		class add dev bot parent 3: classid 3:1 drr quantum 1514
		class add dev bot parent 3: classid 3:2 drr quantum 1514
		qdisc add dev bot parent 3:1 handle 4: $words
		qdisc add dev bot parent 3:2 handle 5: $words
		filter add dev bot parent 3: prio 2 matchall classid 3:1
	END
	for host in "$@"; do
		tc -n router filter add dev bot parent 3: prio 1 protocol ip \
			u32 match ip src "10.0.$host.0/24" classid 3:2
	done
}

beside split "$@"
sh "$LAB/scenario"
wait "$beside"
