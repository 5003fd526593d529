#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Lists the connections that use Libra, with what each knows of its path. Arguments
# are a filter of ss, such as "dst 10.0.0.2".
set -euo pipefail

# Libra's values are in BBR's fields, see docs/endpoints.md.
ss --tcp --numeric --info --oneline --no-header "$@" | awk '
	function field(name) {
		match($0, name ":[0-9.]+")
		return substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1)
	}
	BEGIN {
		format = "%-22s %-22s %13s %9s %7s %10s\n"
		printf format, "LOCAL", "PEER", "CAPACITY_MBPS", "ALPHA", "PENALTY", "MIN_RTT_MS"
	}
	/ libra / {
		printf format, $4, $5, sprintf("%.2f", field("bw") / 1e6),
			field("pacing_gain"), field("cwnd_gain"), field("mrtt")
	}
'
