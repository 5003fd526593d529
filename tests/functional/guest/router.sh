# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Two hosts and a router between them:
#
#   a: a0 10.0.0.1 ------ in0 10.0.0.2 :r: out0 10.0.1.1 ------ b0 10.0.1.2 :b
#         fd00::1                fd00::2      fd01::1              fd01::2
hosts a r b
link a a0 r in0
link r out0 b b0
for host in a r b; do
	ip netns exec "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 \
		net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1
done

# address HOST DEV NETWORK ID: IPv4 and IPv6
address() {
	ip -n "$1" addr add "10.0.$3.$4/24" dev "$2"
	ip -n "$1" addr add "fd0$3::$4/64" dev "$2" nodad
}
address a a0 0 1
address r in0 0 2
address r out0 1 1
address b b0 1 2
ip -n a route add default via 10.0.0.2
ip -n a route add default via fd00::2
ip -n b route add default via 10.0.1.1
ip -n b route add default via fd01::1

# begin ADDRESS [PORT]: a transfer from a to b that does not end by itself
ends=
begin() {
	ip netns exec b nc -l -p "${2:-5000}" <>/tmp/never >/dev/null 2>&1 &
	ends="$ends $!"
	listens b "${2:-5000}"
	ip netns exec a nc "$1" "${2:-5000}" </dev/zero 2>/dev/null &
	ends="$ends $!"
	sleep 0.5
}

# end: of all that began, of which some may have ended with their link
end() {
	for process in $ends; do
		kill "$process" 2>/dev/null || true
		wait "$process" 2>/dev/null || true
	done
	ends=
}
