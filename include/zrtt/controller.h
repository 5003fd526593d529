/* SPDX-License-Identifier: GPL-2.0 */
/*
 * P_b, the base marking probability: BLUE, proportional BLUE and PI2.
 *
 * BLUE learns from events (overflow, idle link); the other two from the
 * sojourn, once per update period. All of them work from the packet path.
 */
#ifndef _ZRTT_CONTROLLER_H
#define _ZRTT_CONTROLLER_H

#include <linux/types.h>
#include <linux/math64.h>
#include "fixed.h"

enum zrtt_controller_kind {
	ZRTT_CTL_BLUE,
	ZRTT_CTL_PBLUE,
	ZRTT_CTL_PI2,
};

/* RFC 9332 section 2.5.1 and appendix A: alpha = 0.1 T / RTT_max^2,
 * beta = 0.3 / RTT_max, with RTT_max = 200 ms, and both doubled, 5 T and 3 per
 * second: with half of that the queue swings after a change of the link's rate
 * and under short flows; with RTT_max = 100 ms (10 T, 3) the link runs dry.
 * Both in Q30 per microsecond, alpha also per microsecond of period, with
 * ZRTT_PI2_FRAC more fraction bits.
 */
#define ZRTT_PI2_FRAC		24
#define ZRTT_PI2_BETA		54043195528ULL	/* 3e-6 << 54 */
#define ZRTT_PI2_ALPHA_PER_US	90072ULL	/* 5e-12 << 54 */

/* Only a queue that stands needs marks: the least sojourn of 5 updates, 80 ms. A burst of
 * short flows is gone by then, and long flows would back off for it (churn at half of the
 * link: utilisation 0.88 instead of 0.97). With more updates the loop is too slow for
 * floods. The least is to be half of the target; the mean is about the target then. A
 * longer burst counts as twice that at most, and raises P_b slowly, too.
 */
#define ZRTT_STANDING_TICKS	5

/* Short flows are gone before they could answer a mark, and long flows would back off for them. So
 * the gains fall by the part of the rates that young flows have, a mean over 4 s, and to a half at
 * most. Half of the gains for all would make a link that slowed down have twice the queue (p95 of a
 * step from 20 to 5 Mbit/s 99 instead of 53 ms).
 */
#define ZRTT_YOUNG_WQ_Q16	256
#define ZRTT_YOUNG_MAX_Q16	(ZRTT_Q16_ONE / 2)

/* A mark is answered an RTT after it left. A queue that falls so fast that it is at the aim by then
 * has been answered already, and more marks would empty the link: four Reno flows that begin use
 * 86 to 95 instead of 91 to 98 % of 300 Mbit/s. So nobody is marked until it falls more slowly.
 */
#define ZRTT_FALL_TICKS		2
#define ZRTT_FALL_PKTS		3
#define ZRTT_FALL_RTT_US	100000		/* until RTT_avg is known */

/* A sojourn of target / 8 or less in 2 updates: P_b overshot, and the integral alone would take
 * 13 s to come back from 25 %. From then on p' also falls by 1/8 per update; PIE does
 * the like (RFC 8033 section 4.2).
 */
#define ZRTT_PI2_EMPTY		8	/* sojourn at most target / 8 */
#define ZRTT_PI2_EMPTY_TICKS	2
#define ZRTT_PI2_DECAY_SHIFT	3

/* The target follows the number of flows up to this many times what the user set, in
 * proportion to P_b up to 10 %: few packets per flow are no reason where P_b is low.
 */
#define ZRTT_FOLLOW_TARGETS	24
#define ZRTT_FOLLOW_P		(ZRTT_P_ONE / 10)

/* An empty link forgets: p' halves per 2^29 ns = 537 ms, about PIE's 2 % per
 * 15 ms (RFC 8033 section 4.2), so that no past can keep P_b up.
 */
#define ZRTT_IDLE_HALVING_SHIFT	29
#define ZRTT_IDLE_MIN_SHIFT	23	/* 8 ms: shorter gaps are not idleness */

/* Of n packets the sojourn counts as at most n / 2 targets. So where two packets take longer than
 * the target, below 1.6 Mbit/s, they are the target. With n targets in place of n / 2, two Reno
 * flows of 1 and 200 ms use 1 point less of 1 Mbit/s; with n / 3, p95 is 57 and not 45 ms with one
 * CUBIC flow.
 */
#define ZRTT_TARGET_PKTS	2

#define ZRTT_SOJOURN_MAX_US	10000000	/* longer ones count as 10 s */

/* A link that slowed down leaves a queue that marks take long to shorten: packets at the head that
 * are older than 10 targets are dropped. 32 packets stay, which a slow link may need that long for.
 * Nine drops for each packet that leaves are enough for a link that fell to a tenth of its rate; a
 * sender whose window lost hundreds in a row needs a minute to recover. A queue that leaves within
 * 10 targets is not dropped, however old it is: after a link stood still (a handover, a scan for
 * channels), or of a burst, all would be dropped, and the link be idle.
 */
#define ZRTT_LATE_TARGETS	10
#define ZRTT_LATE_KEEP_PKTS	32
#define ZRTT_LATE_BATCH		9
#define ZRTT_LATE_PART_SHIFT	25	/* 2^25 ns = 34 ms, in which it is seen what a link sends */
#define ZRTT_LATE_PART_US_SHIFT	15	/* the same in us, nearly */
#define ZRTT_LATE_PARTS		4
#define ZRTT_LATE_SLOWER_SHIFT	3	/* eight parts are twice an epoch */

/* Half a second of the link, ten times what is late, and at least the 1000 packets that
 * a link of 20 Mbit/s needs in that time.
 */
#define ZRTT_LIMIT_EPOCHS	4
#define ZRTT_LIMIT_LEAST	1000
#define ZRTT_SENT_SHIFT		8

/* Ticks run as packets pass: a late one counts for the time that passed, 8 periods at most. */
#define ZRTT_TICK_PERIODS_MAX	7

#define ZRTT_BLUE_PERIOD_MAX_US	100000	/* between ticks: BLUE needs them for averages only */

/* Proportional BLUE: P_b changes by up to 10 % per 100 ms (the step) and
 * starts from, and never rests below, 0.01 %.
 */
#define ZRTT_PBLUE_STEP_US	1000000		/* 100 ms / 10 % */
#define ZRTT_PBLUE_FLOOR	(ZRTT_P_ONE / 10000)

/* Weight of a sample in P_b_avg: w_q = 0.1 for BLUE, "calculated in the same way
 * as RTT" (paper, eq. 5). The others average over 1.6 s: alpha follows P_b_avg,
 * and marking follows alpha, so a fast average closes a second control loop that
 * swings (80 flows: utilisation 98.4 % instead of 99.6 %).
 */
#define ZRTT_PAVG_WQ_Q16	6554
#define ZRTT_PAVG_US		1600000

/**
 * struct zrtt_ctl_params - controller parameters
 * @kind: enum zrtt_controller_kind
 * @target_us: sojourn aimed at
 * @tupdate_us: update period of PBLUE and PI2
 * @threshold: BLUE's q_lim, packets
 * @freeze_us: BLUE's least time between two changes
 * @increment_q30: BLUE's d1
 * @decrement_q30: BLUE's d2
 * @freeze_recip: 2^32 / @freeze_us, so that the packet path never divides
 * @pblue_step_q16: change per update and unit of error, relative to P_b
 * @target_recip: 2^32 / @target_us
 * @pavg_wq_q16: weight of a sample in P_b_avg
 * @gain_shift: PI2's gains are less by this power of two
 */
struct zrtt_ctl_params {
	u32 kind;
	u32 target_us;
	u32 tupdate_us;
	u32 threshold;
	u32 freeze_us;
	u32 increment_q30;
	u32 decrement_q30;
	u32 freeze_recip;
	u32 target_recip;
	u32 pblue_step_q16;
	u32 pavg_wq_q16;
	u32 gain_shift;
};

/**
 * struct zrtt_ctl - controller state
 * @p_q30: P_b
 * @p_avg_q30: EWMA of P_b, sampled once per tick
 * @root_q30: PI2's p', P_b = p'^2
 * @sojourn_us: PI2: the least of @recent_us at the last update
 * @recent_us: sojourns at the last updates, PI2
 * @at: where the next one goes
 * @aim_us: what PI2 holds the standing queue at
 * @young_q16: part of the rates that young flows have, Q16, up to
 *	ZRTT_YOUNG_MAX_Q16: PI2's gains are less by it
 * @empty_ticks: updates in a row that found target / 8 or less
 * @falls: the queue falls so fast that it will be at @aim_us within an RTT
 * @changed_ns: when BLUE last changed P_b
 */
struct zrtt_ctl {
	u32 p_q30;
	u32 p_avg_q30;
	u32 root_q30;
	u32 sojourn_us;
	u32 recent_us[ZRTT_STANDING_TICKS];
	u32 at;
	u32 aim_us;
	u32 young_q16;
	u32 empty_ticks;
	bool falls;
	u64 changed_ns;
};

/* Fill in what follows from the parameters; to be called after any change. */
static inline void zrtt_ctl_derive(struct zrtt_ctl_params *params)
{
	params->freeze_recip = (u32)div_u64(1ULL << 32, params->freeze_us);
	params->target_recip = (u32)div_u64(1ULL << 32, params->target_us);
	params->pblue_step_q16 = (u32)div_u64((u64)params->tupdate_us << ZRTT_Q16,
					      ZRTT_PBLUE_STEP_US);
	params->pavg_wq_q16 = params->kind == ZRTT_CTL_BLUE ? ZRTT_PAVG_WQ_Q16 :
		(u32)div_u64((u64)params->tupdate_us << ZRTT_Q16, ZRTT_PAVG_US);
}

/* Time between ticks; BLUE's is its freeze time. */
static inline u32 zrtt_ctl_period_us(const struct zrtt_ctl_params *params)
{
	if (params->kind != ZRTT_CTL_BLUE)
		return params->tupdate_us;
	return params->freeze_us < ZRTT_BLUE_PERIOD_MAX_US ? params->freeze_us :
							     ZRTT_BLUE_PERIOD_MAX_US;
}

/* A tick is due at @tick_ns, 0 = it is the first. Return: how much later it comes. */
static inline u64 zrtt_ctl_late_ns(const struct zrtt_ctl_params *params, u64 tick_ns, u64 now_ns)
{
	u64 most_ns = zrtt_ctl_period_us(params) * 1000ULL * ZRTT_TICK_PERIODS_MAX;
	u64 late_ns = tick_ns ? now_ns - tick_ns : 0;

	return late_ns < most_ns ? late_ns : most_ns;
}

/* The time that a tick counts for, which comes @late_ns late. */
static inline u32 zrtt_ctl_elapsed_us(const struct zrtt_ctl_params *params, u64 late_ns)
{
	return zrtt_ctl_period_us(params) + (u32)div_u64(late_ns, 1000);
}

/* sqrt(p), Q30, so that a change of controller carries P_b over. */
static inline u32 zrtt_p_sqrt(u32 p_q30)
{
	if (!p_q30)
		return 0;
	/* exp2 gives Q16: add 14 to the exponent for Q30 */
	return zrtt_exp2((zrtt_log2(p_q30) - (ZRTT_P_SHIFT << ZRTT_Q16)) / 2 +
			 ((ZRTT_P_SHIFT - ZRTT_Q16) << ZRTT_Q16));
}

/* Set P_b for every controller at once. */
static inline void zrtt_ctl_set(struct zrtt_ctl *ctl, u32 p_q30)
{
	ctl->p_q30 = p_q30;
	ctl->root_q30 = zrtt_p_sqrt(p_q30);
}

/* The same from PI2's side: p' is given. */
static inline void zrtt_ctl_set_root(struct zrtt_ctl *ctl, u32 root_q30)
{
	ctl->root_q30 = root_q30;
	ctl->p_q30 = (u32)(((u64)root_q30 * root_q30) >> ZRTT_P_SHIFT);
}

/**
 * zrtt_blue_overflow() - the queue is above q_lim or dropped a packet
 * @params: parameters
 * @ctl: state
 * @now_ns: clock
 *
 * BLUE's "upon packet loss event": P_b += d1, once per freeze_time.
 */
static inline void zrtt_blue_overflow(const struct zrtt_ctl_params *params,
				      struct zrtt_ctl *ctl, u64 now_ns)
{
	if (params->kind != ZRTT_CTL_BLUE ||
	    now_ns - ctl->changed_ns <= params->freeze_us * 1000ULL)
		return;
	ctl->changed_ns = now_ns;
	zrtt_ctl_set(ctl, zrtt_p_add(ctl->p_q30, params->increment_q30));
}

/**
 * zrtt_blue_idle() - the link was idle
 * @params: parameters
 * @ctl: state
 * @since_ns: when the queue ran empty
 * @now_ns: clock
 *
 * BLUE's "upon link idle event": P_b -= d2, once per freeze_time. An empty
 * qdisc may not be polled (it is not under htb), so the caller reports an idle
 * period at its end as well and the decrements it was owed are applied then.
 */
static inline void zrtt_blue_idle(const struct zrtt_ctl_params *params,
				  struct zrtt_ctl *ctl, u64 since_ns, u64 now_ns)
{
	u64 freeze_ns = params->freeze_us * 1000ULL;
	u64 first_ns = ctl->changed_ns + freeze_ns;
	u64 owed_us, steps;

	if (params->kind != ZRTT_CTL_BLUE || !ctl->p_q30)
		return;
	if (first_ns < since_ns)
		first_ns = since_ns;
	if (now_ns < first_ns)
		return;
	owed_us = (now_ns - first_ns) >> 10; /* of 1024 ns: 2.4 % fewer decrements */
	if (owed_us > ~0U)
		owed_us = ~0U;
	steps = 1 + ((owed_us * params->freeze_recip) >> 32);
	ctl->changed_ns = now_ns;
	zrtt_ctl_set(ctl, zrtt_p_add(ctl->p_q30,
				     -(s64)(steps * params->decrement_q30)));
}

/**
 * zrtt_ctl_sojourn() - the sojourn as the controllers see it
 * @params: parameters
 * @ctl: state
 * @sojourn_us: age of the packet at the head of the queue
 * @backlog_pkts: queued, that one included
 *
 * Return: microseconds; at most the target, or the aim if that is more, for each ZRTT_TARGET_PKTS
 * packets.
 */
static inline u32 zrtt_ctl_sojourn(const struct zrtt_ctl_params *params,
				   const struct zrtt_ctl *ctl,
				   u32 sojourn_us, u32 backlog_pkts)
{
	u32 target_us = ctl->aim_us > params->target_us ? ctl->aim_us : params->target_us;
	u64 most_us = div_u64((u64)target_us * backlog_pkts, ZRTT_TARGET_PKTS);

	return sojourn_us < most_us ? sojourn_us : (u32)most_us;
}

/* What one of @backlog_pkts packets adds to the sojourn; see zrtt_ctl_foresee(). */
static inline u32 zrtt_ctl_packet_us(u32 sojourn_us, u32 backlog_pkts)
{
	return backlog_pkts ? sojourn_us / backlog_pkts : 0;
}

/* The least sojourn of the last updates, this one's included. */
static inline u32 zrtt_ctl_standing(struct zrtt_ctl *ctl, u32 sojourn_us)
{
	u32 least_us = sojourn_us, i;

	ctl->recent_us[ctl->at] = sojourn_us;
	ctl->at = ctl->at + 1 < ZRTT_STANDING_TICKS ? ctl->at + 1 : 0;
	for (i = 0; i < ZRTT_STANDING_TICKS; i++)
		if (ctl->recent_us[i] < least_us)
			least_us = ctl->recent_us[i];
	return least_us;
}

/**
 * zrtt_ctl_foresee() - does the queue fall to the aim within an RTT? To be called before a tick.
 * @ctl: state
 * @sojourn_us: as for that tick
 * @elapsed_us: since the last one
 * @packet_us: what a packet takes on the link: one more or less of them is no trend
 * @rtt_us: RTT_avg, 0 = not known
 */
static inline void zrtt_ctl_foresee(struct zrtt_ctl *ctl, u32 sojourn_us, u32 elapsed_us,
				    u32 packet_us, u32 rtt_us)
{
	u32 then = (ctl->at + ZRTT_STANDING_TICKS - ZRTT_FALL_TICKS) % ZRTT_STANDING_TICKS;
	s64 fall_us = (s64)ctl->recent_us[then] - sojourn_us;
	u32 for_us = rtt_us ? rtt_us : ZRTT_FALL_RTT_US;

	ctl->falls = fall_us > ZRTT_FALL_PKTS * packet_us &&
		     sojourn_us - div_s64(fall_us * for_us, ZRTT_FALL_TICKS * elapsed_us) <
		     ctl->aim_us;
}

/* Set what the standing queue is held at: half of the target, or towards @fill_us where
 * P_b says that flows have too few packets on their way.
 */
static inline void zrtt_ctl_follow(const struct zrtt_ctl_params *params,
				   struct zrtt_ctl *ctl, u32 fill_us)
{
	u32 most_us = ZRTT_FOLLOW_TARGETS * params->target_us;
	u64 p_q30 = ctl->p_avg_q30 < ZRTT_FOLLOW_P ? ctl->p_avg_q30 : ZRTT_FOLLOW_P;

	if (fill_us > most_us)
		fill_us = most_us;
	ctl->aim_us = params->target_us / 2;
	if (fill_us > ctl->aim_us)
		ctl->aim_us += (u32)div_u64((fill_us - ctl->aim_us) * p_q30,
					    ZRTT_FOLLOW_P);
}

/* The mean part of the rates that young flows have; @young_q16 is that of now. */
static inline void zrtt_ctl_heed_young(struct zrtt_ctl *ctl, u32 young_q16)
{
	if (young_q16 > ZRTT_YOUNG_MAX_Q16)
		young_q16 = ZRTT_YOUNG_MAX_Q16;
	ctl->young_q16 = zrtt_ewma(ctl->young_q16, young_q16, ZRTT_YOUNG_WQ_Q16);
}

/* How far the standing queue is above the aim; no more than the aim itself counts. */
static inline s64 zrtt_pi2_error(const struct zrtt_ctl *ctl, u32 standing_us)
{
	s64 error = (s64)standing_us - ctl->aim_us;

	return error < ctl->aim_us ? error : ctl->aim_us;
}

/* RFC 9332 appendix A: p' += alpha (q - aim) + beta (q - q_old), P_b = p'^2. Where the
 * aim is above the target, so is the delay of the loop, and the gains fall in proportion; where
 * young flows have a part of the rates, by that part.
 */
static inline void zrtt_pi2_update(const struct zrtt_ctl_params *params,
				   struct zrtt_ctl *ctl, u32 sojourn_us, u32 elapsed_us)
{
	u32 standing_us = zrtt_ctl_standing(ctl, sojourn_us);
	s64 slope = (s64)standing_us - ctl->sojourn_us;
	s64 delta = (zrtt_pi2_error(ctl, standing_us) *
		     (s64)(ZRTT_PI2_ALPHA_PER_US * elapsed_us) +
		     slope * (s64)ZRTT_PI2_BETA) >> ZRTT_PI2_FRAC;
	u32 root_q30;

	if (ctl->aim_us > params->target_us)
		delta = div_s64(delta * params->target_us, ctl->aim_us);
	delta = (delta * (s32)(ZRTT_Q16_ONE - ctl->young_q16)) >> (ZRTT_Q16 + params->gain_shift);
	root_q30 = zrtt_p_add(ctl->root_q30, delta);
	if (sojourn_us * ZRTT_PI2_EMPTY > params->target_us)
		ctl->empty_ticks = 0;
	else if (++ctl->empty_ticks >= ZRTT_PI2_EMPTY_TICKS)
		root_q30 -= root_q30 >> ZRTT_PI2_DECAY_SHIFT;
	zrtt_ctl_set_root(ctl, root_q30);
	ctl->sojourn_us = standing_us;
}

/* P_b += P_b e (q - target) / target, the error cut to -1 .. 1 */
static inline void zrtt_pblue_update(const struct zrtt_ctl_params *params,
				     struct zrtt_ctl *ctl, u32 sojourn_us)
{
	s64 error = (s64)sojourn_us - params->target_us;
	s64 error_q16;
	u32 p_q30;

	if (error > params->target_us)
		error = params->target_us;
	error_q16 = (error * params->target_recip) >> (32 - ZRTT_Q16);
	p_q30 = zrtt_p_add(ctl->p_q30,
			   (((error_q16 * params->pblue_step_q16) >> ZRTT_Q16) *
			    ctl->p_q30) >> ZRTT_Q16);
	zrtt_ctl_set(ctl, p_q30 < ZRTT_PBLUE_FLOOR ? ZRTT_PBLUE_FLOOR : p_q30);
}

/**
 * zrtt_ctl_tick() - periodic update
 * @params: parameters
 * @ctl: state
 * @sojourn_us: see zrtt_ctl_sojourn(), 0 = empty, 0 .. ZRTT_SOJOURN_MAX_US
 * @elapsed_us: since the last tick, 1000 .. 8000000: PI2's integral is one over time
 */
static inline void zrtt_ctl_tick(const struct zrtt_ctl_params *params,
				 struct zrtt_ctl *ctl, u32 sojourn_us, u32 elapsed_us)
{
	if (params->kind == ZRTT_CTL_PI2)
		zrtt_pi2_update(params, ctl, sojourn_us, elapsed_us);
	else if (params->kind == ZRTT_CTL_PBLUE)
		zrtt_pblue_update(params, ctl, sojourn_us);
	ctl->p_avg_q30 = zrtt_ewma(ctl->p_avg_q30, ctl->p_q30,
				    params->pavg_wq_q16);
}

/**
 * zrtt_ctl_limit() - how many packets may be queued
 * @params: parameters
 * @limit: what the user set, packets
 * @most_sent: most packets that left in an epoch
 *
 * A number of packets is seconds on one link and microseconds on another. So the
 * queue holds no more than leaves it in ZRTT_LIMIT_EPOCHS, or a burst where little does.
 * BLUE learns from the limit: it stays where it is.
 */
static inline u32 zrtt_ctl_limit(const struct zrtt_ctl_params *params, u32 limit,
				 u32 most_sent)
{
	u64 packets = (u64)most_sent * ZRTT_LIMIT_EPOCHS;

	if (packets < ZRTT_LIMIT_LEAST)
		packets = ZRTT_LIMIT_LEAST;
	return params->kind == ZRTT_CTL_BLUE || packets > limit ? limit : (u32)packets;
}

/* The most packets that left in an epoch, of those before and @sent in the last one: a
 * rate that is no longer reached is forgotten with a time constant of 34 s.
 */
static inline u32 zrtt_ctl_most_sent(u32 most_sent, u32 sent)
{
	most_sent -= (most_sent >> ZRTT_SENT_SHIFT) + !!most_sent;
	return sent > most_sent ? sent : most_sent;
}

/**
 * zrtt_ctl_kept() - how many packets may be queued so that none is late
 * @params: parameters
 * @left: packets that left in 2^25 ns each, the last ZRTT_LATE_PARTS times in which any did
 * @most_sent: most packets that left in an epoch, see zrtt_ctl_most_sent()
 *
 * What leaves in ZRTT_LATE_TARGETS, by the most of @left, as a link that stands still does so in a
 * part of one; a burst, if that is less than half of what the link once sent, as then it is slower.
 */
static inline u32 zrtt_ctl_kept(const struct zrtt_ctl_params *params,
				const u32 left[ZRTT_LATE_PARTS], u32 most_sent)
{
	u32 most = 0, i;
	u64 packets;

	for (i = 0; i < ZRTT_LATE_PARTS; i++)
		if (left[i] > most)
			most = left[i];
	packets = ((u64)most * params->target_us * ZRTT_LATE_TARGETS) >> ZRTT_LATE_PART_US_SHIFT;
	if ((u64)most << ZRTT_LATE_SLOWER_SHIFT < most_sent || packets < ZRTT_LATE_KEEP_PKTS)
		return ZRTT_LATE_KEEP_PKTS;
	return packets < ~0U ? (u32)packets : ~0U;
}

/**
 * zrtt_ctl_late() - is the packet at the head too old to be worth sending?
 * @params: parameters
 * @ctl: state
 * @age_ns: since when it is queued
 * @backlog_pkts: packets queued
 * @kept: see zrtt_ctl_kept()
 *
 * BLUE aims at no sojourn, so nothing is late for it.
 */
static inline bool zrtt_ctl_late(const struct zrtt_ctl_params *params,
				 const struct zrtt_ctl *ctl, u64 age_ns, u32 backlog_pkts,
				 u32 kept)
{
	u64 late_us = params->target_us * (u64)ZRTT_LATE_TARGETS;

	return params->kind != ZRTT_CTL_BLUE &&
	       backlog_pkts > kept && age_ns > (late_us + ctl->aim_us) * 1000;
}

/**
 * zrtt_ctl_forget() - the queue was empty
 * @params: parameters
 * @ctl: state
 * @idle_ns: for how long
 *
 * No tick runs on an idle link; this makes up for the missed ones.
 */
static inline void zrtt_ctl_forget(const struct zrtt_ctl_params *params,
				   struct zrtt_ctl *ctl, u64 idle_ns)
{
	u64 halvings_q16 = idle_ns >> (ZRTT_IDLE_HALVING_SHIFT - ZRTT_Q16);

	if (params->kind == ZRTT_CTL_BLUE || !(idle_ns >> ZRTT_IDLE_MIN_SHIFT))
		return;
	zrtt_ctl_set_root(ctl, halvings_q16 >> ZRTT_Q16 > ZRTT_P_SHIFT ? 0 :
			  zrtt_mul_q16(ctl->root_q30,
				       zrtt_exp2(-(s32)halvings_q16)));
}

#endif
