/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The low-latency lane: L4S (RFC 9330 to 9332), with the law of the other flows.
 *
 * Packets that are ECT(1) wait in a lane of their own, but for small ones. What leaves it is
 * marked by
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
#include "controller.h"
#include "law.h"
#include "verdict.h"

/* RFC 9332 sec. 2.1: p_CL = k p', and k = 2 where both classes have the same RTTs. */
#define ZRTT_L4S_COUPLING	2

/* The native ramp: from 0.5 ms, or what a full packet takes, over 1 ms, or what three take.
 * RFC 9332 has a step at 1 ms, or a ramp (appendix A).
 */
#define ZRTT_L4S_FROM_US	500
#define ZRTT_L4S_WIDTH_US	1000
#define ZRTT_L4S_WIDTH_PKTS	3
#define ZRTT_L4S_RATE_SHIFT	6	/* 8.6 s: a lower rate of the link is believed */

/* Up to three quarters of its due share a flow grows without marks, if it had none in the last
 * second: native is what others send, and a mark that ends slow start at a few packets costs a
 * flow of 300 ms a minute. Not while native is 1.
 */
#define ZRTT_L4S_GROWS_LOG	27200			/* log2 of 4/3, Q16 */

#define ZRTT_L4S_AVG_WQ_Q16	64	/* 1/1024 per packet */
#define ZRTT_L4S_AVG_SHIFT	5	/* and 1/32 per epoch: there may be no more packets */
#define ZRTT_L4S_MARKED_SHIFT	4	/* 16 packets */

/* Who loses the lane: a flow that for 7 updates, a second, has more than 1.4 times the due share,
 * and more than 4 packets on their way, although 3 of 4 packets are marked.
 */
#define ZRTT_L4S_STRIKES	7
#define ZRTT_L4S_OVER_LOG	(1 << (ZRTT_Q16 - 1))	/* 1.41 */
#define ZRTT_L4S_FEW_BYTES	(4 * ZRTT_FULL_PACKET)
#define ZRTT_L4S_MOST_Q8	192

/* And one that is held at its due share by less than a mark in 4 RTTs, in three intervals of
 * 8.6 s: a scalable sender has 1 to 3 marks per RTT, whatever its rate (RFC 9331 sec. 4.3),
 * CUBIC and Reno 1.5 / W of a window of W packets. Of a mark in 4 packets or more nothing can
 * be said: W is small.
 *
 * A flow comes back after 2 s of silence.
 */
#define ZRTT_L4S_LOOKS		3
#define ZRTT_L4S_RARE_RTTS	4
#define ZRTT_L4S_HELD_LOG	(1 << (ZRTT_Q16 - 2))	/* 1 / 0.84 */

/* If the lane's head is older than 5 ms, who has more than 1.4 times the due share goes to
 * bulk at once.
 */
#define ZRTT_L4S_LATE_NS	5000000

/* While bulk waits, flows that were not updated yet have an eighth of the link in the lane: they
 * may be a flood that changes its ports, which no mark reaches.
 */
#define ZRTT_L4S_NEW_SHIFT	3

/* While both wait, the lane has nine bytes for one of bulk (RFC 9332 sec. 2.5.1), and one for one
 * of sparse: with nine, a flow of 3 ms whose least window is more than its due held one of Vegas,
 * which sends less the longer it waits, at a seventh of the rate.
 */
#define ZRTT_L4S_SHARE		9
#define ZRTT_L4S_CREDIT_MAX	16384
#define ZRTT_L4S_CREDIT_MIN	(-ZRTT_L4S_SHARE * 65536)	/* after one GSO packet of bulk */

/**
 * struct zrtt_l4s - state of the low-latency lane
 * @link: most bytes that left in an epoch of late
 * @from_us: sojourn at which the native probability rises from 0
 * @slope_q30: by how much per microsecond
 * @p_avg_q30: mean of max(native, 2 p') over the packets that left
 * @credit: bytes that sparse and bulk are owed by weighted round robin; they are served while
 *	above 0
 * @new_bytes: what joined it of new flows in this epoch, while bulk waited
 * @barred: flows that lost the lane
 */
struct zrtt_l4s {
	u64 link;
	u32 from_us;
	u32 slope_q30;
	u32 p_avg_q30;
	s32 credit;
	u32 new_bytes;
	u64 barred;
};

/**
 * zrtt_l4s_end_epoch() - the ramp follows the link, and what was marked is forgotten
 * @l: state
 * @sent: bytes that left all lanes in the epoch
 */
static inline void zrtt_l4s_end_epoch(struct zrtt_l4s *l, u64 sent)
{
	u32 packet_us, width_us;

	l->link -= l->link >> ZRTT_L4S_RATE_SHIFT;
	if (sent > l->link)
		l->link = sent;
	packet_us = l->link ? (u32)div64_u64(ZRTT_FULL_PACKET * ZRTT_EPOCH_US, l->link) : 0;
	l->from_us = packet_us > ZRTT_L4S_FROM_US ? packet_us : ZRTT_L4S_FROM_US;
	width_us = ZRTT_L4S_WIDTH_PKTS * packet_us;
	if (width_us < ZRTT_L4S_WIDTH_US)
		width_us = ZRTT_L4S_WIDTH_US;
	l->slope_q30 = ZRTT_P_ONE / width_us;
	l->p_avg_q30 -= l->p_avg_q30 >> ZRTT_L4S_AVG_SHIFT;
	l->new_bytes = 0;
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

/* Sparse and bulk are owed @bytes more. Bulk also leaves without credit, where it is older than
 * thin packets that had more than their part: the lane is not to be first for seconds after.
 */
static inline void zrtt_l4s_owe(struct zrtt_l4s *l, s64 bytes)
{
	s64 credit = l->credit + bytes;

	if (credit > ZRTT_L4S_CREDIT_MAX)
		credit = ZRTT_L4S_CREDIT_MAX;
	l->credit = credit < ZRTT_L4S_CREDIT_MIN ? ZRTT_L4S_CREDIT_MIN : (s32)credit;
}

/* A packet of @bytes left the lane while sparse or bulk waited. */
static inline void zrtt_l4s_left(struct zrtt_l4s *l, u32 bytes)
{
	zrtt_l4s_owe(l, bytes);
}

/* A packet of @bytes left bulk, or sparse, while the lane waited. */
static inline void zrtt_l4s_other_left(struct zrtt_l4s *l, u32 bytes, bool sparse)
{
	zrtt_l4s_owe(l, -(s64)bytes * (sparse ? 1 : ZRTT_L4S_SHARE));
}

/* Is @f to grow without marks? */
static inline bool zrtt_l4s_grows(const struct zrtt_flow *f, s32 log_due)
{
	u32 rate = f->rate > f->bytes ? f->rate : f->bytes;

	return !f->hit && zrtt_log2(rate) < log_due - ZRTT_L4S_GROWS_LOG;
}

/* May @bytes more of @f join the lane while bulk waits? As long as nothing left, all may. */
static inline bool zrtt_l4s_allows(struct zrtt_l4s *l, const struct zrtt_flow *f, u32 bytes)
{
	if (likely(f->live) || !l->link)
		return true;
	if (l->new_bytes > l->link >> ZRTT_L4S_NEW_SHIFT)
		return false;
	l->new_bytes += bytes;
	return true;
}

/**
 * zrtt_l4s_verdict() - is a packet that leaves the lane marked?
 * @l: state
 * @ctl: P_b
 * @f: its flow
 * @law: counts its weight
 * @log_due: log2 of its due share, Q16, 0 = not known
 * @sojourn_us: how long it waited
 * @rnd: random number
 */
static inline bool zrtt_l4s_verdict(struct zrtt_l4s *l, const struct zrtt_ctl *ctl,
				    struct zrtt_flow *f, struct zrtt_law *law,
				    s32 log_due, u32 sojourn_us, u32 rnd)
{
	u32 base_q30 = zrtt_l4s_base(ctl, zrtt_l4s_native(l, sojourn_us));
	u64 p_q30 = zrtt_weight_times(base_q30, f->weight);
	bool mark;

	l->p_avg_q30 = zrtt_ewma(l->p_avg_q30, base_q30 < ZRTT_P_ONE ? base_q30 : ZRTT_P_ONE,
				 ZRTT_L4S_AVG_WQ_Q16);
	zrtt_count_weight(law, zrtt_weight_times(law->p_q30, zrtt_weight_square(f->weight)),
			  p_q30 < ZRTT_P_ONE);
	mark = (base_q30 >= ZRTT_P_ONE || !zrtt_l4s_grows(f, log_due)) &&
	       zrtt_is_hit(f, p_q30, true, rnd);
	if (mark) {
		zrtt_flow_was_hit(f);
		f->marked_q8 += (255 - f->marked_q8) >> ZRTT_L4S_MARKED_SHIFT;
	} else {
		f->marked_q8 -= f->marked_q8 >> ZRTT_L4S_MARKED_SHIFT;
	}
	return mark;
}

/* Bytes of @f, whose RTT is known, that are on their way. */
static inline u64 zrtt_l4s_window(const struct zrtt_flow *f, u32 rate)
{
	return ((u64)rate * f->rtt_us) >> ZRTT_L4S_EPOCH_SHIFT;
}

/* Does @f have more than 1.4 times the due share, at @rate, and more than a sender's least?
 * @log_due: log2 of that share, Q16, 0 = not known.
 */
static inline bool zrtt_l4s_exceeds(s32 log_due, const struct zrtt_flow *f, u32 rate)
{
	if (!log_due || zrtt_log2(rate) < log_due + ZRTT_L4S_OVER_LOG)
		return false;
	return !f->rtt_us || zrtt_l4s_window(f, rate) > ZRTT_L4S_FEW_BYTES;
}

/* Did @f answer none of its marks in the last epochs, with @rate bytes in each of them? */
static inline bool zrtt_l4s_unresponsive(s32 log_due, const struct zrtt_flow *f, u32 rate)
{
	return f->marked_q8 >= ZRTT_L4S_MOST_Q8 && zrtt_l4s_exceeds(log_due, f, rate);
}

/* Was @f held at its due share, since the last look, by marks that are no scalable sender's? */
static inline bool zrtt_l4s_classic(s32 log_due, const struct zrtt_flow *f)
{
	return f->marks && f->rtt_us && f->rate && zrtt_flow_mature(f) &&
	       zrtt_log2(f->rate) > log_due - ZRTT_L4S_HELD_LOG &&
	       !zrtt_flow_marked(f, ZRTT_L4S_LOOK, ZRTT_L4S_RARE_RTTS);
}

/**
 * zrtt_l4s_judge() - queue protection: does a flow lose the lane?
 * @l: state
 * @log_due: log2 of its due share, Q16, 0 = not known
 * @f: flow of the lane, just updated
 * @rate: its arrivals in each of the last @epochs, bytes
 * @epochs: since its update before
 */
static inline void zrtt_l4s_judge(struct zrtt_l4s *l, s32 log_due, struct zrtt_flow *f, u32 rate,
				  u32 epochs)
{
	u32 phase = f->epoch + f->tag;

	f->strikes = zrtt_l4s_unresponsive(log_due, f, rate) ? f->strikes + 1 : 0;
	if (phase >> ZRTT_L4S_LOOK_SHIFT != (phase - epochs) >> ZRTT_L4S_LOOK_SHIFT) {
		f->looks = zrtt_l4s_classic(log_due, f) ? f->looks + 1 : 0;
		f->marks = 0;
	}
	if (f->strikes < ZRTT_L4S_STRIKES && f->looks < ZRTT_L4S_LOOKS)
		return;
	f->strikes = 0;
	f->looks = 0;
	f->barred = 1;
	zrtt_flow_set_l4s(f, false);
	l->barred++;
	/* few marks were its due there, and would take a minute to rise */
	if (f->penalty_q16 < 0)
		f->penalty_q16 = 0;
}

/* A flow that lost the lane, just updated, is marked once if it has more than its due share. It
 * may be alone in bulk, where there is no P_b until it has filled what the lane does not use.
 */
static inline void zrtt_l4s_charge(struct zrtt_flow *f, s32 log_rate, s32 log_due)
{
	if (log_due && log_rate > log_due && f->acc_q30 < f->threshold_q30)
		f->acc_q30 = f->threshold_q30;
}

#endif
