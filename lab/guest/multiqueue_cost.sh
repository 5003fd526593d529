# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Processors send $1 packets each, by pktgen, through a device of two queues. A line of
# $LAB/plan is
#	own or one | HOW MANY PROCESSORS | WORDS OF A QDISC
# with a queue for each processor, or one for all. It gives what pktgen says of each
# processor, microseconds, packets sent and packets refused, and the qdiscs.
set -eu
proc=/proc/net/pktgen
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 # nobody else sends

# make WHOSE WORDS...: the device
make() {
	whose=$1
	shift
	ip link add m0 numtxqueues 2 type dummy
	if [ "$whose" = own ]; then
		tc qdisc add dev m0 root handle 1: mq
		tc qdisc add dev m0 parent 1:1 handle 11: "$@"
		tc qdisc add dev m0 parent 1:2 handle 12: "$@"
		echo 1 >/sys/class/net/m0/queues/tx-0/xps_cpus
		echo 2 >/sys/class/net/m0/queues/tx-1/xps_cpus
	else
		tc qdisc add dev m0 root handle 11: "$@"
	fi
	ip link set m0 up
}

# prepare CPU PACKETS: its part of the load, 1000 flows
prepare() {
	echo "add_device m0@$1" >$proc/kpktgend_"$1"
	for command in "count $2" "pkt_size 300" "delay 0" "xmit_mode queue_xmit" \
		"dst_mac 02:00:00:00:00:01" "dst 198.18.0.1" "flag UDPSRC_RND" \
		"udp_src_min $((1000 + $1 * 1000))" "udp_src_max $((2000 + $1 * 1000))"; do
		echo "$command" >$proc/"m0@$1"
	done
}

# result CPU: pktgen says that it is done before it says what was
result() {
	until grep -q '^Result: OK' $proc/"m0@$1"; do
		sleep 0.1
	done
	sed -n '/^Result: OK/,$ {
		s/^Result: OK: \([0-9]*\).* usec, \([0-9]*\) .*/\1 \2/p
		s/.* errors: //p
	}' $proc/"m0@$1" | tr '\n' ' '
	echo
}

while IFS='|' read -r whose cpus words; do
	# shellcheck disable=SC2086 # a list of words
	make "$whose" $words
	for cpu in $(seq 0 $((cpus - 1))); do
		prepare "$cpu" "$1"
	done
	echo start >$proc/pgctrl
	{
		echo "@sent"
		for cpu in $(seq 0 $((cpus - 1))); do
			result "$cpu"
		done
		echo "@qdiscs"
		tc -s -j qdisc show dev m0
	} >>"$RESULT"
	for cpu in 0 1; do
		echo rem_device_all >$proc/kpktgend_$cpu
	done
	ip link del m0
	echo "measured $words"
done <"$LAB/plan"
