# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shows what Libra's connections of all hosts know, 16 s after the start.
set -eu

watch() {
	sleep 16
	mount -t tracefs tracefs /sys/kernel/tracing
	"$LAB/libra-info.sh" 2
	echo "@@ end"
}

watch &
sh "$LAB/scenario" "$@"
