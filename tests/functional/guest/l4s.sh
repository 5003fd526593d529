# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The low-latency lane below the built-in shaper: packets that waited there are marked when
# they leave; the lane is switched off and reset while they wait.
pair
ip -n a link set a0 mtu 9000
ip -n b link set b0 mtu 9000
ip -n a link add link a0 name a0.5 type vlan id 5
ip -n a link set a0.5 up

# behind NAME WORDS...: what arrives of frames that "send" sends behind 0.4 s of the lane
behind() {
	name=$1
	shift
	tc -n a qdisc replace dev a0 root zrtt bandwidth 1mbit target 1s limit 1000 "$@"
	listen b b0 1000 /tmp/got
	inject a0 50 <"$LAB/l4s_fill"
	send
	stats "l4s.$name.waiting" a a0
	wait $!
	part "l4s.$name"
	cat /tmp/got
	stats "l4s.$name.stats" a a0
	tc -n a qdisc del dev a0 root
}

send() {
	inject a0 <"$LAB/l4s"
	inject a0.5 <"$LAB/l4s_vlan"
}
behind on l4s
behind noecn l4s noecn
behind off nol4s

send() {
	inject a0 <"$LAB/l4s_mixed"
}
behind mixed l4s

send() {
	ip netns exec a "$LAB/frames" paged a0 <"$LAB/l4s_paged"
}
behind paged l4s

send() {
	ip netns exec a "$LAB/frames" super a0 "$(cat "$LAB/l4s_gso_size")" <"$LAB/l4s_super"
}
behind split l4s split_gso
behind whole l4s no_split_gso

# one flow, through a lane that goes and comes back
tc -n a qdisc replace dev a0 root zrtt bandwidth 1mbit target 1s limit 1000 l4s
listen b b0 1000 /tmp/got
inject a0 <"$LAB/l4s_first"
stats l4s.change.before a a0
tc -n a qdisc change dev a0 root zrtt nol4s
inject a0 <"$LAB/l4s_second"
stats l4s.change.nol4s a a0
tc -n a qdisc change dev a0 root zrtt l4s
inject a0 <"$LAB/l4s_third"
stats l4s.change.l4s a a0
wait $!
part l4s.change
cat /tmp/got
stats l4s.change.after a a0
tc -n a qdisc del dev a0 root

tc -n a qdisc add dev a0 root zrtt bandwidth 1mbit target 1s limit 1000 l4s
inject a0 <"$LAB/l4s_first"
stats l4s.reset.before a a0
ip -n a link set a0 down
stats l4s.reset.down a a0
ip -n a link set a0 up
listen b b0 1000 /tmp/got
inject a0 <"$LAB/l4s_second"
wait $!
part l4s.reset
cat /tmp/got
stats l4s.reset.after a a0
