# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Runs the scenario; meanwhile program $1 watches the bottleneck's zrtt, from $2 seconds on.
set -eu
# shellcheck source=lab/guest/around.sh
. "$LAB/around.sh"

mkdir -p /dev/pts
mount -t devpts pts /dev/pts

observe() {
	ip -n router link set lo up
	ip netns exec router python3 "$LAB/$1" bot "$2"
}

beside observe "$@" >/tmp/observed
sh "$LAB/scenario"
wait "$beside"
{
	echo "@observed"
	cat /tmp/observed
} >>"$RESULT"
