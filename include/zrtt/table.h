/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixed table that holds the flows, and what they sum up to.
 *
 * A flow closes its own books at the first packet of an epoch or later, and the
 * sums behind the averages are kept incrementally, so there is no timer and no
 * walk over the table. Live flows (seen in the last 2 s) form a list ordered by
 * their latest books; the ones that fell silent are taken off its old end, a few
 * at a time.
 */
#ifndef _ZRTT_TABLE_H
#define _ZRTT_TABLE_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"

#define ZRTT_WAYS		8	/* slots of a set, all that a lookup visits */
#define ZRTT_NO_SLOT		(~0U)

/* Silent flows retired when books close, so that no fewer go than come, and per tick,
 * for when few are left to close any.
 */
#define ZRTT_EXPIRE_BOOKS	2
#define ZRTT_EXPIRE_TICK	256

/* Books are open for an epoch, and for one more per 1024 live flows, up to 8: the more
 * flows there are, the fewer packets each has in an epoch, and the less one of them
 * matters. Else each packet of 10000 flows would close some.
 */
#define ZRTT_BOOKS_FLOWS_SHIFT	10
#define ZRTT_BOOKS_EPOCHS	8

/**
 * struct zrtt_table - the flow table and what its live flows sum up to
 * @slots: @mask + 1 slots, ZRTT_WAYS to a set, owned by the caller
 * @mask: number of slots - 1
 * @unused: slots never used: none is ever given back
 * @oldest: end of the list of live flows that expires first
 * @newest: the other end
 * @books_epochs: for how long books are open
 * @live: number of live flows
 * @by_source: live flows by enum zrtt_rtt_source
 * @rated: mature live flows that are not thin, those that count in r_avg
 * @sum_rate: sum of passed: a flood must not raise r_avg by what it loses
 * @sum_rtt_us: sum of rtt_us over flows that have one
 * @fit_n: mature live flows that have an RTT
 * @fit_x: sum of log RTT
 * @fit_y: sum of log rate
 * @fit_xx: sum of log RTT squared
 * @fit_xy: sum of log RTT * log rate
 * @evicted: live flows that lost their slot to another
 */
struct zrtt_table {
	struct zrtt_flow *slots;
	u32 mask;
	u32 unused;
	u32 oldest;
	u32 newest;
	u32 books_epochs;
	u32 live;
	u32 by_source[ZRTT_RTT_SOURCES];
	u32 rated;
	u64 sum_rate;
	u64 sum_rtt_us;
	u32 fit_n;
	s64 fit_x;
	s64 fit_y;
	s64 fit_xx;
	s64 fit_xy;
	u64 evicted;
};

/* An empty table of @flows slots, a power of two and ZRTT_WAYS or more. */
static inline void zrtt_table_init(struct zrtt_table *t,
				   struct zrtt_flow *slots, u32 flows)
{
	*t = (struct zrtt_table) {
		.slots = slots,
		.mask = flows - 1,
		.unused = flows,
		.oldest = ZRTT_NO_SLOT,
		.newest = ZRTT_NO_SLOT,
		.books_epochs = 1,
	};
}

static inline void zrtt_list_add(struct zrtt_table *t, struct zrtt_flow *f)
{
	u32 slot = (u32)(f - t->slots);

	f->older = t->newest;
	f->newer = ZRTT_NO_SLOT;
	if (t->newest != ZRTT_NO_SLOT)
		t->slots[t->newest].newer = slot;
	else
		t->oldest = slot;
	t->newest = slot;
}

static inline void zrtt_list_del(struct zrtt_table *t, struct zrtt_flow *f)
{
	if (f->older != ZRTT_NO_SLOT)
		t->slots[f->older].newer = f->newer;
	else
		t->oldest = f->newer;
	if (f->newer != ZRTT_NO_SLOT)
		t->slots[f->newer].older = f->older;
	else
		t->newest = f->older;
}

/* A value as the regression sees it: log2 above @pivot, Q5. Pivot and format keep
 * the products of sums over TC_ZRTT_FLOWS_MAX flows inside 63 bits.
 */
#define ZRTT_FIT_FRAC		5
#define ZRTT_FIT_RTT_PIVOT	16	/* 65 ms */
#define ZRTT_FIT_RATE_PIVOT	14	/* 1 Mbit/s */

static inline s32 zrtt_fit_log(u32 x, u32 pivot)
{
	return (zrtt_log2(x) - (s32)(pivot << ZRTT_Q16)) >>
	       (ZRTT_Q16 - ZRTT_FIT_FRAC);
}

/* Less than a quarter of r_avg: voice, ACKs, what the application holds back. Thin
 * flows say nothing of a fair share.
 */
static inline bool zrtt_is_thin(const struct zrtt_table *t, u32 passed)
{
	return 4ULL * passed * t->rated < t->sum_rate;
}

/* Put @f into the sums of the regression (@sign 1) or take it out (-1). */
static inline void zrtt_flow_fit(struct zrtt_table *t, const struct zrtt_flow *f,
				 s32 sign)
{
	s32 x = zrtt_fit_log(f->rtt_us, ZRTT_FIT_RTT_PIVOT);
	s32 y = zrtt_fit_log(f->rate, ZRTT_FIT_RATE_PIVOT);

	t->fit_n += sign;
	t->fit_x += sign * x;
	t->fit_y += sign * y;
	t->fit_xx += sign * x * x;
	t->fit_xy += sign * x * y;
}

/* Take @f's books out of the sums (@sign -1) or put them in (1). */
static inline void zrtt_flow_count(struct zrtt_table *t, struct zrtt_flow *f,
				   s32 sign)
{
	t->live += sign;
	t->by_source[f->source] += sign;
	t->rated += f->passed ? sign : 0;
	t->sum_rate += (s64)sign * f->passed;
	t->sum_rtt_us += (s64)sign * f->rtt_us;
	if (f->rtt_us && f->rate && zrtt_flow_mature(f))
		zrtt_flow_fit(t, f, sign);
}

static inline void zrtt_flow_retire(struct zrtt_table *t, struct zrtt_flow *f)
{
	zrtt_flow_count(t, f, -1);
	zrtt_list_del(t, f);
	f->live = 0;
}

static inline void zrtt_flow_enlist(struct zrtt_table *t, struct zrtt_flow *f)
{
	f->live = 1;
	zrtt_flow_count(t, f, 1);
	zrtt_list_add(t, f);
}

/* Retire up to @most flows that were silent for 2 s. */
static inline void zrtt_table_expire(struct zrtt_table *t, u32 epoch, u32 most)
{
	u32 i;

	for (i = 0; i < most && t->oldest != ZRTT_NO_SLOT; i++) {
		struct zrtt_flow *f = &t->slots[t->oldest];

		if (epoch - f->epoch <= ZRTT_LIVE_EPOCHS)
			return;
		zrtt_flow_retire(t, f);
	}
}

/**
 * zrtt_table_tick() - what is not per packet
 * @t: table
 * @epoch: now
 */
static inline void zrtt_table_tick(struct zrtt_table *t, u32 epoch)
{
	u32 epochs = 1 + (t->live >> ZRTT_BOOKS_FLOWS_SHIFT);

	t->books_epochs = epochs < ZRTT_BOOKS_EPOCHS ? epochs : ZRTT_BOOKS_EPOCHS;
	zrtt_table_expire(t, epoch, ZRTT_EXPIRE_TICK);
}

/* Where a flow is to stand, if it finds the place free. */
static inline struct zrtt_flow *zrtt_flow_home(const struct zrtt_table *t, u32 tag)
{
	return &t->slots[tag & t->mask];
}

/* The set of slots, any of which a flow can be in. */
static inline struct zrtt_flow *zrtt_flow_set(const struct zrtt_table *t, u32 tag)
{
	return &t->slots[tag & t->mask & ~(ZRTT_WAYS - 1)];
}

/* The slot of a flow that is known, or NULL. */
static inline struct zrtt_flow *zrtt_flow_find(const struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *set = zrtt_flow_set(t, tag);
	u32 i;

#pragma GCC unroll 8
	for (i = 0; i < ZRTT_WAYS; i++)
		if (set[i].tag == tag)
			return &set[i];
	return NULL;
}

/* A slot of @tag's set that was never used, or NULL. */
static inline struct zrtt_flow *zrtt_flow_unused(struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *set = zrtt_flow_set(t, tag);
	u32 i;

	for (i = 0; i < ZRTT_WAYS; i++) {
		struct zrtt_flow *f = &set[(tag + i) % ZRTT_WAYS];

		if (!f->tag) {
			t->unused--;
			return f;
		}
	}
	return NULL;
}

/* Take a slot from the live flow of a set whose books closed longest ago. */
static inline struct zrtt_flow *zrtt_flow_evict(struct zrtt_table *t,
						struct zrtt_flow *set, u32 epoch)
{
	struct zrtt_flow *victim = set;
	u32 i;

	for (i = 1; i < ZRTT_WAYS; i++)
		if (epoch - set[i].epoch > epoch - victim->epoch)
			victim = &set[i];
	if (epoch - victim->epoch <= ZRTT_LIVE_EPOCHS)
		t->evicted++;
	zrtt_flow_retire(t, victim);
	return victim;
}

/* The slot for a flow that has none: one never used, else that of a flow that is
 * not live, else of a live one. It is in no sum afterwards.
 */
static inline struct zrtt_flow *zrtt_flow_victim(struct zrtt_table *t, u32 tag,
						 u32 epoch)
{
	struct zrtt_flow *set = zrtt_flow_set(t, tag);
	struct zrtt_flow *f;
	u32 i;

	f = t->unused ? zrtt_flow_unused(t, tag) : NULL;
	if (f)
		return f;
	for (i = 0; i < ZRTT_WAYS; i++) {
		f = &set[(tag + i) % ZRTT_WAYS];
		if (!f->live)
			return f;
	}
	return zrtt_flow_evict(t, set, epoch);
}

/**
 * zrtt_flow_take() - a slot for a new flow, taken over from another if need be
 * @t: table
 * @tag: hash of the flow, never 0
 * @epoch: now
 * @rnd: random number, spaces the flow's first mark
 *
 * A new flow is live once it closes its books: one that sends a packet and no more
 * is in no sum.
 */
static inline struct zrtt_flow *
zrtt_flow_take(struct zrtt_table *t, u32 tag, u32 epoch, u32 rnd)
{
	struct zrtt_flow *f = zrtt_flow_home(t, tag);

	if (f->live || t->unused)
		f = zrtt_flow_victim(t, tag, epoch);
	zrtt_flow_begin(f, tag, epoch, rnd);
	return f;
}

/* The slot of a flow, new or not. Visits the slots of one set only. */
static inline struct zrtt_flow *
zrtt_flow_get(struct zrtt_table *t, u32 tag, u32 epoch, u32 rnd)
{
	struct zrtt_flow *f = zrtt_flow_home(t, tag);

	if (f->tag == tag)
		return f;
	f = zrtt_flow_find(t, tag);
	return f ? f : zrtt_flow_take(t, tag, epoch, rnd);
}

/**
 * zrtt_table_move() - carry all flows over to an empty table
 * @to: table of any size; if it is smaller, the flows seen last stay
 * @from: table, not usable afterwards
 * @epoch: now
 *
 * Walks both tables: for a changed size only, never from the packet path.
 */
static inline void zrtt_table_move(struct zrtt_table *to,
				   struct zrtt_table *from, u32 epoch)
{
	struct zrtt_flow *f, *copy;
	u32 i, slot;

	to->evicted = from->evicted;
	for (i = 0; i <= from->mask; i++) {
		f = &from->slots[i];
		if (!f->tag || f->live)
			continue;
		copy = zrtt_flow_victim(to, f->tag, epoch);
		if (!copy->tag || epoch - f->epoch < epoch - copy->epoch)
			*copy = *f;
	}
	for (slot = from->oldest; slot != ZRTT_NO_SLOT; slot = f->newer) {
		f = &from->slots[slot];
		copy = zrtt_flow_take(to, f->tag, epoch, 0);
		*copy = *f;
		zrtt_flow_enlist(to, copy);
	}
}

/* Is it time to close the books of @f? The first ones soon, so that it counts. */
static inline bool zrtt_flow_due(const struct zrtt_table *t, const struct zrtt_flow *f,
				 u32 epoch)
{
	u32 epochs = epoch - f->epoch;

	return epochs && (epochs >= t->books_epochs || !f->live);
}

/**
 * zrtt_flow_close_books() - fold the last epochs into rate, RTT and sums
 * @t: table
 * @f: flow
 * @pass_q16: share of its packets that is not dropped, Q16, 0 .. 1
 * @epoch: now
 *
 * To be called when zrtt_flow_due(), and when an RTT became known.
 * A flow that was silent for more than 2 s starts anew, but for its RTT.
 */
static inline void zrtt_flow_close_books(struct zrtt_table *t,
					 struct zrtt_flow *f, u32 pass_q16,
					 u32 epoch)
{
	u32 epochs = epoch - f->epoch;

	if (f->live)
		zrtt_flow_retire(t, f);
	if (epochs > ZRTT_LIVE_EPOCHS) {
		/* its past must not drop the one packet that a timeout sends */
		f->rate = 0;
		f->age = 0;
		f->price_q13 = 0;
		f->acc_q30 = 0;
	} else if (epochs) {
		zrtt_flow_rate(f, epochs);
	}
	if (epochs) {
		f->bytes = 0;
		f->epoch = epoch;
	}
	zrtt_flow_choose_rtt(f, epoch);
	f->passed = zrtt_flow_mature(f) ? zrtt_mul_q16(f->rate, pass_q16) : 0;
	if (zrtt_is_thin(t, f->passed))
		f->passed = 0;
	zrtt_flow_enlist(t, f);
}

#endif
