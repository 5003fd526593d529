# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# 16,000 flows, 3,000 hosts, and devices that come, go and have odd names.
set -eu
# shellcheck source=tests/functional/guest/lib.sh
. "$LAB/lib.sh"

mon() {
	ip netns exec a "$LAB/zrtt-mon" "$@"
}

{
	pair
	tc -n a qdisc add dev a0 root handle 2: zrtt limit 100000 flows 32768 hint trust
	inject_flows a0 <"$LAB/crowd"
	stats tc a a0
	part json
	mon -j -n1 -f a0
	part prometheus
	mon --prometheus
	part text
	mon -i 0.5 -f5 a0

	part hosts
	tc -n a qdisc replace dev a0 root handle 7: pfifo
	tc -n a qdisc replace dev a0 root handle 8: zrtt flows 32768 names fair srchost
	inject_flows a0 <"$LAB/hosts"
	mon -j -n1 -f -H a0

	part interrupted
	INTERRUPTED=5 ip netns exec a "$LAB/interrupted" -j -n1 a0

	part odd
	ip -n a link add 'o"d\d€' type dummy
	tc -n a qdisc add dev 'o"d\d€' root bfifo
	mon -j -n1 'o"d\d€' 2>&1 || true
	tc -n a qdisc replace dev 'o"d\d€' root handle 3: zrtt bandwidth 10mbit
	mon -j -n1 'o"d\d€'
	part odd_prometheus
	mon --prometheus 'o"d\d€'

	part gone
	mon -j -n6 -i 0.5 >/tmp/lines &
	sleep 1.2
	ip -n a link del 'o"d\d€'
	wait $!
	cat /tmp/lines
	part elsewhere
	ip netns exec b "$LAB/zrtt-mon" -j -n1 2>&1 || true
} >"$RESULT"
