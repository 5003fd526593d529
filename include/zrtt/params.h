/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of the command line, and the modes that are presets of them.
 */
#ifndef _ZRTT_PARAMS_H
#define _ZRTT_PARAMS_H

#include <linux/types.h>
#include "fixed.h"
#include "hint.h"
#include "host.h"
#include "line.h"
#include "shaper.h"
#include "controller.h"
#include "law.h"
#include "ceil.h"

enum zrtt_mode {
	ZRTT_MODE_ZRTT,
	ZRTT_MODE_PAPER,
	ZRTT_MODE_MRTT,
	ZRTT_MODE_PRTO,
	ZRTT_MODE_BLUE,
	ZRTT_MODES,
};

enum zrtt_hint_policy {
	ZRTT_HINT_CLAMP,
	ZRTT_HINT_TRUST,
	ZRTT_HINT_IGNORE,
};

enum zrtt_fair {
	ZRTT_FAIR_FLOW,
	ZRTT_FAIR_SRCHOST,
	ZRTT_FAIR_DSTHOST,
	ZRTT_FAIR_DUALHOST,
	ZRTT_FAIR_MARK,
};

/* n/d percent, Q30, rounded to nearest */
#define ZRTT_PERCENT(n, d) \
	((u32)(((u64)ZRTT_P_ONE * (n) + 50 * (d)) / (100 * (d))))

/* Packets that are queued unless the user says how many. BLUE learns from what does not
 * fit in; the others have zrtt_ctl_limit(), which follows the link, below this one.
 */
#define ZRTT_LIMIT_BLUE		1000
#define ZRTT_LIMIT_MOST		1000000

/* As fq_codel's, where nobody knows how much memory there is. */
#define ZRTT_MEMORY_LIMIT	(32U << 20)

#define ZRTT_DSCPS		64
#define ZRTT_PREFIX6		64	/* what a home or an office has at most */

#define ZRTT_MARK_BITS		16	/* widest field, as on the wire */

/* A mark or a loss in a packet that leaves is known to its sender a queue sooner than one in a
 * packet that comes. But where flows have few packets on their way, short flows take longer then (26
 * flows on 3.7 Mbit/s without ECN: 0.93 s in place of 0.80).
 */
#define ZRTT_LATER_MAX		(ZRTT_P_ONE / 32)

/**
 * struct zrtt_params - the parameters of the command line
 * @mode: enum zrtt_mode, the preset chosen last
 * @limit: hard limit, packets, 0 = zrtt_params_limit()
 * @memory_limit: the same in bytes of memory
 * @flows: slots of the flow table
 * @hint: enum zrtt_hint_policy
 * @mark_mask: bits of a packet's mark that hold its RTT, 0 = none
 * @mark_shift: lowest of them
 * @strip: remove hints from forwarded packets
 * @handshake: take RTTs from TCP handshakes
 * @timestamps: take RTTs from TCP timestamps of both directions
 * @quic: take RTTs from QUIC
 * @ecn: mark ECT packets
 * @split_gso: queue the segments of a GSO packet one by one
 * @names: know the addresses of flows
 * @lanes: a lane for sparse flows
 * @l4s: a lane for ECT(1)
 * @fair: enum zrtt_fair
 * @fair_mask: bits of a packet's mark that say whose it is
 * @fair_shift: lowest of them
 * @prefix6: bits of an IPv6 address that are the host's
 * @nat: addresses are those before translation
 * @weight_mask: bits of a packet's mark that hold a weight, 0 = none
 * @weight_shift: lowest of them
 * @weighted: not all weights are 1
 * @weight_q8: weights by DSCP
 * @ceil: what a host has at most
 * @ctl: how P_b is found
 * @law: how P_i follows
 * @shaper: the link behind, if this queue is to be its bottleneck
 * @line: where its rate is to be found out; @shaper has the largest one then
 */
struct zrtt_params {
	u32 mode;
	u32 limit;
	u32 memory_limit;
	u32 flows;
	u32 hint;
	u32 mark_mask;
	u32 mark_shift;
	bool strip;
	bool handshake;
	bool timestamps;
	bool quic;
	bool ecn;
	bool split_gso;
	bool names;
	bool lanes;
	bool l4s;
	u32 fair;
	u32 fair_mask;
	u32 fair_shift;
	u32 prefix6;
	bool nat;
	u32 weight_mask;
	u32 weight_shift;
	bool weighted;
	u16 weight_q8[ZRTT_DSCPS];
	struct zrtt_ceil_params ceil;
	struct zrtt_ctl_params ctl;
	struct zrtt_law_params law;
	struct zrtt_shaper_params shaper;
	struct zrtt_line_params line;
};

/**
 * zrtt_params_preset() - the parameters that make a mode
 * @params: set: mode, controller, law, hint policy, handshake, quic, lanes, l4s, hosts, weights
 * @mode: enum zrtt_mode
 *
 * The four reproductions share BLUE with the paper's parameters, draw marks at
 * random, always mark what can be marked, and believe the sender.
 */
static inline void zrtt_params_preset(struct zrtt_params *params, u32 mode)
{
	u32 i;

	params->mode = mode;
	params->hint = ZRTT_HINT_TRUST;
	params->handshake = false;
	params->quic = false;
	params->lanes = false;
	params->l4s = false;
	params->fair = ZRTT_FAIR_FLOW;
	params->fair_mask = 0;
	params->weight_mask = 0;
	params->ceil.rate = 0;
	for (i = 0; i < ZRTT_DSCPS; i++)
		params->weight_q8[i] = ZRTT_WEIGHT_ONE;
	params->ctl.kind = ZRTT_CTL_BLUE;
	params->law = (struct zrtt_law_params) {
		.alpha_kind = ZRTT_ALPHA_FIXED,
		.alpha_max_q16 = ZRTT_ALPHA_PAPER_MAX,
		.pth_q30 = ZRTT_PERCENT(5, 1),
		.mark_max_q30 = ZRTT_P_ONE,
	};

	switch (mode) {
	case ZRTT_MODE_ZRTT:
		params->hint = ZRTT_HINT_CLAMP;
		params->handshake = true;
		params->quic = true;
		params->lanes = true;
		params->ctl.kind = ZRTT_CTL_PI2;
		params->law = (struct zrtt_law_params) {
			.alpha_kind = ZRTT_ALPHA_CAPPED,
			.alpha_max_q16 = 5 * ZRTT_Q16_ONE / 4,
			.pth_q30 = ZRTT_PERCENT(4, 1),
			.feedback = 2,
			.mark_max_q30 = ZRTT_PERCENT(25, 1),
			.tuned = true,
		};
		break;
	case ZRTT_MODE_PAPER:
		params->law.alpha_kind = ZRTT_ALPHA_PAPER;
		break;
	case ZRTT_MODE_MRTT:
		params->law.alpha_q16 = 2 * ZRTT_Q16_ONE;
		break;
	case ZRTT_MODE_PRTO:
		params->law.padhye = true;
		break;
	}
}

/* 0 for 0. */
static inline u32 zrtt_lowest_bit(u32 x)
{
	return x & (~x + 1);
}

/* Position of the lowest bit of @mask, 0 for 0. */
static inline u32 zrtt_mask_shift(u32 mask)
{
	return zrtt_log2(zrtt_lowest_bit(mask)) >> ZRTT_Q16;
}

/* Has @mask adjacent bits, and no more than @bits of them, or none? */
static inline bool zrtt_mask_fits(u32 mask, u32 bits)
{
	u32 low = zrtt_lowest_bit(mask);

	return !(mask & (mask + low)) && mask <= low * ((1ULL << bits) - 1);
}

/* RTT of a packet's mark, microseconds, 0 = none. */
static inline u32 zrtt_mark_to_us(const struct zrtt_params *params, u32 mark)
{
	u32 units = (mark & params->mark_mask) >> params->mark_shift;

	return units <= ZRTT_HINT_MAX ? zrtt_hint_to_us(units) : 0;
}

/* Smaller P_i than this are for zrtt_owes_later() to count. */
static inline u32 zrtt_later(const struct zrtt_params *params)
{
	u32 most = params->law.mark_max_q30;

	if (!params->law.tuned || params->ceil.rate)
		return 0;
	return (most < ZRTT_LATER_MAX ? most : ZRTT_LATER_MAX) + 1;
}

/* Fill in what follows from the parameters; to be called after any change. */
static inline void zrtt_params_derive(struct zrtt_params *params)
{
	u32 i;

	params->law.clamp = params->hint == ZRTT_HINT_CLAMP;
	params->law.later_q30 = zrtt_later(params);
	params->mark_shift = zrtt_mask_shift(params->mark_mask);
	params->fair_shift = zrtt_mask_shift(params->fair_mask);
	params->weight_shift = zrtt_mask_shift(params->weight_mask);
	params->weighted = params->weight_mask;
	for (i = 0; i < ZRTT_DSCPS; i++)
		params->weighted |= params->weight_q8[i] != ZRTT_WEIGHT_ONE;
	zrtt_ctl_derive(&params->ctl);
	zrtt_ceil_derive(&params->ceil, &params->ctl);
	if (params->line.kind != ZRTT_LINE_NONE)
		params->shaper.rate = params->line.max;
	zrtt_shaper_derive(&params->shaper);
}

/* The hard limit, packets. */
static inline u32 zrtt_params_limit(const struct zrtt_params *params)
{
	if (params->limit)
		return params->limit;
	return params->ctl.kind == ZRTT_CTL_BLUE ? ZRTT_LIMIT_BLUE : ZRTT_LIMIT_MOST;
}

/* What `tc qdisc add ... zrtt` without a parameter means. */
static inline void zrtt_params_init(struct zrtt_params *params)
{
	*params = (struct zrtt_params) {
		.memory_limit = ZRTT_MEMORY_LIMIT,
		.flows = 16384,
		.ecn = true,
		.split_gso = true,
		.prefix6 = ZRTT_PREFIX6,
		.ctl = {
			.target_us = 15000,
			.tupdate_us = 16000,
			.threshold = 100,
			.freeze_us = 50000,
			.increment_q30 = ZRTT_PERCENT(2, 1),
			.decrement_q30 = ZRTT_PERCENT(2, 10),
		},
		.shaper = { .raw = true },
		.line = { .min = ZRTT_LINE_RATE_MIN, .max = ZRTT_LINE_RATE_MAX },
	};
	zrtt_params_preset(params, ZRTT_MODE_ZRTT);
	zrtt_params_derive(params);
}

#endif
