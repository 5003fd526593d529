# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: zrtt.qos below sqm-scripts, or below what stands in for them.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
settings /etc/sqm/eth0.iface.conf
cat >/etc/sqm/sqm.conf <<END
SQM_LIB_DIR=$LAB/sqm
SQM_STATE_DIR=/run/sqm
SQM_SYSLOG=0
END
chmod +x "$LAB/sqm/"*
ln -sf "$LAB/sqm/sqm.sh" /tmp/sqm
PATH=/tmp:$PATH
ip link add eth0 type dummy
ip link set eth0 up

# queues NAME: of both devices, as parts
queues() {
	for dev in eth0 ifb4eth0; do
		part "sqm.$1.$dev"
		tc -j qdisc show dev $dev
		echo
	done
	part "sqm.$1.filter"
	tc filter show dev eth0 parent ffff:
}
sh "$LAB/recipe-sqm"
queues plain
sqm stop eth0
part sqm.stopped
tc -j qdisc show
echo
part sqm.said
cat >>/etc/sqm/eth0.iface.conf <<END
ELIMIT=300
ITARGET=20ms
ETARGET=auto
IECN=NOECN
LINKLAYER=atm
STAB_MPU=64
EQDISC_OPTS="hint ignore"
END
sqm start eth0
queues set
sqm stop eth0
ip link del eth0
