// SPDX-License-Identifier: GPL-2.0
/*
 * q_line: lets tc(8) add, change and show the laboratory's line.
 *
 *	tc qdisc add dev DEV root line limit BYTES { rate BITS_PER_S | trace FILE } [ before ]
 *	tc qdisc change dev DEV root line [ rate BITS_PER_S ] [ start ] [ reset ]
 */
#include <stdio.h>
#include <string.h>

#include "utils.h"
#include "tc_util.h"

#include "line.h"

static int line_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	const int room = 1024;
	struct rtattr *tail = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);
	__u32 limit, rate;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "start")) {
			addattr8(n, room, TCA_LINE_START, 1);
		} else if (!strcmp(*argv, "before")) {
			addattr8(n, room, TCA_LINE_BEFORE, 1);
		} else if (!strcmp(*argv, "reset")) {
			addattr8(n, room, TCA_LINE_RESET, 1);
		} else if (!strcmp(*argv, "limit") && argc > 1 && !get_u32(&limit, argv[1], 10)) {
			addattr32(n, room, TCA_LINE_LIMIT, limit);
			argc--;
			argv++;
		} else if (!strcmp(*argv, "rate") && argc > 1 && !get_u32(&rate, argv[1], 10)) {
			addattr32(n, room, TCA_LINE_RATE, rate);
			argc--;
			argv++;
		} else if (!strcmp(*argv, "trace") && argc > 1) {
			if (addattr_l(n, room, TCA_LINE_TRACE, argv[1], strlen(argv[1]) + 1))
				return -1;
			argc--;
			argv++;
		} else {
			fprintf(stderr, "line: bad parameter or value: \"%s\"\n", *argv);
			fprintf(stderr, "Usage: ... line [ limit BYTES ] [ rate BITS_PER_S | trace FILE ] [ before ] [ start ] [ reset ]\n");
			return -1;
		}
	}
	addattr_nest_end(n, tail);
	return 0;
}

static int line_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	return 0;
}

static void line_print_delay(const char *name, const struct tc_line_delay *delay)
{
	open_json_object(name);
	print_lluint(PRINT_JSON, "packets", NULL, delay->packets);
	print_lluint(PRINT_JSON, "mean_ns", NULL, delay->mean_ns);
	print_uint(PRINT_JSON, "p50_us", NULL, delay->p50_us);
	print_uint(PRINT_JSON, "p95_us", NULL, delay->p95_us);
	print_uint(PRINT_JSON, "p99_us", NULL, delay->p99_us);
	print_uint(PRINT_JSON, "max_us", NULL, delay->max_us);
	close_json_object();
	print_string(PRINT_FP, NULL, "  %s delay", name);
	print_lluint(PRINT_FP, NULL, " mean %lluns", delay->mean_ns);
	print_uint(PRINT_FP, NULL, " p95 %uus", delay->p95_us);
	print_uint(PRINT_FP, NULL, " max %uus", delay->max_us);
}

static int line_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_line_xstats st;

	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));

	print_lluint(PRINT_ANY, "packets_in", "  in %llu", st.packets_in);
	print_lluint(PRINT_ANY, "packets_out", " out %llu", st.packets_out);
	print_lluint(PRINT_ANY, "line_drops", " dropped %llu", st.drops);
	print_lluint(PRINT_ANY, "bytes_out", " bytes_out %llu", st.bytes_out);
	print_lluint(PRINT_ANY, "capacity_bytes", " of %llu", st.capacity_bytes);
	print_lluint(PRINT_JSON, "elapsed_ns", NULL, st.elapsed_ns);
	line_print_delay("own", &st.own);
	line_print_delay("whole", &st.whole);
	return 0;
}

struct qdisc_util line_qdisc_util = {
	.id		= "line",
	.parse_qopt	= line_parse_opt,
	.print_qopt	= line_print_opt,
	.print_xstats	= line_print_xstats,
};
