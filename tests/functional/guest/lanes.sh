# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Packets in all lanes: a queue that is full, peeked at, and reset.
set -eu
# shellcheck source=tests/functional/guest/lib.sh
. "$LAB/lib.sh"
pair

# fill WORDS...: below tbf, which peeks: a flow that sends much, and 12 frames of as many
fill() {
	tc -n a qdisc add dev a0 root handle 1: tbf rate 1mbit burst 2kb limit 10mb
	tc -n a qdisc add dev a0 parent 1:1 handle 2: zrtt "$@"
	inject a0 150 <"$LAB/load"
	sleep 0.15
	inject a0 100 <"$LAB/load"
	inject a0 <"$LAB/thin"
}

listen b b0 2500 /tmp/got
fill target 1s limit 60
stats full a a0
wait $!
stats drained a a0
part received
cat /tmp/got
tc -n a qdisc del dev a0 root

fill target 1s limit 60
stats before a a0
ip -n a link set a0 down
stats down a a0
ip -n a link set a0 up
inject a0 2 <"$LAB/thin"
sleep 3
stats up a a0
tc -n a qdisc del dev a0 root

ip link add d0 type dummy
for mode in zrtt blue paper mrtt prto; do
	tc qdisc replace dev d0 root zrtt mode "$mode"
	part "switched.$mode"
	"$LAB/nlset" d0 <"$LAB/switch"
done

echo "@@ dmesg"
dmesg
