// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>

#include <linux/pkt_sched.h>

#include "flows.h"
#include "hosts.h"
#include "json.h"
#include "text.h"

#define NS_PER_MS	1000000

static void print_word(FILE *out, const char *name, const char *word)
{
	fprintf(out, ",\"%s\":\"%s\"", name, word);
}

static void print_handle(FILE *out, const char *name, __u32 handle)
{
	char text[TEXT_MAX];

	print_word(out, name, text_handle(text, handle));
}

static void print_count(FILE *out, const char *name, __u64 count)
{
	fprintf(out, ",\"%s\":%llu", name, count);
}

static void print_fraction(FILE *out, const char *name, double value)
{
	fprintf(out, ",\"%s\":%.9g", name, value);
}

static void print_mark(FILE *out, const char *name, const struct host *host)
{
	if (host->has_mark)
		fprintf(out, ",\"%s\":\"0x%x\"", name, host->mark);
}

static void print_flow(FILE *out, const struct flow *flow)
{
	char protocol[TEXT_MAX], address[INET6_ADDRSTRLEN];

	fputs("{\"class\":\"zrtt\"", out);
	print_handle(out, "handle", flow->handle);
	print_count(out, "rtt_us", flow->rtt_us);
	print_word(out, "source", flow_source(flow));
	print_count(out, "rate", flow->rate);
	print_fraction(out, "prob", (double)flow->prob / TC_ZRTT_P_ONE);
	if (flow->host.number) {
		print_count(out, "host", flow->host.number);
		print_mark(out, "host_mark", &flow->host);
	}
	if (flow->address_len) {
		print_word(out, "protocol", flow_protocol(flow, protocol));
		print_word(out, "src", flow_address(flow, flow->src, address));
		print_word(out, "dst", flow_address(flow, flow->dst, address));
	}
	if (flow->has_ports) {
		print_count(out, "sport", flow->sport);
		print_count(out, "dport", flow->dport);
	}
	putc('}', out);
}

static void print_flows(FILE *out, const struct instance *instance, size_t most)
{
	size_t i;

	fputs(",\"classes\":[", out);
	for (i = 0; i < instance->flow_count && i < most; i++) {
		fputs(i ? "," : "", out);
		print_flow(out, &instance->flows[i]);
	}
	putc(']', out);
}

static void print_host(FILE *out, const struct host *host)
{
	char address[HOST_TEXT_MAX];

	fprintf(out, "{\"host\":%u", host->number);
	print_mark(out, "mark", host);
	if (host->address_len)
		print_word(out, host->is_source ? "src" : "dst",
			   host_address(host, address));
	print_count(out, "flows", host->flows);
	print_count(out, "rate", host->rate);
	print_count(out, "due", host->due);
	print_fraction(out, "penalty", host_penalty(host));
	putc('}', out);
}

static void print_host_list(FILE *out, const struct instance *instance, size_t most)
{
	size_t i;

	fputs(",\"host_list\":[", out);
	for (i = 0; i < instance->host_count && i < most; i++) {
		fputs(i ? "," : "", out);
		print_host(out, &instance->hosts[i]);
	}
	putc(']', out);
}

static void print_lanes(FILE *out, const struct tc_zrtt_lane_stats *lane)
{
	int i;

	fputs(",\"lanes\":[", out);
	for (i = 0; i < __TC_ZRTT_LANE_MAX; i++, lane++) {
		fprintf(out, "%s{\"name\":\"%s\"", i ? "," : "", text_lanes[i]);
		print_count(out, "packets", lane->packets);
		print_count(out, "bytes", lane->bytes);
		print_count(out, "marks", lane->marks);
		print_count(out, "drops", lane->drops);
		print_count(out, "backlog_packets", lane->backlog_packets);
		print_count(out, "delay_us", lane->delay_us);
		putc('}', out);
	}
	putc(']', out);
}

static void print_hosts(FILE *out, const struct tc_zrtt_xstats *st)
{
	print_count(out, "hosts", st->hosts);
	print_count(out, "hosts_held", st->hosts_held);
	print_count(out, "host_due", st->host_due);
	print_count(out, "hosts_evicted", st->hosts_evicted);
}

static void print_line(FILE *out, const struct tc_zrtt_xstats *st)
{
	fprintf(out, ",\"line\":{\"state\":\"%s\"", text_line(st->line_state));
	print_count(out, "rate", st->line_rate);
	print_count(out, "measured", st->line_measured);
	print_count(out, "queue_us", st->line_queue_us);
	print_count(out, "hosts", st->line_hosts);
	print_count(out, "lowered", st->line_lowered);
	print_count(out, "raised", st->line_raised);
	print_count(out, "lost", st->line_lost);
	print_count(out, "ceiling", st->line_ceiling);
	putc('}', out);
}

/* Names, units and order are those of tc -s -j qdisc show. */
static void print_instance(FILE *out, const struct instance *instance)
{
	const struct tc_zrtt_xstats *st = &instance->xstats;

	fputs("\"kind\":\"zrtt\"", out);
	print_handle(out, "handle", instance->handle);
	fputs(",\"dev\":\"", out);
	text_escape(out, instance->dev);
	putc('"', out);
	if (instance->parent == TC_H_ROOT)
		fputs(",\"root\":true", out);
	else
		print_handle(out, "parent", instance->parent);
	print_count(out, "bytes", instance->bytes);
	print_count(out, "packets", instance->packets);
	print_count(out, "drops", instance->queue.drops);
	print_count(out, "overlimits", instance->queue.overlimits);
	print_count(out, "requeues", instance->queue.requeues);
	print_count(out, "backlog", instance->queue.backlog);
	print_count(out, "qlen", instance->queue.qlen);
	print_fraction(out, "prob", (double)st->prob / TC_ZRTT_P_ONE);
	print_count(out, "delay_us", st->delay_us);
	print_count(out, "dq_rate", st->dq_rate64);
	print_count(out, "packets_in", st->packets_in);
	print_count(out, "drop_limit", st->drop_limit);
	print_count(out, "drop_mark", st->drop_mark);
	print_count(out, "maxq", st->maxq);
	print_count(out, "ecn_mark", st->ecn_mark);
	print_fraction(out, "alpha", (double)st->alpha / TC_ZRTT_ALPHA_ONE);
	print_count(out, "rtt_avg_us", st->rtt_avg_us);
	print_count(out, "flows", st->flows);
	print_count(out, "flows_hinted", st->flows_hinted);
	print_count(out, "flows_marked", st->flows_marked);
	print_count(out, "flows_timestamps", st->flows_timestamps);
	print_count(out, "flows_handshake", st->flows_handshake);
	print_count(out, "flows_quic", st->flows_quic);
	print_count(out, "evicted", st->evicted);
	print_count(out, "hint_ok", st->hint_ok);
	print_count(out, "hint_bad", st->hint_bad);
	print_count(out, "hint_clamped", st->hint_clamped);
	print_count(out, "hint_stripped", st->hint_stripped);
	print_count(out, "idle_events", st->idle_events);
	print_count(out, "overflow_events", st->overflow_events);
	print_count(out, "drop_late", st->drop_late);
	print_count(out, "purged", st->purged);
	print_count(out, "backlog_packets", st->backlog_packets);
	print_count(out, "memory_used", st->memory_used);
	print_count(out, "limit_now", st->limit_now);
	print_count(out, "l4s_barred", st->l4s_barred);
	if (instance->has_lanes)
		print_lanes(out, st->lane);
	if (instance->has_hosts)
		print_hosts(out, st);
	if (st->line_rate)
		print_line(out, st);
	if (instance->capacity)
		print_count(out, "capacity", instance->capacity);
}

void json_print(FILE *out, const struct snapshot *snapshot, long flows, long hosts)
{
	size_t i;

	for (i = 0; i < snapshot->count; i++) {
		fprintf(out, "{\"time\":%lld.%03ld,", (long long)snapshot->when.tv_sec,
			snapshot->when.tv_nsec / NS_PER_MS);
		print_instance(out, &snapshot->instances[i]);
		if (flows >= 0)
			print_flows(out, &snapshot->instances[i], flows);
		if (hosts >= 0)
			print_host_list(out, &snapshot->instances[i], hosts);
		fputs("}\n", out);
	}
}
