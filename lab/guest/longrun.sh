# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Reads the counters of the bottleneck's qdiscs every $1 seconds while the scenario runs.
set -eu
# shellcheck source=lab/guest/around.sh
. "$LAB/around.sh"

read_counters() {
	while sleep "$1"; do
		tc -n router -s -j qdisc show dev bot
	done
}

beside read_counters "$1" >/tmp/counters
sh "$LAB/scenario"
kill "$beside"
wait "$beside" || true
{
	echo "@counters"
	sed '1s/^/[/; 1!s/^/,/; $s/$/]/' /tmp/counters
} >>"$RESULT"
