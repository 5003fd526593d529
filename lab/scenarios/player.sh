#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# player.sh URL: plays 4 s segments URL/RATE of RATE kbit/s, as ABR players do: the rate is
# the highest below 0.8 of what the last segment came at, and a full buffer (20 s) waits. A
# line for each: seconds since the start, rate, throughput in kbit/s, seconds of buffer before
# the segment (less than 0: that long it stalled).
set -eu
ladder="1000 2500 5000 8000"

now() {
	cut -d ' ' -f 1 /proc/uptime
}

start=$(now)
at=$start
rate=1000
buffer=0
while speed=$(curl -sS -o /dev/null -w '%{speed_download}' "$1/$rate"); do
	before=$at
	at=$(now)
	kbps=$((speed * 8 / 1000))
	buffer=$(echo "$buffer $at $before" | awk '{ print $1 - ($2 - $3) }')
	echo "$(echo "$at $start" | awk '{ print $1 - $2 }') $rate $kbps $buffer"
	buffer=$(echo "$buffer" | awk '{ print ($1 > 0 ? $1 : 0) + 4 }')
	sleep "$(echo "$buffer" | awk '{ print ($1 > 20 ? $1 - 20 : 0) }')"
	for rate in $ladder; do
		[ "$rate" -lt $((kbps * 8 / 10)) ] && best=$rate
	done
	rate=${best-1000}
	best=1000
done
