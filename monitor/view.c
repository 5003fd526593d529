// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>

#include "histogram.h"
#include "hosts.h"
#include "rates.h"
#include "text.h"
#include "view.h"

#define BAR_MAX		40	/* columns */

static void print_throughput(FILE *out, const struct instance *instance,
			     const struct rates *rates)
{
	char rate[TEXT_MAX], capacity[TEXT_MAX], packets[TEXT_MAX];

	fprintf(out, "  throughput  %s", text_rate(rate, rates->bytes));
	if (instance->capacity)
		fprintf(out, " of %s, %.1f%%", text_rate(capacity, instance->capacity),
			100 * rates->bytes / instance->capacity);
	fprintf(out, "; %s\n", text_number(packets, rates->packets, " packets/s"));
}

static void print_queue(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;
	char sojourn[TEXT_MAX], target[TEXT_MAX], bytes[TEXT_MAX];

	fprintf(out, "  queue       sojourn %s, target %s; %u packets, %s; most %u\n",
		text_time(sojourn, st->delay_us), text_time(target, instance->target_us),
		st->backlog_packets, text_number(bytes, instance->queue.backlog, "B"),
		st->maxq);
}

/* @rates: NULL if they are not known yet */
static void print_lane(FILE *out, const char *name, const struct tc_zrtt_lane_stats *lane,
		       const struct lane_rates *rates)
{
	char sojourn[TEXT_MAX], rate[TEXT_MAX], packets[TEXT_MAX], drops[TEXT_MAX];

	fprintf(out, "  %-10s  sojourn %s; %u packets", name,
		text_time(sojourn, lane->delay_us), lane->backlog_packets);
	if (rates)
		fprintf(out, "; %s, %s, %s", text_rate(rate, rates->bytes),
			text_number(packets, rates->packets, " packets/s"),
			text_number(drops, rates->drops, " drops/s"));
	putc('\n', out);
}

static void print_lanes(FILE *out, const struct instance *instance, const struct rates *rates)
{
	const struct tc_zrtt_lane_stats *l4s = &instance->xstats.lane[TC_ZRTT_LANE_L4S];
	int i;

	if (!instance->has_lanes)
		return;
	for (i = 0; i < __TC_ZRTT_LANE_MAX; i++)
		/* a line less where it is off, or nobody uses it */
		if (i != TC_ZRTT_LANE_L4S || l4s->packets || l4s->backlog_packets)
			print_lane(out, text_lanes[i], &instance->xstats.lane[i],
			   rates ? &rates->lane[i] : NULL);
}

static void print_limit(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;
	char memory[TEXT_MAX];

	fprintf(out, "  limit       %u packets; memory used %s\n", st->limit_now,
		text_number(memory, st->memory_used, "B"));
}

static void print_hosts(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;
	char due[TEXT_MAX];

	if (st->hosts)
		fprintf(out, "  hosts       %u, %u held back; due share %s\n", st->hosts,
			st->hosts_held, text_rate(due, st->host_due));
}

/* What bandwidth auto found, and what the rate does. */
static void print_line(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;
	char rate[TEXT_MAX], measured[TEXT_MAX], queue[TEXT_MAX];

	if (st->line_rate)
		fprintf(out, "  line        %s, %s; measured %s, its queue %s\n",
			text_rate(rate, st->line_rate), text_line(st->line_state),
			text_rate(measured, st->line_measured),
			text_time(queue, st->line_queue_us));
}

static void print_marking(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;
	char prob[TEXT_MAX];

	fprintf(out, "  marking     P_b %s, alpha %.2f\n", text_prob(prob, st->prob),
		(double)st->alpha / TC_ZRTT_ALPHA_ONE);
}

static void print_marks(FILE *out, const struct rates *rates)
{
	char marks[TEXT_MAX], aqm[TEXT_MAX], late[TEXT_MAX], limit[TEXT_MAX];

	fprintf(out, "  per second  %s marks; drops: %s by AQM, %s late, %s at limit\n",
		text_number(marks, rates->ecn_mark, ""),
		text_number(aqm, rates->drop_mark, ""),
		text_number(late, rates->drop_late, ""),
		text_number(limit, rates->drop_limit, ""));
}

static void print_sources(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;
	char rtt[TEXT_MAX];

	fprintf(out, "  flows       %u, mean RTT %s\n", st->flows,
		st->rtt_avg_us ? text_time(rtt, st->rtt_avg_us) : "unknown");
	fprintf(out, "  RTTs from   hint %u, mark %u, timestamps %u, handshake %u, quic %u, none %u\n",
		st->flows_hinted, st->flows_marked, st->flows_timestamps,
		st->flows_handshake, st->flows_quic, instance->flows_unknown);
}

static void print_bucket(FILE *out, const struct histogram *histogram, int bucket,
			 size_t largest)
{
	size_t flows = histogram->flows[bucket];
	size_t bar = (flows * BAR_MAX + largest - 1) / largest;
	bool last = bucket == HISTOGRAM_BUCKETS - 1;
	char bound[TEXT_MAX];

	fprintf(out, "  %9s  %6zu%s",
		last ? "longer" : text_time(bound, histogram_bound_us(bucket)), flows,
		bar ? "  " : "");
	while (bar--)
		putc('#', out);
	putc('\n', out);
}

/* From the first bucket with flows to the last one. */
static void print_histogram(FILE *out, const struct instance *instance)
{
	int bucket, first = HISTOGRAM_BUCKETS, last = 0;
	struct histogram histogram;
	size_t largest = 0;

	histogram_make(instance, &histogram);
	if (!histogram.known)
		return;
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (!histogram.flows[bucket])
			continue;
		if (first == HISTOGRAM_BUCKETS)
			first = bucket;
		last = bucket;
		if (largest < histogram.flows[bucket])
			largest = histogram.flows[bucket];
	}
	fputs("\n  RTT up to   flows\n", out);
	for (bucket = first; bucket <= last; bucket++)
		print_bucket(out, &histogram, bucket, largest);
}

static void print_end(FILE *out, const struct flow *flow, const __u8 *address, __u16 port)
{
	char text[INET6_ADDRSTRLEN];
	bool v6 = flow->address_len == sizeof(struct in6_addr);

	flow_address(flow, address, text);
	fprintf(out, v6 && flow->has_ports ? "[%s]" : "%s", text);
	if (flow->has_ports)
		fprintf(out, ":%u", port);
}

/* The class, if the qdisc keeps no addresses. */
static void print_addresses(FILE *out, const struct flow *flow)
{
	char text[TEXT_MAX];

	if (!flow->address_len) {
		fputs(text_handle(text, flow->handle), out);
		return;
	}
	fprintf(out, "%s ", flow_protocol(flow, text));
	print_end(out, flow, flow->src, flow->sport);
	fputs(" > ", out);
	print_end(out, flow, flow->dst, flow->dport);
}

static void print_flow(FILE *out, const struct flow *flow)
{
	char rtt[TEXT_MAX], prob[TEXT_MAX], rate[TEXT_MAX];

	fprintf(out, "  %9s  %-10s  %7s  %12s  ",
		flow->rtt_us ? text_time(rtt, flow->rtt_us) : "-", flow_source(flow),
		text_prob(prob, flow->prob), text_rate(rate, flow->rate));
	print_addresses(out, flow);
	putc('\n', out);
}

static void print_flows(FILE *out, const struct instance *instance,
			const struct lists *lists)
{
	size_t i;

	if (!instance->flow_count || !lists->flows)
		return;
	fprintf(out, "\n  %9s  %-10s  %7s  %12s  flow, %zu by %s\n", "RTT", "from", "P_i",
		"rate", instance->flow_count, order_words[lists->order]);
	for (i = 0; i < instance->flow_count && i < lists->flows; i++)
		print_flow(out, &instance->flows[i]);
}

static void print_host(FILE *out, const struct host *host)
{
	char penalty[TEXT_MAX], share[TEXT_MAX] = "-", rate[TEXT_MAX], name[HOST_TEXT_MAX];

	if (host_share(host) >= 0)
		snprintf(share, sizeof(share), "%.0f%%", 100 * host_share(host));
	fprintf(out, "  %9u  %10s  %7s  %12s  %s\n", host->flows,
		text_number(penalty, host_penalty(host), ""), share,
		text_rate(rate, host->rate), host_name(host, name));
}

/* Its columns are those of flows, so that rates are one below the other. */
static void print_first_hosts(FILE *out, const struct instance *instance, size_t most)
{
	char all[TEXT_MAX] = "";
	size_t i;

	if (!instance->host_count || !most)
		return;
	/* hosts whose flows are no classes are not among them */
	if (instance->host_count < instance->xstats.hosts)
		snprintf(all, sizeof(all), " of %u", instance->xstats.hosts);
	fprintf(out, "\n  %9s  %10s  %7s  %12s  host, %zu%s by rate\n", "flows", "penalty",
		"of due", "rate", instance->host_count, all);
	for (i = 0; i < instance->host_count && i < most; i++)
		print_host(out, &instance->hosts[i]);
}

void view_print(FILE *out, const struct snapshot *before, const struct snapshot *now,
		const struct lists *lists)
{
	char handle[TEXT_MAX], parent[TEXT_MAX];
	struct rates rates;
	size_t i;

	for (i = 0; i < now->count; i++) {
		const struct instance *instance = &now->instances[i];
		bool known = rates_between(before, now, instance, &rates);

		fprintf(out, "%s%s: zrtt %s parent %s\n", i ? "\n" : "", instance->dev,
			text_handle(handle, instance->handle),
			text_handle(parent, instance->parent));
		if (known)
			print_throughput(out, instance, &rates);
		print_queue(out, instance);
		print_lanes(out, instance, known ? &rates : NULL);
		print_limit(out, instance);
		print_hosts(out, instance);
		print_line(out, instance);
		print_marking(out, instance);
		if (known)
			print_marks(out, &rates);
		print_sources(out, instance);
		print_histogram(out, instance);
		print_first_hosts(out, instance, lists->hosts);
		print_flows(out, instance, lists);
	}
}
