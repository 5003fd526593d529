# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the administrator of a machine with systemd does.
# shellcheck source=tests/functional/guest/lib.sh
. "$LAB/lib.sh"

# state NAME: of the unit and the queues, as parts
state() {
	sleep 2
	part "systemd.$1"
	systemctl is-active zrtt@eth0 || :
	part "systemd.$1.agent"
	systemctl is-active zrtt-agent@eth0 || :
	part "systemd.$1.queues"
	tc -j qdisc show
	echo
}

ip link add eth0 type dummy
sleep 1
sh -eu "$LAB/recipe-systemd"
systemctl enable --now zrtt-agent@eth0
state enabled
systemctl start networkd
state networkd
part systemd.address
ip -br addr show dev eth0
sh -eu "$LAB/recipe-systemd-reload"
state reloaded
ip link del eth0
state unplugged
ip link add eth0 type dummy
state plugged
part systemd.said
systemctl disable --now zrtt@eth0 zrtt-agent@eth0
state disabled
# else it sets up the eth0 of the next experiments, too
systemctl stop networkd
part systemd.ended
