# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-link on devices whose long names end alike, and what an older one left.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
hosts r
first=enx001122334455 second=wlx001122334455 older=ifb-01122334455
for dev in $first $second; do
	ip -n r link add "$dev" type dummy
	ip -n r link set "$dev" up
done

# settle DEV...: as a router's service does
settle() {
	for dev in "$@"; do
		ip netns exec r env ZRTT_UPLINK=20mbit ZRTT_DOWNLINK="$downlink" zrtt-link "$verb" "$dev"
	done
}

# state NAME: of the router, as parts
state() {
	part "names.$1.first"
	tc -n r filter show dev $first ingress
	part "names.$1.second"
	tc -n r filter show dev $second ingress
	part "names.$1.links"
	ip -n r -br link show type ifb
	stats "names.$1.qdiscs" r "$first"
}

verb=up downlink=10mbit
settle $first $second
state up
settle $second $first
state again
verb=rate downlink=11mbit
settle $second
part names.rates
tc -n r -j qdisc show
echo
verb=down
settle $first
state down

# as versions before did it
ip -n r link add $older type ifb
ip -n r link set $older up
tc -n r qdisc replace dev $first clsact
tc -n r filter add dev $first ingress pref 8111 protocol all matchall \
	action mirred egress redirect dev $older
verb=up
settle $first
state upgraded
ip -n r link add $older type ifb
tc -n r filter del dev $first ingress pref 8111
tc -n r filter add dev $first ingress pref 8111 protocol all matchall \
	action mirred egress redirect dev $older
verb=down
settle $first $second
state ended
