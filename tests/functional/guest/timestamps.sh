# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# RTTs of connections that are older than the qdiscs: 10 ms behind one side of the
# router, 30 ms behind the other, and a queue between that a whole window fits in.
# shellcheck source=tests/functional/guest/router.sh
. "$LAB/router.sh"
tc -n a qdisc add dev a0 root netem delay 10ms
tc -n b qdisc add dev b0 root netem delay 30ms
ip netns exec b sysctl -qw net.ipv4.tcp_rmem="4096 131072 131072"

acks() {
	tc -n r qdisc "$1" dev in0 root zrtt nohandshake "$2"
}

# attach WORD: zrtt, which has the queue in one direction and gets WORD in the other
attach() {
	slow r out0 5mbit mode blue threshold 1000000 timestamps
	acks add "$1"
}

detach() {
	tc -n r qdisc del dev out0 root
	tc -n r qdisc del dev in0 root
	end
}

# learnt NAME: what both know after a while
learnt() {
	sleep 1
	stats "timestamps.$1.data" r out0
	stats "timestamps.$1.acks" r in0
}

begin 10.0.1.2
attach notimestamps
learnt one_side
acks change timestamps
learnt ipv4
for word in notimestamps timestamps notimestamps timestamps; do
	tc -n r qdisc change dev out0 parent 1:1 handle 2: zrtt $word
	acks change $word
	sleep 0.1
done
tc -n r qdisc del dev in0 root
stats timestamps.alone r out0
acks add timestamps
learnt again
detach

begin fd01::2
attach timestamps
learnt ipv6
detach

# line HOST DEV FILE N: sends the Nth line of a file, or all
line() {
	sed -n "${4:-1,\$}p" "$LAB/$3" | ip netns exec "$1" "$LAB/frames" send "$2"
}

# What a third party sends in a connection's name, before each answer to its packets, which come
# after 40 ms on one side and 10 on the other. The modes of the papers do not tell it from the flow.
tc -n a qdisc del dev a0 root
tc -n b qdisc del dev b0 root
slow r out0 5mbit timestamps
acks add timestamps
first() {
	line a a0 timed_out 1
	line b b0 timed_back 1
	sleep 0.3
}
first
first
line a a0 spoofed_out
line a a0 timed_out 2
sleep 0.005
line b b0 spoofed_back
sleep 0.035
line b b0 timed_back 2
sleep 0.005
line a a0 spoofed_out
sleep 0.005
line a a0 timed_out 3
sleep 0.3
line a a0 timed_out 3
line b b0 timed_back 2
learnt spoofed
detach
tc -n a qdisc add dev a0 root netem delay 10ms
tc -n b qdisc add dev b0 root netem delay 30ms

ip netns exec r nft "add table nat; add chain nat out { type nat hook postrouting \
	priority srcnat; }; add rule nat out oifname out0 masquerade"
begin 10.0.1.2
attach timestamps
learnt nat
ip netns del r
sleep 0.5
part timestamps.gone
ip -n a -br link show
end
