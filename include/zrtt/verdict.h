/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From P_i to a verdict on a packet.
 *
 * Marks are spaced by a credit of the flow, drops are odds.
 */
#ifndef _ZRTT_VERDICT_H
#define _ZRTT_VERDICT_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "law.h"

enum zrtt_verdict {
	ZRTT_PASS,
	ZRTT_MARK,
	ZRTT_DROP,
};

#define ZRTT_SPACE_MAX		(ZRTT_P_ONE / 2)	/* least threshold */
#define ZRTT_CREDIT_MAX		(3 * ZRTT_P_ONE)	/* of a flow whose packets wait */

/* The most that a P_i counts as in the mean weight: where all is marked it may be 2^22, and 64 bits are
 * to hold the sum of what comes between two updates.
 */
#define ZRTT_COUNTED_P_MAX	((u64)ZRTT_P_ONE << 10)

/* By P_i alone a flow that starts with twice a large due share may keep it for half a minute. So
 * one that has 1.3 times the share or more has a mark in 16 epochs, 2 s, beside those of P_i: with
 * more of them others would come before its rate, a mean over 1.6 s, shows an answer.
 */
#define ZRTT_EXCESS_LOG		24806			/* log2 of 1.3, Q16 */
#define ZRTT_EXCESS_CREDIT	(ZRTT_P_ONE / 16)

/* Is P_i low enough to mark? A mark_max of 1 never drops. */
static inline bool zrtt_marks(const struct zrtt_law_params *params, u64 p_q30)
{
	return likely(p_q30 <= params->mark_max_q30) ||
	       params->mark_max_q30 >= ZRTT_P_ONE;
}

/**
 * zrtt_drop_odds() - the chance that a packet is dropped where P_i is above mark_max
 * @p_q30: P_i, unbounded
 *
 * P_i counts as odds: of 1 + P_i packets, or of 65536, one passes. A flow that sends too much
 * keeps a share, and its P_i may rise without bound. Return: Q30, below 1.
 */
static inline u32 zrtt_drop_odds(u64 p_q30)
{
	u32 pass_q16 = zrtt_exp2((ZRTT_P_SHIFT << ZRTT_Q16) -
				 zrtt_log2(p_q30 + ZRTT_P_ONE));

	if (!pass_q16)
		pass_q16 = 1;
	return ZRTT_P_ONE - (pass_q16 << (ZRTT_P_SHIFT - ZRTT_Q16));
}

/* Does @f have the credit for a hit? */
static inline bool zrtt_flow_owes(const struct zrtt_flow *f)
{
	return f->acc_q30 >= f->threshold_q30;
}

/* One is hit: draw how much the next takes. */
static inline void zrtt_flow_hit(struct zrtt_flow *f, u32 rnd)
{
	f->acc_q30 -= f->threshold_q30;
	f->threshold_q30 = ZRTT_P_ONE / 2 + (rnd >> 2);
}

/* Add @chance_q30, ZRTT_SPACE_MAX at most, to the credit of @f, of which no packet may leave for
 * long.
 */
static inline void zrtt_flow_charge(struct zrtt_flow *f, u32 chance_q30)
{
	if (likely(f->acc_q30 <= ZRTT_CREDIT_MAX))
		f->acc_q30 += chance_q30;
}

/* zrtt_charge_excess() where the due share is large: few flows have that, and others are not to pay. */
static noinline __maybe_unused void
zrtt_charge_large(const struct zrtt_law *law, struct zrtt_flow *f, s32 log_rate, u32 epochs)
{
	if (log_rate - law->log_due < ZRTT_EXCESS_LOG || !law->p_q30 || !f->counts || f->l4s)
		return;
	if (!zrtt_flow_owes(f))
		f->acc_q30 += ZRTT_EXCESS_CREDIT * zrtt_live_epochs(epochs);
}

/**
 * zrtt_charge_excess() - bring a flow nearer to its next mark if it has far more than a large due
 *	share
 * @law: as it is for this flow
 * @f: flow, just updated
 * @log_rate: log2 of its rate, Q16
 * @epochs: since its update before, 1 or more
 *
 * Not while P_b is 0, as then there is no queue; and credit for a second mark is not given.
 */
static inline void zrtt_charge_excess(const struct zrtt_law *law, struct zrtt_flow *f,
				      s32 log_rate, u32 epochs)
{
	if (unlikely(law->due >= ZRTT_LARGE_DUE))
		zrtt_charge_large(law, f, log_rate, epochs);
}

/* Count a packet's P_i in the mean weight. Those that P_i drops do not count: the rest must be
 * marked as if they were not there.
 */
static inline void zrtt_count_weight(struct zrtt_law *law, u64 p_q30, bool marks)
{
	if (!marks)
		return;
	law->sum_p_q30 += likely(p_q30 < ZRTT_COUNTED_P_MAX) ? p_q30 : ZRTT_COUNTED_P_MAX;
	law->weighed++;
}

/**
 * zrtt_is_hit() - is a packet to be marked or dropped?
 * @f: its flow
 * @chance_q30: the probability
 * @spaced: by spaced marking, where that keeps up
 * @rnd: random number
 *
 * Spaced marking adds the probability to the flow's credit and acts when a threshold drawn
 * from 0.5 .. 1.5 is reached: the same rate of marks as drawing at random, with
 * a fraction of the variance. Above ZRTT_SPACE_MAX it would fall behind: chance
 * has it.
 */
static inline bool zrtt_is_hit(struct zrtt_flow *f, u64 chance_q30, bool spaced, u32 rnd)
{
	if (!spaced || chance_q30 > ZRTT_SPACE_MAX)
		return (rnd >> 2) < chance_q30;
	f->acc_q30 += (u32)chance_q30;
	if (!zrtt_flow_owes(f))
		return false;
	zrtt_flow_hit(f, rnd);
	return true;
}

/**
 * zrtt_verdict() - what becomes of a packet
 * @params: parameters
 * @f: its flow
 * @p_q30: P_i, unbounded
 * @marks: it is low enough to mark
 * @segs: segments it stands for, each with its own chance
 * @ect: it can be marked
 * @rnd: random number
 */
static inline enum zrtt_verdict
zrtt_verdict(const struct zrtt_law_params *params, struct zrtt_flow *f,
	     u64 p_q30, bool marks, u32 segs, bool ect, u32 rnd)
{
	u64 chance_q30 = p_q30;

	if (params->tuned && !marks)
		chance_q30 = zrtt_drop_odds(p_q30);
	if (unlikely(__builtin_mul_overflow(chance_q30, (u64)segs, &chance_q30)))
		chance_q30 = ZRTT_P_ONE;
	if (!zrtt_is_hit(f, chance_q30, params->tuned, rnd))
		return ZRTT_PASS;
	return ect && marks ? ZRTT_MARK : ZRTT_DROP;
}

#endif
