/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_PROMETHEUS_H
#define _MONITOR_PROMETHEUS_H

#include <stdio.h>

#include "snapshot.h"

/**
 * prometheus_print() - all metrics in Prometheus's text format
 * @out: where to
 * @snapshot: what to print
 * @hosts: subscribers to print per instance, those of the highest rate; negative = none,
 *	nor their metrics
 */
void prometheus_print(FILE *out, const struct snapshot *snapshot, long hosts);

#endif
