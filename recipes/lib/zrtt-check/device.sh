# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What zrtt-check looks at on a device: ways around its qdisc, and what blurs it.

# devices: those that have zrtt, else those of default routes
devices() {
	found=$(tc qdisc show | sed -n 's/^qdisc zrtt .* dev \([^ ]*\) .*/\1/p' | sort -u)
	[ -n "$found" ] || found=$({
		ip -4 route show default
		ip -6 route show default
	} 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p' | sort -u)
	echo "$found"
}

check_offloads() {
	if ! have ethtool; then
		finding note "no ethtool: what the device offloads is not known" "install it"
		return
	fi
	features=$(ethtool -k "$DEV" 2>/dev/null) || return 0
	on() {
		echo "$features" | grep -q "^$1: on"
	}
	! on hw-tc-offload ||
		finding warn "filters can forward in hardware, past the qdisc" \
			"ethtool -K $DEV hw-tc-offload off"
	! on l2-fwd-offload ||
		finding warn "frames of macvlan devices go past the qdisc" \
			"ethtool -K $DEV l2-fwd-offload off"
	! on large-receive-offload ||
		finding warn "LRO merges packets that cannot be forwarded as they came" \
			"ethtool -K $DEV lro off"
	blurs=
	! on tcp-segmentation-offload || blurs="$blurs TSO"
	! on generic-segmentation-offload || blurs="$blurs GSO"
	! on generic-receive-offload || blurs="$blurs GRO"
	if [ -n "$blurs" ] && tc qdisc show dev "$DEV" | grep -q ' no_split_gso'; then
		finding note "super-packets by$blurs are queued whole" "split_gso, if the link is slow"
	elif [ -n "$blurs" ]; then
		finding ok "super-packets by$blurs are no harm: zrtt splits them (split_gso)"
	fi
}

check_device() {
	check_offloads
	! ip link show dev "$DEV" 2>/dev/null | grep -q prog/xdp ||
		finding warn "an XDP program is there: what it sends on goes past the qdisc" \
			"bpftool net tells whose it is"
	! cat "$ROOT/sys/class/net/$DEV/phys_switch_id" >/dev/null 2>&1 ||
		finding note "a port of a switch, which forwards by itself between its ports"
}
