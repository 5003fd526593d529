# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A host floods the receivers of the scenario: $1 packets, one each $2 ns.
#
#	flood eth0 ---- flood router (of the scenario) bot ---- rx
set -eu

flood() {
	until tc -n router qdisc show dev bot 2>/dev/null | grep -q ' 3: '; do
		sleep 0.1
	done
	ip netns add flood
	ip link add flood address 02:00:00:00:fe:01 netns router type veth \
		peer name eth0 netns flood
	ip -n router link set flood up
	ip -n flood link set eth0 up
	ip netns exec flood python3 "$LAB/flood.py" eth0 02:00:00:00:fe:01 "$@"
}

flood "$@" &
flooder=$!
sh "$LAB/scenario"
wait $flooder
