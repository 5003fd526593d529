/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_VIEW_H
#define _MONITOR_VIEW_H

#include <stdio.h>

#include "flows.h"

/**
 * struct lists - what of an instance is listed
 * @order: of flows
 * @flows: most flows
 * @hosts: most hosts
 */
struct lists {
	enum order order;
	size_t flows;
	size_t hosts;
};

/**
 * view_print() - all instances, for people
 * @out: where to; headings begin in the first column, all else is indented
 * @before: an earlier snapshot, for rates; empty if there is none
 * @now: what to show, flows in the order wanted
 * @lists: that order, and how many are listed
 */
void view_print(FILE *out, const struct snapshot *before, const struct snapshot *now,
		const struct lists *lists);

#endif
