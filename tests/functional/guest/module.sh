# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The module loads, is held by its qdiscs, unloads, and checks its parameter.
ko=/modules/sch_zrtt.ko
option=/sys/module/sch_zrtt/parameters/ipv4_option

ip link add d0 type dummy
tc qdisc add dev d0 root zrtt
part module.busy
rmmod sch_zrtt || echo "refused"
tc qdisc del dev d0 root
part module.unloaded
rmmod sch_zrtt
grep -c '^sch_zrtt ' /proc/modules || true
part module.option
insmod $ko ipv4_option=94
cat $option
part module.option_refused
for bad in 0 1 256 x; do
	echo $bad 2>/dev/null >$option || echo "refused $bad"
done
cat $option
part module.insmod_refused
rmmod sch_zrtt
insmod $ko ipv4_option=1 || echo "refused"
part module.reloaded
insmod $ko
cat $option
grep -c '^sch_zrtt ' /proc/modules
ip link del d0
