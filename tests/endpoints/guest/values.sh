# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shows what Libra's connections know, 12 s after the start and, with k1 doubled
# and k2 next to nothing, at once again. One reader is stopped early.
set -eu

see() {
	echo "@@ $1"
	"$LAB/libra-info.sh"
}

watch() {
	sleep 12
	echo "@@ unmounted"
	"$LAB/libra-info.sh" 2>&1 || echo "rc=$?"
	mount -t tracefs tracefs /sys/kernel/tracing
	see before
	echo 4000 >/sys/module/tcp_libra/parameters/k1_milli
	echo 1 >/sys/module/tcp_libra/parameters/k2_milli
	see after
	"$LAB/libra-info.sh" 1 &
	sleep 0.2
	kill $!
	wait $! || true
	echo "@@ instances"
	ls /sys/kernel/tracing/instances
	echo "@@ end"
}

watch &
sh "$LAB/scenario" "$@"
