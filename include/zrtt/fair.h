/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The law at two levels: hosts have a due share, and within a host its flows have one.
 *
 *   P_i = P_b norm (RTT_avg / RTT_i)^alpha (n_h / w_i)^1.5 (r_i / due_i)^feedback
 *         penalty_i penalty_h
 *
 * penalty_h is the integral of log r_h / due_h, where due_h is the mean of hosts that are held
 * back; penalty_i is that of log r_i against the mean of the flows of its own host; and
 * due_i, that mean times due_h / r_h, has both errors. n_h^1.5, of n_h flows that count, is
 * feed-forward: where n flows share what one has, each has 1 / n, and P_i goes with a power
 * of 1.33 (CUBIC) to 2 (Reno) of that.
 *
 * A packet of weight w counts as 1 / w of its bytes; w^-1.5 is feed-forward, as n_h^1.5 is.
 */
#ifndef _ZRTT_FAIR_H
#define _ZRTT_FAIR_H

#include <linux/types.h>
#include "fixed.h"
#include "hash.h"
#include "flow.h"
#include "host.h"
#include "table.h"
#include "update.h"
#include "law.h"
#include "ceil.h"
#include "joint.h"

/* A host below its due share leaves its flows up to 8 times their mean; what is far above is
 * bounded, too, as its rate may be of a moment.
 */
#define ZRTT_FAIR_BELOW_MAX	(3 << ZRTT_Q16)
#define ZRTT_FAIR_ABOVE_MAX	(4 << ZRTT_Q16)

#define ZRTT_FAIR_LOG_LEAST	(1 << ZRTT_Q16)	/* a due share of 2 bytes per epoch */

/* What a host may have sent, log2 of bytes, until it is updated in the next epoch: they have 32 bits. */
#define ZRTT_FAIR_BYTES_SHIFT	31

#define ZRTT_FAIR_FLOW_SHIFT	6	/* 64 updates of hosts have the mean of what a flow has */

/**
 * struct zrtt_hosts - hosts, and what they have in common
 * @table: a slot per host, as per flow
 * @groups: beside these
 * @ceils: beside these, NULL = hosts have no ceiling
 * @log_ceil: log2 of that, bytes per epoch, Q16, 0 = there is none
 * @law: their due share; nothing else of it is used
 * @log_flow: log2 of the rate of a host's flows, Q16, the mean over hosts that count; 0 = not known
 * @ahead_most: what a host may send ahead of bulk, bytes per epoch, and three packets more
 * @salt: what the queue means by a host: other queues may mean others
 * @news: there is something to be said to these, see zrtt_hosts_share()
 * @told: slots of the hosts to speak of, + 1; 0 = none
 * @gone: parts of hosts that lost their slots; generation 0 = none
 */
struct zrtt_hosts {
	struct zrtt_table table;
	struct zrtt_group *groups;
	struct zrtt_ceil *ceils;
	s32 log_ceil;
	struct zrtt_law law;
	s32 log_flow;
	u32 ahead_most;
	u32 salt;
	bool news;
	u32 told[ZRTT_HOST_ENDS];
	struct zrtt_part gone[ZRTT_HOST_ENDS];
};

/* Forget all but who the hosts are. */
static inline void zrtt_hosts_reset(struct zrtt_hosts *hosts)
{
	hosts->log_ceil = 0;
	hosts->law = (struct zrtt_law) {};
	hosts->log_flow = 0;
	hosts->ahead_most = 0;
}

/* Other hosts are to be spoken of. */
static inline void zrtt_hosts_begin(struct zrtt_hosts *hosts)
{
	zrtt_hosts_reset(hosts);
	hosts->news = false;
	__builtin_memset(hosts->told, 0, sizeof(hosts->told));
	__builtin_memset(hosts->gone, 0, sizeof(hosts->gone));
}

/* The part of the host in @slot, or NULL where no other queue has hosts. */
static inline struct zrtt_part *zrtt_host_part(const struct zrtt_hosts *hosts, u32 slot)
{
	return hosts->table.has_parts ? &hosts->table.parts[slot] : NULL;
}

/* What hosts sum up to; @counted and @sum_log_rate are in shares of them, ZRTT_PART_FRAC
 * fraction bits.
 */
static inline struct zrtt_sums zrtt_hosts_sums(const struct zrtt_hosts *hosts)
{
	struct zrtt_sums sums = zrtt_table_sums(&hosts->table);

	if (hosts->table.has_parts) {
		sums.counted = (u32)hosts->table.parts_sums.held_q8;
		sums.sum_log_rate = hosts->table.parts_sums.sum_log_rate;
		sums.other_rate = hosts->table.parts_sums.other_rate;
	} else {
		sums.counted <<= ZRTT_PART_FRAC;
		sums.sum_log_rate *= ZRTT_PART_ALL;
	}
	sums.sum_log_flow = (s64)hosts->log_flow * sums.counted;
	return sums;
}

/* How many due shares those that count are to have in this queue, ZRTT_PART_FRAC fraction bits. */
static inline u64 zrtt_hosts_dues(const struct zrtt_hosts *hosts)
{
	return hosts->table.has_parts ? hosts->table.parts_sums.dues_q8 :
				       (u64)hosts->table.counted << ZRTT_PART_FRAC;
}

/* zrtt_table_tick() of hosts, which are updated no sooner than their flows, each @update_epochs. */
static inline void zrtt_hosts_expire(struct zrtt_hosts *hosts, u32 update_epochs, u32 epoch)
{
	zrtt_table_tick(&hosts->table, epoch);
	if (hosts->table.update_epochs < update_epochs)
		hosts->table.update_epochs = update_epochs;
}

/* What a host may send ahead of bulk: its due share, or @least if that is more, bytes per epoch;
 * and three quarters of what it may send at all, @ceil, as nothing is marked there.
 */
static inline void zrtt_hosts_bound(struct zrtt_hosts *hosts, u32 least,
				    const struct zrtt_ceil_params *ceil)
{
	u32 due = hosts->law.due ? hosts->law.due : ~0U;
	u32 most = ceil->epoch_bytes - ceil->epoch_bytes / 4;

	hosts->ahead_most = due > least ? due : least;
	hosts->log_ceil = ceil->log_rate;
	if (ceil->rate && hosts->ahead_most > most)
		hosts->ahead_most = most;
}

/* Another host has got the slot of @part: what was said of the one before is to be taken back. */
static inline void zrtt_part_begin(struct zrtt_hosts *hosts, struct zrtt_part *part)
{
	if (part->generation) {
		hosts->gone[hosts->gone[0].generation ? 1 : 0] = *part;
		hosts->news = true;
	}
	*part = (struct zrtt_part) {};
}

/* The slot for a host that has none: a spare one, of these the one seen longest ago, else that of
 * a live host. Hosts that take a slot from each other with every packet never become live: those
 * that had a packet in the last 2 s count as evicted, too.
 */
static inline struct zrtt_flow *zrtt_host_evict(struct zrtt_table *t, u32 tag, u32 epoch)
{
	struct zrtt_flow *bucket = zrtt_flow_bucket(t, tag);
	struct zrtt_flow *f, *first = NULL;
	u32 i;

	for (i = 0; i < ZRTT_WAYS; i++) {
		f = &bucket[(tag + i) % ZRTT_WAYS];
		if (!f->tag) {
			t->unused--;
			return f;
		}
		if (!f->live && (!first || epoch - f->epoch > epoch - first->epoch))
			first = f;
	}
	if (!first)
		return zrtt_flow_evict(t, tag, epoch);
	if (epoch - first->epoch <= ZRTT_LIVE_EPOCHS)
		t->evicted++;
	return first;
}

/* The slot of the host @tag, new or not; @slot is where it was. */
static inline u32 zrtt_host_get(struct zrtt_hosts *hosts, u32 tag, u32 slot, u32 epoch,
				u32 rnd)
{
	struct zrtt_table *t = &hosts->table;
	struct zrtt_group *g;
	struct zrtt_flow *h;

	if (likely(t->slots[slot].tag == tag))
		return slot;
	h = zrtt_flow_find(t, tag);
	if (!h) {
		h = zrtt_host_evict(t, tag, epoch);
		zrtt_flow_replace(t, h, tag, epoch, rnd);
	}
	slot = (u32)(h - t->slots);
	g = &hosts->groups[slot];
	if (g->tag == tag)
		return slot;
	*g = (struct zrtt_group) { .tag = tag, .generation = g->generation + 1 };
	if (t->has_parts)
		zrtt_part_begin(hosts, &t->parts[slot]);
	return slot;
}

/* The host that @m belongs to. */
static inline struct zrtt_flow *zrtt_member_host(const struct zrtt_hosts *hosts,
						 const struct zrtt_member *m)
{
	return &hosts->table.slots[m->slots[m->end]];
}

/* Is the host of @m at @end, if it has one there, where it was? */
static inline bool zrtt_host_stands(const struct zrtt_hosts *hosts, const struct zrtt_member *m,
				    u32 end)
{
	return !m->hosts[end] || hosts->table.slots[m->slots[end]].tag == m->hosts[end];
}

/* Is @m that of the flow @tag, whose hosts are @tags, 0 = none or the same as before? */
static inline bool zrtt_member_is(const struct zrtt_member *m, u32 tag, const u32 *tags)
{
	return m->tag == tag && (!tags[0] || (tags[0] == m->hosts[0] && tags[1] == m->hosts[1]));
}

/* The same, and are the hosts where they were? */
static inline bool zrtt_hosts_met(const struct zrtt_hosts *hosts, const struct zrtt_member *m,
				  u32 tag, const u32 *tags)
{
	return zrtt_member_is(m, tag, tags) && zrtt_host_stands(hosts, m, 0) &&
	       zrtt_host_stands(hosts, m, 1);
}

/* zrtt_hosts_meet() of a flow that is not @known, or one whose host has lost its slot. */
static noinline __maybe_unused void
zrtt_hosts_find(struct zrtt_hosts *hosts, struct zrtt_member *m, u32 tag, const u32 *tags,
		bool known, u32 epoch, u32 rnd)
{
	u32 end, slot, i;

	if (!known) {
		zrtt_member_leave(hosts->groups, m);
		*m = (struct zrtt_member) { .tag = tag, .weight_q8 = m->weight_q8,
					     .host_weight = m->host_weight,
					     .looked = (u16)epoch };
		for (end = 0; end < ZRTT_HOST_ENDS; end++)
			m->hosts[end] = tags[end];
	}
	/* the end that it belongs to comes last: the other may take its slot */
	for (i = 1; i <= ZRTT_HOST_ENDS; i++) {
		end = (m->end + i) % ZRTT_HOST_ENDS;
		if (!m->hosts[end])
			continue;
		slot = zrtt_host_get(hosts, m->hosts[end], m->slots[end], epoch, rnd);
		/* it has not joined the group there, whose generation may be the same */
		if (slot != m->slots[end])
			m->generations[end] = hosts->groups[slot].generation - 1;
		m->slots[end] = slot;
	}
}

/**
 * zrtt_hosts_meet() - a packet of a flow arrived
 * @hosts: hosts
 * @m: member of the flow
 * @tag: of the flow
 * @tags: of its hosts, 0 = none or the same as before
 * @epoch: now
 * @rnd: random number
 *
 * Return: whether the flow is new to its hosts.
 */
static inline bool zrtt_hosts_meet(struct zrtt_hosts *hosts, struct zrtt_member *m, u32 tag,
				   const u32 *tags, u32 epoch, u32 rnd)
{
	bool known = zrtt_member_is(m, tag, tags);

	if (likely(zrtt_hosts_met(hosts, m, tag, tags)))
		return false;
	zrtt_hosts_find(hosts, m, tag, tags, known, epoch, rnd);
	return !known;
}

/* The ceiling of the host of @m, or NULL. */
static inline struct zrtt_ceil *zrtt_host_ceil(const struct zrtt_hosts *hosts,
					       const struct zrtt_member *m)
{
	return unlikely(hosts->ceils) ? &hosts->ceils[m->slots[m->end]] : NULL;
}

/* log2 of what a host is to have, bytes per epoch, Q16, 0 = not known: its due share or ceiling */
static inline s32 zrtt_hosts_log_due(const struct zrtt_hosts *hosts)
{
	s32 log_due = hosts->law.log_due;

	return hosts->log_ceil && (!log_due || log_due > hosts->log_ceil) ? hosts->log_ceil : log_due;
}

/* log2 of r_h / due_h, Q16, 0 = not known */
static inline s32 zrtt_host_over(const struct zrtt_hosts *hosts, const struct zrtt_flow *h)
{
	s32 log_due = zrtt_hosts_log_due(hosts), log_over;

	if (!log_due || !h->rate || !zrtt_flow_mature(h))
		return 0;
	log_over = zrtt_log2(h->rate) - log_due;
	if (log_over < -ZRTT_FAIR_BELOW_MAX)
		return -ZRTT_FAIR_BELOW_MAX;
	return log_over < ZRTT_FAIR_ABOVE_MAX ? log_over : ZRTT_FAIR_ABOVE_MAX;
}

/* log2 of the mean rate of the flows of a host, Q16: of its due share if none counts. */
static inline s32 zrtt_host_log_mean(const struct zrtt_hosts *hosts,
				     const struct zrtt_group *g)
{
	s32 log_mean = zrtt_group_log_mean(g);

	return log_mean ? log_mean : zrtt_hosts_log_due(hosts);
}

/* log2 of the factors of P_i that all flows of a host have, Q16 */
static inline s32 zrtt_host_log_part(const struct zrtt_group *g, const struct zrtt_flow *h)
{
	s32 log_flows = zrtt_log2(g->counted + g->others.counted);

	return h->penalty_q16 + log_flows + log_flows / 2;
}

/**
 * zrtt_host_law() - the law as it is for a flow of a host
 * @hosts: hosts
 * @m: member of the flow
 * @law: that of all flows; set to that of this one
 *
 * Return: log2 of the mean rate of the host's flows, Q16, which the penalty is against.
 */
static inline s32 zrtt_host_law(const struct zrtt_hosts *hosts, struct zrtt_member *m,
				struct zrtt_law *law)
{
	const struct zrtt_group *g = &hosts->groups[m->slots[m->end]];
	const struct zrtt_flow *h = zrtt_member_host(hosts, m);
	const struct zrtt_ceil *ceil = zrtt_host_ceil(hosts, m);
	s32 log_mean = zrtt_host_log_mean(hosts, g);
	s32 log_over = zrtt_host_over(hosts, h);

	law->log_due = log_mean - log_over;
	if (log_mean && law->log_due < ZRTT_FAIR_LOG_LEAST)
		law->log_due = ZRTT_FAIR_LOG_LEAST;
	law->due = law->log_due ? zrtt_exp2(law->log_due - (ZRTT_Q16 << ZRTT_Q16)) : 0;
	/* new flows answer no mark: if they followed P_b itself, the controller would swing */
	law->log_first = law->log_steady + law->log_norm + h->penalty_q16 + 2 * log_over;
	if (law->log_first < 0)
		law->log_first = 0;
	law->log_norm += zrtt_host_log_part(g, h);
	if (ceil)
		zrtt_ceil_law(ceil, law);
	m->log_due = law->log_due;
	m->due = law->due;
	return log_mean;
}

/* Of the flows of a host that count, or if none does, of all, those in this queue, Q8 */
static inline u32 zrtt_group_share(const struct zrtt_group *g)
{
	u32 counted = g->counted + g->others.counted;

	return counted ? (u32)div_u64((u64)g->counted << ZRTT_PART_FRAC, counted) :
			 ZRTT_PART_ALL - g->others_q8;
}

/* zrtt_flow_update() of a host that may have flows in other queues: its rate is that of all. */
static inline s32 zrtt_host_update(struct zrtt_hosts *hosts, struct zrtt_flow *h,
				   struct zrtt_part *part, struct zrtt_group *g, u32 epoch)
{
	u32 epochs = epoch - h->epoch;
	u64 rate;

	if (h->live)
		zrtt_flow_retire(&hosts->table, h);
	if (epoch - part->met > ZRTT_LIVE_EPOCHS)
		zrtt_group_alone(g);
	h->rate = part->rate;
	zrtt_flow_fold(&hosts->table, h, epoch);
	rate = h->rate + g->others.rate;
	part->rate = h->rate;
	part->ahead = g->ahead / epochs;
	part->share_q8 = zrtt_group_share(g);
	h->rate = rate < ~0U ? (u32)rate : ~0U;
	return zrtt_flow_settle(&hosts->table, h, epochs, epoch);
}

/* The host of @m at @end is to be spoken of, if it was not in this epoch. */
static inline void zrtt_host_note(struct zrtt_hosts *hosts, const struct zrtt_member *m, u32 end,
				  u32 epoch)
{
	struct zrtt_part *part = zrtt_host_part(hosts, m->slots[end]);

	if (!part || !m->hosts[end] || part->met == epoch ||
	    hosts->groups[m->slots[end]].tag != m->hosts[end])
		return;
	hosts->told[end] = m->slots[end] + 1;
	hosts->news = true;
}

/**
 * zrtt_hosts_share() - say what is news, and hear what the others have
 * @hosts: hosts of this queue
 * @joint: those of the device, or NULL if this queue is alone for now
 * @epoch: now
 */
static inline void zrtt_hosts_share(struct zrtt_hosts *hosts, struct zrtt_joint *joint, u32 epoch)
{
	struct zrtt_part *part;
	struct zrtt_group *g;
	u32 end, slot;

	for (end = 0; end < ZRTT_HOST_ENDS; end++) {
		if (joint)
			zrtt_joint_leave(joint, &hosts->gone[end]);
		hosts->gone[end].generation = 0;
		if (!hosts->told[end])
			continue;
		slot = hosts->told[end] - 1;
		hosts->told[end] = 0;
		g = &hosts->groups[slot];
		part = zrtt_host_part(hosts, slot);
		if (joint) {
			zrtt_joint_meet(joint, &hosts->law, part, g, &hosts->table.slots[slot],
					(g->tag ^ hosts->salt) | ZRTT_TAG, epoch);
		} else {
			zrtt_group_alone(g);
			part->generation = 0;
		}
	}
	hosts->news = false;
}

/* A host that counts was updated, @epochs after the update before: its flows are part of the mean. */
static inline void zrtt_hosts_note_flow(struct zrtt_hosts *hosts, const struct zrtt_group *g,
					u32 epochs)
{
	s32 log_mean = zrtt_host_log_mean(hosts, g);

	if (!hosts->log_flow)
		hosts->log_flow = log_mean;
	hosts->log_flow += (log_mean - hosts->log_flow) * (s32)zrtt_live_epochs(epochs) >>
			   ZRTT_FAIR_FLOW_SHIFT;
}

/* Does its ceiling hold the host of @m, rather than the link? */
static inline bool zrtt_host_held(const struct zrtt_hosts *hosts, const struct zrtt_member *m)
{
	const struct zrtt_ceil *ceil = zrtt_host_ceil(hosts, m);

	return ceil && ceil->held;
}

/* Of @most, what a host that others have flows of, too, may have in this queue: what it does not
 * have in other queues, @others, and no less than by the share of its flows that this one has.
 */
static inline u32 zrtt_host_room(const struct zrtt_group *g, u32 most, u64 others)
{
	u32 least = (u32)((u64)most * (ZRTT_PART_ALL - g->others_q8) >> ZRTT_PART_FRAC);
	u64 left = most > others ? most - others : 0;

	return left > least ? (u32)left : least;
}

#define ZRTT_HOST_BURST		(3 * ZRTT_FULL_PACKET)	/* beside its due share */
#define ZRTT_HOST_SMALL_SHIFT	2	/* of the share of an epoch, for small packets in advance */

/* What the host of @g may send ahead of bulk in this queue, bytes per epoch. */
static inline u32 zrtt_host_ahead_most(const struct zrtt_hosts *hosts, const struct zrtt_group *g)
{
	return likely(!g->others_q8) ? hosts->ahead_most :
	       zrtt_host_room(g, hosts->ahead_most, g->others.ahead);
}

/* What its small packets had in advance in the last @epochs is of what it may send next. */
static inline void zrtt_host_ahead_next(const struct zrtt_hosts *hosts, struct zrtt_group *g,
					u32 epochs)
{
	u32 room = zrtt_host_ahead_most(hosts, g), lent = room >> ZRTT_HOST_SMALL_SHIFT;
	u64 most = (u64)room * epochs + ZRTT_HOST_BURST;

	if (likely(g->ahead <= most))
		g->ahead = 0;
	else
		g->ahead = g->ahead - most < lent ? (u32)(g->ahead - most) : lent;
}

/* zrtt_host_refresh() of a host that is to be updated. */
static noinline __maybe_unused void
zrtt_host_refresh_now(struct zrtt_hosts *hosts, const struct zrtt_member *m, u32 epoch)
{
	struct zrtt_group *g = &hosts->groups[m->slots[m->end]];
	struct zrtt_part *part = zrtt_host_part(hosts, m->slots[m->end]);
	struct zrtt_flow *h = zrtt_member_host(hosts, m);
	u32 epochs = epoch - h->epoch;
	s32 log_rate;

	zrtt_table_expire(&hosts->table, epoch, ZRTT_EXPIRE_UPDATE);
	if (part) {
		part->weight = m->host_weight;
		log_rate = zrtt_host_update(hosts, h, part, g, epoch);
	} else {
		log_rate = zrtt_flow_update(&hosts->table, h, epoch);
	}
	if (h->counts)
		zrtt_hosts_note_flow(hosts, g, epochs);
	if (!part || !part->generation)
		zrtt_penalise_at(&hosts->law, h, log_rate, hosts->law.log_due, epochs);
	zrtt_host_ahead_next(hosts, g, epochs);
	h->lane = ZRTT_LANE_SPARSE;
	zrtt_host_note(hosts, m, m->end, epoch);
}

/* Bring a host's rate and penalty up to date, @f being one of its flows. */
static __always_inline void
zrtt_host_refresh(struct zrtt_hosts *hosts, const struct zrtt_member *m,
		  const struct zrtt_flow *f, u32 epoch)
{
	struct zrtt_flow *h = zrtt_member_host(hosts, m);

	/* who is held by his ceiling is not held by others */
	if (!zrtt_host_held(hosts, m)) {
		if (zrtt_flow_held(f))
			zrtt_flow_was_hit(h);
		/* a host has the lane of its flow that goes last, by which it counts */
		if (f->lane == ZRTT_LANE_BULK)
			h->lane = ZRTT_LANE_BULK;
	}
	zrtt_host_note(hosts, m, !m->end, epoch);
	if (zrtt_flow_update_due(&hosts->table, h, epoch) ||
	    (epoch != h->epoch && h->bytes >> ZRTT_FAIR_BYTES_SHIFT))
		zrtt_host_refresh_now(hosts, m, epoch);
}

/* P_i dropped a packet that counted as @bytes. */
static noinline __maybe_unused void
zrtt_host_dropped(const struct zrtt_hosts *hosts, const struct zrtt_member *m, u32 bytes)
{
	zrtt_flow_dropped(zrtt_member_host(hosts, m), bytes);
}

/* Of its ceiling, what a host has in other queues, Q8, below 1 */
static inline u32 zrtt_host_ceil_others(const struct zrtt_ceil_params *params,
					const struct zrtt_group *g)
{
	u32 room, share_q8;

	if (likely(!g->others_q8))
		return 0;
	room = zrtt_host_room(g, params->epoch_bytes, g->others.rate);
	share_q8 = (u32)div_u64((u64)room << ZRTT_CEIL_FRAC, params->epoch_bytes);
	return ZRTT_CEIL_ALL - (share_q8 ? share_q8 : 1);
}

/**
 * zrtt_host_ceil_arrive() - a packet of a host with a ceiling arrived
 * @params: the ceiling
 * @hosts: hosts
 * @m: member of its flow, which has met its host
 * @law: of all flows
 * @bytes: what it counts for its host
 * @now_ns: clock
 */
static noinline __maybe_unused void
zrtt_host_ceil_arrive(const struct zrtt_ceil_params *params, const struct zrtt_hosts *hosts,
		      const struct zrtt_member *m, const struct zrtt_law *law, u32 bytes,
		      u64 now_ns)
{
	const struct zrtt_group *g = &hosts->groups[m->slots[m->end]];
	const struct zrtt_flow *h = zrtt_member_host(hosts, m);
	struct zrtt_ceil *ceil = zrtt_host_ceil(hosts, m);

	zrtt_ceil_join(params, ceil, h->tag, bytes, now_ns);
	if (zrtt_ceil_tick_due(ceil, now_ns))
		zrtt_ceil_tick(params, ceil, law->p_q30,
			       law->log_norm + zrtt_host_log_part(g, h) -
			       zrtt_log_price(m->host_weight * ZRTT_WEIGHT_ONE),
			       zrtt_host_ceil_others(params, g), now_ns);
	else if (ceil->p_q30 != law->p_q30)
		zrtt_ceil_follow(ceil, law->p_q30);
}

/**
 * zrtt_host_exceeds() - did a host send more ahead of bulk than its due share?
 * @hosts: hosts
 * @m: member of the flow whose packet is to go ahead
 * @bytes: of that packet
 * @small: it is a small one
 * @epoch: now
 *
 * Many flows that send little are many flows: together they may have what their host may, in this
 * epoch and in those since its last update, which new flows put off. Small packets have a part of
 * the next in advance: a call is not to wait in bulk while the host's transfers begin.
 */
static inline bool zrtt_host_exceeds(struct zrtt_hosts *hosts, const struct zrtt_member *m,
				     u32 bytes, bool small, u32 epoch)
{
	struct zrtt_group *g = &hosts->groups[m->slots[m->end]];
	u32 room = zrtt_host_ahead_most(hosts, g);
	u32 epochs = epoch - zrtt_member_host(hosts, m)->epoch;
	u64 most;

	if (epochs > hosts->table.update_epochs)
		epochs = hosts->table.update_epochs;
	most = (u64)room * (1 + epochs) + ZRTT_HOST_BURST;
	if (small)
		most += room >> ZRTT_HOST_SMALL_SHIFT;
	if (g->ahead > most)
		return true;
	g->ahead += bytes;
	return false;
}

#endif
