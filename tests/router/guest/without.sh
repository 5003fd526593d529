# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-check where the plugin is missing, and then the module as well. Comes last.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
rm /usr/local/sbin/tc
part without.plugin
TC_LIB_DIR=/nowhere zrtt-check -j lo || echo "rc=$?"
rmmod sch_zrtt
part without.module
zrtt-check -j lo || echo "rc=$?"
