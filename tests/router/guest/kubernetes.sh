# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The pod of router/kubernetes/zrtt.yaml, from its start to its end. The node is this
# machine: entering it comes to nothing.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
mkdir -p /tmp/pod
cat >/tmp/pod/nsenter <<'END'
#!/bin/sh
[ "$1 $2 $3 $4 $5" = "--target 1 --mount --net --" ] || exit 1
shift 5
exec "$@"
END
chmod +x /tmp/pod/nsenter
ip link add eth0 type dummy
PATH="/tmp/pod:$PATH" sh "$LAB/pod" &
sleep 1
part kubernetes.started
tc -j qdisc show dev eth0
echo
kill $!
wait $! || :
part kubernetes.ended
tc -j qdisc show dev eth0
echo
ip link del eth0
