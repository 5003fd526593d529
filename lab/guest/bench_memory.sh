# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Says what memory the qdiscs of $LAB/plan take (see bench.sh): a line each, of bytes
# used before, with the qdisc, and after its packets.
set -eu

# Slabs and vmalloc; counts of pages wait on each CPU until they are added up.
used() {
	sleep 1
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/^(Slab|VmallocUsed|Percpu):/ { kb += $2 } END { printf "%d", kb * 1024 }' /proc/meminfo
}

while IFS='|' read -r qdisc parameters; do
	ip link add q0 type dummy
	before=$(used)
	# shellcheck disable=SC2086 # lists of words
	tc qdisc add dev q0 root $qdisc
	added=$(used)
	# shellcheck disable=SC2086
	insmod "$LAB/qbench.ko" dev=q0 $parameters
	rmmod qbench
	echo "$before $added $(used)" >>"$RESULT"
	ip link del q0
	echo "measured $qdisc"
done <"$LAB/plan"
