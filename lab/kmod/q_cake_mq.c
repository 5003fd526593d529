// SPDX-License-Identifier: GPL-2.0
/*
 * q_cake_mq: lets a tc(8) older than the kernel's cake_mq add it.
 *
 *	tc qdisc add dev DEV root cake_mq [ dual-srchost ] [ bandwidth BITSbit ]
 *
 * All else stays as the kernel has it by default.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils.h"
#include "tc_util.h"

/* Of the kernel's pkt_sched.h */
#define CAKE_ATTR_BASE_RATE64	2	/* bytes per second */
#define CAKE_ATTR_FLOW_MODE	5
#define CAKE_MODE_DUAL_SRC	5

static int cake_mq_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	const int room = 1024;
	struct rtattr *tail = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);
	__u64 rate = 0;
	char *end;

	if (argc && !strcmp(*argv, "dual-srchost")) {
		addattr32(n, room, CAKE_ATTR_FLOW_MODE, CAKE_MODE_DUAL_SRC);
		argc--;
		argv++;
	}
	if (argc) {
		if (argc == 2 && !strcmp(*argv, "bandwidth"))
			rate = strtoull(argv[1], &end, 10) / 8;
		if (!rate || strcmp(end, "bit")) {
			fprintf(stderr,
				"Usage: ... cake_mq [ dual-srchost ] [ bandwidth BITSbit ]\n");
			return -1;
		}
		addattr64(n, room, CAKE_ATTR_BASE_RATE64, rate);
	}
	addattr_nest_end(n, tail);
	return 0;
}

static int cake_mq_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	return 0;
}

struct qdisc_util cake_mq_qdisc_util = {
	.id		= "cake_mq",
	.parse_qopt	= cake_mq_parse_opt,
	.print_qopt	= cake_mq_print_opt,
};
