/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From P_b to a flow's P_i; verdict.h goes on from there.
 *
 *   P_i = P_b norm (RTT_avg / RTT_i)^alpha (r_i / due)^feedback penalty_i
 *
 * BLUE has none of these factors, MRTT alpha 2, the paper eq. (5), PRTO Padhye's
 * throughput equation in place of the power. The weight P_i / P_b costs
 * logarithms, so it is computed once per flow and epoch, never per packet.
 *
 * Mode zrtt: the RTT is feed-forward, it says where a flow starts. Rate and penalty
 * are feedback, proportional and integral, and say where it ends: at the due share,
 * the mean rate of the flows that are held back. The norm makes the mean weight of
 * packets 1, so that the controller's loop gain does not depend on who sends; drops
 * are odds, so that no P_i reaches 1.
 */
#ifndef _ZRTT_LAW_H
#define _ZRTT_LAW_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "table.h"
#include "padhye.h"

/* enum tc_zrtt_alpha */
enum zrtt_alpha_kind {
	ZRTT_ALPHA_CAPPED,
	ZRTT_ALPHA_PAPER,
	ZRTT_ALPHA_FIXED,
};

#define ZRTT_ALPHA_PAPER_MAX	(2 * ZRTT_Q16_ONE)	/* eq. (5) */
#define ZRTT_WEIGHT_LOG_MIN	(-15 * (s32)ZRTT_Q16_ONE)
#define ZRTT_WEIGHT_LOG_MAX	(22 << ZRTT_Q16)
#define ZRTT_NORM_LOG_MAX	(15 << ZRTT_Q16)	/* 2^-15 .. 2^15 */
#define ZRTT_TRUST_LOG_MAX	(2 << ZRTT_Q16)		/* 1/4 .. 4 */

/* The mean weight is one of all updates, and of 512 at most: 8 s, slower than any flow's loop. At
 * the start it is to be known at once: a first flow of 20 ms beside one of 320 ms that has hardly
 * begun would have 15 times the marks of P_b, and lose hundreds of packets.
 */
#define ZRTT_NORM_TICKS		512

/* The penalty is the integral of a gain times log2 r_i / due, of which an octave counts at most.
 * The gain is a third of the marks that the flow, or one of the due share, expects in an epoch, and
 * 1/16 at most: where marks are seconds apart, senders have not answered the last ones yet. By the
 * due share it may be half of P_b where that is above 1/8, up to 1/4: where streams begin that heed
 * no mark, TCP is far below its share until its penalty has fallen. A flow that has 16 marks in an
 * epoch and still is above its due share is unresponsive. Its gain is 1/4 until P_i is 1, which
 * drops half of its packets: a flood is to have a P_i of 1 soon, also where P_b is 2^-20. The
 * penalty of a flow whose token bucket drops (police.h) rises by 1/4 in each epoch, at any P_i.
 */
#define ZRTT_PENALTY_MIN	(-14 * (s32)ZRTT_Q16_ONE)
#define ZRTT_PENALTY_MAX	(21 << ZRTT_Q16)
#define ZRTT_PENALTY_SHIFT	12			/* P_b for 4096 bytes, not 1514 */
#define ZRTT_PENALTY_GAIN_MAX	(ZRTT_Q16_ONE / 16)
#define ZRTT_PENALTY_GAIN_UNRESPONSIVE	(ZRTT_Q16_ONE / 4)
#define ZRTT_PENALTY_UNRESPONSIVE	(6ULL << ZRTT_Q16) /* zrtt_marks_third() of 16 marks */

/* log2 of 4 full packets times the square of an epoch in microseconds, Q16; zrtt_l4s_gain() */
#define ZRTT_L4S_ANSWER_LOG	(46 * ZRTT_Q16_ONE + 36972)

/**
 * struct zrtt_law_params - how flows differ
 * @padhye: PRTO's ratio instead of the power
 * @alpha_kind: enum zrtt_alpha_kind
 * @alpha_q16: exponent of ZRTT_ALPHA_FIXED
 * @alpha_max_q16: cap of ZRTT_ALPHA_CAPPED
 * @pth_q30: P_th
 * @feedback: exponent of the rate feedback
 * @mark_max_q30: largest P_i that marks, above it ECT packets drop too
 * @later_q30: smaller P_i are not for the packet itself, 0 = none; see zrtt_owes_later()
 * @tuned: mode zrtt's own: marks spaced by an accumulator instead of drawn at
 *	random, mean weight 1, drops as odds, a penalty for more than the due share
 * @clamp: bound what an unconfirmed hint does
 */
struct zrtt_law_params {
	u32 alpha_kind;
	u32 alpha_q16;
	u32 alpha_max_q16;
	u32 pth_q30;
	u32 feedback;
	u32 mark_max_q30;
	u32 later_q30;
	bool padhye;
	bool tuned;
	bool clamp;
};

/**
 * struct zrtt_law - what every flow's weight is computed from, set per tick
 * @alpha_q16: exponent in use
 * @log_rtt: log2 of RTT_avg in microseconds, Q16
 * @log_due: log2 of the due share in bytes per epoch, Q16
 * @due: the same, bytes per epoch
 * @counted: flows that it is the mean of; of hosts, their parts
 * @gain_q16: what an octave above it adds to a flow's penalty in an epoch, Q16; or more
 * @l4s_gain_q16: the same for flows of the low-latency lane, whose marks are more
 * @p_q30: P_b
 * @rtt_avg_us: RTT_avg, for Padhye's equation
 * @queue_us: own delay, which Padhye's RTT includes
 * @log_norm: log2 of the factor that makes the mean weight 1, Q16
 * @log_steady: log2 of the factor that makes P_b its EWMA, Q16
 * @log_first: log2 of the largest weight of a new flow, Q16: more than 1 of a host that is above
 *	its due share
 * @norm_ticks: updates that it is of, up to ZRTT_NORM_TICKS
 * @sum_p_q30: sum of P_i over the packets since the last tick, Q30
 * @weighed: number of these packets
 * @sum_bytes: of the packets that left bulk in the last second
 * @sum_squares: sum of the squares of their lengths
 */
struct zrtt_law {
	u32 alpha_q16;
	s32 log_rtt;
	s32 log_due;
	u32 due;
	u32 counted;
	u32 gain_q16;
	u32 l4s_gain_q16;
	u32 p_q30;
	u32 rtt_avg_us;
	u32 queue_us;
	s32 log_norm;
	s32 log_steady;
	s32 log_first;
	u32 norm_ticks;
	u64 sum_p_q30;
	u32 weighed;
	u64 sum_bytes;
	u64 sum_squares;
};

static inline s32 zrtt_clamp_between(s32 x, s32 least, s32 most)
{
	if (x > most)
		return most;
	return x < least ? least : x;
}

static inline s32 zrtt_clamp_log(s32 x, s32 most)
{
	return zrtt_clamp_between(x, -most, most);
}

/* min(cap, P_th / P_b_avg), Q16, without a division */
static inline u32 zrtt_alpha_capped(u32 pth_q30, u32 p_avg_q30, u32 cap_q16)
{
	u32 alpha_q16;

	if (!p_avg_q30)
		return cap_q16;
	alpha_q16 = zrtt_exp2(zrtt_log2(pth_q30) - zrtt_log2(p_avg_q30));
	return alpha_q16 < cap_q16 ? alpha_q16 : cap_q16;
}

/* The exponent of the moment. */
static inline u32 zrtt_alpha(const struct zrtt_law_params *params, u32 p_avg_q30)
{
	u32 cap_q16 = params->alpha_kind == ZRTT_ALPHA_PAPER ?
		      ZRTT_ALPHA_PAPER_MAX : params->alpha_max_q16;

	if (params->alpha_kind == ZRTT_ALPHA_FIXED)
		return params->alpha_q16;
	return zrtt_alpha_capped(params->pth_q30, p_avg_q30, cap_q16);
}

/* A third of the marks that a flow of @rate expects in an epoch at @p_q30, Q16 */
static inline u64 zrtt_marks_third(u64 p_q30, u32 rate)
{
	return (p_q30 * rate) >> (ZRTT_P_SHIFT - ZRTT_Q16 + ZRTT_PENALTY_SHIFT);
}

/* The gain of a flow that has so many, up to @most_q16. */
static inline u32 zrtt_gain_up_to(u32 p_q30, u32 rate, u32 most_q16)
{
	u64 gain_q16 = zrtt_marks_third(p_q30, rate);

	return gain_q16 < most_q16 ? (u32)gain_q16 : most_q16;
}

/* The same, up to 1/16. */
static inline u32 zrtt_penalty_gain(u32 p_q30, u32 rate)
{
	return zrtt_gain_up_to(p_q30, rate, ZRTT_PENALTY_GAIN_MAX);
}

/* The most that it is of a flow of the due share, at a P_b of @p_q30. */
static inline u32 zrtt_due_gain_max(u32 p_q30)
{
	u32 half_q16 = p_q30 >> (ZRTT_P_SHIFT - ZRTT_Q16 + 1);

	return zrtt_clamp_between((s32)half_q16, ZRTT_PENALTY_GAIN_MAX,
				  ZRTT_PENALTY_GAIN_UNRESPONSIVE);
}

/* The due share, a max-min fair one: the geometric mean, which the integral of
 * logarithms holds flows at, of the rates of those that are held back. While nobody is,
 * it stays what it was.
 */
static inline void zrtt_law_due(struct zrtt_law *law, const struct zrtt_sums *sums, u32 p_q30)
{
	law->counted = sums->counted;
	if (!sums->counted)
		return;
	law->log_due = (s32)div_s64(sums->sum_log_rate, sums->counted);
	law->due = zrtt_exp2(law->log_due - (ZRTT_Q16 << ZRTT_Q16));
	law->gain_q16 = zrtt_gain_up_to(p_q30, law->due, zrtt_due_gain_max(p_q30));
}

/* The link sent @most bytes in an epoch in which packets waited all the time, 0 = none: no share is
 * more, but for weights below 1 and hosts in several queues, which count soon. Such a one is left
 * behind where the link was faster when flows counted last, or by a flood that was alone: its rate
 * is what it asked for. All flows would be below it, and nobody marked.
 */
static inline void zrtt_law_bound(struct zrtt_law *law, u64 most)
{
	if (likely(law->counted) || !most || most >= law->due)
		return;
	law->due = (u32)most;
	law->log_due = zrtt_log2(law->due);
}

/* Move the mean weight of the packets since the last tick, P_i / P_b, towards 1. Where P_b was 0
 * it is not known.
 */
static inline void zrtt_law_normalise(struct zrtt_law *law)
{
	s32 log_mean;

	if (law->weighed && law->p_q30) {
		log_mean = zrtt_log2(law->sum_p_q30) - zrtt_log2(law->weighed) -
			   zrtt_log2(law->p_q30);
		if (law->norm_ticks < ZRTT_NORM_TICKS)
			law->norm_ticks++;
		law->log_norm = zrtt_clamp_log(law->log_norm - log_mean / (s32)law->norm_ticks,
					       ZRTT_NORM_LOG_MAX);
	}
	law->sum_p_q30 = 0;
	law->weighed = 0;
}

/**
 * zrtt_law_tick() - refresh what the weights are computed from
 * @params: parameters
 * @law: state
 * @sums: of the flows whose averages are taken
 * @p_q30: P_b
 * @p_avg_q30: its EWMA
 * @queue_us: smoothed sojourn
 */
static inline void zrtt_law_tick(const struct zrtt_law_params *params,
				 struct zrtt_law *law, const struct zrtt_sums *sums,
				 u32 p_q30, u32 p_avg_q30, u32 queue_us)
{
	law->alpha_q16 = zrtt_alpha(params, p_avg_q30);
	zrtt_law_due(law, sums, p_q30);
	if (params->tuned)
		zrtt_law_normalise(law);
	law->log_steady = p_q30 && p_avg_q30 ? zrtt_log2(p_avg_q30) - zrtt_log2(p_q30) : 0;
	if (sums->with_rtt) {
		law->log_rtt = zrtt_log2(sums->sum_rtt_us) - zrtt_log2(sums->with_rtt);
		/* 2^-8 keeps the longest RTT inside exp2's range */
		law->rtt_avg_us = zrtt_exp2(law->log_rtt - (8 << ZRTT_Q16)) >> 8;
	}
	law->p_q30 = p_q30;
	law->queue_us = queue_us;
}

/* log2 of (RTT_avg / RTT_i)^alpha, Q16 */
static inline s32 zrtt_power_log_weight(u32 rtt_us, const struct zrtt_law *law)
{
	s64 log_ratio = law->log_rtt - zrtt_log2(rtt_us);

	return (s32)((log_ratio * law->alpha_q16) >> ZRTT_Q16);
}

/* May anyone have stated the flow's RTT, or its sender what it likes? */
static inline bool zrtt_is_doubtful(const struct zrtt_law_params *params,
				    const struct zrtt_flow *f)
{
	if (f->source == ZRTT_RTT_QUIC)
		return true;
	return params->clamp && f->source == ZRTT_RTT_HINT &&
	       (!f->passive_us || f->syn == ZRTT_SYN_QUIC);
}

/* What has the logarithm @log, Q16: 26 bits, and in the last six how far they are to be shifted.
 * Fixed point would be too coarse for those that are hardly marked, or too short for a flood
 * where P_b is small.
 */
static inline u32 zrtt_weight_pack(s32 log)
{
	s32 shift = ZRTT_WEIGHT_ONE_SHIFT - (log >> ZRTT_Q16);

	return zrtt_exp2(log + (shift - ZRTT_Q16) * (s32)ZRTT_Q16_ONE) << ZRTT_WEIGHT_SHIFT_BITS |
	       (u32)shift;
}

/**
 * zrtt_weight_at() - P_i / P_b of a flow, of the low-latency lane its square root
 * @params: parameters
 * @law: state of the last tick
 * @f: flow, just updated
 * @log_rate: log2 of its rate, Q16, or zrtt_log_growing()
 *
 * A flow without an RTT counts as one of RTT_avg, one without a rate as one of the due
 * share, as in mode zrtt all do while nobody is held back: that of flows that were here before says
 * nothing of those that begin. There a new flow has a weight of 1 at most, whatever its RTT is, or
 * that of @log_first where its host is above its due share. Return: as zrtt_weight_pack(),
 * 2^-15 .. 2^22.
 */
static inline u32 zrtt_weight_at(const struct zrtt_law_params *params,
				 const struct zrtt_law *law,
				 const struct zrtt_flow *f, s32 log_rate)
{
	s32 log_weight = 0;

	if (f->rtt_us && law->log_rtt) {
		log_weight = params->padhye ?
			     zrtt_padhye_log_weight(f->rtt_us + law->queue_us,
						    law->rtt_avg_us + law->queue_us,
						    law->p_q30) :
			     zrtt_power_log_weight(f->rtt_us, law);
		if (zrtt_is_doubtful(params, f))
			log_weight = zrtt_clamp_log(log_weight, ZRTT_TRUST_LOG_MAX);
	}
	if (f->rate && law->log_due && (law->counted || !params->tuned))
		log_weight += (s32)params->feedback *
			      (log_rate - law->log_due);
	if (params->tuned)
		log_weight += law->log_norm + f->penalty_q16;
	if (params->tuned && !f->rate && log_weight > law->log_first)
		log_weight = law->log_first;
	log_weight = zrtt_clamp_between(log_weight, ZRTT_WEIGHT_LOG_MIN, ZRTT_WEIGHT_LOG_MAX);
	return zrtt_weight_pack(f->l4s ? log_weight / 2 : log_weight);
}

/* The same, for callers that have no log2 of the rate. */
static inline u32 zrtt_weight(const struct zrtt_law_params *params,
			      const struct zrtt_law *law,
			      const struct zrtt_flow *f)
{
	return zrtt_weight_at(params, law, f, zrtt_log2(f->rate));
}

/* The gain of a flow in bulk. A host, whose law has no P_b, has that of the due share. */
static inline u32 zrtt_own_gain(const struct zrtt_law *law, const struct zrtt_flow *f)
{
	u64 p_q30 = zrtt_weight_times(law->p_q30, f->weight);
	u32 own_q16;

	if (p_q30 > ZRTT_P_ONE)
		return law->gain_q16;
	if (zrtt_marks_third(p_q30, f->rate) >= ZRTT_PENALTY_UNRESPONSIVE)
		return ZRTT_PENALTY_GAIN_UNRESPONSIVE;
	own_q16 = zrtt_penalty_gain((u32)p_q30, f->rate);
	return own_q16 > law->gain_q16 ? own_q16 : law->gain_q16;
}

/* The gain of a flow of the low-latency lane: no more than an octave in a quarter of the time in
 * which it answers, W RTTs of a window of W packets, as it has 2 marks per RTT. Where that is
 * long, an integral that ran on would let it grow to far more than its due.
 */
static inline u32 zrtt_l4s_gain(const struct zrtt_law *law, const struct zrtt_flow *f, s32 log_due)
{
	u32 most_q16;

	if (!f->rtt_us)
		return law->l4s_gain_q16;
	most_q16 = zrtt_exp2(ZRTT_L4S_ANSWER_LOG - log_due - 2 * zrtt_log2(f->rtt_us));
	return most_q16 < law->l4s_gain_q16 ? most_q16 : law->l4s_gain_q16;
}

/* What the penalty of @f changes by, Q16; see zrtt_penalise_at(). A flow whose token bucket drops
 * has far more than its due share, of which @log_rate, that passed, says too little.
 */
static inline s64 zrtt_penalty_step(const struct zrtt_law *law, const struct zrtt_flow *f,
				    s32 log_rate, s32 log_due, u32 epochs)
{
	s64 log_over = zrtt_clamp_log(log_rate - log_due, ZRTT_Q16_ONE);
	u32 gain_q16;

	if (unlikely(f->policed))
		return ZRTT_PENALTY_GAIN_UNRESPONSIVE * epochs;
	gain_q16 = f->l4s ? zrtt_l4s_gain(law, f, log_due) : zrtt_own_gain(law, f);
	return (log_over * gain_q16 * epochs) >> ZRTT_Q16;
}

/**
 * zrtt_penalise_at() - raise or lower a flow's penalty
 * @law: state, which says the gain
 * @f: flow, just updated
 * @log_rate: log2 of its rate, Q16
 * @log_due: log2 of the rate that it is to have, Q16, 0 = not known
 * @epochs: since its update before, 1 or more
 *
 * Below 1 it falls only while the flow is hit: a flow that is application-limited below the
 * due share must not save up for a burst. Down to 1 it falls whether the flow counts or not, or
 * who is no longer held back would keep it. In the low-latency lane few marks are enough, also of
 * a flow that does not count: who is not scalable is held below its due by these, and known by
 * them once it has that.
 */
static inline void zrtt_penalise_at(const struct zrtt_law *law, struct zrtt_flow *f,
				    s32 log_rate, s32 log_due, u32 epochs)
{
	s64 step_q16;

	if (!log_due || !(f->counts || (f->l4s && f->hit && zrtt_flow_mature(f)) ||
			  (!f->l4s && f->rate && f->penalty_q16 > 0 && log_rate < log_due)))
		return;
	step_q16 = zrtt_penalty_step(law, f, log_rate, log_due, zrtt_live_epochs(epochs));
	f->policed = 0;
	if (step_q16 < 0 && !f->hit && step_q16 + f->penalty_q16 < 0)
		step_q16 = f->penalty_q16 > 0 ? -f->penalty_q16 : 0;
	f->penalty_q16 = zrtt_clamp_between(f->penalty_q16 + (s32)step_q16, ZRTT_PENALTY_MIN,
					    ZRTT_PENALTY_MAX);
}

/* The same against the due share of @law, for callers that have no log2 of the rate. */
static inline void zrtt_penalise(const struct zrtt_law *law, struct zrtt_flow *f, u32 epochs)
{
	zrtt_penalise_at(law, f, zrtt_log2(f->rate), law->log_due, epochs);
}

/* zrtt_log_growing() where the due share is large. */
static noinline __maybe_unused s32
zrtt_log_growing_large(const struct zrtt_flow *f, s32 log_rate, u32 bytes, u32 epochs)
{
	s32 log_last;

	/* an age below @epochs: it was silent, and begins anew */
	if (f->age >= ZRTT_RATE_EPOCHS || f->age < epochs)
		return log_rate;
	log_last = zrtt_log2(zrtt_mean_of_epochs(bytes, epochs));
	return log_last > log_rate ? log_last : log_rate;
}

/**
 * zrtt_log_growing() - log2 of the rate that the weight of a flow is of, Q16
 * @law: as it is for this flow
 * @f: flow, just updated
 * @log_rate: log2 of its rate, Q16
 * @bytes: that it sent in the last @epochs
 * @epochs: since its update before
 *
 * That of a young flow is the mean since its begin: in slow start, a fraction of what it sends by
 * now, and those at their due share would have its marks. So what it sent last counts if that is
 * more, but only where the due share is large, and a short flow sends less than that in an epoch.
 */
static inline s32 zrtt_log_growing(const struct zrtt_law *law, const struct zrtt_flow *f,
				   s32 log_rate, u32 bytes, u32 epochs)
{
	if (unlikely(law->due >= ZRTT_LARGE_DUE))
		return zrtt_log_growing_large(f, log_rate, bytes, epochs);
	return log_rate;
}

#endif
