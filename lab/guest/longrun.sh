# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Reads the counters of the bottleneck's qdiscs every $1 seconds while the scenario runs.
set -eu

read_counters() {
	until tc -n router qdisc show dev bot 2>/dev/null | grep -q ' 3: '; do
		sleep 0.1
	done
	while sleep "$1"; do
		tc -n router -s -j qdisc show dev bot
	done
}

read_counters "$1" >/tmp/counters &
reader=$!
sh "$LAB/scenario"
kill $reader
wait $reader || true
{
	echo "@counters"
	sed '1s/^/[/; 1!s/^/,/; $s/$/]/' /tmp/counters
} >>"$RESULT"
