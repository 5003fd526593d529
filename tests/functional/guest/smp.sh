# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Two processors: traffic, changes and replacements at the same time. What comes back
# crosses zrtt as well, which shares a table of connections with the other.
pair
ip -n a link add ifb0 type ifb
ip -n a link set ifb0 up
tc -n a qdisc add dev ifb0 root zrtt timestamps
tc -n a qdisc add dev a0 ingress
tc -n a filter add dev a0 ingress matchall action mirred egress redirect dev ifb0
slow a a0 50mbit limit 200 timestamps
for port in 5001 5002 5003; do
	bulk 1500 $port &
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
	for words in "flows 64" "mode paper" "flows 65536" "mode zrtt" no_split_gso split_gso \
		notimestamps timestamps; do
		# shellcheck disable=SC2086 # words
		tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt $words
	done
	tc -n a -s qdisc show dev a0 >/dev/null
done
wait
stats smp.changed a a0
stats smp.back a ifb0
bulk 3000 5004 &
for i in 1 2 3 4 5; do
	tc -n a qdisc replace dev a0 parent 1:1 handle 7: pfifo
	tc -n a qdisc replace dev a0 parent 1:1 handle 8: zrtt limit "10$i"
done
wait
bulk 200 5005
stats smp.replaced a a0
part smp.cpus
nproc
