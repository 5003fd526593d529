# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A router that is not told how fast the line behind it is, of which b's end has the queue.
# shellcheck source=tests/functional/guest/router.sh
. "$LAB/router.sh"
tc -n a qdisc add dev a0 root netem delay 20ms
ip -n b link add ifb0 type ifb
ip -n b link set ifb0 up
tc -n b qdisc add dev b0 clsact
tc -n b filter add dev b0 ingress matchall action mirred egress redirect dev ifb0

line() {
	tc -n b qdisc replace dev ifb0 root tbf rate "$1" burst 3000 limit 1000000
}

# shown NAME [NAMESPACE]: the line's queue, in b or there, and what the router's queue says
shown() {
	stats "line.$1.fifo" "${2-b}" ifb0
	stats "line.$1" r out0
}

# settled NAME [NAMESPACE]: the same three times, as the rate has a dip now and then
settled() {
	shown "$1.1" "${2-b}"
	sleep 1
	shown "$1.2" "${2-b}"
	sleep 1
	shown "$1.3" "${2-b}"
}

# sending WORDS: the router finds the rate, and two transfers fill the line
sending() {
	tc -n r qdisc add dev in0 root zrtt timestamps
	tc -n r qdisc add dev out0 root zrtt bandwidth auto "$@" min 1mbit
	begin 10.0.1.2
	begin 10.0.1.2 5001
}

# silent: they end, and the router has no queues of its own
silent() {
	end
	tc -n r qdisc del dev out0 root
	tc -n r qdisc del dev in0 root
}

# who sends has no timestamps, as Windows
ip netns exec a sysctl -qw net.ipv4.tcp_timestamps=0
line 8mbit
sending max 100mbit
sleep 6
settled untimed
line 3mbit
sleep 5
settled untimed_fell
silent
ip netns exec a sysctl -qw net.ipv4.tcp_timestamps=1

line 8mbit
sending max 100mbit
sleep 6
settled found
line 3mbit
sleep 5
settled fell
line 8mbit
sleep 6
settled rose
tc -n r qdisc change dev out0 root zrtt bandwidth auto max 5mbit
sleep 1
shown bounded
# nobody asks, and the rate is the user's
tc -n r qdisc change dev out0 root zrtt bandwidth 6mbit
sleep 1
shown told
tc -n r qdisc change dev out0 root zrtt bandwidth auto max 100mbit
sleep 7
settled again
# the other side knows nothing of who answers
tc -n r qdisc change dev in0 root zrtt notimestamps
sleep 4
shown blind
silent

# a line that drops what is above its rate
tc -n b qdisc replace dev ifb0 root tbf rate 8mbit burst 3000 limit 3100
sending max 30mbit
sleep 14
shown lossy
silent

# a line before the queue, whose packets it lets pass
tc -n b qdisc del dev b0 clsact
ip -n r link add ifb0 type ifb
ip -n r link set ifb0 up
tc -n r qdisc add dev ifb0 root tbf rate 8mbit burst 3000 limit 1000000
tc -n r qdisc add dev in0 clsact
tc -n r filter add dev in0 ingress matchall action mirred egress redirect dev ifb0
sending ingress max 100mbit
sleep 6
settled ahead r
end
tc -n r qdisc del dev out0 root

part line.refused
for words in "min 2mbit max 1mbit" "notimestamps"; do
	# shellcheck disable=SC2086 # words
	tc -n r qdisc add dev out0 root zrtt bandwidth auto $words 2>&1 | grep -o "sch_zrtt: .*"
done
ip -n r link add many numtxqueues 2 numrxqueues 2 type dummy
ip -n r link set many up
tc -n r qdisc add dev many root handle 1: mq
tc -n r qdisc add dev many parent 1:1 zrtt bandwidth auto 2>&1 | grep -o "sch_zrtt: .*"
# with htb between them, too
tc -n r qdisc add dev many parent 1:2 handle 3: htb default 1
tc -n r class add dev many parent 3: classid 3:1 htb rate 1gbit quantum 1514
tc -n r qdisc add dev many parent 3:1 zrtt bandwidth auto 2>&1 | grep -o "sch_zrtt: .*"
# whose queues are htb's alone
tc -n r qdisc replace dev many root handle 2: htb default 1
tc -n r class add dev many parent 2: classid 2:1 htb rate 1gbit quantum 1514
part line.below_htb
tc -n r qdisc add dev many parent 2:1 zrtt bandwidth auto
tc -n r qdisc show dev many | grep -c "bandwidth auto"
tc -n r qdisc del dev many root
# more than can ask
part line.many
for i in $(seq 40); do
	ip -n r link add "d$i" type dummy
	ip -n r link set "d$i" up
	tc -n r qdisc add dev "d$i" root zrtt bandwidth auto 2>>/tmp/said || echo "refused: $i"
done
tc -n r qdisc show | grep -c "bandwidth auto"
# who was too late gets the number of one that went, and the next one none
ip -n r link del d1
part line.warned
sort /tmp/said | uniq -c | sed 's/^ *//'
for i in 40 39; do
	tc -n r qdisc change dev "d$i" root zrtt bandwidth auto max 5mbit 2>&1 | wc -l
done
part line.many_gone
for i in $(seq 2 40); do
	ip -n r link del "d$i"
done
tc -n r qdisc add dev out0 root zrtt bandwidth auto || echo "refused"
tc -n r qdisc show dev out0 | grep -c "bandwidth auto"
