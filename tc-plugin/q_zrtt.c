// SPDX-License-Identifier: GPL-2.0
/*
 * q_zrtt.c	tc(8) support for the zrtt qdisc, see tc-zrtt(8).
 *
 * One table holds every parameter: parsing, error messages and both kinds of
 * output walk it, so they cannot disagree. Attributes the user did not type
 * are not sent: the kernel keeps its value, or takes it from the preset.
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <linux/pkt_sched_zrtt.h>

#include "utils.h"
#include "tc_util.h"

#define ZRTT_MAX_MSG	1024	/* bytes of netlink message, as in q_pie.c */
#define ZRTT_MAX_DIGITS	9	/* after the point: finer than a step of Q30 */
#define ZRTT_MAX_VALUE	1e15	/* doubles are exact up to there */
#define ZRTT_PERCENT	(TC_ZRTT_P_ONE / 100.0)
#define ZRTT_US_PER_MS	1000.0
#define ZRTT_US_PER_S	1000000.0
#define ZRTT_KBIT	125.0	/* bytes per second */
#define ZRTT_KB		1024.0	/* bytes, as in tc(8) */
#define ZRTT_MB		(1024 * ZRTT_KB)

enum zrtt_kind {
	ZRTT_COUNT,	/* whole number */
	ZRTT_POWER2,	/* whole number, power of two */
	ZRTT_SIZE,	/* bytes */
	ZRTT_TIME,	/* microseconds */
	ZRTT_PROB,	/* Q30 */
	ZRTT_EXPONENT,	/* Q16 */
	ZRTT_WORD,	/* index into words */
	ZRTT_LAW,	/* index into words, or an exponent for TC_ZRTT_ALPHA_FIXED */
	ZRTT_RATE,	/* bytes per second, 64 bits; off is 0 */
	ZRTT_SIGNED,	/* whole number, perhaps below 0; off is TC_ZRTT_OVERHEAD_RAW */
	ZRTT_MASK,	/* adjacent bits, range in bits; off clears it */
	ZRTT_CHOICE,	/* words without a name, which sets what they index */
	ZRTT_FLAG,	/* name sets it, off clears it */
};

struct zrtt_param {
	const char *name;		/* keyword and JSON key */
	const char *off;		/* keyword for "none", "not" or "default" */
	const char *unit;		/* named in error messages */
	const char *const *words;	/* ends with NULL */
	enum zrtt_kind kind;
	__u16 attr;
	__s64 min;			/* both ends allowed */
	__s64 max;
};

static const char *const zrtt_modes[] = {
	[TC_ZRTT_MODE_ZRTT]	= "zrtt",
	[TC_ZRTT_MODE_PAPER]	= "paper",
	[TC_ZRTT_MODE_MRTT]	= "mrtt",
	[TC_ZRTT_MODE_PRTO]	= "prto",
	[TC_ZRTT_MODE_BLUE]	= "blue",
	NULL
};

static const char *const zrtt_controllers[] = {
	[TC_ZRTT_CTL_BLUE]	= "blue",
	[TC_ZRTT_CTL_PBLUE]	= "pblue",
	[TC_ZRTT_CTL_PI2]	= "pi2",
	NULL
};

static const char *const zrtt_laws[] = {
	[TC_ZRTT_ALPHA_CAPPED]	= "capped",
	[TC_ZRTT_ALPHA_PAPER]	= "paper",
	NULL
};

static const char *const zrtt_hints[] = {
	[TC_ZRTT_HINT_CLAMP]	= "clamp",
	[TC_ZRTT_HINT_TRUST]	= "trust",
	[TC_ZRTT_HINT_IGNORE]	= "ignore",
	NULL
};

static const char *const zrtt_fairs[] = {
	[TC_ZRTT_FAIR_FLOW]	= "flow",
	[TC_ZRTT_FAIR_SRCHOST]	= "srchost",
	[TC_ZRTT_FAIR_DSTHOST]	= "dsthost",
	[TC_ZRTT_FAIR_DUALHOST]	= "dualhost",
	[TC_ZRTT_FAIR_MARK]	= "mark",
	NULL
};

static const char *const zrtt_atms[] = {
	[TC_ZRTT_ATM_NONE]	= "noatm",
	[TC_ZRTT_ATM_ATM]	= "atm",
	[TC_ZRTT_ATM_PTM]	= "ptm",
	NULL
};

/* What follows "bandwidth", and where the line is whose rate is found then. */
static const char *const zrtt_auto[] = { "auto", NULL };

static const char *const zrtt_autos[] = {
	[TC_ZRTT_AUTO_OFF]	= "",	/* not shown, not typed: a rate turns it off */
	[TC_ZRTT_AUTO_EGRESS]	= "egress",
	[TC_ZRTT_AUTO_INGRESS]	= "ingress",
	NULL
};

static const char *const zrtt_lines[] = {
	[TC_ZRTT_LINE_OFF]	= "off",
	[TC_ZRTT_LINE_START]	= "start",
	[TC_ZRTT_LINE_HOLD]	= "hold",
	[TC_ZRTT_LINE_GROW]	= "grow",
	[TC_ZRTT_LINE_QUEUE]	= "queue",
	[TC_ZRTT_LINE_BLIND]	= "blind",
	[TC_ZRTT_LINE_LOSS]	= "loss",
	NULL
};

static const char *const zrtt_lanes[] = {
	[TC_ZRTT_LANE_SPARSE]	= "sparse",
	[TC_ZRTT_LANE_BULK]	= "bulk",
	[TC_ZRTT_LANE_L4S]	= "l4s",
};

static const char *const zrtt_sources[] = {
	[TC_ZRTT_SOURCE_NONE]		= "none",
	[TC_ZRTT_SOURCE_HINT]		= "hint",
	[TC_ZRTT_SOURCE_MARK]		= "mark",
	[TC_ZRTT_SOURCE_TIMESTAMPS]	= "timestamps",
	[TC_ZRTT_SOURCE_HANDSHAKE]	= "handshake",
	[TC_ZRTT_SOURCE_QUIC]		= "quic",
	NULL
};

static const char *const zrtt_ends[] = {
	[TC_ZRTT_END_SOURCE]		= "src",
	[TC_ZRTT_END_DESTINATION]	= "dst",
	NULL
};

/* What follows "fair mark" and "weight mark". */
static const struct zrtt_param zrtt_fair_mask = {
	.name = "fair mark", .attr = TCA_ZRTT_FAIR_MASK,
	.kind = ZRTT_MASK, .unit = " adjacent bits",
	.min = 1, .max = TC_ZRTT_FAIR_BITS_MAX
};

static const struct zrtt_param zrtt_weight_mask = {
	.name = "weight mark", .attr = TCA_ZRTT_WEIGHT_MASK,
	.kind = ZRTT_MASK, .unit = " adjacent bits",
	.min = 1, .max = TC_ZRTT_WEIGHT_BITS_MAX
};

/* In the order in which tc qdisc show prints them. */
static const struct zrtt_param zrtt_params[] = {
	{ .name = "mode", .attr = TCA_ZRTT_MODE,
	  .kind = ZRTT_WORD, .words = zrtt_modes },
	{ .name = "limit", .attr = TCA_ZRTT_LIMIT,
	  .kind = ZRTT_COUNT, .unit = " packets",
	  .min = TC_ZRTT_LIMIT_MIN, .max = TC_ZRTT_LIMIT_MAX },
	{ .name = "memory_limit", .attr = TCA_ZRTT_MEMORY_LIMIT,
	  .kind = ZRTT_SIZE, .min = 1, .max = UINT32_MAX },
	{ .name = "controller", .attr = TCA_ZRTT_CONTROLLER,
	  .kind = ZRTT_WORD, .words = zrtt_controllers },
	{ .name = "target", .attr = TCA_ZRTT_TARGET, .kind = ZRTT_TIME,
	  .min = TC_ZRTT_TARGET_MIN, .max = TC_ZRTT_TARGET_MAX },
	{ .name = "tupdate", .attr = TCA_ZRTT_TUPDATE, .kind = ZRTT_TIME,
	  .min = TC_ZRTT_TUPDATE_MIN, .max = TC_ZRTT_TUPDATE_MAX },
	{ .name = "threshold", .attr = TCA_ZRTT_THRESHOLD,
	  .kind = ZRTT_COUNT, .unit = " packets",
	  .min = TC_ZRTT_THRESHOLD_MIN, .max = TC_ZRTT_THRESHOLD_MAX },
	{ .name = "freeze", .attr = TCA_ZRTT_FREEZE, .kind = ZRTT_TIME,
	  .min = TC_ZRTT_FREEZE_MIN, .max = TC_ZRTT_FREEZE_MAX },
	{ .name = "increment", .attr = TCA_ZRTT_INCREMENT, .kind = ZRTT_PROB,
	  .min = TC_ZRTT_STEP_MIN, .max = TC_ZRTT_STEP_MAX },
	{ .name = "decrement", .attr = TCA_ZRTT_DECREMENT, .kind = ZRTT_PROB,
	  .min = TC_ZRTT_STEP_MIN, .max = TC_ZRTT_STEP_MAX },
	{ .name = "alpha", .attr = TCA_ZRTT_ALPHA_LAW,
	  .kind = ZRTT_LAW, .words = zrtt_laws,
	  .max = TC_ZRTT_ALPHA_LIMIT },
	{ .name = "alpha_max", .attr = TCA_ZRTT_ALPHA_MAX,
	  .kind = ZRTT_EXPONENT, .max = TC_ZRTT_ALPHA_LIMIT },
	{ .name = "pth", .attr = TCA_ZRTT_PTH, .kind = ZRTT_PROB,
	  .min = TC_ZRTT_PTH_MIN, .max = TC_ZRTT_PTH_MAX },
	{ .name = "feedback", .attr = TCA_ZRTT_FEEDBACK,
	  .kind = ZRTT_COUNT, .max = TC_ZRTT_FEEDBACK_MAX },
	{ .name = "mark_max", .attr = TCA_ZRTT_MARK_MAX,
	  .kind = ZRTT_PROB, .max = TC_ZRTT_P_ONE },
	{ .name = "flows", .attr = TCA_ZRTT_FLOWS,
	  .kind = ZRTT_POWER2, .unit = " and a power of two",
	  .min = TC_ZRTT_FLOWS_MIN, .max = TC_ZRTT_FLOWS_MAX },
	{ .name = "hint", .attr = TCA_ZRTT_HINT,
	  .kind = ZRTT_WORD, .words = zrtt_hints },
	{ .name = "mark_rtt", .off = "nomark_rtt", .attr = TCA_ZRTT_MARK_RTT,
	  .kind = ZRTT_MASK, .unit = " adjacent bits",
	  .max = TC_ZRTT_MARK_BITS_MAX },
	{ .name = "strip", .off = "nostrip",
	  .attr = TCA_ZRTT_STRIP, .kind = ZRTT_FLAG },
	{ .name = "handshake", .off = "nohandshake",
	  .attr = TCA_ZRTT_HANDSHAKE, .kind = ZRTT_FLAG },
	{ .name = "timestamps", .off = "notimestamps",
	  .attr = TCA_ZRTT_TIMESTAMPS, .kind = ZRTT_FLAG },
	{ .name = "quic", .off = "noquic",
	  .attr = TCA_ZRTT_QUIC, .kind = ZRTT_FLAG },
	{ .name = "ecn", .off = "noecn",
	  .attr = TCA_ZRTT_ECN, .kind = ZRTT_FLAG },
	{ .name = "split_gso", .off = "no_split_gso",
	  .attr = TCA_ZRTT_SPLIT_GSO, .kind = ZRTT_FLAG },
	{ .name = "names", .off = "nonames",
	  .attr = TCA_ZRTT_NAMES, .kind = ZRTT_FLAG },
	{ .name = "lanes", .off = "nolanes",
	  .attr = TCA_ZRTT_LANES, .kind = ZRTT_FLAG },
	{ .name = "l4s", .off = "nol4s",
	  .attr = TCA_ZRTT_L4S, .kind = ZRTT_FLAG },
	{ .name = "fair", .attr = TCA_ZRTT_FAIR,
	  .kind = ZRTT_WORD, .words = zrtt_fairs },
	{ .name = "prefix6", .attr = TCA_ZRTT_PREFIX6,
	  .kind = ZRTT_COUNT, .unit = " bits",
	  .min = TC_ZRTT_PREFIX6_MIN, .max = TC_ZRTT_PREFIX6_MAX },
	{ .name = "nat", .off = "nonat",
	  .attr = TCA_ZRTT_NAT, .kind = ZRTT_FLAG },
	{ .name = "bandwidth", .off = "unlimited", .attr = TCA_ZRTT_BANDWIDTH,
	  .kind = ZRTT_RATE, .words = zrtt_auto,
	  .min = TC_ZRTT_BANDWIDTH_MIN, .max = TC_ZRTT_BANDWIDTH_MAX },
	{ .name = "auto", .attr = TCA_ZRTT_AUTO,
	  .kind = ZRTT_CHOICE, .words = zrtt_autos },
	{ .name = "min", .attr = TCA_ZRTT_AUTO_MIN, .kind = ZRTT_RATE,
	  .min = TC_ZRTT_BANDWIDTH_MIN, .max = TC_ZRTT_AUTO_RATE_MAX },
	{ .name = "max", .attr = TCA_ZRTT_AUTO_MAX, .kind = ZRTT_RATE,
	  .min = TC_ZRTT_BANDWIDTH_MIN, .max = TC_ZRTT_AUTO_RATE_MAX },
	{ .name = "overhead", .off = "raw", .attr = TCA_ZRTT_OVERHEAD,
	  .kind = ZRTT_SIGNED, .unit = " bytes",
	  .min = TC_ZRTT_OVERHEAD_MIN, .max = TC_ZRTT_OVERHEAD_MAX },
	{ .name = "mpu", .attr = TCA_ZRTT_MPU, .kind = ZRTT_COUNT,
	  .unit = " bytes", .max = TC_ZRTT_MPU_MAX },
	{ .name = "atm", .attr = TCA_ZRTT_ATM,
	  .kind = ZRTT_CHOICE, .words = zrtt_atms },
	{ .name = "ceil", .off = "noceil", .attr = TCA_ZRTT_CEIL, .kind = ZRTT_RATE,
	  .min = TC_ZRTT_BANDWIDTH_MIN, .max = TC_ZRTT_CEIL_MAX },
	{ }
};

struct zrtt_unit {
	const char *suffix;
	double scale;
};

/* Each list ends with the empty suffix. */
static const struct zrtt_unit zrtt_time_units[] = {
	{ "us", 1 }, { "usec", 1 }, { "usecs", 1 },
	{ "ms", ZRTT_US_PER_MS }, { "msec", ZRTT_US_PER_MS },
	{ "msecs", ZRTT_US_PER_MS },
	{ "s", ZRTT_US_PER_S }, { "sec", ZRTT_US_PER_S },
	{ "secs", ZRTT_US_PER_S },
	{ "", 1 }
};

static const struct zrtt_unit zrtt_prob_units[] = {
	{ "%", ZRTT_PERCENT }, { "", TC_ZRTT_P_ONE }
};

static const struct zrtt_unit zrtt_exponent_units[] = {
	{ "", TC_ZRTT_ALPHA_ONE }
};

/* As in tc(8): a bare number is bits per second, and bps are bytes. */
static const struct zrtt_unit zrtt_rate_units[] = {
	{ "bit", ZRTT_KBIT / 1e3 }, { "kbit", ZRTT_KBIT },
	{ "mbit", ZRTT_KBIT * 1e3 }, { "gbit", ZRTT_KBIT * 1e6 },
	{ "tbit", ZRTT_KBIT * 1e9 },
	{ "bps", 1 }, { "kbps", 1e3 }, { "mbps", 1e6 }, { "gbps", 1e9 },
	{ "", ZRTT_KBIT / 1e3 }
};

/* As in tc(8): a bare number is bytes, and bit counts bits. */
static const struct zrtt_unit zrtt_size_units[] = {
	{ "b", 1 }, { "k", ZRTT_KB }, { "kb", ZRTT_KB },
	{ "m", ZRTT_MB }, { "mb", ZRTT_MB },
	{ "g", ZRTT_KB * ZRTT_MB }, { "gb", ZRTT_KB * ZRTT_MB },
	{ "kbit", ZRTT_KB / 8 }, { "mbit", ZRTT_MB / 8 },
	{ "gbit", ZRTT_KB * ZRTT_MB / 8 },
	{ "", 1 }
};

/* zrtt-check and the shell's completion read this, too. */
static const char zrtt_usage[] =
	"Usage: ... zrtt [ bandwidth { RATE | auto } | unlimited ]\n"
	"                [ egress | ingress ] [ min RATE ] [ max RATE ]\n"
	"                [ overhead BYTES | raw ] [ mpu BYTES ] [ atm | ptm | noatm ]\n"
	"                [ target TIME ] [ ecn | noecn ] [ limit PACKETS ]\n"
	"                [ memory_limit SIZE ] [ flows N ]\n"
	"                [ split_gso | no_split_gso ] [ names | nonames ]\n"
	"                [ lanes | nolanes ] [ l4s | nol4s ]\n"
	"                [ fair { flow | srchost | dsthost | dualhost | mark MASK } ]\n"
	"                [ prefix6 BITS ] [ nat | nonat ] [ ceil RATE | noceil ]\n"
	"                [ weight { mark MASK | dscp LIST } | noweight ]\n"
	"                [ handshake | nohandshake ] [ quic | noquic ]\n"
	"                [ timestamps | notimestamps ]\n"
	"                [ hint { clamp | trust | ignore } ]\n"
	"                [ mark_rtt MASK | nomark_rtt ] [ strip | nostrip ]\n"
	"                [ mode { zrtt | paper | mrtt | prto | blue } ]\n"
	"                [ controller { blue | pblue | pi2 } ] [ tupdate TIME ]\n"
	"                [ threshold PACKETS ] [ freeze TIME ]\n"
	"                [ increment P ] [ decrement P ]\n"
	"                [ alpha { capped | paper | VALUE } ] [ alpha_max VALUE ]\n"
	"                [ pth P ] [ feedback { 0 | 1 | 2 | 3 } ] [ mark_max P ]\n"
	"P is a percentage or a fraction: 2% or 0.02\n";

static const char zrtt_help[] =
	"\n"
	"Everyday use; most users set bandwidth only:\n"
	"  bandwidth RATE     shape to this rate; default: unlimited\n"
	"  bandwidth auto     to the rate that the line is found to have, with zrtt on both\n"
	"                     sides of the router: the line behind (egress, default), or\n"
	"                     before this queue (ingress)\n"
	"  min RATE           with auto, the least rate; default: 128kbit\n"
	"  max RATE           with auto, the largest; default: 10gbit\n"
	"  overhead BYTES     the shaper adds this to each packet; default: raw, the\n"
	"                     length that the kernel counts\n"
	"  mpu BYTES          smallest packet for the shaper; default: 0\n"
	"  atm, ptm           framing of the line, for the shaper; default: noatm\n"
	"  target TIME        mean time in the queue to aim at; default: 15ms\n"
	"  ecn                mark ECN-capable packets (default); noecn: drop them\n"
	"  limit PACKETS      longest queue, if more leaves in half a second; default:\n"
	"                     1000000, with blue 1000\n"
	"  memory_limit SIZE  most memory for queued packets; default: a sixteenth of\n"
	"                     the machine's, at most 1 GiB\n"
	"  flows N            slots of the flow table, a power of two; default: 16384\n"
	"  split_gso          queue GSO packets as segments (default); no_split_gso: whole\n"
	"  names              keep the addresses of flows for tc class show; default:\n"
	"                     nonames\n"
	"  lanes              serve flows that send little first (default in mode zrtt);\n"
	"                     nolanes: one FIFO\n"
	"  l4s                a low-latency lane for ECT(1) (default nol4s)\n"
	"\n"
	"Who has an equal share:\n"
	"  fair WHOM          flow (default); srchost or dsthost: hosts, and the flows\n"
	"                     of each among themselves; dualhost: whichever end has more\n"
	"                     flows; mark MASK: subscribers, by these bits of the mark\n"
	"  prefix6 BITS       of an IPv6 address, what is the host's; default: 64\n"
	"  nat                hosts by their addresses behind NAT; default: nonat\n"
	"  ceil RATE          most that a host may have, times its weight by mark, though\n"
	"                     the link has more; default: noceil\n"
	"  weight mark MASK   these bits of the mark are a weight, 0 counts as 1\n"
	"  weight dscp LIST   weights of flows by DSCP: EF:4,CS1:0.25; default: noweight\n"
	"\n"
	"RTT sources:\n"
	"  handshake          measure RTTs by TCP handshakes (default), or nohandshake\n"
	"  quic               measure them by QUIC's handshake and spin bit (default), or\n"
	"                     noquic\n"
	"  timestamps         measure them by TCP timestamps, too, with zrtt on both\n"
	"                     sides of the router; default: notimestamps\n"
	"  hint POLICY        RTTs stated by senders: clamp (default) bounds them by the\n"
	"                     measured RTT, trust believes them, ignore does not read them\n"
	"  mark_rtt MASK      RTTs stated by the operator, in these bits of the packet\n"
	"                     mark; default: nomark_rtt\n"
	"  strip              remove hints from forwarded packets; default: nostrip\n"
	"\n"
	"Research:\n"
	"  mode NAME          preset: zrtt (default), or a published method\n"
	"  controller NAME    what computes P_b; default: pi2\n"
	"  tupdate TIME       between updates of pi2 and pblue; default: 16ms\n"
	"  threshold PACKETS  queue length above which blue raises P_b; default: 100\n"
	"  freeze TIME        between two steps of blue; default: 50ms\n"
	"  increment P        upward step of blue; default: 2%\n"
	"  decrement P        downward step of blue; default: 0.2%\n"
	"  alpha LAW          exponent of RTT_avg / RTT_i: min(alpha_max, pth / P_b)\n"
	"                     (capped, default), min(2, pth / P_b) (paper), or fixed\n"
	"  alpha_max VALUE    bound of alpha capped; default: 1.25\n"
	"  pth P              default: 4%\n"
	"  feedback N         exponent of the flow's rate over its due share; default: 2\n"
	"  mark_max P         drop instead of mark above this P_i; default: 25%\n"
	"\n"
	"Manual: tc-zrtt(8)\n";

/*
 * Read digits with at most one point, return what follows them or NULL.
 * Unlike strtod() it knows no locale, sign, exponent, hex or nan.
 */
static const char *get_decimal(double *val, const char *str)
{
	bool fraction = false;
	bool digits = false;
	double den = 1;
	double num = 0;

	for (;; str++) {
		if (*str == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (*str < '0' || *str > '9')
			break;
		digits = true;
		num = num * 10 + (*str - '0');
		if (fraction)
			den *= 10;
	}

	*val = num / den;
	return digits ? str : NULL;
}

/* Round to nearest; the form of the test also refuses nan. */
static int round_value(__s64 *val, double num)
{
	num += 0.5;
	if (!(num <= ZRTT_MAX_VALUE))
		return -1;

	*val = num;
	return 0;
}

/* get_time() would do for TIME, but wraps: 4295s reads as 33ms. */
static int get_scaled(__s64 *val, const char *arg, const struct zrtt_unit *unit)
{
	const char *rest;
	double num;

	rest = get_decimal(&num, arg);
	if (!rest)
		return -1;

	while (strcasecmp(rest, unit->suffix) != 0) {
		if (!*unit->suffix)
			return -1;
		unit++;
	}

	return round_value(val, num * unit->scale);
}

/* The shortest decimal that reads back as the same value. */
static void sprint_scaled(char *buf, __s64 val, double scale, const char *suffix)
{
	__s64 back;
	double num;
	int digits;

	for (digits = 0; digits <= ZRTT_MAX_DIGITS; digits++) {
		snprintf(buf, SPRINT_BSIZE, "%.*f%s", digits, val / scale, suffix);
		if (get_decimal(&num, buf) &&
		    !round_value(&back, num * scale) && back == val)
			break;
	}
}

static void sprint_rate(char *buf, __s64 rate)
{
	if (rate >= ZRTT_KBIT * 1e6)
		sprint_scaled(buf, rate, ZRTT_KBIT * 1e6, "Gbit");
	else if (rate >= ZRTT_KBIT * 1e3)
		sprint_scaled(buf, rate, ZRTT_KBIT * 1e3, "Mbit");
	else
		sprint_scaled(buf, rate, ZRTT_KBIT, "Kbit");
}

/* In the largest unit that gives a whole number, as tc-fq_codel(8) shows its limit. */
static void sprint_size(char *buf, __s64 size)
{
	const char *suffix = "b";

	if (size && size % (__s64)ZRTT_MB == 0) {
		size /= (__s64)ZRTT_MB;
		suffix = "Mb";
	} else if (size && size % (__s64)ZRTT_KB == 0) {
		size /= (__s64)ZRTT_KB;
		suffix = "Kb";
	}
	snprintf(buf, SPRINT_BSIZE, "%lld%s", (long long)size, suffix);
}

static const char *sprint_value(enum zrtt_kind kind, __s64 val, char *buf)
{
	switch (kind) {
	case ZRTT_SIZE:
		sprint_size(buf, val);
		break;
	case ZRTT_TIME:
		if (val >= ZRTT_US_PER_S)
			sprint_scaled(buf, val, ZRTT_US_PER_S, "s");
		else if (val >= ZRTT_US_PER_MS)
			sprint_scaled(buf, val, ZRTT_US_PER_MS, "ms");
		else
			sprint_scaled(buf, val, 1, "us");
		break;
	case ZRTT_PROB:
		sprint_scaled(buf, val, ZRTT_PERCENT, "%");
		break;
	case ZRTT_LAW:
	case ZRTT_EXPONENT:
		sprint_scaled(buf, val, TC_ZRTT_ALPHA_ONE, "");
		break;
	case ZRTT_RATE:
		sprint_rate(buf, val);
		break;
	default:
		snprintf(buf, SPRINT_BSIZE, "%lld", (long long)val);
	}

	return buf;
}

static int get_word(__s64 *val, const char *arg, const char *const *words)
{
	__u32 i;

	for (i = 0; words[i]; i++) {
		if (strcmp(arg, words[i]) == 0) {
			*val = i;
			return 0;
		}
	}
	return -1;
}

/* @bits is set to the number of bits on success only. */
static int count_adjacent(__s64 *bits, __u32 mask)
{
	__s64 n = 0;

	for (; mask && !(mask & 1); mask >>= 1)
		;
	for (; mask & 1; mask >>= 1)
		n++;
	if (mask)
		return -1;

	*bits = n;
	return 0;
}

/* @val and, for TC_ZRTT_ALPHA_FIXED, @alpha (Q16) are set on success only. */
static int get_value(const struct zrtt_param *p, const char *arg,
		     __s64 *val, __u32 *alpha)
{
	__u32 mask = 0;
	__u32 count = 0;
	__s64 num = 0;
	int whole = 0;
	int err;

	switch (p->kind) {
	case ZRTT_WORD:
		return get_word(val, arg, p->words);
	case ZRTT_LAW:
		if (!get_word(val, arg, p->words))
			return 0;
		/* fall through */
	case ZRTT_EXPONENT:
		err = get_scaled(&num, arg, zrtt_exponent_units);
		break;
	case ZRTT_SIZE:
		err = get_scaled(&num, arg, zrtt_size_units);
		break;
	case ZRTT_TIME:
		err = get_scaled(&num, arg, zrtt_time_units);
		break;
	case ZRTT_PROB:
		err = get_scaled(&num, arg, zrtt_prob_units);
		break;
	case ZRTT_RATE:
		err = get_scaled(&num, arg, zrtt_rate_units);
		break;
	case ZRTT_SIGNED:
		err = get_integer(&whole, arg, 10);
		num = whole;
		break;
	case ZRTT_MASK:
		err = get_u32(&mask, arg, 0) || count_adjacent(&num, mask);
		break;
	default:
		err = get_u32(&count, arg, 10);
		num = count;
	}

	if (err || num < p->min || num > p->max)
		return -1;
	if (p->kind == ZRTT_POWER2 && (num & (num - 1)))
		return -1;

	if (p->kind == ZRTT_LAW) {
		*val = TC_ZRTT_ALPHA_FIXED;
		*alpha = num;
	} else {
		*val = p->kind == ZRTT_MASK ? mask : num;
	}
	return 0;
}

/* Say what @p accepts, and that @arg (NULL: the end of the line) is not valid. */
static void refuse(const struct zrtt_param *p, const char *arg)
{
	SPRINT_BUF(min);
	SPRINT_BUF(max);
	__u32 i;

	fprintf(stderr, "zrtt: \"%s\" must be ", p->name);
	for (i = 0; p->words && p->words[i]; i++)
		fprintf(stderr, "%s%s", i ? " | " : "", p->words[i]);
	if (p->words && p->kind != ZRTT_WORD)
		fprintf(stderr, " | ");
	if (p->kind != ZRTT_WORD)
		fprintf(stderr, "%s..%s%s",
			sprint_value(p->kind, p->min, min),
			sprint_value(p->kind, p->max, max),
			p->unit ? p->unit : "");

	if (arg)
		fprintf(stderr, ", not \"%s\"\n", arg);
	else
		fprintf(stderr, ", but the line ends\n");
}

static const struct zrtt_param *find_param(const char *keyword)
{
	const struct zrtt_param *p;
	__s64 ignored;

	for (p = zrtt_params; p->name; p++) {
		if (p->kind == ZRTT_CHOICE) {
			if (*keyword && !get_word(&ignored, keyword, p->words))
				return p;
		} else if (strcmp(keyword, p->name) == 0 ||
			   (p->off && strcmp(keyword, p->off) == 0)) {
			return p;
		}
	}
	return NULL;
}

/* Weights, Q8, by DSCP; @typed says what the user gave. */
struct zrtt_weights {
	__u16 dscp[TC_ZRTT_DSCPS];
	__u32 mask;
	bool typed;
};

static void reset_weights(struct zrtt_weights *w)
{
	__u32 i;

	w->mask = 0;
	for (i = 0; i < TC_ZRTT_DSCPS; i++)
		w->dscp[i] = TC_ZRTT_WEIGHT_ONE;
}

/* CS0 to CS7, AF11 to AF43, EF (RFC 2474, 2597, 3246), else a number. */
static int get_dscp(__u32 *dscp, const char *name)
{
	if (strcasecmp(name, "ef") == 0)
		*dscp = 46;
	else if (strncasecmp(name, "cs", 2) == 0 && name[2] >= '0' &&
		 name[2] <= '7' && !name[3])
		*dscp = (name[2] - '0') * 8;
	else if (strncasecmp(name, "af", 2) == 0 && name[2] >= '1' &&
		 name[2] <= '4' && name[3] >= '1' && name[3] <= '3' && !name[4])
		*dscp = (name[2] - '0') * 8 + (name[3] - '0') * 2;
	else if (get_u32(dscp, name, 0) || *dscp >= TC_ZRTT_DSCPS)
		return -1;
	return 0;
}

/* One DSCP:WEIGHT, which is changed. */
static int get_weight(struct zrtt_weights *w, char *item, __u64 *seen)
{
	static const struct zrtt_unit units[] = { { "", TC_ZRTT_WEIGHT_ONE } };
	char *colon = strchr(item, ':');
	__s64 weight = 0;
	__u32 dscp = 0;

	if (!colon)
		return -1;
	*colon = '\0';
	if (get_dscp(&dscp, item) || *seen >> dscp & 1 ||
	    get_scaled(&weight, colon + 1, units) ||
	    weight < TC_ZRTT_WEIGHT_MIN || weight > TC_ZRTT_WEIGHT_MAX)
		return -1;
	*seen |= 1ULL << dscp;
	w->dscp[dscp] = weight;
	return 0;
}

static int get_weights(struct zrtt_weights *w, const char *arg)
{
	char *list = strdup(arg), *rest = list, *item;
	__u64 seen = 0;
	int err = list ? 0 : -1;

	while (!err && (item = strsep(&rest, ",")))
		err = get_weight(w, item, &seen);
	free(list);
	if (err)
		fprintf(stderr,
			"zrtt: \"weight dscp\" must be DSCP:WEIGHT,... with 0.0625..64 "
			"and each DSCP once, not \"%s\"\n", arg);
	return err;
}

static int get_mask(const struct zrtt_param *p, const char *arg, __u32 *mask)
{
	__s64 val = 0;

	if (!arg || get_value(p, arg, &val, NULL)) {
		refuse(p, arg);
		return -1;
	}
	*mask = val;
	return 0;
}

/* What follows "weight". Return: -1, or 0, and two words are used up. */
static int get_weight_words(struct zrtt_weights *w, int argc, char **argv)
{
	const char *arg = argc > 2 ? argv[2] : NULL;

	w->typed = true;
	if (argc > 1 && strcmp(argv[1], "mark") == 0)
		return get_mask(&zrtt_weight_mask, arg, &w->mask);
	if (arg && strcmp(argv[1], "dscp") == 0)
		return get_weights(w, arg);
	fprintf(stderr, "zrtt: \"weight\" must be mark MASK | dscp DSCP:WEIGHT,...%s\n",
		argc > 1 && strcmp(argv[1], "dscp") != 0 ? "" : ", but the line ends");
	return -1;
}

static int need_auto(const char *word)
{
	fprintf(stderr, "zrtt: \"%s\" needs \"bandwidth auto\" before it\n", word);
	return -1;
}

/* The rate of a new queue is known, and "tc qdisc change" may be of one that has auto. */
static int check_bounds(const struct nlmsghdr *n, const bool *typed)
{
	if (typed[TCA_ZRTT_AUTO] ||
	    !(typed[TCA_ZRTT_BANDWIDTH] || n->nlmsg_flags & NLM_F_CREATE))
		return 0;
	if (typed[TCA_ZRTT_AUTO_MIN])
		return need_auto("min");
	return typed[TCA_ZRTT_AUTO_MAX] ? need_auto("max") : 0;
}

static __u32 off_value(const struct zrtt_param *p)
{
	return p->kind == ZRTT_SIGNED ? TC_ZRTT_OVERHEAD_RAW : 0;
}

static int zrtt_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	__s64 val[TCA_ZRTT_MAX + 1];
	bool typed[TCA_ZRTT_MAX + 1] = {};
	const struct zrtt_param *p;
	struct zrtt_weights weights = {};
	struct rtattr *tail;
	__u32 fair_mask = 0;
	__u32 alpha = 0;

	reset_weights(&weights);
	for (; argc > 0; argc--, argv++) {
		if (strcmp(*argv, "help") == 0) {
			fprintf(stderr, "%s%s", zrtt_usage, zrtt_help);
			return -1;
		}
		if (strcmp(*argv, "noweight") == 0) {
			reset_weights(&weights);
			weights.typed = true;
			continue;
		}
		if (strcmp(*argv, "weight") == 0) {
			if (get_weight_words(&weights, argc, argv))
				return -1;
			argc -= 2;
			argv += 2;
			continue;
		}

		if (strcmp(*argv, "bandwidth") == 0 && argc > 1 &&
		    strcmp(argv[1], "auto") == 0) {
			typed[TCA_ZRTT_BANDWIDTH] = false;
			typed[TCA_ZRTT_AUTO] = true;
			val[TCA_ZRTT_AUTO] = TC_ZRTT_AUTO_EGRESS;
			argc--;
			argv++;
			continue;
		}
		p = find_param(*argv);
		if (!p) {
			fprintf(stderr, "What is \"%s\"?\n%s", *argv, zrtt_usage);
			return -1;
		}
		if (p->attr == TCA_ZRTT_AUTO && !typed[TCA_ZRTT_AUTO])
			return need_auto(*argv);

		if (p->off && strcmp(*argv, p->off) == 0) {
			val[p->attr] = off_value(p);
		} else if (p->kind == ZRTT_CHOICE) {
			get_word(&val[p->attr], *argv, p->words);
		} else if (p->kind == ZRTT_FLAG) {
			val[p->attr] = 1;
		} else if (argc == 1) {
			refuse(p, NULL);
			return -1;
		} else {
			argc--;
			argv++;
			if (get_value(p, *argv, &val[p->attr], &alpha)) {
				refuse(p, *argv);
				return -1;
			}
		}
		typed[p->attr] = true;
		if (p->attr == TCA_ZRTT_BANDWIDTH)
			typed[TCA_ZRTT_AUTO] = false;
		if (p->attr != TCA_ZRTT_FAIR || val[p->attr] != TC_ZRTT_FAIR_MARK)
			continue;
		if (get_mask(&zrtt_fair_mask, argc > 1 ? argv[1] : NULL, &fair_mask))
			return -1;
		argc--;
		argv++;
	}
	if (check_bounds(n, typed))
		return -1;

	tail = addattr_nest(n, ZRTT_MAX_MSG, TCA_OPTIONS | NLA_F_NESTED);
	for (p = zrtt_params; p->name; p++) {
		if (!typed[p->attr])
			continue;
		if (p->kind == ZRTT_FLAG)
			addattr8(n, ZRTT_MAX_MSG, p->attr, val[p->attr]);
		else if (p->kind == ZRTT_RATE)
			addattr64(n, ZRTT_MAX_MSG, p->attr, val[p->attr]);
		else
			addattr32(n, ZRTT_MAX_MSG, p->attr, val[p->attr]);
		if (p->kind == ZRTT_LAW && val[p->attr] == TC_ZRTT_ALPHA_FIXED)
			addattr32(n, ZRTT_MAX_MSG, TCA_ZRTT_ALPHA, alpha);
	}
	if (typed[TCA_ZRTT_FAIR] && val[TCA_ZRTT_FAIR] == TC_ZRTT_FAIR_MARK)
		addattr32(n, ZRTT_MAX_MSG, TCA_ZRTT_FAIR_MASK, fair_mask);
	if (weights.typed) {
		addattr32(n, ZRTT_MAX_MSG, TCA_ZRTT_WEIGHT_MASK, weights.mask);
		addattr_l(n, ZRTT_MAX_MSG, TCA_ZRTT_WEIGHT_DSCP, weights.dscp,
			  sizeof(weights.dscp));
	}
	addattr_nest_end(n, tail);
	return 0;
}

static void print_flag(const struct zrtt_param *p, bool on)
{
	print_bool(PRINT_JSON, p->name, NULL, on);
	print_string(PRINT_FP, NULL, "%s ", on ? p->name : p->off);
}

static void print_mask(const struct zrtt_param *p, __u32 mask)
{
	print_0xhex(PRINT_JSON, p->name, NULL, mask);
	print_string(PRINT_FP, NULL, "%s ", mask ? p->name : p->off);
	if (mask)
		print_0xhex(PRINT_FP, NULL, "%#llx ", mask);
}

/* Text keeps every bit, to be typed back; JSON has plain numbers. */
static void print_value(const struct zrtt_param *p, enum zrtt_kind kind, __s64 val)
{
	SPRINT_BUF(buf);

	print_string(PRINT_FP, NULL, "%s ", p->name);
	print_string(PRINT_FP, NULL, "%s ", sprint_value(kind, val, buf));

	if (kind == ZRTT_PROB)
		print_float(PRINT_JSON, p->name, NULL, (double)val / TC_ZRTT_P_ONE);
	else if (kind == ZRTT_EXPONENT)
		print_float(PRINT_JSON, p->name, NULL,
			    (double)val / TC_ZRTT_ALPHA_ONE);
	else if (kind == ZRTT_SIGNED)
		print_int(PRINT_JSON, p->name, NULL, val);
	else
		print_lluint(PRINT_JSON, p->name, NULL, val);
}

/* 0 stands for no shaper, in JSON as well. */
static void print_rate(const struct zrtt_param *p, __u64 rate)
{
	if (rate) {
		print_value(p, ZRTT_RATE, rate);
	} else {
		print_string(PRINT_FP, NULL, "%s ", p->off);
		print_uint(PRINT_JSON, p->name, NULL, 0);
	}
}

/* Whose rate is found is not told one. JSON has the present rate beside it. */
static void print_bandwidth(const struct zrtt_param *p, __u64 rate, __u32 kind)
{
	if (kind == TC_ZRTT_AUTO_OFF) {
		print_rate(p, rate);
		return;
	}
	print_lluint(PRINT_JSON, p->name, NULL, rate);
	print_string(PRINT_FP, NULL, "%s", "bandwidth auto ");
}

static void print_signed(const struct zrtt_param *p, __s32 val)
{
	if (val == (__s32)off_value(p))
		print_string(PRINT_ANY, p->name, "%s ", p->off);
	else
		print_value(p, ZRTT_SIGNED, val);
}

/* A newer kernel may have words that this list lacks. */
static const char *find_word(const char *const *words, __u32 val)
{
	__u32 i;

	for (i = 0; words[i]; i++) {
		if (i == val)
			return words[i];
	}
	return "unknown";
}

static void print_word(const struct zrtt_param *p, __u32 val)
{
	if (p->kind != ZRTT_CHOICE)
		print_string(PRINT_FP, NULL, "%s ", p->name);
	print_string(PRINT_ANY, p->name, "%s ", find_word(p->words, val));
}

static bool has_u32(const struct rtattr *attr)
{
	return attr && RTA_PAYLOAD(attr) >= sizeof(__u32);
}

static bool has_u64(const struct rtattr *attr)
{
	return attr && RTA_PAYLOAD(attr) >= sizeof(__u64);
}

/* A DSCP by its name, if it has one that get_dscp() knows, else by its number. */
static const char *sprint_dscp(__u32 dscp, char *buf)
{
	__u32 class = dscp / 8, rest = dscp % 8;

	if (dscp == 46)
		snprintf(buf, SPRINT_BSIZE, "EF");
	else if (!rest)
		snprintf(buf, SPRINT_BSIZE, "CS%u", class);
	else if (class >= 1 && class <= 4 && rest % 2 == 0)
		snprintf(buf, SPRINT_BSIZE, "AF%u%u", class, rest / 2);
	else
		snprintf(buf, SPRINT_BSIZE, "%u", dscp);
	return buf;
}

static bool print_weights(const __u16 *weights)
{
	const char *before = "weight dscp ";
	SPRINT_BUF(name);
	SPRINT_BUF(buf);
	__u32 i;

	open_json_object("weight_dscp");
	for (i = 0; i < TC_ZRTT_DSCPS; i++) {
		if (weights[i] == TC_ZRTT_WEIGHT_ONE)
			continue;
		sprint_dscp(i, name);
		print_float(PRINT_JSON, name, NULL,
			    (double)weights[i] / TC_ZRTT_WEIGHT_ONE);
		print_string(PRINT_FP, NULL, "%s", before);
		print_string(PRINT_FP, NULL, "%s:", name);
		sprint_scaled(buf, weights[i], TC_ZRTT_WEIGHT_ONE, "");
		print_string(PRINT_FP, NULL, "%s", buf);
		before = ",";
	}
	close_json_object();
	if (*before == ',')
		print_string(PRINT_FP, NULL, "%s", " ");
	return *before == ',';
}

/* The weights by mark and those by DSCP, or that there are none. */
static void print_weight(struct rtattr **tb)
{
	const struct rtattr *dscp = tb[TCA_ZRTT_WEIGHT_DSCP];
	__u32 mask;
	bool any;

	if (!has_u32(tb[TCA_ZRTT_WEIGHT_MASK]))
		return;
	mask = rta_getattr_u32(tb[TCA_ZRTT_WEIGHT_MASK]);
	print_0xhex(PRINT_JSON, "weight_mark", NULL, mask);
	if (mask)
		print_0xhex(PRINT_FP, NULL, "weight mark %#llx ", mask);
	any = mask;
	if (dscp && RTA_PAYLOAD(dscp) >= TC_ZRTT_DSCPS * sizeof(__u16))
		any |= print_weights(RTA_DATA(dscp));
	if (!any)
		print_string(PRINT_FP, NULL, "%s", "noweight ");
}

/* What counts only if the rate of the line is to be found. */
static bool is_of_line(const struct zrtt_param *p)
{
	return p->attr == TCA_ZRTT_AUTO || p->attr == TCA_ZRTT_AUTO_MIN ||
	       p->attr == TCA_ZRTT_AUTO_MAX;
}

static int zrtt_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_ZRTT_MAX + 1];
	const struct zrtt_param *p;
	__u32 line = TC_ZRTT_AUTO_OFF;
	struct rtattr *attr;
	__u32 val;

	if (opt == NULL)
		return 0;

	parse_rtattr(tb, TCA_ZRTT_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	if (has_u32(tb[TCA_ZRTT_AUTO]))
		line = rta_getattr_u32(tb[TCA_ZRTT_AUTO]);

	for (p = zrtt_params; p->name; p++) {
		attr = tb[p->attr];
		if (is_of_line(p) && line == TC_ZRTT_AUTO_OFF)
			continue;
		if (p->kind == ZRTT_FLAG) {
			if (attr && RTA_PAYLOAD(attr) >= sizeof(__u8))
				print_flag(p, rta_getattr_u8(attr));
			continue;
		}
		if (p->kind == ZRTT_RATE) {
			if (has_u64(attr))
				print_bandwidth(p, rta_getattr_u64(attr),
						p->attr == TCA_ZRTT_BANDWIDTH ? line : TC_ZRTT_AUTO_OFF);
			continue;
		}

		if (!has_u32(attr))
			continue;
		val = rta_getattr_u32(attr);
		if (p->kind == ZRTT_LAW && val == TC_ZRTT_ALPHA_FIXED &&
		    has_u32(tb[TCA_ZRTT_ALPHA]))
			print_value(p, ZRTT_EXPONENT,
				    rta_getattr_u32(tb[TCA_ZRTT_ALPHA]));
		else if (p->words)
			print_word(p, val);
		else if (p->kind == ZRTT_MASK)
			print_mask(p, val);
		else if (p->kind == ZRTT_SIGNED)
			print_signed(p, val);
		else
			print_value(p, p->kind, val);
		if (p->attr == TCA_ZRTT_FAIR && val == TC_ZRTT_FAIR_MARK &&
		    has_u32(tb[TCA_ZRTT_FAIR_MASK])) {
			val = rta_getattr_u32(tb[TCA_ZRTT_FAIR_MASK]);
			print_0xhex(PRINT_JSON, "fair_mark", NULL, val);
			print_0xhex(PRINT_FP, NULL, "%#llx ", val);
		}
	}
	print_weight(tb);
	return 0;
}

static void print_time(const char *key, const char *fmt, __u32 us)
{
	SPRINT_BUF(buf);

	print_uint(PRINT_JSON, key, NULL, us);
	print_string(PRINT_FP, NULL, fmt, sprint_value(ZRTT_TIME, us, buf));
}

static void print_lane(const char *name, const struct tc_zrtt_lane_stats *lane)
{
	open_json_object(NULL);
	print_nl();
	print_string(PRINT_ANY, "name", "  lane %s", name);
	print_lluint(PRINT_ANY, "packets", " packets %llu", lane->packets);
	print_lluint(PRINT_ANY, "bytes", " bytes %llu", lane->bytes);
	print_lluint(PRINT_ANY, "marks", " marks %llu", lane->marks);
	print_lluint(PRINT_ANY, "drops", " drops %llu", lane->drops);
	print_uint(PRINT_ANY, "backlog_packets", " backlog_packets %u",
		   lane->backlog_packets);
	print_time("delay_us", " delay %s", lane->delay_us);
	close_json_object();
}

static void print_lanes(const struct tc_zrtt_lane_stats *lane)
{
	__u32 i;

	open_json_array(PRINT_JSON, "lanes");
	for (i = 0; i < __TC_ZRTT_LANE_MAX; i++)
		print_lane(zrtt_lanes[i], &lane[i]);
	close_json_array(PRINT_JSON, NULL);
}

/* Fair to flows alone has no hosts, and text says nothing of them. */
static void print_hosts(const struct tc_zrtt_xstats *st)
{
	int where = st->hosts || st->host_due || st->hosts_evicted ? PRINT_ANY : PRINT_JSON;

	if (where == PRINT_ANY)
		print_nl();
	print_uint(where, "hosts", "  hosts %u", st->hosts);
	print_uint(where, "hosts_held", " hosts_held %u", st->hosts_held);
	tc_print_rate(where, "host_due", " host_due %s", st->host_due);
	print_lluint(where, "hosts_evicted", " hosts_evicted %llu", st->hosts_evicted);
}

/* A rate that the user gave is not found, and nothing is said of it. */
static void print_line(const struct tc_zrtt_xstats *st)
{
	if (!st->line_rate)
		return;
	print_nl();
	open_json_object("line");
	tc_print_rate(PRINT_ANY, "rate", "  line %s", st->line_rate);
	print_string(PRINT_ANY, "state", " %s", find_word(zrtt_lines, st->line_state));
	tc_print_rate(PRINT_ANY, "measured", " measured %s", st->line_measured);
	print_time("queue_us", " queue %s", st->line_queue_us);
	print_uint(PRINT_ANY, "hosts", " hosts %u", st->line_hosts);
	print_lluint(PRINT_ANY, "lowered", " lowered %llu", st->line_lowered);
	print_lluint(PRINT_ANY, "raised", " raised %llu", st->line_raised);
	print_lluint(PRINT_ANY, "lost", " lost %llu", st->line_lost);
	tc_print_rate(PRINT_ANY, "ceiling", " ceiling %s", st->line_ceiling);
	close_json_object();
}

/*
 * In text, the first two lines are those of pie, word for word: flent and
 * other readers of pie's statistics then understand zrtt too.
 */
static int zrtt_print_xstats(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct tc_zrtt_xstats st = {};
	size_t len;

	if (xstats == NULL)
		return 0;

	/* The structure only grows: shorter is older, longer is newer. */
	len = RTA_PAYLOAD(xstats);
	memcpy(&st, RTA_DATA(xstats), len < sizeof(st) ? len : sizeof(st));

	print_float(PRINT_ANY, "prob", "  prob %f",
		    (double)st.prob / TC_ZRTT_P_ONE);
	print_time("delay_us", " delay %s", st.delay_us);
	/* Older kernels have only the 32-bit field, which saturates at 34 Gbit/s. */
	print_lluint(PRINT_ANY, "dq_rate", " avg_dq_rate %llu",
		     st.dq_rate64 ? st.dq_rate64 : st.dq_rate);
	print_nl();
	print_lluint(PRINT_ANY, "packets_in", "  pkts_in %llu", st.packets_in);
	print_lluint(PRINT_ANY, "drop_limit", " overlimit %llu", st.drop_limit);
	print_lluint(PRINT_ANY, "drop_mark", " dropped %llu", st.drop_mark);
	print_uint(PRINT_ANY, "maxq", " maxq %u", st.maxq);
	print_lluint(PRINT_ANY, "ecn_mark", " ecn_mark %llu", st.ecn_mark);
	print_nl();
	print_float(PRINT_ANY, "alpha", "  alpha %.3f",
		    (double)st.alpha / TC_ZRTT_ALPHA_ONE);
	print_time("rtt_avg_us", " rtt_avg %s", st.rtt_avg_us);
	print_uint(PRINT_ANY, "flows", " flows %u", st.flows);
	print_uint(PRINT_ANY, "flows_hinted", " flows_hinted %u",
		   st.flows_hinted);
	print_uint(PRINT_ANY, "flows_marked", " flows_marked %u",
		   st.flows_marked);
	print_uint(PRINT_ANY, "flows_timestamps", " flows_timestamps %u",
		   st.flows_timestamps);
	print_uint(PRINT_ANY, "flows_handshake", " flows_handshake %u",
		   st.flows_handshake);
	print_uint(PRINT_ANY, "flows_quic", " flows_quic %u", st.flows_quic);
	print_lluint(PRINT_ANY, "evicted", " evicted %llu", st.evicted);
	print_nl();
	print_lluint(PRINT_ANY, "hint_ok", "  hint_ok %llu", st.hint_ok);
	print_lluint(PRINT_ANY, "hint_bad", " hint_bad %llu", st.hint_bad);
	print_lluint(PRINT_ANY, "hint_clamped", " hint_clamped %llu",
		     st.hint_clamped);
	print_lluint(PRINT_ANY, "hint_stripped", " hint_stripped %llu",
		     st.hint_stripped);
	print_nl();
	print_lluint(PRINT_ANY, "idle_events", "  idle_events %llu",
		     st.idle_events);
	print_lluint(PRINT_ANY, "overflow_events", " overflow_events %llu",
		     st.overflow_events);
	print_lluint(PRINT_ANY, "drop_late", " drop_late %llu", st.drop_late);
	print_lluint(PRINT_ANY, "purged", " purged %llu", st.purged);
	print_uint(PRINT_ANY, "backlog_packets", " backlog_packets %u",
		   st.backlog_packets);
	print_nl();
	print_uint(PRINT_ANY, "memory_used", "  memory_used %u", st.memory_used);
	print_uint(PRINT_ANY, "limit_now", " limit_now %u", st.limit_now);
	print_lluint(PRINT_ANY, "l4s_barred", " l4s_barred %llu", st.l4s_barred);
	/* An older kernel has no lanes, which is not the same as empty ones. */
	if (len >= offsetof(struct tc_zrtt_xstats, lane) + sizeof(st.lane))
		print_lanes(st.lane);
	if (len >= offsetof(struct tc_zrtt_xstats, flows_quic))
		print_hosts(&st);
	if (len >= offsetof(struct tc_zrtt_xstats, line_ceiling) + sizeof(st.line_ceiling))
		print_line(&st);
	return 0;
}

static const char *sprint_address(const struct rtattr *attr, char *buf)
{
	int family = RTA_PAYLOAD(attr) == sizeof(struct in6_addr) ? AF_INET6 : AF_INET;

	return inet_ntop(family, RTA_DATA(attr), buf, SPRINT_BSIZE);
}

/* One endpoint of a flow: its address, and its port if it has one. */
static void print_endpoint(const char *key, const struct rtattr *address,
			   const char *port_key, const struct rtattr *port)
{
	SPRINT_BUF(buf);
	bool v6;

	if (!address || RTA_PAYLOAD(address) < sizeof(struct in_addr))
		return;
	v6 = RTA_PAYLOAD(address) == sizeof(struct in6_addr);
	print_string(PRINT_ANY, key, v6 && port ? "[%s]" : "%s",
		     sprint_address(address, buf));
	if (port && RTA_PAYLOAD(port) >= sizeof(__u16))
		print_uint(PRINT_ANY, port_key, ":%u", ntohs(rta_getattr_u16(port)));
}

static void print_name(struct rtattr **tb)
{
	SPRINT_BUF(buf);

	if (!tb[TCA_ZRTT_FLOW_PROTOCOL])
		return;
	print_string(PRINT_ANY, "protocol", "%s ",
		     inet_proto_n2a(rta_getattr_u8(tb[TCA_ZRTT_FLOW_PROTOCOL]), buf,
				    sizeof(buf)));
	print_endpoint("src", tb[TCA_ZRTT_FLOW_SRC], "sport", tb[TCA_ZRTT_FLOW_SPORT]);
	print_string(PRINT_FP, NULL, "%s", " > ");
	print_endpoint("dst", tb[TCA_ZRTT_FLOW_DST], "dport", tb[TCA_ZRTT_FLOW_DPORT]);
}

/* The host or subscriber of a flow. */
static void print_host(struct rtattr **tb)
{
	if (has_u64(tb[TCA_ZRTT_FLOW_HOST_RATE]))
		tc_print_rate(PRINT_ANY, "host_rate", "host_rate %s ",
			      rta_getattr_u64(tb[TCA_ZRTT_FLOW_HOST_RATE]));
	if (has_u64(tb[TCA_ZRTT_FLOW_HOST_DUE]))
		tc_print_rate(PRINT_ANY, "host_due", "host_due %s ",
			      rta_getattr_u64(tb[TCA_ZRTT_FLOW_HOST_DUE]));
	if (has_u32(tb[TCA_ZRTT_FLOW_HOST_PENALTY]))
		print_float(PRINT_ANY, "host_penalty", "host_penalty %f ",
			    (double)rta_getattr_u32(tb[TCA_ZRTT_FLOW_HOST_PENALTY]) /
			    TC_ZRTT_PENALTY_ONE);
	if (has_u32(tb[TCA_ZRTT_FLOW_HOST_FLOWS]))
		print_uint(PRINT_ANY, "host_flows", "host_flows %u ",
			   rta_getattr_u32(tb[TCA_ZRTT_FLOW_HOST_FLOWS]));
	if (has_u32(tb[TCA_ZRTT_FLOW_HOST]))
		print_uint(PRINT_ANY, "host", "host %u ",
			   rta_getattr_u32(tb[TCA_ZRTT_FLOW_HOST]));
	if (tb[TCA_ZRTT_FLOW_HOST_END] && RTA_PAYLOAD(tb[TCA_ZRTT_FLOW_HOST_END]))
		print_string(PRINT_ANY, "host_end", "host_end %s ",
			     find_word(zrtt_ends,
				       rta_getattr_u8(tb[TCA_ZRTT_FLOW_HOST_END])));
	if (has_u32(tb[TCA_ZRTT_FLOW_HOST_MARK]))
		print_0xhex(PRINT_ANY, "host_mark", "host_mark %#llx ",
			    rta_getattr_u32(tb[TCA_ZRTT_FLOW_HOST_MARK]));
}

/* A class is a live flow. */
static int zrtt_print_copt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_ZRTT_FLOW_MAX + 1];

	if (opt == NULL)
		return 0;

	parse_rtattr(tb, TCA_ZRTT_FLOW_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));

	if (has_u32(tb[TCA_ZRTT_FLOW_RTT]))
		print_time("rtt_us", "rtt %s ", rta_getattr_u32(tb[TCA_ZRTT_FLOW_RTT]));
	if (has_u32(tb[TCA_ZRTT_FLOW_SOURCE]))
		print_string(PRINT_ANY, "source", "source %s ",
			     find_word(zrtt_sources,
				       rta_getattr_u32(tb[TCA_ZRTT_FLOW_SOURCE])));
	if (has_u64(tb[TCA_ZRTT_FLOW_RATE]))
		tc_print_rate(PRINT_ANY, "rate", "rate %s ",
			      rta_getattr_u64(tb[TCA_ZRTT_FLOW_RATE]));
	if (has_u32(tb[TCA_ZRTT_FLOW_PROB]))
		print_float(PRINT_ANY, "prob", "prob %f ",
			    (double)rta_getattr_u32(tb[TCA_ZRTT_FLOW_PROB]) /
			    TC_ZRTT_P_ONE);
	print_host(tb);
	print_name(tb);
	return 0;
}

struct qdisc_util zrtt_qdisc_util = {
	.id		= "zrtt",
	.parse_qopt	= zrtt_parse_opt,
	.print_qopt	= zrtt_print_opt,
	.print_xstats	= zrtt_print_xstats,
	.print_copt	= zrtt_print_copt,
};
