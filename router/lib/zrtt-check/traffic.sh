# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-check, traffic: what the statistics of a device's queues say.
ENOUGH=10000 # packets, before a link is judged

# count NAME...: sum of these statistics over all zrtt queues
count() {
	echo "$SHOWN" | awk -v names="$*" '
		BEGIN { split(names, list); for (i in list) wanted[list[i]] }
		$1 == "qdisc" { ours = $2 == "zrtt" }
		ours && $1 != "qdisc" {
			for (i = 1; i < NF; i++)
				if ($i in wanted)
					sum += $(i + 1)
		}
		END { print sum + 0 }'
}

# With BQL, a driver holds no more packets than the device needs.
check_ring() {
	[ -e "$ROOT/sys/class/net/$DEV/device" ] || return 0
	for limit in "$ROOT/sys/class/net/$DEV/queues"/tx-*/byte_queue_limits/limit; do
		[ ! -e "$limit" ] || [ "$(cat "$limit")" = 0 ] || return 0
	done
	finding warn "the driver queues packets of its own, where zrtt cannot see them (no BQL)" \
		"shape below the link's rate"
}

# Where no packet was ever marked, dropped or late, the bottleneck is elsewhere.
check_rate() {
	! echo "$PLACES" | grep -q ' [a-z]' || return 0
	! echo "$SHOWN" | grep -Eq '^qdisc (htb|tbf|hfsc|cake) [^ ]* root' || return 0
	check_ring
	if [ -n "$PLACES" ]; then
		grew=$(count ecn_mark dropped overlimit drop_late)
		passed=$(count pkts_in)
	else
		grew=$(echo "$SHOWN" | awk '$1 == "Sent" { sum += $7 + $9 + $11 } END { print sum + 0 }')
		passed=$(echo "$SHOWN" | awk '$1 == "Sent" { print $4 + 0; exit }')
	fi
	if [ "$grew" -gt 0 ]; then
		finding ok "a queue forms here, without a shaper"
	elif [ "${passed:-0}" -lt $ENOUGH ]; then
		finding note "too few packets to say whether a queue forms here"
	else
		finding warn "no shaper, and no queue in $passed packets: the bottleneck is elsewhere" \
			"shape a little below the link's rate"
	fi
}

check_rtts() {
	good=$(count hint_ok)
	bad=$(count hint_bad)
	[ "$bad" -eq 0 ] || finding warn "$bad of $((good + bad)) hints are malformed" \
		"find the sender: tcpdump -ni $DEV 'ip[0] & 15 > 5'"
	if [ "$good" -gt 0 ]; then
		finding ok "$good packets had a hint"
	else
		finding note "no packet had a hint" "zrtt-agent on senders, if you have any"
	fi
	flows=$(count flows)
	known=$(count flows_hinted flows_marked flows_timestamps flows_handshake flows_quic)
	if [ "$known" -gt 0 ]; then
		finding ok "RTT known of $known out of $flows flows, $(count flows_handshake) by handshakes"
	elif [ "$flows" -gt 0 ]; then
		finding note "RTT known of 0 out of $flows flows" \
			"they are older than the queue, or not TCP"
	fi
}

# With bandwidth auto, answers are seen if the line has a state other than blind.
check_line() {
	states=$(echo "$SHOWN" | awk '$1 == "line" { print $3 }' | sort -u)
	case $states in
	"") ;;
	*blind*)
		finding warn "bandwidth auto sees no TCP that is answered" \
			"put zrtt with timestamps on the other side of the router, too"
		;;
	loss) finding ok "bandwidth auto keeps below the rate at which the line loses" ;;
	start) finding note "bandwidth auto has not seen the line full yet" ;;
	*) finding ok "bandwidth auto follows the line by what TCP answers" ;;
	esac
}

check_marks() {
	evicted=$(count evicted)
	[ "$evicted" -eq 0 ] || finding warn "$evicted live flows lost their slot in the flow table" \
		"raise flows, see tc-zrtt(8)"
	dropped=$(count dropped)
	[ "$dropped" -eq 0 ] || [ "$(count ecn_mark)" -gt 0 ] ||
		finding note "$dropped packets dropped, none marked: no sender uses ECN" \
			"sysctl net.ipv4.tcp_ecn=1 on senders"
}
