# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# With timestamps, the qdiscs of a namespace share 512 KiB, from the first one to the
# last. Here it is four namespaces with two qdiscs each.
all="n0 n1 n2 n3"

used() {
	part "sharing.$1"
	grep -E '^(Slab|VmallocUsed):' /proc/meminfo
}

# all_change DEV WORD: in each namespace
all_change() {
	for netns in $all; do
		tc -n "$netns" qdisc change dev "$1" root zrtt "$2"
	done
}

for netns in $all; do
	ip netns add "$netns"
	for dev in d0 d1; do
		ip -n "$netns" link add $dev type dummy
		tc -n "$netns" qdisc add dev $dev root zrtt flows 64
	done
done
used none
all_change d0 timestamps
used one
all_change d1 timestamps
used both
all_change d0 notimestamps
used other
all_change d1 notimestamps
used neither
all_change d0 timestamps
all_change d1 timestamps
for netns in $all; do
	tc -n "$netns" qdisc del dev d0 root
done
used deleted
for netns in $all; do
	ip netns del "$netns"
done
sleep 1
used gone
