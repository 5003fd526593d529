# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Runs the scenario, then shows what the receivers' TCP counted.
set -eu
sh "$LAB/scenario"
ip netns exec rx cat /proc/net/netstat
