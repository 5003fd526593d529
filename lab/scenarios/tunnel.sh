#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tunnel.sh OWN PEER [PEER-HOST]: an end of a tunnel by WireGuard. OWN and PEER are addresses inside
# it. With PEER-HOST, it connects. Else it is the server, and all that leaves its host has DSCP
# AF21, as WireGuard sets none.
set -eu

key() {
	printf '%s of the tunnel, no secret.' "$1" | base64
}

own=client other=server
if [ $# -eq 2 ]; then
	own=server other=client
	tc qdisc add dev eth0 clsact
	tc filter add dev eth0 egress protocol ip matchall \
		action pedit ex munge ip tos set 0x48 retain 0xfc pipe csum ip4h
fi
key "$own" >own.key
ip link add wg0 type wireguard
wg set wg0 listen-port 51820 private-key own.key \
	peer "$(key "$other" | wg pubkey)" allowed-ips "$2/32" ${3:+endpoint "$3:51820"}
ip address add "$1" peer "$2" dev wg0
ip link set wg0 mtu 1420 up
exec sleep 1000000
