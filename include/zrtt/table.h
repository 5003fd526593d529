/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixed table that holds the flows, and what they sum up to.
 *
 * A flow is updated by its own first packet of an epoch or later, and the sums behind the
 * averages are kept incrementally, so there is no timer and no walk over the table. Live
 * flows (seen in the last 2 s) form a list ordered by their last update; the ones that
 * fell silent are taken off its old end, a few at a time.
 *
 * A table of another size takes the flows over a few at a time, so that packets need not
 * wait: meanwhile there are two, and a flow is in one of them.
 */
#ifndef _ZRTT_TABLE_H
#define _ZRTT_TABLE_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "host.h"

#define ZRTT_WAYS		8	/* slots of a bucket, all that a lookup visits */
#define ZRTT_NO_SLOT		(~0U)

/* Silent flows retired per update of a flow, so that no fewer go than come, and per tick,
 * for when few flows are updated.
 */
#define ZRTT_EXPIRE_UPDATE	2
#define ZRTT_EXPIRE_TICK	256

/* Flows, or slots without one, that a step of a move visits. The lock is held for one
 * step, and each visit costs up to a dozen cache misses.
 */
#define ZRTT_MOVE_STEP		128

/* A flow is updated each epoch, and an epoch later per 1024 live flows, up to 8: the more
 * flows there are, the fewer packets each has in an epoch, and the less one of them
 * matters. Else each packet of 10000 flows would update one.
 */
#define ZRTT_UPDATE_FLOWS_SHIFT	10
#define ZRTT_UPDATE_EPOCHS	8

/* FIFOs, served in this order; lane.h. */
enum zrtt_lane {
	ZRTT_LANE_SELDOM,
	ZRTT_LANE_RETURNING,
	ZRTT_LANE_THIN,
	ZRTT_LANE_L4S,
	ZRTT_LANE_SPARSE,
	ZRTT_LANE_RETURNING_LARGE,
	ZRTT_LANE_LARGE,
	ZRTT_LANE_BULK,
	ZRTT_LANES,
};

/**
 * struct zrtt_passage - packets that passed a lane
 * @in: how many joined it; that is the number of the last one, too
 * @out: how many left it, to be sent or dropped
 * @lost: @in when a flow that may have had packets there lost its slot
 */
struct zrtt_passage {
	u32 in;
	u32 out;
	u32 lost;
};

/**
 * struct zrtt_table - the flow table and what its live flows sum up to
 * @slots: @mask + 1 slots, ZRTT_WAYS to a bucket, owned by the caller
 * @mask: number of slots - 1
 * @unused: slots never used: none is ever given back
 * @oldest: end of the list of live flows that expires first
 * @newest: the other end
 * @from: table whose flows are on the way to this one, or NULL; what counts there are its
 *	slots and its list, all sums are here
 * @left: slots that such a table has yet to show
 * @update_epochs: least epochs from one update of a flow to the next
 * @live: number of live flows
 * @by_source: live flows by enum zrtt_rtt_source
 * @counted: live flows that count in the due share
 * @sum_rate: sum of their rates
 * @sum_log_rate: sum of the log2 of each, Q16
 * @other_rate: sum of the rates of live flows that do not count
 * @young_rate: of these, of those that are not mature
 * @due: the due share of the last tick, bytes per epoch, 0 = not known
 * @sum_rtt_us: sum of rtt_us over flows that have one
 * @rtt_avg_us: RTT_avg of the last tick, 0 = not known
 * @evicted: live flows that lost their slot to another; of hosts, all of the last 2 s
 * @lanes: packets by enum zrtt_lane
 * @lost: packets of flows that lost their slots may be queued
 * @members: of the flow in the slot of the same number, NULL = there are neither hosts nor
 *	weights
 * @parts: with @has_parts in place of @members, of the host in the slot of the same number
 * @groups: of the hosts' slots, NULL = there are no hosts
 * @has_parts: its slots are hosts that other queues may have flows of, too
 * @parts_sums: what its parts sum up to
 */
struct zrtt_table {
	struct zrtt_flow *slots;
	u32 mask;
	u32 unused;
	u32 oldest;
	u32 newest;
	struct zrtt_table *from;
	u32 left;
	u32 update_epochs;
	u32 live;
	u32 by_source[ZRTT_RTT_SOURCES];
	u32 counted;
	u64 sum_rate;
	s64 sum_log_rate;
	u64 other_rate;
	u64 young_rate;
	u32 due;
	u64 sum_rtt_us;
	u32 rtt_avg_us;
	u64 evicted;
	struct zrtt_passage lanes[ZRTT_LANES];
	bool lost;
	union {
		struct zrtt_member *members;
		struct zrtt_part *parts;
	};
	struct zrtt_group *groups;
	bool has_parts;
	struct zrtt_parts parts_sums;
};

/**
 * struct zrtt_sums - what the averages of the law are made of, of a table or of several
 * @sum_rate: see struct zrtt_table
 * @sum_log_rate: see there
 * @sum_rtt_us: see there
 * @other_rate: see there
 * @young_rate: see there
 * @sum_log_flow: of hosts, sum of the log2 of what a flow of each has, Q16
 * @counted: see there
 * @with_rtt: live flows that have an RTT
 */
struct zrtt_sums {
	u64 sum_rate;
	s64 sum_log_rate;
	u64 sum_rtt_us;
	u64 other_rate;
	u64 young_rate;
	s64 sum_log_flow;
	u32 counted;
	u32 with_rtt;
};

/* Of a packet's number, a flow has these bits; one more says that its next packet joins
 * bulk, whatever it is.
 */
#define ZRTT_LAST_MASK		0x7fff
#define ZRTT_LAST_BULK		0x8000

#define ZRTT_SPOOFED		0x2aaaaaaaU	/* changes the tag of spoofed packets */

/* How many packets joined the lane of @f's last one, after that one. */
static inline u32 zrtt_flow_behind(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	return (t->lanes[f->lane].in - f->last) & ZRTT_LAST_MASK;
}

/* May @f have packets in that lane? It may if there are more of them than numbers. */
static inline bool zrtt_flow_queued(const struct zrtt_table *t, const struct zrtt_flow *f)
{
	const struct zrtt_passage *lane = &t->lanes[f->lane];

	return zrtt_flow_behind(t, f) < lane->in - lane->out;
}

/* A flow that may have had packets in @lane lost its slot. */
static inline void zrtt_lane_lose(struct zrtt_table *t, u32 lane)
{
	t->lanes[lane].lost = t->lanes[lane].in;
	t->lost = true;
}

/* Are packets queued of a flow that lost its slot? */
static inline bool zrtt_table_lost(const struct zrtt_table *t)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		if ((s32)(t->lanes[i].lost - t->lanes[i].out) > 0)
			return true;
	return false;
}

/* A new flow may be one that was lost: then its first packet joins bulk, where it overtakes
 * none that came before it.
 */
static inline void zrtt_flow_begin_lane(struct zrtt_table *t, struct zrtt_flow *f)
{
	f->lane = ZRTT_LANE_BULK;
	f->last = t->lanes[ZRTT_LANE_BULK].out & ZRTT_LAST_MASK;
	if (likely(!t->lost))
		return;
	t->lost = zrtt_table_lost(t);
	if (t->lost)
		f->last |= ZRTT_LAST_BULK;
}

/* Numbers wrap: what was lost long ago must not seem to be ahead. */
static inline void zrtt_lanes_wrap(struct zrtt_table *t)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		if ((s32)(t->lanes[i].lost - t->lanes[i].out) < 0)
			t->lanes[i].lost = t->lanes[i].out;
}

/* All flows may be lost, as at a change of the table's size. */
static inline void zrtt_lanes_lose(struct zrtt_table *t)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		zrtt_lane_lose(t, i);
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
		.update_epochs = 1,
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

/* At the other end: of all flows on the list, @f was updated first. */
static inline void zrtt_list_add_oldest(struct zrtt_table *t, struct zrtt_flow *f)
{
	u32 slot = (u32)(f - t->slots);

	f->older = ZRTT_NO_SLOT;
	f->newer = t->oldest;
	if (t->oldest != ZRTT_NO_SLOT)
		t->slots[t->oldest].older = slot;
	else
		t->newest = slot;
	t->oldest = slot;
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

/* The member of @f, which is in the slots of @t or of @t->from; NULL where these have none. */
static inline struct zrtt_member *zrtt_flow_member(const struct zrtt_table *t,
						   const struct zrtt_flow *f)
{
	u64 slot = (u64)(f - t->slots);

	if (unlikely(slot > t->mask)) {
		t = t->from;
		slot = (u64)(f - t->slots);
	}
	return likely(t->members) ? &t->members[slot] : NULL;
}

/* The same of a flow in the slots of @t, where there are members. */
static inline struct zrtt_member *zrtt_own_member(const struct zrtt_table *t,
						  const struct zrtt_flow *f)
{
	return &t->members[f - t->slots];
}

/* The part of zrtt_flow_count() that is only for flows with members and for hosts with parts: take
 * a flow out of the groups of its hosts (@sign -1) or put it in (1), and a host's part out of the
 * sums of parts or in.
 */
static noinline __maybe_unused void
zrtt_flow_count_member(struct zrtt_table *t, const struct zrtt_flow *f, s32 log_rate, s32 sign)
{
	struct zrtt_member *m;

	if (t->has_parts) {
		zrtt_part_count(&t->parts_sums, &t->parts[f - t->slots], f, log_rate, sign);
		return;
	}
	m = zrtt_flow_member(t, f);
	if (!t->groups || !m)
		return;
	if (sign < 0)
		zrtt_member_leave(t->groups, m);
	else
		zrtt_member_join(t->groups, m, f->counts ? log_rate : 0);
}

/* Take @f out of the sums (@sign -1) or put it in (1). @log_rate is log2 of its rate if it
 * counts.
 */
static inline void zrtt_flow_count(struct zrtt_table *t, const struct zrtt_flow *f, s32 log_rate,
				   s32 sign)
{
	t->live += sign;
	t->by_source[f->source] += sign;
	t->sum_rtt_us += (s64)sign * f->rtt_us;
	if (unlikely(t->members))
		zrtt_flow_count_member(t, f, log_rate, sign);
	if (!f->counts) {
		t->other_rate += (s64)sign * f->rate;
		if (!zrtt_flow_mature(f))
			t->young_rate += (s64)sign * f->rate;
		return;
	}
	t->counted += sign;
	t->sum_rate += (s64)sign * f->rate;
	t->sum_log_rate += sign * log_rate;
}

/* Take @f out of the sums. */
static inline void zrtt_flow_discount(struct zrtt_table *t, const struct zrtt_flow *f)
{
	zrtt_flow_count(t, f, f->counts ? zrtt_log2(f->rate) : 0, -1);
}

/* Retire a flow of @t whose slot is in @place, @t or @t->from. */
static inline void zrtt_flow_retire_from(struct zrtt_table *t, struct zrtt_table *place,
					 struct zrtt_flow *f)
{
	zrtt_flow_discount(t, f);
	zrtt_list_del(place, f);
	f->live = 0;
}

static inline void zrtt_flow_retire(struct zrtt_table *t, struct zrtt_flow *f)
{
	zrtt_flow_retire_from(t, t, f);
}

static inline void zrtt_flow_enlist(struct zrtt_table *t, struct zrtt_flow *f, s32 log_rate)
{
	f->live = 1;
	zrtt_flow_count(t, f, log_rate, 1);
	zrtt_list_add(t, f);
}

/* Retire up to @most flows in @place that were silent for 2 s. */
static inline void zrtt_list_expire(struct zrtt_table *t, struct zrtt_table *place,
				    u32 epoch, u32 most)
{
	u32 i;

	for (i = 0; i < most && place->oldest != ZRTT_NO_SLOT; i++) {
		struct zrtt_flow *f = &place->slots[place->oldest];

		if (epoch - f->epoch <= ZRTT_LIVE_EPOCHS)
			return;
		zrtt_flow_retire_from(t, place, f);
	}
}

/* Not inlined, as what few need takes registers from all. */
static noinline __maybe_unused void
zrtt_table_expire_from(struct zrtt_table *t, u32 epoch, u32 most)
{
	zrtt_list_expire(t, t->from, epoch, most);
}

/* Retire flows that were silent for 2 s, up to @most of each table. */
static inline void zrtt_table_expire(struct zrtt_table *t, u32 epoch, u32 most)
{
	if (unlikely(t->from))
		zrtt_table_expire_from(t, epoch, most);
	zrtt_list_expire(t, t, epoch, most);
}

/**
 * zrtt_table_tick() - what is not per packet
 * @t: table
 * @epoch: now
 */
static inline void zrtt_table_tick(struct zrtt_table *t, u32 epoch)
{
	u32 epochs = 1 + (t->live >> ZRTT_UPDATE_FLOWS_SHIFT);

	t->update_epochs = epochs < ZRTT_UPDATE_EPOCHS ? epochs : ZRTT_UPDATE_EPOCHS;
	zrtt_lanes_wrap(t);
	zrtt_table_expire(t, epoch, ZRTT_EXPIRE_TICK);
}

/* The slot that is tried first. */
static inline struct zrtt_flow *zrtt_flow_slot(const struct zrtt_table *t, u32 tag)
{
	return &t->slots[tag & t->mask];
}

/* The bucket: ZRTT_WAYS slots, any of which a flow can be in. */
static inline struct zrtt_flow *zrtt_flow_bucket(const struct zrtt_table *t, u32 tag)
{
	return &t->slots[tag & t->mask & ~(ZRTT_WAYS - 1)];
}

/* The slot of a flow that is known, or NULL. */
static inline struct zrtt_flow *zrtt_flow_find(const struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *bucket = zrtt_flow_bucket(t, tag);
	u32 i;

#pragma GCC unroll 8
	for (i = 0; i < ZRTT_WAYS; i++)
		if (bucket[i].tag == tag)
			return &bucket[i];
	return NULL;
}

/* The same, and quick if it is in the slot that is tried first. */
static __always_inline struct zrtt_flow *zrtt_flow_known(const struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *f = zrtt_flow_slot(t, tag);

	return f->tag == tag ? f : zrtt_flow_find(t, tag);
}

/* The slot of a flow that is known, in either table, or NULL. */
static inline struct zrtt_flow *zrtt_flow_lookup(const struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *f = zrtt_flow_find(t, tag);

	return f || likely(!t->from) ? f : zrtt_flow_find(t->from, tag);
}

/* Are packets queued that were spoofed in the name of the flow @tag? They are in bulk. */
static inline bool zrtt_spoofed_queued(const struct zrtt_table *t, u32 tag)
{
	const struct zrtt_flow *spoofed = zrtt_flow_lookup(t, tag ^ ZRTT_SPOOFED);

	return spoofed && zrtt_flow_queued(t, spoofed);
}

/* @f is about to lose its slot. If packets of it are queued, it is a new flow when it comes
 * back, and must not overtake them.
 */
static inline void zrtt_flow_lose(struct zrtt_table *t, const struct zrtt_flow *f)
{
	if (!f->tag)
		return;
	if (zrtt_flow_queued(t, f))
		zrtt_lane_lose(t, f->lane);
	/* whoever comes next would pay for what has left */
	if ((f->last & ZRTT_LAST_BULK) && zrtt_spoofed_queued(t, f->tag))
		zrtt_lane_lose(t, ZRTT_LANE_BULK);
}

/* A slot of @tag's bucket that was never used, else that of a flow that is not live, or
 * NULL; of these rather one that has no packets queued, so that few are lost.
 */
static inline struct zrtt_flow *zrtt_flow_spare(struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *bucket = zrtt_flow_bucket(t, tag);
	struct zrtt_flow *f, *silent = NULL, *queued = NULL;
	u32 i;

	for (i = 0; i < ZRTT_WAYS; i++) {
		f = &bucket[(tag + i) % ZRTT_WAYS];
		if (!f->tag) {
			t->unused--;
			return f;
		}
		if (f->live)
			continue;
		if (zrtt_flow_queued(t, f))
			queued = f;
		else if (!silent)
			silent = f;
	}
	return silent ? silent : queued;
}

/* The slot for a flow that has none: a spare one, else that of the live flow whose last
 * update is the oldest. It is in no sum afterwards.
 */
static noinline __maybe_unused struct zrtt_flow *
zrtt_flow_evict(struct zrtt_table *t, u32 tag, u32 epoch)
{
	struct zrtt_flow *bucket = zrtt_flow_bucket(t, tag);
	struct zrtt_flow *f = zrtt_flow_spare(t, tag);
	u32 i;

	if (f)
		return f;
	f = bucket;
	for (i = 1; i < ZRTT_WAYS; i++)
		if (epoch - bucket[i].epoch > epoch - f->epoch)
			f = &bucket[i];
	if (epoch - f->epoch <= ZRTT_LIVE_EPOCHS)
		t->evicted++;
	zrtt_flow_retire(t, f);
	return f;
}

/* Another flow gets the slot of @f. */
static inline void zrtt_flow_replace(struct zrtt_table *t, struct zrtt_flow *f, u32 tag, u32 epoch,
				     u32 rnd)
{
	zrtt_flow_lose(t, f);
	zrtt_flow_begin(f, tag, epoch, rnd);
	zrtt_flow_begin_lane(t, f);
}

/**
 * zrtt_flow_add() - a slot for a new flow, taken over from another if need be
 * @t: table
 * @tag: hash of the flow, never 0
 * @epoch: now
 * @rnd: random number, spaces the flow's first mark
 *
 * A new flow is live from its first update on: one that sends a packet and no more
 * is in no sum.
 */
static inline struct zrtt_flow *
zrtt_flow_add(struct zrtt_table *t, u32 tag, u32 epoch, u32 rnd)
{
	struct zrtt_flow *f = zrtt_flow_slot(t, tag);

	/* while there are unused slots, new flows do not take them from each other */
	if (f->live || t->unused || zrtt_flow_queued(t, f))
		f = zrtt_flow_evict(t, tag, epoch);
	zrtt_flow_replace(t, f, tag, epoch, rnd);
	return f;
}

/* Take over a flow from a slot of @t->from. */
static inline void zrtt_flow_copy(struct zrtt_table *t, struct zrtt_flow *copy,
				  const struct zrtt_flow *f)
{
	const struct zrtt_member *m;

	*copy = *f;
	if (likely(!t->members))
		return;
	m = zrtt_flow_member(t, f);
	*zrtt_flow_member(t, copy) = m ? *m : (struct zrtt_member) {};
}

/**
 * zrtt_flow_fetch() - move the flow of a packet that arrived, ahead of the others
 * @t: table with a @from
 * @tag: hash of the flow
 * @epoch: now
 *
 * In the list it goes to the new end: it was updated in this epoch, or it is retired and
 * the packet updates it.
 *
 * Return: its slot in @t, or NULL if it is not in @from either.
 */
static noinline __maybe_unused struct zrtt_flow *
zrtt_flow_fetch(struct zrtt_table *t, u32 tag, u32 epoch)
{
	struct zrtt_table *from = t->from;
	struct zrtt_flow *f = zrtt_flow_find(from, tag);
	struct zrtt_flow *copy;

	if (!f)
		return NULL;
	if (f->live && f->epoch != epoch)
		zrtt_flow_retire_from(t, from, f);
	else if (f->live)
		zrtt_list_del(from, f);
	copy = zrtt_flow_evict(t, tag, epoch);
	zrtt_flow_lose(t, copy);
	zrtt_flow_copy(t, copy, f);
	f->live = 0;
	f->tag = 0;
	if (copy->live)
		zrtt_list_add(t, copy);
	return copy;
}

/* The slot of a flow that is not in @t yet, new or not. */
static inline struct zrtt_flow *
zrtt_flow_take(struct zrtt_table *t, u32 tag, u32 epoch, u32 rnd)
{
	struct zrtt_flow *f = unlikely(t->from) ? zrtt_flow_fetch(t, tag, epoch) : NULL;

	return f ? f : zrtt_flow_add(t, tag, epoch, rnd);
}

/* The slot of a flow, new or not. Visits the slots of one bucket only, and while flows are
 * moved of one in either table.
 */
static inline struct zrtt_flow *
zrtt_flow_get(struct zrtt_table *t, u32 tag, u32 epoch, u32 rnd)
{
	struct zrtt_flow *f = zrtt_flow_known(t, tag);

	return f ? f : zrtt_flow_take(t, tag, epoch, rnd);
}

/**
 * zrtt_table_resize() - go on in other slots
 * @t: table
 * @from: set: the slots of before, with all flows; to be kept while @t->from is set
 * @slots: zeroed, owned by the caller
 * @flows: their number, a power of two and ZRTT_WAYS or more
 *
 * zrtt_table_move() is to follow until it has moved all flows; packets may arrive and
 * ticks may pass meanwhile. Sums are of flows, wherever they are, and stay what they are.
 */
static inline void zrtt_table_resize(struct zrtt_table *t, struct zrtt_table *from,
				     struct zrtt_flow *slots, u32 flows)
{
	*from = *t;
	t->slots = slots;
	t->mask = flows - 1;
	t->unused = flows;
	t->oldest = ZRTT_NO_SLOT;
	t->newest = ZRTT_NO_SLOT;
	t->from = from;
	t->left = from->mask + 1;
	zrtt_lanes_lose(t);
}

/* Move the live flow that was updated last, if its bucket has room: then all live flows
 * in that are newer.
 */
static inline void zrtt_flow_move_live(struct zrtt_table *t, struct zrtt_flow *f, u32 epoch)
{
	struct zrtt_flow *copy = zrtt_flow_spare(t, f->tag);

	zrtt_list_del(t->from, f);
	if (copy) {
		zrtt_flow_lose(t, copy);
		zrtt_flow_copy(t, copy, f);
		zrtt_list_add_oldest(t, copy);
	} else {
		zrtt_flow_discount(t, f);
		if (epoch - f->epoch <= ZRTT_LIVE_EPOCHS)
			t->evicted++;
	}
	f->live = 0;
	f->tag = 0;
}

/* Move a flow that is not live, unless others like it were seen later. */
static inline void zrtt_flow_move_silent(struct zrtt_table *t, struct zrtt_flow *f, u32 epoch)
{
	struct zrtt_flow *copy = zrtt_flow_spare(t, f->tag);

	if (copy && (!copy->tag || epoch - f->epoch < epoch - copy->epoch)) {
		zrtt_flow_lose(t, copy);
		zrtt_flow_copy(t, copy, f);
	}
	f->tag = 0;
}

/**
 * zrtt_table_move() - move some flows from @t->from, the live ones first
 * @t: table that zrtt_table_resize() made
 * @epoch: now
 *
 * If there are fewer slots than before, the flows seen last stay.
 *
 * Return: whether all are moved; then @t->from is NULL.
 */
static inline bool zrtt_table_move(struct zrtt_table *t, u32 epoch)
{
	struct zrtt_table *from = t->from;
	struct zrtt_flow *f;
	u32 i;

	for (i = 0; i < ZRTT_MOVE_STEP; i++) {
		if (from->newest != ZRTT_NO_SLOT) {
			zrtt_flow_move_live(t, &from->slots[from->newest], epoch);
			continue;
		}
		if (!t->left) {
			t->from = NULL;
			return true;
		}
		f = &from->slots[--t->left];
		if (f->tag)
			zrtt_flow_move_silent(t, f, epoch);
	}
	return false;
}

/* What the flows of @t sum up to. */
static inline struct zrtt_sums zrtt_table_sums(const struct zrtt_table *t)
{
	return (struct zrtt_sums) {
		.sum_rate = t->sum_rate,
		.sum_log_rate = t->sum_log_rate,
		.sum_rtt_us = t->sum_rtt_us,
		.other_rate = t->other_rate,
		.young_rate = t->young_rate,
		.counted = t->counted,
		.with_rtt = t->live - t->by_source[ZRTT_RTT_NONE],
	};
}

/* The mean rate of the flows that count, bytes per epoch, 0 = there are none: a few
 * application-limited ones take less from it than from the due share.
 */
static inline u32 zrtt_mean_rate(const struct zrtt_sums *sums)
{
	return sums->counted ? (u32)div_u64(sums->sum_rate, sums->counted) : 0;
}

/* The same where there are @hosts: what the usual flow of the usual host has. One host of many flows
 * is not to lengthen the queue for all.
 */
static inline u32 zrtt_mean_rate_of_hosts(const struct zrtt_sums *flows,
					  const struct zrtt_sums *hosts)
{
	s32 log_flow = hosts->counted ? (s32)div_s64(hosts->sum_log_flow, hosts->counted) : 0;

	return log_flow ? zrtt_exp2(log_flow - (ZRTT_Q16 << ZRTT_Q16)) : zrtt_mean_rate(flows);
}

/* The part of the rates that young flows have, Q16: 0 while none counts, as at the start nobody
 * does. Others that do not count, such as streams of UDP, are steady.
 */
static inline u32 zrtt_young_q16(const struct zrtt_sums *sums)
{
	if (!sums->sum_rate)
		return 0;
	return (u32)div64_u64(sums->young_rate << ZRTT_Q16, sums->sum_rate + sums->other_rate);
}

#endif
