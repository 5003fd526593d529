# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# GSO packets as a virtual machine hands them over, whose segments nobody has counted.
pair

# super NAME WORDS...: each of them through a queue of its own
super() {
	name=$1
	shift
	for i in $(seq "$(wc -l <"$LAB/super")"); do
		tc -n a qdisc add dev a0 root zrtt "$@"
		# not by read, for which the shell asks the kernel for each character
		sed -n "${i}p" "$LAB/super" | ip netns exec a "$LAB/frames" super a0 1448
		stats "super.$name.$((i - 1))" a a0
		tc -n a qdisc del dev a0 root
	done
}

super whole no_split_gso
super split split_gso
