# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-check, a device: what bypasses its qdisc, and offloads.

# devices: names of those that have zrtt, else of those of the default routes
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
		finding note "no ethtool: offloads of the device are unknown" "install it"
		return
	fi
	features=$(ethtool -k "$DEV" 2>/dev/null) || return 0
	on() {
		echo "$features" | grep -q "^$1: on"
	}
	! on hw-tc-offload ||
		finding warn "filters can forward in hardware, which bypasses the qdisc" \
			"ethtool -K $DEV hw-tc-offload off"
	! on l2-fwd-offload ||
		finding warn "frames of macvlan devices bypass the qdisc" \
			"ethtool -K $DEV l2-fwd-offload off"
	! on large-receive-offload ||
		finding warn "LRO merges packets, which cannot be forwarded unchanged then" \
			"ethtool -K $DEV lro off"
	offloads=
	! on tcp-segmentation-offload || offloads="$offloads TSO"
	! on generic-segmentation-offload || offloads="$offloads GSO"
	! on generic-receive-offload || offloads="$offloads GRO"
	[ -n "$offloads" ] || return 0
	case $(tc qdisc show dev "$DEV" 2>/dev/null | grep '^qdisc zrtt ') in
	*" no_split_gso"*)
		finding note "GSO packets are queued whole (offloads$offloads)" "split_gso, if the link is slow"
		;;
	*" split_gso"*) finding ok "zrtt splits GSO packets (offloads$offloads)" ;;
	esac
}

check_device() {
	check_offloads
	! ip link show dev "$DEV" 2>/dev/null | grep -q prog/xdp ||
		finding warn "an XDP program is attached: packets that it forwards bypass the qdisc" \
			"bpftool net shows it"
	! cat "$ROOT/sys/class/net/$DEV/phys_switch_id" >/dev/null 2>&1 ||
		finding note "a switch port: the switch forwards between its ports without the qdisc"
}
