# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-link: settings that are taken away, that are wrong, and queues that are not there.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
hosts r
ip -n r link add eth0 type dummy
ip -n r link set eth0 up

# with SETTINGS... zrtt-link VERB: on eth0
with() {
	ip netns exec r env "$@" eth0
}

# state NAME: of the router, as parts
state() {
	part "settings.$1"
	tc -n r -s -j qdisc show
	echo
	part "settings.$1.links"
	ip -n r -br link show type ifb
	part "settings.$1.filter"
	tc -n r filter show dev eth0 ingress
}

odd="controller pblue target 10ms tupdate 20ms threshold 50 freeze 40ms increment 3% decrement 0.3%
	alpha 1 alpha_max 1 pth 5% feedback 1 mark_max 20% flows 1024 hint trust mark_rtt 0xff strip
	nohandshake timestamps noquic noecn no_split_gso names nolanes fair mark 0xff00 prefix6 56 nat
	overhead 26 mpu 64 atm weight mark 0xff0000 weight dscp EF:4 ceil 1mbit memory_limit 1mb"
with ZRTT_UPLINK=20mbit ZRTT_DOWNLINK="auto min 1mbit max 50mbit" ZRTT_OPTIONS="$odd" zrtt-link up
state odd
with ZRTT_DOWNLINK=auto zrtt-link up
state auto
with ZRTT_UPLINK=5mbit zrtt-link up
state rate
with zrtt-link up
state none
with zrtt-link down
with ZRTT_DOWNLINK=auto zrtt-link up
state new.auto
with zrtt-link down
with zrtt-link up
state new.none

for limit in 300 1000; do
	with ZRTT_OPTIONS="limit $limit" zrtt-link up
	state "limit$limit"
	with zrtt-link up
	state "limit$limit.gone"
done
with ZRTT_OPTIONS="mode paper" zrtt-link up
state paper
with ZRTT_OPTIONS="mode paper" zrtt-link up
state paper.again

# what others made
ip -n r link add ifb-eth0 type ifb
tc -n r filter add dev eth0 ingress pref 9 matchall action mirred egress redirect dev ifb-eth0
with zrtt-link up
state others
with zrtt-link down 2>/dev/null
tc -n r filter del dev eth0 ingress
ip -n r link del ifb-eth0

for wrong in ZRTT_DOWNLINK=much ZRTT_OPTIONS=many ZRTT_UPLINK=more; do
	part "settings.$wrong"
	with ZRTT_DOWNLINK=9mbit $wrong zrtt-link up 2>/dev/null || echo "rc=$?"
	ip -n r -br link show type ifb
done
with zrtt-link down

part settings.absent
with ZRTT_UPLINK=5mbit zrtt-link rate 2>&1 || echo "rc=$?"
with zrtt-link up
with ZRTT_UPLINK=5mbit ZRTT_DOWNLINK=5mbit zrtt-link rate 2>&1 || echo "rc=$?"
tc -n r qdisc show dev eth0 | grep -c unlimited

# where zrtt is the kernel's default, which tc cannot change
default=$(sysctl -n net.core.default_qdisc)
sysctl -qw net.core.default_qdisc=zrtt
with ZRTT_DOWNLINK=9mbit zrtt-link up
state default
with zrtt-link down
sysctl -qw net.core.default_qdisc="$default"
