# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A tap on the way in sees packets as they came, though the qdisc marks them.
#
#   a: a0 ------ in0 :r: (bridge) :r: out0 ------ b0 :b
hosts a r b
ip link add a0 netns a address 02:00:00:00:00:0a type veth \
	peer name in0 netns r address 02:00:00:00:00:0e
ip link add out0 netns r address 02:00:00:00:00:0c type veth \
	peer name b0 netns b address 02:00:00:00:00:0b
ip -n a link set a0 up
ip -n b link set b0 up
ip -n r link set in0 up
ip -n r link set out0 up
ip -n r link add br0 type bridge
ip -n r link set in0 master br0
ip -n r link set out0 master br0
ip -n r link set br0 up
slow r out0 1mbit mode blue threshold 1 increment 100% decrement 0.0000001% freeze 2s strip
inject a0 5 <"$LAB/load"
sleep 1
listen r in0 1000 /tmp/tapped
tap=$!
listen b b0 1000 /tmp/got
inject a0 <"$LAB/tap"
wait $tap
wait
part tap.tapped
cat /tmp/tapped
part tap.received
cat /tmp/got
stats tap.stats r out0
