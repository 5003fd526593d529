#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tunnel.sh OWN PEER [PEER-HOST]: an end of a tunnel over UDP by OpenVPN, without encryption. OWN
# and PEER are addresses inside it. With PEER-HOST, it connects. Else it is the server, and all
# that leaves its host has DSCP AF21, as OpenVPN sets none.
set -eu

if [ $# -eq 2 ]; then
	tc qdisc add dev eth0 clsact
	tc filter add dev eth0 egress protocol ip matchall \
		action pedit ex munge ip tos set 0x48 retain 0xfc pipe csum ip4h
fi
set -- --ifconfig "$1" "$2" ${3:+--remote "$3"}
exec openvpn --dev tun --proto udp --port 1194 --cipher none --auth none "$@"
