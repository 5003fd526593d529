// SPDX-License-Identifier: GPL-2.0
/*
 * q_meter: lets tc(8) add, reset and show the laboratory's meter.
 *
 *	tc qdisc add dev DEV parent ID meter
 *	tc qdisc change dev DEV parent ID meter [ reset ] [ poll ] [ liar PORT ] [ tuples ]
 *		[ stop ] [ keep ]
 *	tc -s class show dev DEV parent ID
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "utils.h"
#include "tc_util.h"

#include "meter.h"

static void meter_explain(void)
{
	fprintf(stderr, "Usage: ... meter [ reset ] [ poll ] [ liar PORT ] [ tuples ] [ stop ] [ keep ]\n");
}

static int meter_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			   struct nlmsghdr *n, const char *dev)
{
	const int room = 1024;
	struct rtattr *tail = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "reset")) {
			addattr8(n, room, TCA_METER_RESET, 1);
		} else if (!strcmp(*argv, "poll")) {
			addattr8(n, room, TCA_METER_POLL, 1);
		} else if (!strcmp(*argv, "liar") && argc > 1) {
			__u32 port;

			argc--;
			argv++;
			if (get_u32(&port, *argv, 0)) {
				fprintf(stderr, "meter: no port: \"%s\"\n", *argv);
				return -1;
			}
			addattr32(n, room, TCA_METER_LIAR, port);
		} else if (!strcmp(*argv, "tuples")) {
			addattr8(n, room, TCA_METER_TUPLES, 1);
		} else if (!strcmp(*argv, "stop")) {
			addattr8(n, room, TCA_METER_STOP, 1);
		} else if (!strcmp(*argv, "keep")) {
			addattr8(n, room, TCA_METER_KEEP, 1);
		} else {
			fprintf(stderr, "meter: unknown parameter \"%s\"\n", *argv);
			meter_explain();
			return -1;
		}
	}
	addattr_nest_end(n, tail);
	return 0;
}

static int meter_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	return 0;
}

static void meter_print_parts(const char *name, const struct tc_meter_part *part, int parts)
{
	open_json_array(PRINT_JSON, name);
	for (; parts; parts--, part++) {
		open_json_object(NULL);
		print_lluint(PRINT_JSON, "packets_in", NULL, part->packets_in);
		print_lluint(PRINT_JSON, "packets_out", NULL, part->packets_out);
		print_lluint(PRINT_JSON, "bytes_out", NULL, part->bytes_out);
		print_lluint(PRINT_JSON, "mean_ns", NULL, part->mean_ns);
		print_uint(PRINT_JSON, "p95_us", NULL, part->p95_us);
		print_uint(PRINT_JSON, "p99_us", NULL, part->p99_us);
		print_uint(PRINT_JSON, "max_us", NULL, part->max_us);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
}

/* A line of its own, as iproute2 6.1 prints classes as text only. */
static int meter_print_tuple(FILE *f, const struct rtattr *xstats)
{
	char from[INET6_ADDRSTRLEN] = "-", to[INET6_ADDRSTRLEN] = "-";
	struct tc_meter_tuple t;
	unsigned int i;

	memcpy(&t, RTA_DATA(xstats), sizeof(t));
	if (t.key.family) {
		inet_ntop(t.key.family, t.key.saddr, from, sizeof(from));
		inet_ntop(t.key.family, t.key.daddr, to, sizeof(to));
	}
	fprintf(f, " tuple %u %s %u %s %u packets_in %llu packets_out %llu bytes_out %llu",
		t.key.protocol, from, ntohs(t.key.sport), to, ntohs(t.key.dport),
		t.packets_in, t.packets_out, t.bytes_out);
	fprintf(f, " payload_in %llu payload_out %llu ce_out %llu sojourn_ns %llu first_us %llu last_us %llu",
		t.payload_in, t.payload_out, t.ce_out, t.sojourn_ns, t.first_us, t.last_us);
	fprintf(f, " max_us %u buckets", t.max_us);
	for (i = 0; i < METER_TUPLE_BUCKETS; i++)
		if (t.buckets[i])
			fprintf(f, " %u:%u", i, t.buckets[i]);
	return 0;
}

static int meter_print_xstats(const struct qdisc_util *qu, FILE *f,
			      struct rtattr *xstats)
{
	struct tc_meter_xstats st;

	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) == sizeof(struct tc_meter_tuple))
		return meter_print_tuple(f, xstats);
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));

	print_lluint(PRINT_ANY, "packets_in", "  in %llu", st.packets_in);
	print_lluint(PRINT_ANY, "packets_out", " out %llu", st.packets_out);
	print_lluint(PRINT_ANY, "bytes_in", " bytes_in %llu", st.bytes_in);
	print_lluint(PRINT_ANY, "bytes_out", " bytes_out %llu", st.bytes_out);
	print_lluint(PRINT_ANY, "ce_in", " ce_in %llu", st.ce_in);
	print_lluint(PRINT_ANY, "ce_out", " ce_out %llu", st.ce_out);
	print_nl();
	print_lluint(PRINT_ANY, "mean_ns", "  sojourn mean %lluns", st.mean_ns);
	print_uint(PRINT_ANY, "p50_us", " p50 %uus", st.p50_us);
	print_uint(PRINT_ANY, "p95_us", " p95 %uus", st.p95_us);
	print_uint(PRINT_ANY, "p99_us", " p99 %uus", st.p99_us);
	print_uint(PRINT_ANY, "max_us", " max %uus", st.max_us);
	meter_print_parts("thin", st.thin, METER_THIN_CLASSES);
	meter_print_parts("ecn", st.ecn, METER_ECN_CLASSES);
	print_lluint(PRINT_JSON, "elapsed_ns", NULL, st.elapsed_ns);
	print_lluint(PRINT_JSON, "tuples_unknown", NULL, st.tuples_unknown);
	return 0;
}

struct qdisc_util meter_qdisc_util = {
	.id		= "meter",
	.parse_qopt	= meter_parse_opt,
	.print_qopt	= meter_print_opt,
	.print_xstats	= meter_print_xstats,
};
