/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_JSON_H
#define _MONITOR_JSON_H

#include <stdio.h>

#include "snapshot.h"

/**
 * json_print() - a line of JSON for each instance
 * @out: where to
 * @snapshot: what to print, flows in the order wanted
 * @flows: most flows to print per instance; negative = no list of flows
 * @hosts: the same of hosts
 */
void json_print(FILE *out, const struct snapshot *snapshot, long flows, long hosts);

#endif
