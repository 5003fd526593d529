# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Each qdisc holds the module, and so does being the default; it goes with the last.
uses() {
	part "users.$1"
	cat /sys/module/sch_zrtt/refcnt
	rmmod sch_zrtt 2>/dev/null || echo refused
	{
		tc qdisc show
		tc -n a qdisc show
	} | grep -c '^qdisc zrtt' || true
}

hosts a
ip link add d0 type dummy
tc qdisc add dev d0 root handle 1: htb
tc class add dev d0 parent 1: classid 1:1 htb rate 1mbit quantum 1600
tc qdisc add dev d0 parent 1:1 zrtt
uses class
ip link add m0 numtxqueues 3 type dummy
tc qdisc add dev m0 root handle 1: mq
for queue in 1 2 3; do
	tc qdisc add dev m0 parent 1:$queue zrtt
done
uses queues
ip -n a link add d1 type dummy
tc -n a qdisc add dev d1 root zrtt timestamps
uses namespace
tc class del dev d0 classid 1:1
uses class_deleted
ip link del m0
uses device_deleted
ip netns del a
ip netns add a
until [ "$(cat /sys/module/sch_zrtt/refcnt)" = 0 ]; do
	sleep 0.1
done

sysctl -qw net.core.default_qdisc=zrtt
ip link add i0 type ifb
ip link set i0 up
uses default
sysctl -qw net.core.default_qdisc=pfifo_fast
uses no_default
ip link del i0
uses nobody
insmod /modules/sch_zrtt.ko
ip link del d0
