# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Where a qdisc can be, with packets through it.
pair
three_pings() {
	ip netns exec a ping -q -c 3 -i 0.2 10.0.0.2 >/dev/null
}

part attach.no_plugin
TC_LIB_DIR=/nowhere tc -n a qdisc add dev a0 root zrtt
TC_LIB_DIR=/nowhere tc -n a qdisc show dev a0
three_pings
stats attach.root a a0
tc -n a qdisc replace dev a0 root handle 8: pfifo
stats attach.replaced a a0
tc -n a qdisc replace dev a0 root handle 9: zrtt limit 99
three_pings
stats attach.back a a0
tc -n a qdisc del dev a0 root

slow a a0 10mbit limit 98
three_pings
stats attach.htb a a0
tc -n a qdisc del dev a0 root

tc -n a qdisc add dev a0 root handle 1: prio
for band in 1 2 3; do
	tc -n a qdisc add dev a0 parent 1:$band zrtt limit 97
done
three_pings
stats attach.prio a a0
tc -n a qdisc del dev a0 root

ip -n a link add ifb0 type ifb
ip -n a link set ifb0 up
tc -n a qdisc add dev ifb0 root zrtt limit 96
tc -n a qdisc add dev a0 ingress
tc -n a filter add dev a0 ingress matchall action mirred egress redirect dev ifb0
three_pings
stats attach.ifb a ifb0

ip -n a link add m0 numtxqueues 2 type dummy
tc -n a qdisc add dev m0 root handle 1: mq
tc -n a qdisc add dev m0 parent 1:1 zrtt limit 95
tc -n a qdisc add dev m0 parent 1:2 zrtt limit 95
stats attach.mq a m0
