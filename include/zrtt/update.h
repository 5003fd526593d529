/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The update of a flow, once per epoch or less: its rate, its RTT, and whether it counts in the due
 * share.
 */
#ifndef _ZRTT_UPDATE_H
#define _ZRTT_UPDATE_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "rtt.h"
#include "host.h"
#include "table.h"

/* The due share of @f, bytes per epoch, 0 = not known. */
static inline u32 zrtt_flow_due(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	return unlikely(t->groups) ? zrtt_flow_member(t, f)->due : t->due;
}

/* Did @f send for as long as says something of it? @t->update_epochs lie between updates. */
static inline bool zrtt_flow_goes_on(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	return zrtt_flow_mature(f) &&
	       (f->l4s || f->updates * t->update_epochs >= ZRTT_MATURE_EPOCHS);
}

/* zrtt_flow_counts_from() of a host's flow that is not of the low-latency lane, whose due share is
 * @due. What is held back elsewhere, or is spoofed, would lower the mean of its host's flows: the
 * others' penalties would rise for that as fast as their host's falls. So what is spoofed, which
 * is in bulk, does not count below its share, and TCP before bulk has half of the others' mean.
 */
static inline u64 zrtt_flow_counts_in_host(const struct zrtt_table *t, const struct zrtt_flow *f,
					   u32 due)
{
	const struct zrtt_member *m = zrtt_flow_member(t, f);
	u32 half;

	if (!zrtt_flow_is_tcp(f))
		return due;
	if (f->lane == ZRTT_LANE_BULK)
		return due / 4;
	if (due < ZRTT_LARGE_DUE)
		return due;
	/* 0 where none of them counts */
	half = zrtt_exp2(zrtt_group_log_mean(&t->groups[m->slots[m->end]]) - (17 << ZRTT_Q16));
	return half > due / 4 ? half : due / 4;
}

/* The rate from which on @f counts in the due share though it was not marked or dropped lately: a
 * quarter of the share in bulk, all of it in lanes where nothing is marked. A stream of a constant
 * rate below the share has these, and so has a flow of the low-latency lane that grows: what they
 * leave to others is not to be charged to them. Where the share is large, though, TCP is seldom
 * marked, grows for long or is held back by the model of its sender: there a quarter is enough for
 * it. Small packets that pass in thin, or before it, such as the ACKs of a download, are never held
 * back.
 */
static inline u64 zrtt_flow_counts_from(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	u32 due = zrtt_flow_due(t, f);

	if (f->lane <= ZRTT_LANE_THIN && !(f->lane == ZRTT_LANE_RETURNING && f->l4s))
		return 1ULL << 32;
	if (f->l4s)
		return due;
	if (t->groups)
		return zrtt_flow_counts_in_host(t, f, due);
	if (f->lane == ZRTT_LANE_BULK || (due >= ZRTT_LARGE_DUE && zrtt_flow_is_tcp(f)))
		return due / 4;
	return due;
}

/* Does @f's rate count in the due share? A flow that is held back does, however little it gets.
 * One that is application-limited is seldom hit: P_i falls with the square of the rate, hits with
 * its cube.
 */
static inline bool zrtt_flow_counts(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	return zrtt_flow_goes_on(t, f) && f->rate &&
	       (zrtt_flow_held(f) || f->rate >= zrtt_flow_counts_from(t, f));
}

/* Is @f to be updated @epochs after its last update? A flow that is not live is after one epoch, so
 * that it counts soon.
 */
static inline bool zrtt_flow_update_due_after(const struct zrtt_table *t,
					      const struct zrtt_flow *f, u32 epochs)
{
	return epochs && (epochs >= t->update_epochs || !f->live);
}

/* Is it time to update @f? */
static inline bool zrtt_flow_update_due(const struct zrtt_table *t,
					const struct zrtt_flow *f, u32 epoch)
{
	return zrtt_flow_update_due_after(t, f, epoch - f->epoch);
}

/* Is @f, NULL or a flow of @t, one whose hosts are known? */
static inline bool zrtt_member_known(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	return f && zrtt_own_member(t, f)->tag == f->tag;
}

/* Are the hosts of @f, which are known, to be looked up again, as they may be others by now?
 * They are when the flow is updated. Packets that are spoofed in its name do not update it: once they
 * were looked up for, it is not due again for as long.
 */
static inline bool zrtt_member_look(const struct zrtt_table *t, const struct zrtt_flow *f,
				    u32 epoch)
{
	struct zrtt_member *m = zrtt_own_member(t, f);

	if (!zrtt_flow_update_due(t, f, epoch) ||
	    !zrtt_flow_update_due_after(t, f, (u16)(epoch - m->looked)))
		return false;
	m->looked = (u16)epoch;
	return true;
}

/* Does @f begin anew after @epochs without an update? Its past must not drop the one packet that a
 * timeout sends. Where its due share is less than a full packet per epoch, a few packets of each flow
 * make RTTs of seconds, and who is silent for 2 s is as likely to wait for an answer. If each began
 * anew then, most would have the same P_i, whatever they got.
 */
static inline bool zrtt_flow_begins_anew(const struct zrtt_table *t, const struct zrtt_flow *f,
					 u32 epochs)
{
	u32 due;

	if (likely(epochs <= ZRTT_LIVE_EPOCHS))
		return false;
	due = zrtt_flow_due(t, f);
	return f->l4s || !due || due >= ZRTT_FULL_PACKET || epochs > ZRTT_SLOW_EPOCHS;
}

/* The first part of zrtt_flow_update(): all but the sums, which @f is not in. */
static inline void zrtt_flow_fold(const struct zrtt_table *t, struct zrtt_flow *f, u32 epoch)
{
	u32 epochs = epoch - f->epoch;

	if (epochs > ZRTT_LIVE_EPOCHS) {
		f->strikes = 0;
		f->looks = 0;
		f->barred = 0;
		zrtt_flow_interrupt(f);
	}
	if (zrtt_flow_begins_anew(t, f, epochs)) {
		f->rate = 0;
		f->age = 0;
		f->penalty_q16 = 0;
		f->policed = 0;
		f->acc_q30 = 0;
		if (f->l4s)
			f->marks = 0;
		else
			f->updates = 0;
	} else if (epochs) {
		zrtt_flow_rate(f, zrtt_live_epochs(epochs));
	}
	if (epochs) {
		f->bytes = 0;
		f->epoch = epoch;
	}
	zrtt_flow_forget(f, epochs, epoch);
	zrtt_flow_choose_rtt(f, epoch);
	zrtt_flow_fade(f, t->rtt_avg_us, epoch);
}

/* The second one, @epochs after the update before. Return: see there. */
static inline s32 zrtt_flow_settle(struct zrtt_table *t, struct zrtt_flow *f, u32 epochs,
				   u32 epoch)
{
	u32 hit_shift = zrtt_flow_hit_shift(f, zrtt_flow_due(t, f));
	u32 octaves = zrtt_rate_octaves(f->rate);
	s32 log_rate = zrtt_log2(f->rate);

	if (!f->l4s) {
		f->updates += epochs && f->updates < ZRTT_MATURE_EPOCHS;
		if (f->hit_at < octaves)
			f->hit_at = octaves;
	}
	f->counts = zrtt_flow_counts(t, f);
	if ((epoch + f->tag) >> hit_shift != (epoch + f->tag - epochs) >> hit_shift)
		f->hit = 0;
	zrtt_flow_enlist(t, f, log_rate);
	return log_rate;
}

/**
 * zrtt_flow_update() - fold the last epochs into rate, RTT and sums
 * @t: table
 * @f: flow
 * @epoch: now
 *
 * To be called when zrtt_flow_update_due(), and when an RTT became known.
 * Of a flow for which zrtt_flow_begins_anew() only the RTT is kept.
 *
 * Return: log2 of its rate, Q16, 0 if that is 0.
 */
static inline s32 zrtt_flow_update(struct zrtt_table *t, struct zrtt_flow *f, u32 epoch)
{
	u32 epochs = epoch - f->epoch;

	if (f->live)
		zrtt_flow_retire(t, f);
	zrtt_flow_fold(t, f, epoch);
	return zrtt_flow_settle(t, f, epochs, epoch);
}

#endif
