/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_PROMETHEUS_H
#define _MONITOR_PROMETHEUS_H

#include <stdio.h>

#include "snapshot.h"

/* Print all metrics in Prometheus's text format. */
void prometheus_print(FILE *out, const struct snapshot *snapshot);

#endif
