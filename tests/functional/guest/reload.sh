# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The module comes and goes, each time used in a namespace of its own, while others'
# packets pass. The file "loads" says how often.
pair
tc -n a qdisc add dev a0 root handle 1: htb default 1
rate a a0 4mbit
tc -n a qdisc add dev a0 parent 1:1 handle 2: fq_codel
ip netns exec b nc -l -p 5000 <>/tmp/never >/dev/null &
receiver=$!
sleep 0.1
ip netns exec a nc 10.0.0.2 5000 </dev/zero &
sender=$!

used() {
	part "reload.$1"
	echo 1 >/proc/sys/vm/stat_refresh
	grep -E '^(Slab|VmallocUsed|Percpu):' /proc/meminfo
}

reload() {
	rmmod sch_zrtt
	insmod /modules/sch_zrtt.ko
	ip netns add n
	ip -n n link add d0 type dummy
	tc -n n qdisc add dev d0 root zrtt timestamps
	ip netns del n
	until [ "$(cat /sys/module/sch_zrtt/refcnt)" = 0 ]; do
		sleep 0.02
	done
}

# what is allocated once, is by then
for _ in 1 2 3 4 5; do
	reload
done
used before
stats reload.traffic_before a a0
loads=0
while [ $loads -lt "$(cat "$LAB/loads")" ]; do
	reload
	loads=$((loads + 1))
done
part reload.loads
echo $loads
stats reload.traffic_after a a0
used after
kill $sender $receiver
