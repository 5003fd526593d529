# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sends what the specification says, and prints what came to the loopback device.
set -eu
ip netns add q
ip -n q link set lo up
ip netns exec q python3 "$LAB/queries.py" "$LAB/traffic" "$LAB/spec" /tmp/result
