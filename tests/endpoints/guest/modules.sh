# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The modules are loaded: who may use them, what their parameters take, that they
# carry data over a path that loses some, and that they can be unloaded.
set -eu
# shellcheck source=tests/functional/guest/lib.sh
. "$LAB/lib.sh"
nobody=65534
names="libra nrhstcp exp prague"
tcp=/proc/sys/net/ipv4/tcp

part available
cat ${tcp}_available_congestion_control

part refused
for name in $names; do
	"$LAB/congestion" $nobody "$name"
done
part allowed
echo "reno $names" >${tcp}_allowed_congestion_control
for name in $names; do
	"$LAB/congestion" $nobody "$name"
done

part parameters
for file in /sys/module/tcp_libra/parameters/* /sys/module/tcp_exp/parameters/* \
	/sys/module/tcp_prague/parameters/*; do
	default=$(cat "$file")
	for value in 0 1 999 60000 60001 -1 x; do
		echo $value 2>/dev/null >"$file" || echo "${file##*/} refuses $value"
	done
	echo "$default" >"$file"
	echo "${file##*/} $(cat "$file")"
done

pair
tc -n a qdisc add dev a0 root netem rate 10mbit delay 20ms loss 1% limit 100
for name in $names; do
	part "transfer $name"
	ip netns exec a sysctl -qw net.ipv4.tcp_congestion_control="$name"
	bulk 800 &
	sleep 0.5
	ip netns exec a ss --tcp --info --no-header
	wait $!
done

part busy
for name in $names; do
	"$LAB/congestion" 0 "$name" "rmmod tcp_$name" || echo "held"
done
part unloaded
ip netns del a
ip netns del b
sleep 2 # for their connections to be gone
echo reno >${tcp}_congestion_control
for name in $names; do
	rmmod "tcp_$name"
done
cat ${tcp}_available_congestion_control
part end
