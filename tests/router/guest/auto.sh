# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: a line whose rate nobody says. Its queue is at the provider's end.
# shellcheck source=tests/router/guest/wan.sh
. "$LAB/wan.sh"
masquerade
export PATH="$LAB/root/usr/local/sbin:$PATH"
ip -n b link add ifb0 type ifb
ip -n b link set ifb0 up
tc -n b qdisc add dev ifb0 root tbf rate 8mbit burst 3000 limit 1000000
tc -n b qdisc add dev b0 clsact
tc -n b filter add dev b0 ingress matchall action mirred egress redirect dev ifb0
recipe auto
upload a 6000 5001 &
sleep 4
stats auto.uplink r eth0
stats auto.downlink r ifb-eth0
part auto.check
ip netns exec r zrtt-check eth0 || true
wait $!
# one direction alone: what comes back is seen by a queue of its own
ip netns exec r zrtt-link down eth0
ZRTT_UPLINK="auto max 50mbit" ip netns exec r zrtt-link up eth0
upload a 4000 5002 &
sleep 3
stats auto.alone r eth0
stats auto.other r ifb-eth0
wait $!
