# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shows what Libra's connections of all hosts know, 15 s after the start.
set -eu

watch() {
	sleep 15
	for host in $(ip netns list | sed -n 's/^\(h[0-9]*\).*/\1/p'); do
		ip netns exec "$host" ss --tcp --numeric --info --oneline --no-header
	done
	echo "@@ end"
}

watch &
sh "$LAB/scenario" "$@"
