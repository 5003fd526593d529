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

/* Names of the orders: "rate", "rtt", "prob". */
extern const char *const order_words[ORDERS];

/* Sort the flows of each instance, the largest first. */
void flows_sort(struct snapshot *snapshot, enum order order);

/* Return: the RTT source of a flow, as a word. */
const char *flow_source(const struct flow *flow);

/* The name in /etc/protocols or, as tc, ipproto-N; to TEXT_MAX bytes, returned. */
const char *flow_protocol(const struct flow *flow, char *text);

/* One of the flow's two addresses; to INET6_ADDRSTRLEN bytes, returned. */
const char *flow_address(const struct flow *flow, const __u8 *address, char *text);

#endif
