# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: a link whose rate varies. No virtual time passes between commands, so
# a change of the rate may change nothing else.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
hosts a b
link a eth0 b b0
ip -n a addr add 10.0.0.1/24 dev eth0
ip -n b addr add 10.0.0.2/24 dev b0
tc -n b qdisc add dev b0 root netem delay 20ms

# loaded NAME: a transfer meets the rate, the recipe changes it, then it goes on
loaded() {
	for port in 5001 5002 5003 5004 5005 5006; do
		bulk 1200 $port &
	done
	sleep 2
	stats "rate.$1.before" a eth0
	ip netns exec a sh -eu "$LAB/recipe-$1"
	stats "rate.$1.after" a eth0
	sleep 1
	stats "rate.$1.second" a eth0
	sleep 2
	stats "rate.$1.fourth" a eth0
	wait
	stats "rate.$1.end" a eth0
}
slow a eth0 20mbit
loaded rate-htb
tc -n a qdisc replace dev eth0 root zrtt bandwidth 20mbit
loaded rate

# a modem that says two rates
cat >/tmp/modem-rate <<'END'
#!/bin/sh
case $(wc -l </tmp/asked) in
0) echo 8mbit ;;
1) echo 3mbit ;;
*) exit 1 ;;
esac
echo >>/tmp/asked
END
chmod +x /tmp/modem-rate
: >/tmp/asked
PATH=/tmp:$PATH
ip netns exec a sh -eu "$LAB/recipe-rate-loop"
stats rate.loop a eth0
