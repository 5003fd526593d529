// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "flows.h"
#include "text.h"

const char *const order_words[ORDERS] = {
	[ORDER_RATE] = "rate",
	[ORDER_RTT]  = "rtt",
	[ORDER_PROB] = "prob",
};

static const char *const sources[] = {
	[TC_ZRTT_SOURCE_NONE]	    = "none",
	[TC_ZRTT_SOURCE_HINT]	    = "hint",
	[TC_ZRTT_SOURCE_MARK]	    = "mark",
	[TC_ZRTT_SOURCE_TIMESTAMPS] = "timestamps",
	[TC_ZRTT_SOURCE_HANDSHAKE]  = "handshake",
	[TC_ZRTT_SOURCE_QUIC]	    = "quic",
};

/* Largest first; equal ones by class, so that the order is stable. */
static int compare(__u64 a, __u64 b, const struct flow *x, const struct flow *y)
{
	if (a != b)
		return a < b ? 1 : -1;
	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static int by_rate(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return compare(x->rate, y->rate, x, y);
}

static int by_rtt(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return compare(x->rtt_us, y->rtt_us, x, y);
}

static int by_prob(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return compare(x->prob, y->prob, x, y);
}

static int (*const orders[ORDERS])(const void *, const void *) = {
	[ORDER_RATE] = by_rate,
	[ORDER_RTT]  = by_rtt,
	[ORDER_PROB] = by_prob,
};

void flows_sort(struct snapshot *snapshot, enum order order)
{
	size_t i;

	for (i = 0; i < snapshot->count; i++) {
		struct instance *instance = &snapshot->instances[i];

		if (instance->flow_count)
			qsort(instance->flows, instance->flow_count,
			      sizeof(*instance->flows), orders[order]);
	}
}

/* A newer kernel may have more sources. */
const char *flow_source(const struct flow *flow)
{
	return flow->source < sizeof(sources) / sizeof(*sources) ?
		sources[flow->source] : "unknown";
}

const char *flow_protocol(const struct flow *flow, char *text)
{
	const struct protoent *entry = getprotobynumber(flow->protocol);

	if (entry)
		snprintf(text, TEXT_MAX, "%s", entry->p_name);
	else
		snprintf(text, TEXT_MAX, "ipproto-%u", flow->protocol);
	return text;
}

const char *flow_address(const struct flow *flow, const __u8 *address, char *text)
{
	int family = flow->address_len == sizeof(struct in6_addr) ? AF_INET6 : AF_INET;

	return inet_ntop(family, address, text, INET6_ADDRSTRLEN);
}
