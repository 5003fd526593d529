# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034 # for zrtt.qos
# Stands in for that of sqm-scripts: what zrtt.qos finds set if the user sets nothing.
: "${LINKLAYER=none}" "${OVERHEAD=0}" "${STAB_MPU=0}" "${EECN=ECN}" "${IECN=ECN}"
: "${ELIMIT=}" "${ILIMIT=}" "${ETARGET=}" "${ITARGET=}" "${EQDISC_OPTS=}" "${IQDISC_OPTS=}"

logged() {
	"$@" || [ "$SILENT" -eq 1 ]
}
SILENT=0 TC="logged tc" IP="logged ip"
