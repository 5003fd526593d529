# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Hints are removed on request.
pair
ip -n a link add link a0 name a0.5 type vlan id 5
ip -n a link set a0.5 up

send_all() {
	inject a0 <"$LAB/strip"
	inject a0.5 <"$LAB/strip_vlan"
}

tc -n a qdisc add dev a0 root zrtt strip
listen b b0 1000 /tmp/got
ip netns exec a "$LAB/frames" sent a0 1000 >/tmp/sent &
sleep 0.1
send_all
wait
part strip.received
cat /tmp/got
part strip.sent
cat /tmp/sent
stats strip.stats a a0
send_all
stats strip.flows a a0
tc -n a qdisc change dev a0 root zrtt hint ignore
send_all
stats strip.ignored a a0
