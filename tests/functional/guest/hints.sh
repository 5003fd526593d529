# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Each line of the file "hints" is a device and a frame to send there.
pair
ip -n a link add link a0 name a0.5 type vlan id 5
ip -n a link set a0.5 up
tc -n a qdisc add dev a0 root zrtt
listen b b0 3000 /tmp/got
i=0
while read -r dev frame; do
	echo "$frame" | inject "$dev"
	stats "hints.$i" a a0
	i=$((i + 1))
done <"$LAB/hints"
wait $!
part hints.received
cat /tmp/got

tc -n a qdisc del dev a0 root
tc -n a qdisc add dev a0 root zrtt
inject_flows a0 <"$LAB/hinted_flows"
stats hints.flows a a0
tc -n a qdisc change dev a0 root zrtt hint ignore
inject a0 <"$LAB/hinted_flows"
stats hints.ignored a a0
