# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Does the one line of $LAB/plan (see bench.sh), and says where things are: the code of
# sch_zrtt, then all symbols.
set -eu

IFS='|' read -r qdisc parameters <"$LAB/plan"
sleep 11 # as there
ip link add q0 type dummy
# shellcheck disable=SC2086 # lists of words
{
	tc qdisc add dev q0 root $qdisc
	insmod "$LAB/qbench.ko" dev=q0 $parameters
}
cat /sys/module/sch_zrtt/sections/.text >"$RESULT"
grep ' [tTwW] ' /proc/kallsyms >>"$RESULT"
