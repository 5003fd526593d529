# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What frames that look like QUIC's show of a path: what comes back takes 100 ms, and no end is
# there to answer.
pair
tc -n a qdisc add dev a0 root zrtt names

say() {
	inject a0 <"$LAB/quic_$1"
}

# counted NAME FLOW: its class; a flow counts once it sent in two epochs
counted() {
	sleep 0.3
	say "$2_data"
	part "quic.$1"
	tc -n a class show dev a0 | grep ":$(cat "$LAB/quic_$2_port") " || :
}

# handshake NAME FLOW: of two flights
handshake() {
	say "$2_first"
	sleep 0.1
	say "$2_second"
	counted "$1" "$2"
}

for flow in client server v2 ipv6 greased tagged; do
	handshake $flow $flow
done
stats quic.seen a a0

# a timer may have sent the second
say again_first
sleep 0.2
say again_first
sleep 0.1
say again_second
counted again again

for flow in malformed elsewhere; do
	handshake $flow $flow
done

say spin_first
for _ in $(seq 6); do
	inject a0 5 <"$LAB/quic_spin_0"
	sleep 0.1
	inject a0 5 <"$LAB/quic_spin_1"
	sleep 0.1
done
counted spin spin

tc -n a qdisc change dev a0 root zrtt noquic
handshake off off
tc -n a qdisc change dev a0 root zrtt quic
handshake on on
stats quic.end a a0
