# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Nobody holds the lock of a queue with a large table for long, and no flow is forgotten.
# The sizes of the table are a first one, a larger and a smaller one.
read -r flows larger smaller <"$LAB/sizes"
pair
tc -n a qdisc add dev a0 root handle 2: zrtt flows "$flows" names hint trust limit 100000

# held NAME COMMAND...: for how long it holds the lock
held() {
	name=$1
	shift
	part "holds.$name"
	ip netns exec a insmod "$LAB/qhold.ko" dev=a0
	"$@"
	cat /sys/module/qhold/parameters/holds /sys/module/qhold/parameters/longest_ns
	rmmod qhold
}

resize() {
	tc -n a qdisc change dev a0 root zrtt flows "$1"
}

down_and_up() {
	ip -n a link set a0 down
	ip -n a link set a0 up
}

inject_flows a0 <"$LAB/held"
stats holds.learnt a a0
held larger resize "$larger"
stats holds.after_larger a a0
inject a0 <"$LAB/held"
held reset down_and_up
stats holds.after_reset a a0
inject a0 <"$LAB/held"
held smaller resize "$smaller"
stats holds.after_smaller a a0
part holds.classes
tc -n a class show dev a0 | grep -c "class zrtt"
