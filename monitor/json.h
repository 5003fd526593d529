/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_JSON_H
#define _MONITOR_JSON_H

#include <stdio.h>

#include "snapshot.h"

/**
 * json_print() - a line of JSON for each instance
 * @out: where to
 * @snapshot: what to print, flows in the order wanted
 * @flows: print so many of an instance's flows at most; below 0 = no list of flows
 */
void json_print(FILE *out, const struct snapshot *snapshot, long flows);

#endif
