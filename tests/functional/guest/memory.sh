# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A table that does not fit in memory is refused and costs nothing: nor does the one
# for timestamps, which is there first.
used() {
	part "memory.$1"
	grep -E '^(MemFree|Slab|VmallocUsed):' /proc/meminfo
}

ip link add d0 type dummy
tc qdisc add dev d0 root zrtt limit 88
used before
part memory.change
for _ in 1 2 3 4 5 6 7 8; do
	tc qdisc change dev d0 root zrtt flows 4194304 timestamps || echo "rc=$?"
done
part memory.add
ip link add d1 type dummy
for _ in 1 2 3 4 5 6 7 8; do
	tc qdisc add dev d1 root zrtt flows 4194304 timestamps || echo "rc=$?"
done
used after
part memory.still
tc -j qdisc show dev d0
echo
tc qdisc change dev d0 root zrtt timestamps
used with_timestamps
tc qdisc change dev d0 root zrtt notimestamps
used without
