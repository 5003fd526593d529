// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "histogram.h"
#include "hosts.h"
#include "prometheus.h"
#include "text.h"

#define US_PER_S	1e6

enum unit {
	UNIT_U32,
	UNIT_U64,
	UNIT_US,	/* __u32, shown in seconds */
	UNIT_Q30,
	UNIT_Q16,
};

/* Entries of one name are adjacent and differ by their label. */
struct metric {
	const char *name;
	const char *type;
	const char *help;
	const char *label;
	size_t offset;		/* within struct instance */
	enum unit unit;
};

#define FIELD(field)	offsetof(struct instance, field)
#define XSTAT(field)	offsetof(struct instance, xstats.field)

static const struct metric metrics[] = {
	{ "zrtt_sent_bytes_total", "counter", "Bytes sent.",
	  "", FIELD(bytes), UNIT_U64 },
	{ "zrtt_sent_packets_total", "counter", "Packets sent.",
	  "", FIELD(packets), UNIT_U64 },
	{ "zrtt_offered_packets_total", "counter", "Packets offered to the queue.",
	  "", XSTAT(packets_in), UNIT_U64 },
	{ "zrtt_marked_packets_total", "counter", "Packets marked CE.",
	  "", XSTAT(ecn_mark), UNIT_U64 },
#define DROPPED "zrtt_dropped_packets_total", "counter", \
	"Packets dropped: by the AQM, late, at the limit, or in a reset."
	{ DROPPED, ",reason=\"aqm\"", XSTAT(drop_mark), UNIT_U64 },
	{ DROPPED, ",reason=\"late\"", XSTAT(drop_late), UNIT_U64 },
	{ DROPPED, ",reason=\"limit\"", XSTAT(drop_limit), UNIT_U64 },
	{ DROPPED, ",reason=\"reset\"", XSTAT(purged), UNIT_U64 },
	{ "zrtt_backlog_bytes", "gauge", "Bytes in the queue.",
	  "", FIELD(queue.backlog), UNIT_U32 },
	{ "zrtt_backlog_packets", "gauge", "Packets in the queue.",
	  "", XSTAT(backlog_packets), UNIT_U32 },
	{ "zrtt_backlog_packets_max", "gauge", "Most packets in the queue so far.",
	  "", XSTAT(maxq), UNIT_U32 },
	{ "zrtt_limit_packets", "gauge", "Longest queue at the present rate of the link, in packets.",
	  "", XSTAT(limit_now), UNIT_U32 },
	{ "zrtt_memory_bytes", "gauge", "Memory of the packets in the queue.",
	  "", XSTAT(memory_used), UNIT_U32 },
	{ "zrtt_sojourn_seconds", "gauge", "Time in the queue, smoothed.",
	  "", XSTAT(delay_us), UNIT_US },
#define LANES(name, type, help, field, unit) \
	{ name, type, help, ",lane=\"sparse\"", \
	  XSTAT(lane[TC_ZRTT_LANE_SPARSE].field), unit }, \
	{ name, type, help, ",lane=\"bulk\"", XSTAT(lane[TC_ZRTT_LANE_BULK].field), unit }, \
	{ name, type, help, ",lane=\"l4s\"", XSTAT(lane[TC_ZRTT_LANE_L4S].field), unit }
	LANES("zrtt_lane_sent_bytes_total", "counter", "Bytes sent from a lane.",
	      bytes, UNIT_U64),
	LANES("zrtt_lane_sent_packets_total", "counter", "Packets sent from a lane.",
	      packets, UNIT_U64),
	LANES("zrtt_lane_marked_packets_total", "counter", "Packets of a lane marked CE.", marks,
	      UNIT_U64),
	LANES("zrtt_lane_dropped_packets_total", "counter",
	      "Packets of a lane dropped: by the AQM, late, or at the limit.", drops, UNIT_U64),
	LANES("zrtt_lane_backlog_packets", "gauge", "Packets in a lane.",
	      backlog_packets, UNIT_U32),
	LANES("zrtt_lane_sojourn_seconds", "gauge", "Time in a lane, smoothed.",
	      delay_us, UNIT_US),
	{ "zrtt_l4s_barred_flows_total", "counter", "Times that a flow lost the low-latency lane.",
	  "", XSTAT(l4s_barred), UNIT_U64 },
	{ "zrtt_target_seconds", "gauge", "Target of the time in the queue.",
	  "", FIELD(target_us), UNIT_US },
	{ "zrtt_probability_ratio", "gauge", "P_b, the base marking probability of the queue.",
	  "", XSTAT(prob), UNIT_Q30 },
	{ "zrtt_alpha", "gauge", "Exponent of RTT_avg / RTT_i.",
	  "", XSTAT(alpha), UNIT_Q16 },
	{ "zrtt_rtt_average_seconds", "gauge", "Mean RTT of live flows, 0 if none is known.",
	  "", XSTAT(rtt_avg_us), UNIT_US },
#define FLOWS "zrtt_flows", "gauge", "Live flows by the source of their RTT."
	{ FLOWS, ",source=\"hint\"", XSTAT(flows_hinted), UNIT_U32 },
	{ FLOWS, ",source=\"mark\"", XSTAT(flows_marked), UNIT_U32 },
	{ FLOWS, ",source=\"timestamps\"", XSTAT(flows_timestamps), UNIT_U32 },
	{ FLOWS, ",source=\"handshake\"", XSTAT(flows_handshake), UNIT_U32 },
	{ FLOWS, ",source=\"quic\"", XSTAT(flows_quic), UNIT_U32 },
	{ FLOWS, ",source=\"none\"", FIELD(flows_unknown), UNIT_U32 },
	{ "zrtt_evicted_flows_total", "counter", "Live flows that lost their slot to another.",
	  "", XSTAT(evicted), UNIT_U64 },
	{ "zrtt_hosts", "gauge", "Hosts or subscribers of the last 2 s.", "", XSTAT(hosts), UNIT_U32 },
	{ "zrtt_hosts_held", "gauge", "Of these, those held back at their due share.",
	  "", XSTAT(hosts_held), UNIT_U32 },
	{ "zrtt_host_due_bytes_per_second", "gauge", "Due share of a host of weight 1.",
	  "", XSTAT(host_due), UNIT_U64 },
	{ "zrtt_evicted_hosts_total", "counter", "Times that a host lost its slot to another.",
	  "", XSTAT(hosts_evicted), UNIT_U64 },
	{ "zrtt_line_rate_bytes_per_second", "gauge", "Rate that bandwidth auto found.",
	  "", XSTAT(line_rate), UNIT_U64 },
	{ "zrtt_line_measured_bytes_per_second", "gauge", "Rate of the line when it had a queue last.",
	  "", XSTAT(line_measured), UNIT_U64 },
	{ "zrtt_line_queue_seconds", "gauge", "Delay of the line's own queue.",
	  "", XSTAT(line_queue_us), UNIT_US },
#define CHANGES "zrtt_line_rate_events_total", "counter", "Times that the rate changed."
	{ CHANGES, ",to=\"less\"", XSTAT(line_lowered), UNIT_U64 },
	{ CHANGES, ",to=\"more\"", XSTAT(line_raised), UNIT_U64 },
	{ "zrtt_line_lost_bytes_total", "counter", "TCP data that the line lost.",
	  "", XSTAT(line_lost), UNIT_U64 },
	{ "zrtt_line_ceiling_bytes_per_second", "gauge", "Rate at which it lost last, 0 = none.",
	  "", XSTAT(line_ceiling), UNIT_U64 },
#define HINTS "zrtt_hint_packets_total", "counter", "Packets with a hint."
	{ HINTS, ",hint=\"valid\"", XSTAT(hint_ok), UNIT_U64 },
	{ HINTS, ",hint=\"malformed\"", XSTAT(hint_bad), UNIT_U64 },
	{ "zrtt_clamped_hints_total", "counter", "Hints bounded by the RTT that the queue measured.",
	  "", XSTAT(hint_clamped), UNIT_U64 },
	{ "zrtt_stripped_hints_total", "counter", "Hints removed from packets.",
	  "", XSTAT(hint_stripped), UNIT_U64 },
	{ "zrtt_idle_events_total", "counter", "Times the queue ran empty.",
	  "", XSTAT(idle_events), UNIT_U64 },
	{ "zrtt_overflow_events_total", "counter", "Arrivals above threshold or limit.",
	  "", XSTAT(overflow_events), UNIT_U64 },
};

#define METRICS	(sizeof(metrics) / sizeof(*metrics))

static void print_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* @name with @suffix, and all labels, @more among them. */
static void print_series(FILE *out, const char *name, const char *suffix,
			 const struct instance *instance, const char *more)
{
	char handle[TEXT_MAX], parent[TEXT_MAX];

	fprintf(out, "%s%s{device=\"", name, suffix);
	text_escape(out, instance->dev);
	fprintf(out, "\",handle=\"%s\",parent=\"%s\"%s} ",
		text_handle(handle, instance->handle),
		text_handle(parent, instance->parent), more);
}

static void print_value(FILE *out, const struct metric *metric,
			const struct instance *instance)
{
	const char *field = (const char *)instance + metric->offset;
	__u64 u64;
	__u32 u32;

	memcpy(&u32, field, sizeof(u32));
	switch (metric->unit) {
	case UNIT_U64:
		memcpy(&u64, field, sizeof(u64));
		fprintf(out, "%llu\n", u64);
		break;
	case UNIT_U32:
		fprintf(out, "%u\n", u32);
		break;
	case UNIT_US:
		fprintf(out, "%.9g\n", u32 / US_PER_S);
		break;
	case UNIT_Q30:
		fprintf(out, "%.9g\n", (double)u32 / TC_ZRTT_P_ONE);
		break;
	case UNIT_Q16:
		fprintf(out, "%.9g\n", (double)u32 / TC_ZRTT_ALPHA_ONE);
		break;
	}
}

/* Kernels without lanes or hosts have no series of them, instead of 0, and queues whose rate
 * is not found none of a line.
 */
static bool is_known(const struct metric *metric, const struct instance *instance)
{
	size_t lanes = XSTAT(lane), hosts = XSTAT(hosts);

	if (metric->offset >= hosts && metric->offset <= XSTAT(hosts_evicted))
		return instance->has_hosts;
	if (metric->offset >= XSTAT(line_rate) && metric->offset <= XSTAT(line_ceiling))
		return instance->xstats.line_rate;
	return instance->has_lanes || metric->offset < lanes ||
	       metric->offset >= lanes + sizeof(instance->xstats.lane);
}

static void print_metrics(FILE *out, const struct snapshot *snapshot)
{
	size_t i, j;

	for (i = 0; i < METRICS; i++) {
		const struct metric *metric = &metrics[i];

		if (!i || strcmp(metric[-1].name, metric->name))
			print_head(out, metric->name, metric->type, metric->help);
		for (j = 0; j < snapshot->count; j++) {
			if (!is_known(metric, &snapshot->instances[j]))
				continue;
			print_series(out, metric->name, "", &snapshot->instances[j],
				     metric->label);
			print_value(out, metric, &snapshot->instances[j]);
		}
	}
}

/* An unknown value gives no series instead of 0. */
static void print_capacities(FILE *out, const struct snapshot *snapshot)
{
	static const char name[] = "zrtt_capacity_bytes_per_second";
	size_t i;

	print_head(out, name, "gauge",
		   "Own bandwidth, or that of the shaper above, or of the link.");
	for (i = 0; i < snapshot->count; i++) {
		const struct instance *instance = &snapshot->instances[i];

		if (!instance->capacity)
			continue;
		print_series(out, name, "", instance, "");
		fprintf(out, "%llu\n", instance->capacity);
	}
}

static void print_histogram(FILE *out, const char *name, const struct instance *instance)
{
	char bound[TEXT_MAX];
	struct histogram histogram;
	size_t flows = 0;
	int i;

	histogram_make(instance, &histogram);
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		flows += histogram.flows[i];
		snprintf(bound, sizeof(bound), ",le=\"%.9g\"",
			 histogram_bound_us(i) / US_PER_S);
		print_series(out, name, "_bucket", instance, bound);
		fprintf(out, "%zu\n", flows);
	}
	print_series(out, name, "_bucket", instance, ",le=\"+Inf\"");
	fprintf(out, "%zu\n", histogram.known);
	print_series(out, name, "_sum", instance, "");
	fprintf(out, "%.9g\n", histogram.sum_us / US_PER_S);
	print_series(out, name, "_count", instance, "");
	fprintf(out, "%zu\n", histogram.known);
}

static void print_histograms(FILE *out, const struct snapshot *snapshot)
{
	static const char name[] = "zrtt_flow_rtt_seconds";
	size_t i;

	print_head(out, name, "histogram",
		   "RTTs of the flows that are live now: it falls, too, so take no rate() of it.");
	for (i = 0; i < snapshot->count; i++)
		print_histogram(out, name, &snapshot->instances[i]);
}

static double rate_of(const struct host *host)
{
	return host->rate;
}

static double flows_of(const struct host *host)
{
	return host->flows;
}

/* Addresses are nobody's business here: a host without a mark has no series. What is not
 * known, below 0, has none either.
 */
static void print_hosts(FILE *out, const struct snapshot *snapshot, size_t most,
			const char *name, double (*value)(const struct host *host))
{
	char mark[TEXT_MAX];
	size_t i, j;

	for (i = 0; i < snapshot->count; i++) {
		const struct instance *instance = &snapshot->instances[i];

		for (j = 0; j < instance->host_count && j < most; j++) {
			const struct host *host = &instance->hosts[j];

			if (!host->has_mark || value(host) < 0)
				continue;
			snprintf(mark, sizeof(mark), ",mark=\"0x%x\"", host->mark);
			print_series(out, name, "", instance, mark);
			fprintf(out, "%.9g\n", value(host));
		}
	}
}

static void print_subscribers(FILE *out, const struct snapshot *snapshot, size_t most)
{
	static const struct {
		const char *name;
		const char *help;
		double (*value)(const struct host *host);
	} of[] = {
		{ "zrtt_host_rate_bytes_per_second", "Rate of a subscriber.", rate_of },
		{ "zrtt_host_due_ratio", "Rate of a subscriber as part of its due share.",
		  host_share },
		{ "zrtt_host_penalty_ratio", "What P_i of its flows is multiplied by.",
		  host_penalty },
		{ "zrtt_host_flows", "Live flows of a subscriber.", flows_of },
	};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
		print_head(out, of[i].name, "gauge", of[i].help);
		print_hosts(out, snapshot, most, of[i].name, of[i].value);
	}
}

void prometheus_print(FILE *out, const struct snapshot *snapshot, long hosts)
{
	print_head(out, "zrtt_mon_build_info", "gauge", "The version of zrtt-mon; always 1.");
	fprintf(out, "zrtt_mon_build_info{version=\"%s\"} 1\n", ZRTT_MON_VERSION);
	print_head(out, "zrtt_instances", "gauge", "Queues of the kind zrtt.");
	fprintf(out, "zrtt_instances %zu\n", snapshot->count);
	print_metrics(out, snapshot);
	print_capacities(out, snapshot);
	print_histograms(out, snapshot);
	if (hosts >= 0)
		print_subscribers(out, snapshot, hosts);
}
