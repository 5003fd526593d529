# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# GSO packets as a virtual machine hands them over, whose segments nobody has counted.
pair

# super NAME WORDS...: each of them through a queue of its own
super() {
	name=$1 i=0
	shift
	while read -r frame; do
		tc -n a qdisc add dev a0 root zrtt "$@"
		echo "$frame" | ip netns exec a "$LAB/frames" super a0 1448
		stats "super.$name.$i" a a0
		tc -n a qdisc del dev a0 root
		i=$((i + 1))
	done <"$LAB/super"
}

super whole no_split_gso
super split split_gso
