// SPDX-License-Identifier: GPL-2.0
/*
 * q_csfq: lets tc(8) add, change and show core-stateless fair queueing.
 *
 *	tc qdisc { add | change } dev DEV parent ID csfq rate RATE
 *		[ limit PACKETS ] [ k TIME ] [ k_alpha TIME ] [ window TIME ] [ ecn | noecn ]
 */
#include <stdio.h>
#include <string.h>

#include "utils.h"
#include "tc_util.h"

#include "csfq.h"
#include "tc_values.h"

enum csfq_kind {
	CSFQ_RATE,	/* bytes per second */
	CSFQ_COUNT,	/* packets */
	CSFQ_TIME,	/* microseconds */
	CSFQ_FLAG,	/* its name sets it, "no" before it clears it */
};

struct csfq_param {
	const char *name;	/* keyword and JSON key */
	enum csfq_kind kind;
};

static const struct csfq_param csfq_params[TCA_CSFQ_MAX + 1] = {
	[TCA_CSFQ_RATE]		= { "rate", CSFQ_RATE },
	[TCA_CSFQ_LIMIT]	= { "limit", CSFQ_COUNT },
	[TCA_CSFQ_K]		= { "k", CSFQ_TIME },
	[TCA_CSFQ_K_ALPHA]	= { "k_alpha", CSFQ_TIME },
	[TCA_CSFQ_WINDOW]	= { "window", CSFQ_TIME },
	[TCA_CSFQ_ECN]		= { "ecn", CSFQ_FLAG },
};

static void csfq_explain(void)
{
	fprintf(stderr,
		"Usage: ... csfq rate RATE [ limit PACKETS ] [ k TIME ] [ k_alpha TIME ]\n"
		"                [ window TIME ] [ ecn | noecn ]\n");
}

static int csfq_attr_of(const char *word)
{
	int attr;

	for (attr = 1; attr <= TCA_CSFQ_MAX; attr++) {
		if (!strcmp(word, csfq_params[attr].name))
			return attr;
	}
	return 0;
}

/* The kernel knows the ranges. */
static int csfq_get(enum csfq_kind kind, const char *text, __u32 *value)
{
	__u64 rate;

	switch (kind) {
	case CSFQ_RATE:
		if (get_rate64(&rate, text) || rate > ~0U)
			return -1;
		*value = rate;
		return 0;
	case CSFQ_TIME:
		return get_time(value, text);
	default:
		return get_u32(value, text, 10);
	}
}

static int csfq_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	const int room = 1024;
	struct rtattr *tail = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);
	__u32 value;
	int attr;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "noecn")) {
			addattr32(n, room, TCA_CSFQ_ECN, 0);
			continue;
		}
		attr = csfq_attr_of(*argv);
		if (!attr) {
			fprintf(stderr, "csfq: unknown parameter \"%s\"\n", *argv);
			csfq_explain();
			return -1;
		}
		value = 1;
		if (csfq_params[attr].kind != CSFQ_FLAG) {
			argc--;
			argv++;
			if (!argc || csfq_get(csfq_params[attr].kind, *argv, &value)) {
				fprintf(stderr, "csfq: bad or no value of \"%s\"\n",
					csfq_params[attr].name);
				csfq_explain();
				return -1;
			}
		}
		addattr32(n, room, attr, value);
	}
	addattr_nest_end(n, tail);
	return 0;
}

static void csfq_print(const struct csfq_param *param, __u32 value)
{
	print_string(PRINT_FP, NULL, "%s ",
		     param->kind == CSFQ_FLAG && !value ? "noecn" : param->name);
	switch (param->kind) {
	case CSFQ_RATE:
		print_lluint(PRINT_ANY, param->name, "%llubit ", value * 8ULL);
		break;
	case CSFQ_TIME:
		print_uint(PRINT_ANY, param->name, "%uus ", value);
		break;
	case CSFQ_COUNT:
		print_uint(PRINT_ANY, param->name, "%u ", value);
		break;
	case CSFQ_FLAG:
		print_bool(PRINT_JSON, param->name, NULL, value);
	}
}

static int csfq_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_CSFQ_MAX + 1];
	int attr;

	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_CSFQ_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	for (attr = 1; attr <= TCA_CSFQ_MAX; attr++) {
		if (tb[attr])
			csfq_print(&csfq_params[attr], rta_getattr_u32(tb[attr]));
	}
	return 0;
}

static int csfq_print_xstats(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct tc_csfq_xstats st;

	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));

	/* Rates in bits, as typed; no fair share: none is needed. */
	if (st.fair_share != ~0U)
		print_lluint(PRINT_ANY, "fair_share", "  fair_share %llubit",
			     st.fair_share * 8ULL);
	print_lluint(PRINT_ANY, "arrival_rate", "  arrival %llubit", st.arrival_rate * 8ULL);
	print_lluint(PRINT_ANY, "accepted_rate", " accepted %llubit",
		     st.accepted_rate * 8ULL);
	print_bool(PRINT_ANY, "congested", " congested %s", st.congested);
	print_nl();
	print_uint(PRINT_ANY, "drop_share", "  drop_share %u", st.drop_share);
	print_uint(PRINT_ANY, "drop_limit", " drop_limit %u", st.drop_limit);
	print_uint(PRINT_ANY, "ecn_mark", " ecn_mark %u", st.ecn_mark);
	print_uint(PRINT_ANY, "evicted", " evicted %u", st.evicted);
	return 0;
}

struct qdisc_util csfq_qdisc_util = {
	.id		= "csfq",
	.parse_qopt	= csfq_parse_opt,
	.print_qopt	= csfq_print_opt,
	.print_xstats	= csfq_print_xstats,
};
