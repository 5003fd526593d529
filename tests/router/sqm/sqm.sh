#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stands in for the command sqm of sqm-scripts: sqm { start | stop } IFACE
set -eu
# shellcheck source=/dev/null # what the machine's user wrote
. /etc/sqm/sqm.conf
IFACE=$2 DEV=ifb4$2
# shellcheck source=/dev/null
. "/etc/sqm/$IFACE.iface.conf"
# shellcheck source=/dev/null
. "$SQM_LIB_DIR/$SCRIPT"
case $1 in
start)
	ip link add "$DEV" type ifb
	egress
	ingress
	;;
stop)
	tc qdisc del dev "$IFACE" ingress
	tc qdisc del dev "$IFACE" root
	ip link del "$DEV"
	;;
esac
