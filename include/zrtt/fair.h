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
#include "flow.h"
#include "host.h"
#include "table.h"
#include "law.h"

/* A host below its due share leaves its flows up to 8 times their mean; what is far above is
 * bounded, too, as its rate may be of a moment.
 */
#define ZRTT_FAIR_BELOW_MAX	(3 << ZRTT_Q16)
#define ZRTT_FAIR_ABOVE_MAX	(4 << ZRTT_Q16)

#define ZRTT_FAIR_LOG_LEAST	(1 << ZRTT_Q16)	/* a due share of 2 bytes per epoch */

/**
 * struct zrtt_hosts - hosts, and what they have in common
 * @table: a slot per host, as per flow
 * @groups: beside these
 * @law: their due share; nothing else of it is used
 */
struct zrtt_hosts {
	struct zrtt_table table;
	struct zrtt_group *groups;
	struct zrtt_law law;
};

/* Forget all but who the hosts are. */
static inline void zrtt_hosts_reset(struct zrtt_hosts *hosts)
{
	hosts->law = (struct zrtt_law) {};
}

static inline void zrtt_hosts_tick(struct zrtt_hosts *hosts, u32 p_q30)
{
	struct zrtt_sums sums = zrtt_table_sums(&hosts->table);

	zrtt_law_due(&hosts->law, &sums, p_q30);
}

/* The slot of the host @tag, new or not; @slot is where it was. */
static inline u32 zrtt_host_get(struct zrtt_hosts *hosts, u32 tag, u32 slot, u32 epoch,
				u32 rnd)
{
	struct zrtt_group *g;

	if (likely(hosts->table.slots[slot].tag == tag))
		return slot;
	slot = (u32)(zrtt_flow_get(&hosts->table, tag, epoch, rnd) - hosts->table.slots);
	g = &hosts->groups[slot];
	if (g->tag != tag)
		*g = (struct zrtt_group) { .tag = tag, .generation = g->generation + 1 };
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

/* zrtt_hosts_meet() of a flow that is not @known, or one whose host has lost its slot. */
static noinline __maybe_unused void
zrtt_hosts_find(struct zrtt_hosts *hosts, struct zrtt_member *m, u32 tag, const u32 *tags,
		bool known, u32 epoch, u32 rnd)
{
	u32 end, slot, i;

	if (!known) {
		zrtt_member_leave(hosts->groups, m);
		*m = (struct zrtt_member) { .tag = tag, .weight_q8 = m->weight_q8,
					     .host_weight = m->host_weight };
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
	bool known = m->tag == tag && (!tags[0] || tags[0] == m->hosts[0]);

	if (likely(known && zrtt_host_stands(hosts, m, 0) && zrtt_host_stands(hosts, m, 1)))
		return false;
	zrtt_hosts_find(hosts, m, tag, tags, known, epoch, rnd);
	return !known;
}

/* log2 of r_h / due_h, Q16, 0 = not known */
static inline s32 zrtt_host_over(const struct zrtt_hosts *hosts, const struct zrtt_flow *h)
{
	s32 log_over;

	if (!hosts->law.log_due || !h->rate || !zrtt_flow_mature(h))
		return 0;
	log_over = zrtt_log2(h->rate) - hosts->law.log_due;
	if (log_over < -ZRTT_FAIR_BELOW_MAX)
		return -ZRTT_FAIR_BELOW_MAX;
	return log_over < ZRTT_FAIR_ABOVE_MAX ? log_over : ZRTT_FAIR_ABOVE_MAX;
}

/* log2 of the mean rate of the flows of a host, Q16: of its due share if none counts. */
static inline s32 zrtt_host_log_mean(const struct zrtt_hosts *hosts,
				     const struct zrtt_group *g)
{
	return g->counted ? (s32)div_s64(g->sum_log_rate, g->counted) : hosts->law.log_due;
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
	s32 log_mean = zrtt_host_log_mean(hosts, g);
	s32 log_flows = g->counted > 1 ? zrtt_log2(g->counted) : 0;

	law->log_due = log_mean ? log_mean - zrtt_host_over(hosts, h) : 0;
	if (log_mean && law->log_due < ZRTT_FAIR_LOG_LEAST)
		law->log_due = ZRTT_FAIR_LOG_LEAST;
	law->due = law->log_due ? zrtt_exp2(law->log_due - (ZRTT_Q16 << ZRTT_Q16)) : 0;
	law->log_norm += h->penalty_q16 + log_flows + log_flows / 2;
	m->log_due = law->log_due;
	m->due = law->due;
	return log_mean;
}

/* Bring a host's rate and penalty up to date, @f being one of its flows. */
static inline void zrtt_host_refresh(struct zrtt_hosts *hosts, const struct zrtt_member *m,
				     const struct zrtt_flow *f, u32 epoch)
{
	struct zrtt_flow *h = zrtt_member_host(hosts, m);
	u32 epochs = epoch - h->epoch;

	h->hit |= f->hit;
	if (!zrtt_flow_update_due(&hosts->table, h, epoch))
		return;
	zrtt_table_expire(&hosts->table, epoch, ZRTT_EXPIRE_UPDATE);
	zrtt_flow_update(&hosts->table, h, epoch);
	zrtt_penalise(&hosts->law, h, epochs);
	hosts->groups[m->slots[m->end]].ahead = 0;
}

/* P_i dropped a packet that counted as @bytes. */
static noinline __maybe_unused void
zrtt_host_dropped(const struct zrtt_hosts *hosts, const struct zrtt_member *m, u32 bytes)
{
	struct zrtt_flow *h = zrtt_member_host(hosts, m);

	h->bytes -= bytes < h->bytes ? bytes : h->bytes;
}

/**
 * zrtt_host_exceeds() - did a host send more ahead of bulk than its due share?
 * @hosts: hosts
 * @m: member of the flow whose packet is to go ahead
 * @bytes: of that packet
 *
 * Many flows that send little are many flows: together they may have what their host may.
 */
static inline bool zrtt_host_exceeds(struct zrtt_hosts *hosts, const struct zrtt_member *m,
				     u32 bytes)
{
	struct zrtt_group *g = &hosts->groups[m->slots[m->end]];

	if (hosts->law.due && g->ahead > hosts->law.due + 3 * 1514)
		return true;
	g->ahead += bytes;
	return false;
}

#endif
