/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The low-latency lane: L4S (RFC 9330 to 9332), with the law of the other flows.
 *
 * Flows that are ECT(1) wait in a lane of their own. What leaves it is marked by
 *
 *   P_L,i = max(native, 2 p') sqrt(w_i)
 *
 * native rises with the packet's sojourn, p' = sqrt(P_b) couples the lane to bulk, and w_i is
 * the weight of law.h. The rate of a scalable sender goes with 1 / P, that of a classic one
 * with 1 / sqrt(P): so the due share is one for both, whatever their RTTs.
 *
 * A sender that is not scalable loses the lane, see zrtt_l4s_judge().
 */
#ifndef _ZRTT_L4S_H
#define _ZRTT_L4S_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "table.h"
#include "controller.h"
#include "law.h"

/* RFC 9332 sec. 2.1: p_CL = k p', and k = 2 where both classes have the same RTTs. */
#define ZRTT_L4S_COUPLING	2

/* The native ramp: from 0.5 ms, or what a full packet takes, over 1 ms, or what three take.
 * RFC 9332 sec. 2.3 has a step or ramp at 1 ms.
 */
#define ZRTT_L4S_FROM_US	500
#define ZRTT_L4S_WIDTH_US	1000
#define ZRTT_L4S_WIDTH_PKTS	3
#define ZRTT_L4S_RATE_SHIFT	6	/* 8.6 s: a lower rate of the link is believed */

#define ZRTT_L4S_AVG_WQ_Q16	64	/* 1/1024 per packet */
#define ZRTT_L4S_MARKED_SHIFT	4	/* 16 packets */

/* Who loses the lane, after so many updates in a row, about a second: a flow that has more
 * than 1.4 times the due share, and more than 4 packets on their way, although 3 of 4
 * packets are marked; and one that is held at its due share by so few marks that its
 * sender cannot be scalable. A scalable one needs 1 to 3 marks per RTT, whatever its rate
 * (RFC 9331 sec. 4.3), CUBIC and Reno 1.5 / W of a window of W packets.
 *
 * TCP Prague of a short RTT may behave as one of 25 ms.
 */
#define ZRTT_L4S_STRIKES	7
#define ZRTT_L4S_OVER_LOG	(1 << (ZRTT_Q16 - 1))	/* 1.41 */
#define ZRTT_L4S_HELD_LOG	(1 << (ZRTT_Q16 - 2))	/* 1 / 0.84 */
#define ZRTT_L4S_FEW_BYTES	(4 * 1514)
#define ZRTT_L4S_MOST_Q8	192
#define ZRTT_L4S_MARKS_BYTES	(1514 / 4)	/* a packet is marked each 4th RTT */
#define ZRTT_L4S_P_LEAST	(ZRTT_P_ONE / 1024)
#define ZRTT_L4S_RTT_US		25000

/* Who lost it is looked at each 8.6 s, and needs as many looks in a row to come back. */
#define ZRTT_L4S_BARRED_SHIFT	6

/* If the lane's head is older than 5 ms, who has more than 1.4 times the due share goes to
 * bulk at once.
 */
#define ZRTT_L4S_LATE_NS	5000000

/* While both wait, the lane has nine bytes for one of bulk (RFC 9332 sec. 2.5.2). */
#define ZRTT_L4S_SHARE		9
#define ZRTT_L4S_CREDIT_MAX	16384

/**
 * struct zrtt_l4s - state of the low-latency lane
 * @link: most bytes that left in an epoch of late
 * @from_us: sojourn at which the native probability rises from 0
 * @slope_q30: by how much per microsecond
 * @p_avg_q30: mean of max(native, 2 p') over the packets that left
 * @credit: bytes that bulk is owed by weighted round robin; it is served while above 0
 * @barred: flows that lost the lane
 */
struct zrtt_l4s {
	u64 link;
	u32 from_us;
	u32 slope_q30;
	u32 p_avg_q30;
	s32 credit;
	u64 barred;
};

/**
 * zrtt_l4s_end_epoch() - the ramp follows the link
 * @l: state
 * @sent: bytes that left all lanes in the epoch
 */
static inline void zrtt_l4s_end_epoch(struct zrtt_l4s *l, u64 sent)
{
	u32 packet_us, width_us;

	l->link -= l->link >> ZRTT_L4S_RATE_SHIFT;
	if (sent > l->link)
		l->link = sent;
	packet_us = l->link ? (u32)div64_u64(1514ULL * ((1ULL << ZRTT_EPOCH_SHIFT) / 1000),
					     l->link) : 0;
	l->from_us = packet_us > ZRTT_L4S_FROM_US ? packet_us : ZRTT_L4S_FROM_US;
	width_us = ZRTT_L4S_WIDTH_PKTS * packet_us;
	if (width_us < ZRTT_L4S_WIDTH_US)
		width_us = ZRTT_L4S_WIDTH_US;
	l->slope_q30 = ZRTT_P_ONE / width_us;
}

/* The native probability of a packet that waited @sojourn_us, Q30. */
static inline u32 zrtt_l4s_native(const struct zrtt_l4s *l, u32 sojourn_us)
{
	u64 p_q30;

	if (sojourn_us <= l->from_us)
		return 0;
	p_q30 = (u64)(sojourn_us - l->from_us) * l->slope_q30;
	return p_q30 < ZRTT_P_ONE ? (u32)p_q30 : ZRTT_P_ONE;
}

/* max(native, 2 p'), Q30, at most 2 */
static inline u32 zrtt_l4s_base(const struct zrtt_ctl *ctl, u32 native_q30)
{
	u32 coupled_q30 = ZRTT_L4S_COUPLING * ctl->root_q30;

	return coupled_q30 > native_q30 ? coupled_q30 : native_q30;
}

/* A packet of @bytes left the lane while bulk waited. */
static inline void zrtt_l4s_left(struct zrtt_l4s *l, u32 bytes)
{
	l->credit += bytes;
	if (l->credit > ZRTT_L4S_CREDIT_MAX)
		l->credit = ZRTT_L4S_CREDIT_MAX;
}

/* A packet of @bytes left bulk while the lane waited. */
static inline void zrtt_l4s_bulk_left(struct zrtt_l4s *l, u32 bytes)
{
	l->credit -= ZRTT_L4S_SHARE * bytes;
}

/**
 * zrtt_l4s_verdict() - is a packet that leaves the lane marked?
 * @l: state
 * @ctl: P_b
 * @f: its flow
 * @law: counts its weight
 * @sojourn_us: how long it waited
 * @rnd: random number
 *
 * Marks are spaced as in zrtt_verdict().
 */
static inline bool zrtt_l4s_verdict(struct zrtt_l4s *l, const struct zrtt_ctl *ctl,
				    struct zrtt_flow *f, struct zrtt_law *law,
				    u32 sojourn_us, u32 rnd)
{
	u32 base_q30 = zrtt_l4s_base(ctl, zrtt_l4s_native(l, sojourn_us));
	u64 p_q30 = ((u64)base_q30 * f->weight_q16) >> ZRTT_Q16;
	bool mark;

	l->p_avg_q30 = zrtt_ewma(l->p_avg_q30, base_q30 < ZRTT_P_ONE ? base_q30 : ZRTT_P_ONE,
				 ZRTT_L4S_AVG_WQ_Q16);
	zrtt_count_weight(law, zrtt_mul_q16(f->weight_q16, f->weight_q16),
			  p_q30 < ZRTT_P_ONE);
	if (p_q30 > ZRTT_SPACE_MAX) {
		mark = (rnd >> 2) < p_q30;
	} else {
		f->acc_q30 += (u32)p_q30;
		mark = f->acc_q30 >= f->threshold_q30;
		if (mark) {
			f->acc_q30 -= f->threshold_q30;
			f->threshold_q30 = ZRTT_P_ONE / 2 + (rnd >> 2);
		}
	}
	f->hit |= mark;
	if (mark)
		f->marked_q8 += (255 - f->marked_q8) >> ZRTT_L4S_MARKED_SHIFT;
	else
		f->marked_q8 -= f->marked_q8 >> ZRTT_L4S_MARKED_SHIFT;
	return mark;
}

/* Bytes of @f that are on their way, where its RTT is known and @least_us or more. */
static inline u64 zrtt_l4s_window(const struct zrtt_flow *f, u32 rate, u32 least_us)
{
	u32 rtt_us = f->rtt_us < least_us ? least_us : f->rtt_us;

	/* an epoch is 134218 us, 2^17 nearly */
	return ((u64)rate * rtt_us) >> 17;
}

/* Does @f have more than 1.4 times the due share, at @rate, and more than a sender's least? */
static inline bool zrtt_l4s_exceeds(const struct zrtt_law *law, const struct zrtt_flow *f,
				    u32 rate)
{
	if (!law->log_due || !rate || zrtt_log2(rate) < law->log_due + ZRTT_L4S_OVER_LOG)
		return false;
	return !f->rtt_us || zrtt_l4s_window(f, rate, 0) > ZRTT_L4S_FEW_BYTES;
}

/* Is @f at its due share, marked with @p_q30 at most 1: few marks for a scalable sender? */
static inline bool zrtt_l4s_held(const struct zrtt_law *law, const struct zrtt_flow *f)
{
	return f->hit && zrtt_flow_mature(f) && f->rtt_us && f->rate &&
	       zrtt_log2(f->rate) > law->log_due - ZRTT_L4S_HELD_LOG;
}

/* Bytes of @f that are marked in an RTT at @p_q30, at most 1. */
static inline u64 zrtt_l4s_marked_bytes(const struct zrtt_flow *f, u64 p_q30)
{
	u64 window = zrtt_l4s_window(f, f->rate, ZRTT_L4S_RTT_US);

	if (p_q30 > ZRTT_P_ONE)
		p_q30 = ZRTT_P_ONE;
	return (window * (p_q30 >> 8)) >> (ZRTT_P_SHIFT - 8);
}

/* Does what @f did in the last epoch, at @rate, speak against its place in the lane? */
static inline bool zrtt_l4s_strikes(const struct zrtt_l4s *l, const struct zrtt_law *law,
				    const struct zrtt_flow *f, u32 rate)
{
	u64 p_q30 = ((u64)l->p_avg_q30 * f->weight_q16) >> ZRTT_Q16;

	if (f->marked_q8 >= ZRTT_L4S_MOST_Q8 && zrtt_l4s_exceeds(law, f, rate))
		return true;
	return l->p_avg_q30 > ZRTT_L4S_P_LEAST && zrtt_l4s_held(law, f) &&
	       zrtt_l4s_marked_bytes(f, p_q30) < ZRTT_L4S_MARKS_BYTES;
}

/**
 * zrtt_l4s_judge() - queue protection: does a flow lose the lane, or come back to it?
 * @l: state
 * @law: the due share
 * @f: flow, just updated
 * @rate: its arrivals in each of the last @epochs, bytes
 * @epochs: since its update before
 * @p_q30: P_i in bulk, unbounded
 * @mark_max_q30: largest P_i there that marks
 *
 * Who lost it comes back after a silence of 2 s, or when bulk's marks show that its sender
 * is scalable.
 */
static inline void zrtt_l4s_judge(struct zrtt_l4s *l, const struct zrtt_law *law,
				  struct zrtt_flow *f, u32 rate, u32 epochs, u64 p_q30,
				  u32 mark_max_q30)
{
	u32 phase = f->epoch + f->tag + (1U << (ZRTT_L4S_BARRED_SHIFT - 1));
	bool against;

	if (f->barred && phase >> ZRTT_L4S_BARRED_SHIFT ==
			 (phase - epochs) >> ZRTT_L4S_BARRED_SHIFT)
		return;
	if (f->barred)
		against = p_q30 <= mark_max_q30 && zrtt_l4s_held(law, f) &&
			  zrtt_l4s_marked_bytes(f, p_q30) >= 2 * ZRTT_L4S_MARKS_BYTES;
	else
		against = zrtt_l4s_strikes(l, law, f, rate);
	if (!against) {
		f->strikes -= !!f->strikes;
		return;
	}
	if (++f->strikes < ZRTT_L4S_STRIKES)
		return;
	f->strikes = 0;
	f->barred = !f->barred;
	l->barred += f->barred;
	if (!f->barred)
		return;
	f->l4s = 0;
	/* few marks were its due there, and would take a minute to rise */
	if (f->penalty_q16 < 0)
		f->penalty_q16 = 0;
}

#endif
