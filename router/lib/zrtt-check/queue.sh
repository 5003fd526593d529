# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-check, the queues of a device: where zrtt is.

# places: for each zrtt the kind of its parent ("root" without one) and of its shaper ("-" without one)
places() {
	echo "$SHOWN" | awk '
		$1 == "qdisc" {
			kind[$3] = $2
			if ($2 == "zrtt")
				zrtt[++n] = $3
			for (i = 4; i <= NF; i++) {
				if ($i == "root") # below 0: the parent is :1
					kind[":"] = $2
				if ($i == "parent")
					above[$3] = $(i + 1)
				if ($i == "bandwidth" && $(i + 1) ~ /^([0-9]|auto)/)
					shaped[$3]
			}
		}
		END {
			for (i = 1; i <= n; i++) {
				handle = zrtt[i]
				shaper = handle in shaped ? "bandwidth" : "-"
				parent = "root"
				while (above[handle] ~ /:/) {
					sub(/:.*/, ":", above[handle])
					handle = above[handle]
					if (parent == "root")
						parent = kind[handle]
					if (shaper == "-" && kind[handle] ~ /^(htb|tbf|hfsc|cake)$/)
						shaper = kind[handle]
				}
				print parent, shaper
			}
		}'
}

check_places() {
	if [ -z "$PLACES" ]; then
		finding note "no zrtt here" "tc qdisc replace dev $DEV root zrtt"
		return
	fi
	while read -r number parent shaper; do
		[ "$parent" = root ] && where="the root" || where="below $parent"
		[ "$number" -eq 1 ] || where="$where, $number times"
		[ "$shaper" = - ] || where="$where, shaped by $shaper"
		finding ok "zrtt is $where"
	done <<-END
		$(echo "$PLACES" | sort | uniq -c)
	END
}

# Where tc shows a *, the device is gone: the kernel drops what it cannot redirect.
check_ifb() {
	while read -r ifb; do
		case $ifb in
		"") ;;
		"*")
			finding FAIL "all arriving packets are dropped: their ifb device is gone" \
				"zrtt-link up $DEV, or delete the filter that redirects"
			;;
		*) finding ok "arriving packets are redirected to $ifb" "zrtt-check $ifb" ;;
		esac
	done <<-END
		$(tc filter show dev "$DEV" ingress 2>/dev/null |
			sed -n 's/.*Redirect to device \([^)]*\)).*/\1/p' | sort -u)
	END
}

check_queue() {
	SHOWN=$(tc -s qdisc show dev "$DEV" 2>/dev/null) || {
		finding note "tc cannot show its queues: the device is gone" "run zrtt-check again"
		return 0
	}
	PLACES=$(places)
	check_places
	check_ifb
	check_rate
	if echo "$SHOWN" | grep -q hint_ok; then
		check_rtts
		check_line
		check_marks
	fi
}
