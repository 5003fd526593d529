// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "hosts.h"
#include "memory.h"

#define IPV6_BITS	128

/* Who has a mark is known by it; a slot may change hands meanwhile. */
static int by_identity(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	__u32 is = x->has_mark ? x->mark : x->number;
	__u32 other = y->has_mark ? y->mark : y->number;

	if (x->has_mark != y->has_mark)
		return x->has_mark ? -1 : 1;
	return is < other ? -1 : is > other;
}

/* Largest first; equal ones by identity, so that the order is stable. */
static int by_rate(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? 1 : -1;
	return by_identity(a, b);
}

/* The host of each flow that has one; to @hosts, unless that is NULL. */
static size_t collect(const struct instance *instance, struct host *hosts)
{
	size_t i, count = 0;

	for (i = 0; i < instance->flow_count; i++) {
		if (!instance->flows[i].host.number)
			continue;
		if (hosts)
			hosts[count] = instance->flows[i].host;
		count++;
	}
	return count;
}

/* Of adjacent ones that are the same, keep one, with an address if any has it. */
static size_t merge(struct host *hosts, size_t count)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++) {
		if (!kept || by_identity(&hosts[kept - 1], &hosts[i]))
			hosts[kept++] = hosts[i];
		else if (!hosts[kept - 1].address_len)
			hosts[kept - 1] = hosts[i];
	}
	return kept;
}

void hosts_make(struct instance *instance)
{
	size_t count = collect(instance, NULL);
	struct host *hosts;

	if (!count)
		return;
	hosts = grow(NULL, count, sizeof(*hosts));
	collect(instance, hosts);
	qsort(hosts, count, sizeof(*hosts), by_identity);
	count = merge(hosts, count);
	hosts = grow(hosts, count, sizeof(*hosts));
	qsort(hosts, count, sizeof(*hosts), by_rate);
	instance->hosts = hosts;
	instance->host_count = count;
}

const char *host_address(const struct host *host, char *text)
{
	bool v6 = host->address_len == sizeof(struct in6_addr);
	char address[INET6_ADDRSTRLEN];

	inet_ntop(v6 ? AF_INET6 : AF_INET, host->address, address, sizeof(address));
	if (v6 && host->prefix6 < IPV6_BITS)
		snprintf(text, HOST_TEXT_MAX, "%s/%u", address, host->prefix6);
	else
		snprintf(text, HOST_TEXT_MAX, "%s", address);
	return text;
}

const char *host_name(const struct host *host, char *text)
{
	char address[HOST_TEXT_MAX];

	if (host->has_mark)
		snprintf(text, HOST_TEXT_MAX, "mark 0x%x", host->mark);
	else if (host->address_len)
		snprintf(text, HOST_TEXT_MAX, "%s %s", host->is_source ? "from" : "to",
			 host_address(host, address));
	else
		snprintf(text, HOST_TEXT_MAX, "host %u", host->number);
	return text;
}

double host_share(const struct host *host)
{
	return host->due ? (double)host->rate / host->due : -1;
}

double host_penalty(const struct host *host)
{
	return (double)host->penalty / TC_ZRTT_PENALTY_ONE;
}
