# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# wire.sh SECONDS: runs the scenario, and prints what the hosts sent so long.
set -eu
# shellcheck source=lab/guest/around.sh
. "$LAB/around.sh"
beside ip netns exec router python3 "$LAB/wire.py" "$1"
sh "$LAB/scenario"
# shellcheck disable=SC2154 # beside says which it is
wait "$beside"
