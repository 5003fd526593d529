/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts whose flows several queues of a device have: one host, with one share.
 *
 * Each queue has a slot for such a host, as for any, and a part: what it has of it. When it
 * updates the host, once per epoch or later, it says that in a table that all queues share, and
 * hears what the others have. Then rate, mean and number of the host's flows are those of the
 * device in each queue. In the due share and in the split of the rate it counts in each by the
 * share of its flows that this queue has, once in all.
 *
 * The penalty is one, too: it is here, and who is the first of an epoch moves it.
 *
 * What a queue said is forgotten after 2 to 3 s, as it may have no packet to say more with. So
 * there are three windows, and a queue takes back what it said in an earlier one. A host that
 * finds no room here is one in each queue. None is displaced that any queue has said something
 * of in the last 2 s.
 *
 * Nothing is locked here: who calls this does that.
 */
#ifndef _ZRTT_JOINT_H
#define _ZRTT_JOINT_H

#include <linux/types.h>
#include "flow.h"
#include "host.h"
#include "table.h"
#include "law.h"

#define ZRTT_JOINT_SHIFT	3	/* a window: 8 epochs, 1.1 s */
#define ZRTT_JOINT_WINDOWS	3

/**
 * struct zrtt_joint_host - a host of several queues
 * @tag: of the host, 0 = never used
 * @generation: of the slot; 0 is none
 * @met: epoch in which a queue last said something of it
 * @stepped: epoch in which its penalty last moved
 * @hit: a flow of it was hit
 * @hit_period: when, see zrtt_joint_period()
 * @window: the latest of @said
 * @penalty_q16: see struct zrtt_flow
 * @said: what queues said in the last windows, by number
 */
struct zrtt_joint_host {
	u32 tag;
	u32 generation;
	u32 met;
	u32 stepped;
	u32 hit_period;
	u32 window;
	s32 penalty_q16;
	bool hit;
	struct zrtt_told said[ZRTT_JOINT_WINDOWS];
};

/**
 * struct zrtt_joint - those of a device
 * @slots: @mask + 1 of them, ZRTT_WAYS to a bucket, owned by the caller; NULL = there are none
 * @mask: number of slots - 1
 * @generation: of the slot that changed hands last
 */
struct zrtt_joint {
	struct zrtt_joint_host *slots;
	u32 mask;
	u32 generation;
};

/* Go on in other slots, which are empty: hosts join them when they are updated. */
static inline void zrtt_joint_take(struct zrtt_joint *joint, struct zrtt_joint_host *slots,
				   u32 hosts)
{
	joint->slots = slots;
	joint->mask = hosts - 1;
}

/* Has no queue said anything of @j for 2 s? Their clocks may differ by a little. */
static inline bool zrtt_joint_silent(const struct zrtt_joint_host *j, u32 epoch)
{
	return (s32)(epoch - j->met) > ZRTT_LIVE_EPOCHS;
}

/* Slots forget a hit when such a period ends, or each second one: the same in all queues. */
static inline u32 zrtt_joint_period(u32 tag, u32 epoch)
{
	return (epoch + tag) >> ZRTT_HIT_SHIFT;
}

static inline void zrtt_told_add(struct zrtt_told *to, const struct zrtt_told *told)
{
	to->rate += told->rate;
	to->ahead += told->ahead;
	to->sum_log_rate += told->sum_log_rate;
	to->counted += told->counted;
	to->live += told->live;
}

static inline void zrtt_told_sub(struct zrtt_told *from, const struct zrtt_told *told)
{
	from->rate -= told->rate;
	from->ahead -= told->ahead;
	from->sum_log_rate -= told->sum_log_rate;
	from->counted -= told->counted;
	from->live -= told->live;
}

/* Take back what the queue of @part said of @j, if that is not forgotten. */
static inline void zrtt_joint_unsay(struct zrtt_joint_host *j, const struct zrtt_part *part)
{
	if (j->window - part->window < ZRTT_JOINT_WINDOWS)
		zrtt_told_sub(&j->said[part->window % ZRTT_JOINT_WINDOWS], &part->told);
}

/* Forget what is too old. A clock that is behind another's turns nothing back. */
static inline void zrtt_joint_turn(struct zrtt_joint_host *j, u32 window)
{
	u32 i;

	/* numbers of windows wrap as epochs do, and have fewer bits */
	if ((s32)((window - j->window) << ZRTT_JOINT_SHIFT) <= 0)
		return;
	for (i = 0; i < ZRTT_JOINT_WINDOWS && j->window != window; i++)
		j->said[++j->window % ZRTT_JOINT_WINDOWS] = (struct zrtt_told) {};
	j->window = window;
}

/* The slot that @part says it has, or NULL. */
static inline struct zrtt_joint_host *zrtt_joint_known(const struct zrtt_joint *joint,
						       const struct zrtt_part *part)
{
	struct zrtt_joint_host *j;

	if (!joint->slots || !part->generation || part->slot > joint->mask)
		return NULL;
	j = &joint->slots[part->slot];
	return j->generation == part->generation ? j : NULL;
}

/* The slot of the host @tag in use, else one that may be, or NULL. */
static inline struct zrtt_joint_host *zrtt_joint_find(const struct zrtt_joint *joint, u32 tag,
						      u32 epoch)
{
	struct zrtt_joint_host *bucket, *spare = NULL;
	u32 i;

	bucket = &joint->slots[tag & joint->mask & ~(ZRTT_WAYS - 1)];
	for (i = 0; i < ZRTT_WAYS; i++) {
		if (!bucket[i].tag || zrtt_joint_silent(&bucket[i], epoch))
			spare = &bucket[i];
		else if (bucket[i].tag == tag)
			return &bucket[i];
	}
	return spare;
}

/* The slot of the host @tag, which is in @h, and that slot's @part joins; NULL if all are taken. */
static inline struct zrtt_joint_host *zrtt_joint_get(struct zrtt_joint *joint,
						     struct zrtt_part *part,
						     const struct zrtt_flow *h, u32 tag,
						     u32 epoch)
{
	struct zrtt_joint_host *j = zrtt_joint_known(joint, part);

	if (j && j->tag == tag && !zrtt_joint_silent(j, epoch))
		return j;
	if (j)
		zrtt_joint_unsay(j, part);
	part->told = (struct zrtt_told) {};
	part->generation = 0;
	j = joint->slots ? zrtt_joint_find(joint, tag, epoch) : NULL;
	if (!j)
		return NULL;
	if (j->tag != tag || zrtt_joint_silent(j, epoch)) {
		joint->generation += joint->generation == ~0U ? 2 : 1;
		*j = (struct zrtt_joint_host) {
			.tag = tag,
			.generation = joint->generation,
			.met = epoch,
			.stepped = h->epoch,
			.window = epoch >> ZRTT_JOINT_SHIFT,
			.penalty_q16 = h->penalty_q16,
		};
	}
	part->slot = (u32)(j - joint->slots);
	part->generation = j->generation;
	return j;
}

/* What the queue has of a host. @h may be there for another end of flows only. */
static inline struct zrtt_told zrtt_part_tells(const struct zrtt_part *part,
					       const struct zrtt_group *g,
					       const struct zrtt_flow *h)
{
	return (struct zrtt_told) {
		.rate = h->live ? part->rate : 0,
		.ahead = h->live ? part->ahead : 0,
		.sum_log_rate = g->sum_log_rate,
		.counted = g->counted,
		.live = g->live,
	};
}

/* Move the penalty, which is one for all queues, if none has in this epoch. */
static inline void zrtt_joint_penalise(const struct zrtt_law *law, struct zrtt_joint_host *j,
				       const struct zrtt_flow *h, u32 epochs, u32 epoch)
{
	u32 since = epoch - j->stepped;
	struct zrtt_flow whole = *h;

	if (!h->live || (s32)since <= 0)
		return;
	whole.penalty_q16 = j->penalty_q16;
	zrtt_penalise(law, &whole, since < epochs ? since : epochs);
	j->penalty_q16 = whole.penalty_q16;
	j->stepped = epoch;
}

/* A hit in one queue is one in all, until the slots forget it. */
static inline void zrtt_joint_hit(struct zrtt_joint_host *j, struct zrtt_flow *h, u32 epoch)
{
	u32 period = zrtt_joint_period(h->tag, epoch);

	if (h->hit) {
		j->hit = true;
		j->hit_period = period;
	} else if (j->hit && j->hit_period == period) {
		zrtt_flow_was_hit(h);
	}
}

/* The host has no flows elsewhere, as far as is known. */
static inline void zrtt_group_alone(struct zrtt_group *g)
{
	g->others = (struct zrtt_told) {};
	g->others_q8 = 0;
}

/**
 * zrtt_joint_meet() - a queue says what it has of a host, and hears what the others have
 * @joint: hosts of the device
 * @law: due share of hosts
 * @part: what it has
 * @g: group of the host
 * @h: the host in this queue
 * @tag: of the host, the same in all queues that mean the same by it
 * @epoch: now
 */
static inline void zrtt_joint_meet(struct zrtt_joint *joint, const struct zrtt_law *law,
				   struct zrtt_part *part, struct zrtt_group *g,
				   struct zrtt_flow *h, u32 tag, u32 epoch)
{
	struct zrtt_joint_host *j = zrtt_joint_get(joint, part, h, tag, epoch);
	struct zrtt_told now = zrtt_part_tells(part, g, h), all = {};
	u32 i;

	if (!j) {
		zrtt_group_alone(g);
		return;
	}
	zrtt_joint_turn(j, epoch >> ZRTT_JOINT_SHIFT);
	zrtt_joint_unsay(j, part);
	for (i = 0; i < ZRTT_JOINT_WINDOWS; i++)
		zrtt_told_add(&all, &j->said[i]);
	zrtt_told_add(&j->said[j->window % ZRTT_JOINT_WINDOWS], &now);
	part->told = now;
	part->window = j->window;
	g->others = all;
	g->others_q8 = all.live ? (u32)div_u64((u64)all.live << ZRTT_PART_FRAC,
					       all.live + now.live) : 0;
	zrtt_joint_hit(j, h, epoch);
	zrtt_joint_penalise(law, j, h, epoch - part->met, epoch);
	h->penalty_q16 = j->penalty_q16;
	j->met = epoch;
	part->met = epoch;
}

/* The queue of @part has no longer anything of its host. */
static inline void zrtt_joint_leave(const struct zrtt_joint *joint, const struct zrtt_part *part)
{
	struct zrtt_joint_host *j = zrtt_joint_known(joint, part);

	if (j)
		zrtt_joint_unsay(j, part);
}

#endif
