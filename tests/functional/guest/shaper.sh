# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The shaper: when packets leave, of what length they are, and that it can be changed.
pair
shaped() {
	part "shaper.$1"
	shift
	tc -n a qdisc replace dev a0 root zrtt mode blue threshold 1000000 limit 1000000 "$@"
	clock /tmp/got
	inject a0 20 <"$LAB/load"
	wait $!
	cat /tmp/got
}
shaped raw bandwidth 1mbit raw noatm mpu 0
shaped overhead bandwidth 1mbit overhead 114
shaped atm bandwidth 1mbit overhead 0 atm
shaped ptm bandwidth 1mbit overhead 0 ptm
tc -n a qdisc change dev a0 root zrtt bandwidth 8kbit raw noatm
clock /tmp/got
inject a0 20 <"$LAB/load"
sleep 0.1
stats shaper.waiting a a0
tc -n a qdisc change dev a0 root zrtt bandwidth 1mbit
wait $!
part shaper.raised
cat /tmp/got
tc -n a qdisc change dev a0 root zrtt bandwidth 8kbit
clock /tmp/got
inject a0 20 <"$LAB/load"
tc -n a qdisc change dev a0 root zrtt unlimited
wait $!
part shaper.unlimited
cat /tmp/got
stats shaper.end a a0
