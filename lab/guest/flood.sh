# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A host floods the receivers of the scenario: $1 packets, one each $2 ns.
#
#	flood eth0 ---- flood router (of the scenario) bot ---- rx
set -eu
# shellcheck source=lab/guest/around.sh
. "$LAB/around.sh"

flood() {
	ip netns add flood
	ip link add flood address 02:00:00:00:fe:01 netns router type veth \
		peer name eth0 netns flood
	ip -n router link set flood up
	ip -n flood link set eth0 up
	ip netns exec flood python3 "$LAB/flood.py" eth0 02:00:00:00:fe:01 "$@"
}

beside flood "$@"
sh "$LAB/scenario"
wait "$beside"
