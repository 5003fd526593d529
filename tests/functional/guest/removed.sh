# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Links, and whole namespaces, go away below zrtt under load.

# remove NAME WORDS...: what holds zrtt, by ip; the module is free soon after
remove() {
	# shellcheck source=tests/functional/guest/loaded.sh
	. "$LAB/loaded.sh"
	stats "removed.$1" r out0
	shift
	ip "$@"
	end
	for host in a b r; do
		ip netns del $host 2>/dev/null || true
	done
	until [ "$(cat /sys/module/sch_zrtt/refcnt)" = 0 ]; do
		sleep 0.1
	done
}

for i in $(seq "$(cat "$LAB/rounds")"); do
	remove "link.$i" -n r link del out0
	remove "namespace.$i" netns del r
done
