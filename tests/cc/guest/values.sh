# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shows what Libra's connections know, 15 s after the start and, with k1 doubled
# and k2 next to nothing, at once again.
set -eu

see() {
	echo "@@ $1.ss"
	ip netns exec h0 ss --tcp --numeric --info --oneline --no-header
	echo "@@ $1.info"
	ip netns exec h0 "$LAB/libra-info.sh" dst 10.255.0.2
}

watch() {
	sleep 15
	see before
	echo 4000 >/sys/module/tcp_libra/parameters/k1_milli
	echo 1 >/sys/module/tcp_libra/parameters/k2_milli
	see after
	echo "@@ end"
}

watch &
sh "$LAB/scenario" "$@"
