# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Whose packet is it: by either address, by prefix, by mark; and hosts that are meant
# otherwise while packets wait.
pair
tc -n a qdisc add dev a0 clsact

# of NAME FRAMES WORDS...: live hosts after these frames
of() {
	name=$1 frames=$2
	shift 2
	tc -n a qdisc replace dev a0 root handle 7: pfifo
	tc -n a qdisc replace dev a0 root handle 8: zrtt "$@"
	inject_flows a0 <"$LAB/$frames"
	stats "hosts.$name" a a0
}

for version in 4 6; do
	of flow$version hosts_v$version fair flow
	of srchost$version hosts_v$version fair srchost
	of dsthost$version hosts_v$version fair dsthost
	of dualhost$version hosts_v$version fair dualhost
done
for bits in 1 56 63 128; do
	of prefix$bits hosts_v6 fair srchost prefix6 $bits
done

of tunnel hosts_tunnel fair srchost
of tunnel_nat hosts_tunnel fair srchost nat

marked() {
	tc -n a filter del dev a0 egress
	tc -n a filter add dev a0 egress matchall action skbedit mark "$1"
}
marked 0x1234
of mark hosts_v4 fair mark 0xff00
part hosts.classes
tc -n a class show dev a0 parent 8:
# what another mark says takes over a flow that is known
marked 0x5634
inject_flows a0 <"$LAB/hosts_v4"
part hosts.moved
tc -n a class show dev a0 parent 8:
tc -n a filter del dev a0 egress

# a packet of weight 4 counts as a quarter, and its class says what passed
marked 0x4
of weighted hosts_large fair srchost weight mark 0xff
part hosts.weighted.classes
tc -n a class show dev a0 parent 8:
of weightless hosts_large fair srchost
part hosts.weightless.classes
tc -n a class show dev a0 parent 8:
tc -n a filter del dev a0 egress
of destinations hosts_v4 fair dsthost
part hosts.dsthost.classes
tc -n a class show dev a0 parent 8:

# packets wait while hosts are turned on, meant otherwise, and the tables change size
tc -n a qdisc replace dev a0 root handle 9: zrtt bandwidth 100kbit target 1s limit 1000
listen b b0 4000 /tmp/got
inject a0 20 <"$LAB/hosts_v4"
for words in "fair srchost" "fair dualhost flows 4096" "fair mark 0xff" "weight mark 0xff00" \
	"fair dsthost prefix6 60" "ceil 50mbit" "ceil 40mbit flows 2048" "noceil" "noweight flows 1024" "weight dscp EF:4" "fair flow" "mode blue" \
	"mode zrtt fair srchost" "names" "flows 65536"; do
	# shellcheck disable=SC2086 # words
	tc -n a qdisc change dev a0 root zrtt $words || echo "refused: $words"
	inject a0 <"$LAB/hosts_v4"
done
stats hosts.change.waiting a a0
wait $!
part hosts.change.got
wc -l </tmp/got
stats hosts.change a a0
tc -n a qdisc del dev a0 root

part hosts.refused
for words in "ceil 1mbit" "fair dualhost ceil 1mbit" "fair srchost l4s ceil 1mbit" "fair mark 0xff mark_rtt 0xff" "fair mark 0xff weight mark 0x80" "mode blue fair srchost" \
	"mode mrtt weight mark 0xff" "mode paper weight dscp EF:4"; do
	# shellcheck disable=SC2086 # words
	tc -n a qdisc add dev a0 root zrtt $words 2>&1 | grep -o "sch_zrtt: .*"
done
