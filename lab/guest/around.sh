# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What scripts share that run a scenario's own, $LAB/scenario, with something beside it.

# beside COMMAND...: in the background, once the scenario has made its network. If it fails, all
# ends at once, not when the scenario does.
beside() {
	{
		trap '[ $? -eq 0 ] || kill $$' EXIT
		until tc -n router qdisc show dev bot 2>/dev/null | grep -q ' 3: '; do
			sleep 0.1
		done
		"$@"
	} &
	# shellcheck disable=SC2034 # whoever called this waits for it
	beside=$!
}
