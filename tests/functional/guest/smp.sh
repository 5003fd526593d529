# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Two processors: traffic, changes and replacements at the same time.
pair
slow a a0 50mbit limit 200
for port in 5001 5002 5003; do
	bulk 1500 $port &
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
	for words in "flows 64" "mode paper" "flows 4096" "mode zrtt" no_split_gso split_gso; do
		# shellcheck disable=SC2086 # words
		tc -n a qdisc change dev a0 parent 1:1 handle 2: zrtt $words
	done
	tc -n a -s qdisc show dev a0 >/dev/null
done
wait
stats smp.changed a a0
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
