# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Senders that heed nothing share 12 Mbit/s. Each is paced by its own device:
#
#   s0  2 Mbit/s --- \
#   s1  8 Mbit/s ---  router --- (htb, meter, csfq) --- rx
#   s2 24 Mbit/s --- /
set -eu
# shellcheck source=tests/functional/guest/lib.sh
. "$LAB/lib.sh"

hosts router rx s0 s1 s2
ip netns exec router sysctl -qw net.ipv4.ip_forward=1
link router bot rx eth0
ip -n router addr add 10.0.0.254/24 dev bot
ip -n router neigh add 10.0.0.2 lladdr 02:00:00:00:00:0b dev bot
for i in 0 1 2; do
	link "s$i" eth0 router "r$i"
	ip -n router link set "r$i" up
done
tc -n router qdisc add dev bot root handle 1: htb default 1
tc -n router class add dev bot parent 1: classid 1:1 htb rate 12mbit burst 2000 cburst 2000
tc -n router qdisc add dev bot parent 1:1 handle 2: meter

part refusals
while read -r words; do
	# shellcheck disable=SC2086 # words
	tc -n router qdisc add dev bot parent 2:1 handle 3: csfq $words 2>&1 || echo "rc=$?"
done <"$LAB/csfq_refusals"

tc -n router qdisc add dev bot parent 2:1 handle 3: csfq rate 12mbit limit 200 k 50ms noecn
i=0
for rate in 2mbit 8mbit 24mbit; do
	tc -n "s$i" qdisc add dev eth0 root tbf rate $rate burst 2000 limit 50mb
	sed -n "$((i + 1))p" "$LAB/csfq_frames" |
		ip netns exec "s$i" "$LAB/frames" send eth0 60000 &
	i=$((i + 1))
done
sleep 5
tc -n router qdisc change dev bot parent 1:1 handle 2: meter reset
sleep 10
part classes
tc -n router -s class show dev bot parent 2:
stats dropping router bot
# the rate that is let in swings about the link's: looked at for two seconds
for i in $(seq 20); do
	stats "rates.$i" router bot
	sleep 0.1
done
tc -n router qdisc change dev bot parent 2:1 handle 3: csfq ecn
stats changed router bot
sleep 2
stats marking router bot
part end # what the kernel says next is no JSON
