# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# How many packets of a connection take the slow path through their headers: data go
# through a0, ACKs come back through b0.
pair
for host in a b; do
	ip netns exec "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=0
done
ip -n a addr add fd00::1/64 dev a0 nodad
ip -n b addr add fd00::2/64 dev b0 nodad
ip -n a neigh add fd00::2 lladdr 02:00:00:00:00:0b dev a0
ip -n b neigh add fd00::1 lladdr 02:00:00:00:00:0a dev b0
for host in a b; do
	ip -n "$host" link add link "${host}0" name "${host}0.5" type vlan id 5
	ip -n "$host" link set "${host}0.5" up
done
ip -n a addr add 10.0.5.1/24 dev a0.5
ip -n b addr add 10.0.5.2/24 dev b0.5
ip -n a neigh add 10.0.5.2 lladdr 02:00:00:00:00:0b dev a0.5
ip -n b neigh add 10.0.5.1 lladdr 02:00:00:00:00:0a dev b0.5
sleep 2 # until IPv6 has said what it says on its own

trace=/tmp/trace
mkdir $trace
mount -t tracefs trace $trace

# watch NAME FUNCTION: counts its calls; the compiler may have appended to its name
watch() {
	function=$(sed -n "s/^[^ ]* t \($2\(\.[^ \t]*\)*\)\t\[sch_zrtt\]$/\1/p" /proc/kallsyms |
		grep -v '\.cold')
	echo "p:$1 $function" >>$trace/kprobe_events
	echo 1 >"$trace/events/kprobes/$1/enable"
}
watch come zrtt_enqueue
watch slow zrtt_dissect_any

queue() {
	tc -n a qdisc "$1" dev a0 root zrtt "$2"
	tc -n b qdisc "$1" dev b0 root zrtt "$2"
}

# counted NAME COMMAND...: what both queues saw, and the calls before and after
counted() {
	name=$1
	shift
	queue add "${gso:-split_gso}"
	part "quick.$name.before"
	cat $trace/kprobe_profile
	"$@"
	part "quick.$name.after"
	cat $trace/kprobe_profile
	stats "quick.$name.data" a a0
	stats "quick.$name.acks" b b0
	tc -n a qdisc del dev a0 root
	tc -n b qdisc del dev b0 root
}

# transfer ADDRESS KIND OPTIONS: 2 MB; a kind of options without any is the family alone
transfer() {
	ip netns exec b nc -l -p 5000 <>/tmp/never >/dev/null &
	sleep 0.1
	ip netns exec a "$LAB/stream" "$1" 5000 32 "$2" "$3"
	wait $!
}
ipv4() {
	transfer "$1" ipv4 ''
}
ipv6() {
	transfer "$1" hop ''
}

counted segments ipv4 10.0.0.2
gso=no_split_gso
counted whole ipv4 10.0.0.2
gso=
ip -n a link set a0 gso_max_segs 1
counted small ipv4 10.0.0.2
ip -n a link set a0 gso_max_segs 65535
counted vlan ipv4 10.0.5.2
counted ipv6 ipv6 fd00::2
counted options transfer 10.0.0.2 ipv4 01010100
ip netns exec a sysctl -qw net.ipv4.tcp_timestamps=0
counted untimed ipv4 10.0.0.2
counted untimed_ipv6 ipv6 fd00::2
umount $trace
