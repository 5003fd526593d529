# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Bad values: refused by tc, and by the kernel when they get past tc.
ip link add d0 type dummy
tc qdisc add dev d0 root zrtt limit 77 flows 128 target 5ms
part refusals.before
tc -j qdisc show dev d0
echo
i=0
while read -r words; do
	part "refusals.tc.$i"
	# shellcheck disable=SC2086 # words
	tc qdisc change dev d0 root zrtt $words || echo "rc=$?"
	i=$((i + 1))
done <"$LAB/refused_by_tc"
part refusals.kernel
"$LAB/nlset" d0 <"$LAB/refused_by_kernel"
part refusals.lanes
tc qdisc change dev d0 root zrtt mode paper lanes 2>&1 || echo "rc=$?"
part refusals.bounds
tc qdisc change dev d0 root zrtt min 1mbit 2>&1 || echo "rc=$?"
tc qdisc change dev d0 root zrtt max 1mbit 2>&1 || echo "rc=$?"
part refusals.after
tc -j qdisc show dev d0
echo
ip link del d0
