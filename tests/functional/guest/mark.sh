# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The operator's mark, set here by a tc filter, tells the RTT: 1250 is 40 ms.
pair
tc -n a qdisc add dev a0 clsact

# marked MARK WORDS...: a new zrtt, and packets that carry the mark
marked() {
	tc -n a filter del dev a0 egress
	tc -n a filter add dev a0 egress matchall action skbedit mark "$1"
	shift
	tc -n a qdisc replace dev a0 root handle 7: pfifo
	tc -n a qdisc replace dev a0 root handle 8: zrtt "$@"
}

# plain NAME MARK WORDS...: packets without a hint
plain() {
	name=$1
	shift
	marked "$@"
	inject_flows a0 <"$LAB/plain_flows"
	stats "mark.$name" a a0
}

# the rest of the mark is the operator's own
plain high $((1250 << 16 | 0x5a5a)) mark_rtt 0xffff0000
plain low $((0x5a5a << 16 | 1250)) mark_rtt 0xffff
plain narrow 0xfff mark_rtt 0xff
plain zero 0 mark_rtt 0xffff
plain reserved 0xffff mark_rtt 0xffff
plain other_bits 0xffff mark_rtt 0xffff0000
plain off 1250 nomark_rtt

marked 2500 mark_rtt 0xffff
inject_flows a0 <"$LAB/hinted_flows"
stats mark.hinted a a0
marked 2500 mark_rtt 0xffff hint ignore
inject_flows a0 <"$LAB/hinted_flows"
stats mark.ignored a a0
marked 2500 mark_rtt 0xffff
bulk 10
stats mark.bulk a a0
