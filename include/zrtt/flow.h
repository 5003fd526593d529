/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the queue knows of each flow, and the fixed table that holds it.
 *
 * Time is cut into epochs of 134 ms. A flow closes its own books at the first
 * packet of an epoch or later, and the sums behind the averages are kept
 * incrementally, so there is no timer and no walk over the table. Live flows
 * (seen in the last 2 s) form a list ordered by their latest books; the ones
 * that fell silent are taken off its old end, a few at a time.
 */
#ifndef _ZRTT_FLOW_H
#define _ZRTT_FLOW_H

#include <linux/types.h>
#include "fixed.h"
#include "hint.h"

#define ZRTT_EPOCH_SHIFT	27	/* an epoch is 2^27 ns = 134 ms */
#define ZRTT_LIVE_EPOCHS	15	/* 2 s: a flow counts in averages */
#define ZRTT_RTT_EPOCHS		224	/* 30 s: an RTT is remembered */
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

/* Epochs after which the mean rate of a flow becomes a moving average (1.6 s), and
 * after which it says enough of the flow (1 s): short flows come and go, and must
 * move neither r_avg nor alpha.
 */
#define ZRTT_RATE_EPOCHS	12
#define ZRTT_MATURE_EPOCHS	8

#define ZRTT_RTT_WQ_Q16		6554	/* w_q = 0.1, paper eq. (3) */
#define ZRTT_RTT_FRAC		8	/* fraction bits of the smoothed value told */

/* Trust: a hint may exceed the passive RTT by a quarter and 2 ms of host
 * jitter, which is what honest senders were seen to need. The passive RTT may have
 * waited in other queues, so that a hint may be a quarter of it, but not less: a
 * stranger can send hints in a flow's name.
 */
#define ZRTT_CLAMP_SLACK_US	2000
#define ZRTT_CLAMP_BELOW	4

enum zrtt_rtt_source {
	ZRTT_RTT_NONE,
	ZRTT_RTT_HINT,
	ZRTT_RTT_MARK,
	ZRTT_RTT_TIMESTAMPS,
	ZRTT_RTT_HANDSHAKE,
	ZRTT_RTT_SOURCES,
};

/**
 * struct zrtt_flow - one slot, one cache line
 * @tag: hash of the flow's addresses and ports, 0 = never used
 * @older: neighbour in the list of live flows
 * @newer: neighbour in the list of live flows
 * @epoch: when it began or closed its books last
 * @bytes: arrivals since then
 * @rate: smoothed arrival rate, bytes per epoch
 * @passed: what of @rate is not dropped, 0 = too young or too thin to count
 * @rtt_us: RTT_i in use, 0 = none known
 * @told_q8: smoothed RTT that hints or marks told, microseconds, ZRTT_RTT_FRAC
 *	fraction bits, 0 = none
 * @told_epoch: epoch of the last one
 * @passive_us: what was seen of the RTT: the smallest handshake gap, or what
 *	timestamps say; 0 = nothing
 * @syn_us: clock at which the first handshake packet left the queue
 * @weight_q16: P_i / P_b
 * @acc_q30: marking credit
 * @threshold_q30: credit that triggers the next mark
 * @price_q13: what it pays for being above r_avg: log2 of a factor of P_i, Q13
 * @age: epochs since it started, up to ZRTT_LIVE_EPOCHS
 * @source: enum zrtt_rtt_source of @rtt_us
 * @live: on the list and in the sums
 * @syn_left: a handshake packet left, its answer is awaited
 * @told_by_mark: @told_q8 is the operator's, not a hint
 * @timed: @passive_us comes from timestamps
 * @spare: not used
 */
struct zrtt_flow {
	u32 tag;
	u32 older;
	u32 newer;
	u32 epoch;
	u32 bytes;
	u32 rate;
	u32 passed;
	u32 rtt_us;
	u32 told_q8;
	u32 told_epoch;
	u32 passive_us;
	u32 syn_us;
	u32 weight_q16;
	u32 acc_q30;
	u32 threshold_q30;
	u16 price_q13;
	u8 age;
	u8 source:3;
	u8 live:1;
	u8 syn_left:1;
	u8 told_by_mark:1;
	u8 timed:1;
	u8 spare:1;
};

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

/* Weight of the mean of @i epochs in the moving average, Q16: 1 - (11/12)^i, one
 * twelfth being 1 / ZRTT_RATE_EPOCHS.
 */
static const u32 zrtt_rate_gains[ZRTT_LIVE_EPOCHS + 1] = {
	0, 5461, 10468, 15057, 19263, 23119, 26654, 29894,
	32864, 35587, 38083, 40370, 42468, 44390, 46152, 47767,
};

/* 1 / @i, Q16 */
static const u32 zrtt_epoch_recip[ZRTT_LIVE_EPOCHS + 1] = {
	0, 65536, 32768, 21845, 16384, 13107, 10923, 9362,
	8192, 7282, 6554, 5958, 5461, 5041, 4681, 4369,
};

static inline u32 zrtt_epoch(u64 now_ns)
{
	return (u32)(now_ns >> ZRTT_EPOCH_SHIFT);
}

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

static inline bool zrtt_flow_mature(const struct zrtt_flow *f)
{
	return f->age >= ZRTT_MATURE_EPOCHS;
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

/* A flow's first packet. What is not set here is not read before it is. */
static inline void zrtt_flow_begin(struct zrtt_flow *f, u32 tag, u32 epoch, u32 rnd)
{
	f->tag = tag;
	f->epoch = epoch;
	f->bytes = 0;
	f->rate = 0;
	f->passed = 0;
	f->rtt_us = 0;
	f->told_q8 = 0;
	f->passive_us = 0;
	f->weight_q16 = ZRTT_Q16_ONE;
	f->acc_q30 = 0;
	f->threshold_q30 = ZRTT_P_ONE / 2 + (rnd >> 2);
	f->price_q13 = 0;
	f->age = 0;
	f->source = ZRTT_RTT_NONE;
	f->live = 0;
	f->syn_left = 0;
	f->told_by_mark = 0;
	f->timed = 0;
	f->spare = 0;
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

/* Was an RTT told, by a hint or a mark, that is not forgotten yet? */
static inline bool zrtt_flow_told(const struct zrtt_flow *f, u32 epoch)
{
	return f->told_q8 && epoch - f->told_epoch <= ZRTT_RTT_EPOCHS;
}

/* RTT_i by preference: told in the last 30 s, timestamps, handshake gap, none. */
static inline void zrtt_flow_choose_rtt(struct zrtt_flow *f, u32 epoch)
{
	if (zrtt_flow_told(f, epoch)) {
		f->source = f->told_by_mark ? ZRTT_RTT_MARK : ZRTT_RTT_HINT;
		f->rtt_us = f->told_q8 >> ZRTT_RTT_FRAC;
	} else if (f->passive_us) {
		f->source = f->timed ? ZRTT_RTT_TIMESTAMPS : ZRTT_RTT_HANDSHAKE;
		f->rtt_us = f->passive_us;
	} else {
		f->source = ZRTT_RTT_NONE;
		f->rtt_us = 0;
	}
}

/* Fold the arrivals of the last @epochs (1 .. ZRTT_LIVE_EPOCHS) into the rate: the
 * plain mean of a young flow, so that it is not taken for a slow one.
 */
static inline void zrtt_flow_rate(struct zrtt_flow *f, u32 epochs)
{
	u32 mean = zrtt_mul_q16(f->bytes, zrtt_epoch_recip[epochs]);
	u32 gain_q16 = zrtt_rate_gains[epochs];

	if (f->age < ZRTT_RATE_EPOCHS) {
		f->age += epochs;
		if (f->age > ZRTT_LIVE_EPOCHS)
			f->age = ZRTT_LIVE_EPOCHS;
		gain_q16 = epochs * zrtt_epoch_recip[f->age];
	}
	f->rate = zrtt_ewma(f->rate, mean, gain_q16);
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

/* Remember what was told, smoothed with the paper's w_q (eq. 3); what the other
 * source told before is not mixed in.
 */
static inline void zrtt_flow_remember(struct zrtt_flow *f, u32 rtt_us, bool by_mark,
				      u32 epoch)
{
	u32 rtt_q8 = rtt_us << ZRTT_RTT_FRAC;

	if (zrtt_flow_told(f, epoch) && f->told_by_mark == by_mark)
		rtt_q8 = zrtt_ewma(f->told_q8, rtt_q8, ZRTT_RTT_WQ_Q16);
	f->told_q8 = rtt_q8;
	f->told_by_mark = by_mark;
	f->told_epoch = epoch;
}

/**
 * zrtt_flow_hint() - the flow's packet carried a hint
 * @f: flow
 * @rtt_us: the hint, 32 .. ZRTT_HINT_MAX_US
 * @clamp: bound it by the passive RTT where one is known
 * @epoch: now
 *
 * Return: true if it was bounded.
 */
static inline bool zrtt_flow_hint(struct zrtt_flow *f, u32 rtt_us, bool clamp,
				  u32 epoch)
{
	u32 most = f->passive_us + f->passive_us / 4 + ZRTT_CLAMP_SLACK_US;
	u32 least = f->passive_us / ZRTT_CLAMP_BELOW;
	bool bounded = clamp && f->passive_us && (rtt_us > most || rtt_us < least);

	if (bounded)
		rtt_us = rtt_us > most ? most : least;
	zrtt_flow_remember(f, rtt_us, false, epoch);
	return bounded;
}

/**
 * zrtt_flow_mark() - the operator's mark of the flow's packet told an RTT
 * @f: flow
 * @rtt_us: the RTT, 32 .. ZRTT_HINT_MAX_US
 * @epoch: now
 *
 * Taken as it is, but not while a hint is remembered. Return: true if taken.
 */
static inline bool zrtt_flow_mark(struct zrtt_flow *f, u32 rtt_us, u32 epoch)
{
	if (zrtt_flow_told(f, epoch) && !f->told_by_mark)
		return false;
	zrtt_flow_remember(f, rtt_us, true, epoch);
	return true;
}

/* The flow's SYN or SYN-ACK left the queue at @now_us. */
static inline void zrtt_flow_syn_left(struct zrtt_flow *f, u32 now_us)
{
	f->syn_us = now_us;
	f->syn_left = 1;
}

/**
 * zrtt_flow_syn_answered() - the next packet behind a handshake packet arrived
 * @f: flow
 * @now_us: clock, wraps
 *
 * The gap from the SYN's departure is one round trip of the path without our
 * own queue, an upper bound for the RTT: the least one seen is kept, until
 * timestamps know better.
 */
static inline void zrtt_flow_syn_answered(struct zrtt_flow *f, u32 now_us)
{
	u32 gap_us = now_us - f->syn_us;

	f->syn_left = 0;
	if (f->timed || gap_us < (1U << ZRTT_HINT_UNIT_SHIFT) ||
	    gap_us > ZRTT_HINT_MAX_US)
		return;
	if (!f->passive_us || gap_us < f->passive_us)
		f->passive_us = gap_us;
}

/* Timestamps of both directions say that the flow's RTT is @rtt_us. */
static inline void zrtt_flow_timed(struct zrtt_flow *f, u32 rtt_us)
{
	f->passive_us = rtt_us;
	f->timed = 1;
}

#endif
