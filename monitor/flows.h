/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_FLOWS_H
#define _MONITOR_FLOWS_H

#include "snapshot.h"

enum order {
	ORDER_RATE,
	ORDER_RTT,
	ORDER_PROB,
	ORDERS,
};

/* How they are called: "rate", "rtt", "prob". */
extern const char *const order_words[ORDERS];

/* Sort the flows of each instance, the largest first. */
void flows_sort(struct snapshot *snapshot, enum order order);

/* Return: where the RTT of a flow comes from, in a word. */
const char *flow_source(const struct flow *flow);

#endif
