# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Each line of the file "parameters" is a verb and what follows "zrtt".
i=0
ip link add d0 type dummy
while read -r verb words; do
	if [ "$verb" = del ]; then
		tc qdisc del dev d0 root
		continue
	fi
	part "parameters.$i"
	# shellcheck disable=SC2086 # words
	tc qdisc "$verb" dev d0 root zrtt $words
	tc -j qdisc show dev d0
	echo
	i=$((i + 1))
done <"$LAB/parameters"
ip link del d0
