/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts: whoever has several flows and is to have one share, be it a source or destination
 * address or a subscriber.
 *
 * A host is to the law what a flow is: it has a rate, a due share and a penalty, and stands in
 * a table of the same kind, of one slot each. Beside its slot is a group: what its flows sum
 * up to. Beside the slot of each flow is a member: which hosts the flow belongs to. Groups
 * follow when a flow is updated, once per epoch or later. Where a device has several queues
 * there is a part, too: what this queue has of the host.
 */
#ifndef _ZRTT_HOST_H
#define _ZRTT_HOST_H

#include <linux/types.h>
#include <linux/math64.h>
#include "fixed.h"
#include "flow.h"

#define ZRTT_HOST_ENDS		2	/* source and destination */
#define ZRTT_WEIGHT_ONE		256	/* Q8 */

#define ZRTT_PART_FRAC		8
#define ZRTT_PART_ALL		(1U << ZRTT_PART_FRAC)

/**
 * struct zrtt_told - what one queue or several have of a host
 * @rate: bytes per epoch
 * @ahead: those that joined lanes before bulk
 * @sum_log_rate: see struct zrtt_group
 * @counted: see there
 * @live: see there
 */
struct zrtt_told {
	u64 rate;
	u64 ahead;
	s64 sum_log_rate;
	u32 counted;
	u32 live;
};

/**
 * struct zrtt_group - what the flows of the host in the slot of the same number sum up to
 * @sum_log_rate: sum of the log2 of the rates of those that count, Q16
 * @tag: of the host; a slot changes hands
 * @live: its live flows
 * @counted: those that count in its mean, and belong to it rather than to their other end
 * @ahead: bytes of it that joined lanes before bulk since its last update
 * @generation: of the slot, so that who left with the host before is not missed in this one
 * @others: the same of its flows that other queues of the device have; joint.h
 * @others_q8: these of all its live flows, Q8
 */
struct zrtt_group {
	s64 sum_log_rate;
	u32 tag;
	u32 live;
	u32 counted;
	u32 ahead;
	u32 generation;
	u32 others_q8;
	struct zrtt_told others;
};

/**
 * struct zrtt_part - what the queue has of the host in the slot of the same number, where
 *	several queues may have flows of it
 * @told: what the queue said of it last
 * @slot: where, in struct zrtt_joint
 * @generation: of that, 0 = nowhere
 * @window: when, in units of ZRTT_JOINT_SHIFT
 * @met: epoch of the last time that it heard of the others
 * @rate: of the host's flows in this queue, bytes per epoch
 * @ahead: bytes of those before bulk, per epoch
 * @share_q8: of the host's flows that count, those in this queue, Q8
 * @weight: of the host: it is due so many shares
 * @held_q8: that as it is in the sums, 0 = it does not count
 * @log_rate: log2 of the host's rate there, Q16
 * @other_rate: rate there, if it does not count
 * @held_weight: @weight there
 */
struct zrtt_part {
	struct zrtt_told told;
	u32 slot;
	u32 generation;
	u32 window;
	u32 met;
	u32 rate;
	u32 ahead;
	u16 share_q8;
	u16 held_q8;
	s32 log_rate;
	u32 other_rate;
	u8 weight;
	u8 held_weight;
};

/**
 * struct zrtt_parts - what parts sum up to, in place of the slots that they stand beside
 * @held_q8: hosts that count, each by the share of its flows that this queue has
 * @dues_q8: the same, each times its weight
 * @sum_log_rate: sum of the log2 of their rates, each by that share, Q24
 * @other_rate: rates of those that do not count, each times its weight
 */
struct zrtt_parts {
	u64 held_q8;
	u64 dues_q8;
	s64 sum_log_rate;
	u64 other_rate;
};

/**
 * struct zrtt_member - the hosts of the flow in the slot of the same number
 * @tag: of the flow; a slot changes hands
 * @hosts: tags of its hosts, 0 = it has none at that end
 * @slots: where these are
 * @generations: of their groups, when the flow joined them
 * @log_rate: log2 of the rate that it is counted with in the group of the end it belongs to,
 *	Q16, 0 = it does not count
 * @log_due: log2 of its due share in bytes per epoch, Q16, 0 = not known
 * @due: the same, bytes per epoch
 * @weight_q8: weight of its last packet, Q8
 * @host_weight: what its host's bytes were divided by
 * @end: the end it belongs to
 * @joined: it is in groups
 * @looked: epoch in which its hosts were last looked up, low bits
 */
struct zrtt_member {
	u32 tag;
	u32 hosts[ZRTT_HOST_ENDS];
	u32 slots[ZRTT_HOST_ENDS];
	u32 generations[ZRTT_HOST_ENDS];
	s32 log_rate;
	s32 log_due;
	u32 due;
	u16 weight_q8;
	u8 host_weight;
	u8 end;
	bool joined;
	u16 looked;
};

/* A packet of weight w counts as 1 / w of its bytes, and as one at least. */
static inline u32 zrtt_weighed(u32 bytes, u32 weight_q8)
{
	u32 weighed = (u32)div_u64((u64)bytes * ZRTT_WEIGHT_ONE, weight_q8);

	return weighed ? weighed : 1;
}

/* log2 of the power of a weight that divides P_i, Q16: of weight w is who has w times what
 * others have, and P_i goes with a power of -1.33 (CUBIC) to -2 (Reno) of that.
 */
static inline s32 zrtt_log_price(u32 weight_q8)
{
	s32 log_weight;

	/* most weigh 1 */
	if (likely(weight_q8 == ZRTT_WEIGHT_ONE) || !weight_q8)
		return 0;
	log_weight = zrtt_log2(weight_q8) - (8 << ZRTT_Q16);
	return log_weight + log_weight / 2;
}

/* log2 of the mean rate of the flows of a host that count, Q16, 0 = none does */
static inline s32 zrtt_group_log_mean(const struct zrtt_group *g)
{
	u32 counted = g->counted + g->others.counted;

	return counted ? (s32)div_s64(g->sum_log_rate + g->others.sum_log_rate, counted) : 0;
}

/* The group that @m joined at @end, or NULL if that is gone. */
static inline struct zrtt_group *zrtt_member_group(struct zrtt_group *groups,
						   const struct zrtt_member *m, u32 end)
{
	struct zrtt_group *g = &groups[m->slots[end]];

	return m->hosts[end] && g->tag == m->hosts[end] &&
	       g->generation == m->generations[end] ? g : NULL;
}

/* A flow is no longer live, or is about to be updated: it leaves its groups. */
static inline void zrtt_member_leave(struct zrtt_group *groups, struct zrtt_member *m)
{
	struct zrtt_group *g;
	u32 end;

	for (end = 0; m->joined && end < ZRTT_HOST_ENDS; end++) {
		g = zrtt_member_group(groups, m, end);
		if (!g)
			continue;
		g->live--;
		if (end == m->end && m->log_rate) {
			g->counted--;
			g->sum_log_rate -= m->log_rate;
		}
	}
	m->joined = false;
	m->log_rate = 0;
}

/* The end that a flow belongs to: the host that has more flows. */
static inline u32 zrtt_member_end(const struct zrtt_group *groups, const struct zrtt_member *m)
{
	const struct zrtt_group *source = &groups[m->slots[0]], *dest = &groups[m->slots[1]];

	if (!m->hosts[1] || dest->tag != m->hosts[1])
		return 0;
	return source->tag != m->hosts[0] ||
	       dest->live + dest->others.live > source->live + source->others.live;
}

/**
 * zrtt_member_join() - a flow was updated
 * @groups: of the hosts
 * @m: member of the flow, whose slots are those of its hosts
 * @log_rate: log2 of its rate, Q16, 0 = it does not count
 */
static inline void zrtt_member_join(struct zrtt_group *groups, struct zrtt_member *m,
				    s32 log_rate)
{
	struct zrtt_group *g;
	u32 end;

	if (!m->hosts[0])
		return;
	m->end = zrtt_member_end(groups, m);
	for (end = 0; end < ZRTT_HOST_ENDS; end++) {
		g = &groups[m->slots[end]];
		if (!m->hosts[end] || g->tag != m->hosts[end])
			continue;
		m->generations[end] = g->generation;
		g->live++;
		if (end == m->end && log_rate) {
			g->counted++;
			g->sum_log_rate += log_rate;
		}
	}
	m->joined = true;
	m->log_rate = log_rate;
}

/* Take a host out of the sums (@sign -1), or put it in (1). @log_rate is log2 of its rate if it
 * counts.
 */
static inline void zrtt_part_count(struct zrtt_parts *sums, struct zrtt_part *part,
				   const struct zrtt_flow *h, s32 log_rate, s32 sign)
{
	if (sign > 0) {
		part->held_q8 = h->counts ? part->share_q8 : 0;
		part->log_rate = log_rate;
		part->other_rate = part->held_q8 ? 0 : part->rate;
		part->held_weight = part->weight;
	}
	sums->held_q8 += (s64)sign * part->held_q8;
	sums->dues_q8 += (s64)sign * part->held_q8 * part->held_weight;
	sums->sum_log_rate += (s64)sign * part->held_q8 * part->log_rate;
	sums->other_rate += (s64)sign * part->other_rate * part->held_weight;
}

#endif
