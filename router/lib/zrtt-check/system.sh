# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-check, the machine: kernel, module, tc, settings.
ROOT=${ZRTT_CHECK_ROOT:-} # where the files of a machine are, for tests
release=$(uname -r)

# setting NAME: value of a sysctl, empty if it does not exist
setting() {
	cat "$ROOT/proc/sys/$1" 2>/dev/null || :
}

# the tc of busybox knows no zrtt
have_tc() {
	tc -V 2>/dev/null | grep -q iproute2
}

check_kernel() {
	major=${release%%.*}
	minor=${release#*.}
	minor=${minor%%[!0-9]*}
	if [ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 1 ]; }; then
		finding ok "Linux $release"
	else
		finding FAIL "Linux $release is too old" "6.1 or newer is needed"
	fi
}

check_module() {
	if [ -d "$ROOT/sys/module/sch_zrtt" ]; then
		finding ok "module sch_zrtt is loaded"
		return
	fi
	modules=$ROOT/lib/modules/$release
	if [ -z "$(find "$modules" -name 'sch_zrtt.ko*' 2>/dev/null)" ]; then
		finding FAIL "no module sch_zrtt for this kernel" \
			"make install, or package sch-zrtt-dkms and this kernel's headers"
	elif [ -e "$modules/modules.dep" ] && ! grep -q 'sch_zrtt\.ko' "$modules/modules.dep"; then
		finding FAIL "module sch_zrtt is installed, but modprobe does not find it" "depmod -a"
	elif [ "$(setting kernel/modules_disabled)" = 1 ]; then
		finding FAIL "module loading is disabled" "kernel.modules_disabled: reboot"
	elif grep -Eq '\[(integrity|confidentiality)\]' "$ROOT/sys/kernel/security/lockdown" 2>/dev/null; then
		finding warn "module sch_zrtt is installed, but the kernel is locked down" \
			"sign it with a key that the firmware knows, see mokutil(1)"
	else
		finding ok "module sch_zrtt is installed, and loaded at first use"
	fi
}

check_tc() {
	if ! have_tc; then
		finding FAIL "no tc of iproute2" "install iproute2, on OpenWrt tc-full"
	# prints the plugin's usage; adds nothing
	elif tc qdisc add dev lo root zrtt help 2>&1 | grep -q 'zrtt \['; then
		finding ok "tc knows zrtt${TC_LIB_DIR:+, from $TC_LIB_DIR}"
	else
		finding warn "tc has no plugin for zrtt: no parameters, no statistics" \
			"install q_zrtt.so where tc looks for it, or set TC_LIB_DIR"
	fi
}

check_settings() {
	case $(setting net/ipv4/tcp_ecn) in
	0) finding note "this host's own TCP refuses ECN" "sysctl net.ipv4.tcp_ecn=1" ;;
	2 | 5) finding note "this host's own TCP does not request ECN" "sysctl net.ipv4.tcp_ecn=1" ;;
	*) finding ok "this host's own TCP requests ECN" ;;
	esac
	[ "$(setting net/ipv4/tcp_timestamps)" != 0 ] ||
		finding note "this host's own TCP sends no timestamps" \
			"zrtt can measure RTTs by them, see timestamps in tc-zrtt(8)"
	case $(setting net/ipv4/ip_forward)$(setting net/ipv6/conf/all/forwarding) in
	*[!0]*) ;;
	*) finding note "this host does not forward: zrtt sees only its own packets" ;;
	esac
	if have nft && nft list flowtables 2>/dev/null | grep -q 'flags offload'; then
		finding warn "nftables offloads flows to hardware, which bypasses every qdisc" \
			"take \"flags offload\" from the flowtable"
	fi
}
