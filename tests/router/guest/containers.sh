# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: Docker. The host is r, and its container web is a namespace, too:
#
#   web: eth0 172.17.0.2 ---- veth0 docker0 172.17.0.1 :r: eth0 10.9.0.1 ---- b0 10.9.0.2 :b
# shellcheck source=tests/router/guest/wan.sh
. "$LAB/wan.sh"
masquerade
hosts web
ip -n r link add docker0 type bridge
ip -n r link set docker0 up
link web eth0 r veth0
ip -n r link set veth0 master docker0
ip -n r addr add 172.17.0.1/16 dev docker0
ip -n web addr add 172.17.0.2/16 dev eth0
ip -n web route add default via 172.17.0.1

# what Docker says of its container
ip netns exec web sleep 1000 &
process=$!
printf '#!/bin/sh\necho %d\n' $process >/bin/docker
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$LAB/lib" "$LAB/zrtt-agent" >/bin/zrtt-agent
chmod +x /bin/docker /bin/zrtt-agent

recipe docker
upload r 300 5001
upload web 300 5002
stats containers.handshakes r eth0
sed -n 1p "$LAB/recipe-docker-agent" >"$LAB/recipe-host-agent"
recipe host-agent
sleep 3
upload r 300 5003
upload web 300 5004
stats containers.host_hints r eth0
sed -n 2p "$LAB/recipe-docker-agent" >"$LAB/recipe-web-agent"
recipe web-agent
sleep 3
upload r 300 5005
upload web 300 5006
stats containers.all_hints r eth0
zrtt-agent detach --all
kill $process
