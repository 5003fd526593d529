# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Measures the cells of $LAB/plan. A line of it is
#	WORDS OF A QDISC | PARAMETERS OF QBENCH
# and gives what qbench says, and an empty line.
set -eu

# What parses the headers of packets that are not plain; the compiler may have
# appended to its name.
slow=$(sed -n 's/^[^ ]* t \(zrtt_dissect_any[^ \t]*\)\t\[sch_zrtt\]$/\1/p' /proc/kallsyms 2>/dev/null |
	grep -v '\.cold' || true)

# BLUE moves P_b at most once in its freeze time, 10 s, counted from the boot:
# the cells that mark take the first step after these.
sleep 11

while IFS='|' read -r qdisc parameters; do
	ip link add q0 type dummy
	probe=
	case $qdisc in zrtt*) probe=${slow:+slow=$slow} ;; esac
	# shellcheck disable=SC2086 # lists of words
	{
		tc qdisc add dev q0 root $qdisc
		insmod "$LAB/qbench.ko" dev=q0 $parameters $probe
	}
	cat /sys/module/qbench/parameters/result >>"$RESULT"
	rmmod qbench
	ip link del q0
	echo "measured $qdisc"
done <"$LAB/plan"
