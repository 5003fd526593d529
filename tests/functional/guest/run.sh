#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs experiments, one after the other, in a guest. What they print goes to the
# host under headings "@@ NAME"; the tests are there.
set -u

for experiment in "$@"; do
	echo "@@ $experiment"
	(
		set -eu
		# shellcheck source=tests/functional/guest/lib.sh
		. "$LAB/lib.sh"
		# shellcheck disable=SC1090 # one of many
		. "$LAB/$experiment.sh"
	)
	rc=$?
	for netns in $(ip netns list | cut -d' ' -f1); do
		ip netns del "$netns"
	done
	echo "@@ $experiment.rc"
	echo $rc
done >"$RESULT" 2>&1
echo "@@ dmesg" >>"$RESULT"
dmesg >>"$RESULT"
