/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts: whoever has several flows and is to have one share, be it a source or destination
 * address or a subscriber.
 *
 * A host is to the law what a flow is: it has a rate, a due share and a penalty, and stands in
 * a table of the same kind, of one slot each. Beside its slot is a group: what its flows sum
 * up to. Beside the slot of each flow is a member: which hosts the flow belongs to. Groups
 * follow when a flow is updated, once per epoch or later.
 */
#ifndef _ZRTT_HOST_H
#define _ZRTT_HOST_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"

#define ZRTT_HOST_ENDS		2	/* source and destination */

/**
 * struct zrtt_group - what the flows of the host in the slot of the same number sum up to
 * @sum_log_rate: sum of the log2 of the rates of those that count, Q16
 * @tag: of the host; a slot changes hands
 * @live: its live flows
 * @counted: those that count in its mean, and belong to it rather than to their other end
 * @ahead: bytes of it that joined lanes before bulk since its last update
 * @generation: of the slot, so that who left with the host before is not missed in this one
 */
struct zrtt_group {
	s64 sum_log_rate;
	u32 tag;
	u32 live;
	u32 counted;
	u32 ahead;
	u32 generation;
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
};

/* log2 of the power of its weight that divides P_i, Q16: of weight w is who has w times what
 * others have, and P_i goes with a power of -1.33 (CUBIC) to -2 (Reno) of that.
 */
static inline s32 zrtt_member_log_price(const struct zrtt_member *m)
{
	s32 log_weight = m->weight_q8 ? zrtt_log2(m->weight_q8) - (8 << ZRTT_Q16) : 0;

	return log_weight + log_weight / 2;
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
	return source->tag != m->hosts[0] || dest->live > source->live;
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

#endif
