#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: libra-info.sh [SECONDS]
# Lists the connections of all network namespaces that use Libra and receive an ACK
# within SECONDS (1), with their estimates of the path. Root only.
set -eu

tracing=/sys/kernel/tracing
if [ ! -d $tracing/events/tcp_libra ]; then
	echo "libra-info: no tracefs at $tracing, or no module tcp_libra" >&2
	exit 1
fi

# an instance of its own leaves other traces alone
instance=$tracing/instances/libra-info-$$
mkdir "$instance"
trap 'rmdir "$instance"' EXIT
trap 'exit 1' HUP INT TERM # dash ends by a signal without its trap of EXIT
echo 1 >"$instance/events/tcp_libra/libra_ack/enable"
sleep "${1:-1}"
echo 0 >"$instance/events/tcp_libra/libra_ack/enable"

awk '
	function field(name) {
		match($0, " " name "=[^ ]+")
		return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
	}
	function endpoint(name,  text) {
		text = field(name)
		if (sub(/^\[::ffff:/, "", text))
			sub(/\]/, "", text)
		return text
	}
	/ libra_ack: / {
		sub(/.* libra_ack:/, "") # before that is the name of the process, which is anything
		connection = sprintf("%-22s %-22s", endpoint("src"), endpoint("dest"))
		known[connection] = sprintf("%13.2f %9.4f %8.6f %10.3f",
			field("capacity_kbps") / 1000, field("alpha_q16") / 65536,
			field("penalty_q16") / 65536, field("min_us") / 1000)
	}
	END {
		printf "%-22s %-22s %13s %9s %8s %10s\n", "LOCAL", "PEER",
			"CAPACITY_MBPS", "ALPHA", "PENALTY", "MIN_RTT_MS"
		for (connection in known)
			print connection, known[connection]
	}
' "$instance/trace"
