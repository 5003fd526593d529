// SPDX-License-Identifier: GPL-2.0
/*
 * q_dualpi2: lets a tc(8) older than the kernel's dualpi2 add and show it.
 *
 *	tc qdisc { add | change } dev DEV parent ID dualpi2 [ limit PACKETS ]
 *
 * All else stays as the kernel has it by default (RFC 9332).
 */
#include <stdio.h>
#include <string.h>

#include "utils.h"
#include "tc_util.h"

/* Of the kernel's pkt_sched.h since 6.17, under names that it does not use. */
enum {
	DUALPI2_ATTR_LIMIT = 1,		/* u32, packets */
	DUALPI2_ATTR_TARGET = 3,	/* u32, microseconds */
	DUALPI2_ATTR_MAX = DUALPI2_ATTR_TARGET,
};

struct dualpi2_stats {
	__u32 prob;		/* of the base controller, Q32 */
	__u32 delay_c_us;	/* of the classic queue, microseconds */
	__u32 delay_l_us;	/* of the low-latency queue, microseconds */
	__u32 packets_in_c;	/* into the classic queue */
	__u32 packets_in_l;	/* into the low-latency queue */
	__u32 maxq;		/* packets */
	__u32 ecn_mark;		/* packets marked */
	__u32 step_mark;	/* of these by the low-latency queue's threshold */
};

#define DUALPI2_PROB_ONE	4294967296.0

static int dualpi2_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	const int room = 1024;
	struct rtattr *tail = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);
	__u32 limit;

	for (; argc > 0; argc -= 2, argv += 2) {
		if (strcmp(*argv, "limit")) {
			fprintf(stderr, "dualpi2: unknown parameter \"%s\"\n", *argv);
			fprintf(stderr, "Usage: ... dualpi2 [ limit PACKETS ]\n");
			return -1;
		}
		if (argc < 2 || get_u32(&limit, argv[1], 10) || !limit) {
			fprintf(stderr, "dualpi2: \"limit\" must be at least 1 packet\n");
			return -1;
		}
		addattr32(n, room, DUALPI2_ATTR_LIMIT, limit);
	}
	addattr_nest_end(n, tail);
	return 0;
}

static int dualpi2_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[DUALPI2_ATTR_MAX + 1];

	if (!opt)
		return 0;
	parse_rtattr(tb, DUALPI2_ATTR_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	if (tb[DUALPI2_ATTR_LIMIT])
		print_uint(PRINT_ANY, "limit", "limit %up ",
			   rta_getattr_u32(tb[DUALPI2_ATTR_LIMIT]));
	if (tb[DUALPI2_ATTR_TARGET])
		print_uint(PRINT_ANY, "target", "target %uus ",
			   rta_getattr_u32(tb[DUALPI2_ATTR_TARGET]));
	return 0;
}

static int dualpi2_print_xstats(const struct qdisc_util *qu, FILE *f,
				struct rtattr *xstats)
{
	struct dualpi2_stats st;

	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));

	print_float(PRINT_ANY, "prob", "  prob %f", st.prob / DUALPI2_PROB_ONE);
	print_uint(PRINT_ANY, "delay_c_us", " delay_c %uus", st.delay_c_us);
	print_uint(PRINT_ANY, "delay_l_us", " delay_l %uus", st.delay_l_us);
	print_nl();
	print_uint(PRINT_ANY, "packets_in_c", "  in_c %u", st.packets_in_c);
	print_uint(PRINT_ANY, "packets_in_l", " in_l %u", st.packets_in_l);
	print_uint(PRINT_ANY, "maxq", " maxq %u", st.maxq);
	print_uint(PRINT_ANY, "ecn_mark", " ecn_mark %u", st.ecn_mark);
	print_uint(PRINT_ANY, "step_mark", " step_mark %u", st.step_mark);
	return 0;
}

struct qdisc_util dualpi2_qdisc_util = {
	.id		= "dualpi2",
	.parse_qopt	= dualpi2_parse_opt,
	.print_qopt	= dualpi2_print_opt,
	.print_xstats	= dualpi2_print_xstats,
};
