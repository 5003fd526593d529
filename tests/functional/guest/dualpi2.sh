# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The kernel's dualpi2 through the tc of a distribution that does not know it.
set -eu
# shellcheck source=tests/functional/guest/lib.sh
. "$LAB/lib.sh"

ip link add d0 type dummy
part refusals
for words in "target 5ms" "limit" "limit 0" "limit many"; do
	# shellcheck disable=SC2086 # words
	tc qdisc add dev d0 root dualpi2 $words 2>&1 || echo "rc=$?"
done
part none
tc -j qdisc show dev d0 root
tc qdisc add dev d0 root dualpi2 limit 77
part json
tc -s -j qdisc show dev d0
part text
tc -s qdisc show dev d0
part end # what the kernel says next is no JSON
