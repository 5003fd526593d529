#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Puts what the packages installed where they did, and runs the test that comes with them.
set -eu

unset TC_LIB_DIR
cp -r "$LAB/root/." /
if grep '^sch_zrtt ' /proc/modules; then exit 1; fi
"$LAB/test"
echo "loaded $(grep -c -e '^sch_zrtt ' -e '^tcp_libra ' /proc/modules)"
