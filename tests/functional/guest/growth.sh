# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A queue without a limit of its own holds half a second of its link.
pair

# fill NAME RATE KBYTES WORDS...: a transfer over some epochs
fill() {
	name=$1 rate=$2 kbytes=$3
	shift 3
	slow a a0 "$rate" "$@"
	stats "growth.$name.idle" a a0
	bulk "$kbytes"
	stats "growth.$name" a a0
	tc -n a qdisc del dev a0 root
}

fill slow 1mbit 100
fill fast 200mbit 12000
fill pblue 200mbit 12000 mode blue controller pblue
fill blue 200mbit 12000 mode blue
fill ceiling 200mbit 12000 limit 2000
fill below 200mbit 12000 limit 300

slow a a0 800mbit
# 0.9 of them leave meanwhile
for _ in $(seq 40); do
	inject a0 2200 <"$LAB/full"
	sleep 0.03
done
stats growth.faster a a0
