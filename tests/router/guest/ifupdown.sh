# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: at boot, by Debian's ifupdown.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
settings /etc/network/interfaces.d/eth0
echo 'source /etc/network/interfaces.d/*' >/etc/network/interfaces
printf 'iface eth9 inet manual\n' >/etc/network/interfaces.d/eth9
mkdir -p /run/network /etc/network/if-pre-up.d /etc/network/if-post-down.d
ip link add eth0 type dummy
ip link add eth9 type dummy
"$LAB/ifup" eth0 eth9
part ifupdown.up
tc -j qdisc show
echo
part ifupdown.up_filter
tc filter show dev eth0 ingress
part ifupdown.up_address
ip -br addr show dev eth0
ln -s "$LAB/ifup" /tmp/ifdown
/tmp/ifdown eth0
part ifupdown.down
tc -j qdisc show
echo
part ifupdown.down_links
ip -br link show
ip link del eth0
ip link del eth9
