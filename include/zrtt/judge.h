/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a packet that arrived: it passes, or is marked or dropped, now or as one of its
 * flow leaves.
 */
#ifndef _ZRTT_JUDGE_H
#define _ZRTT_JUDGE_H

#include <linux/types.h>
#include "flow.h"
#include "host.h"
#include "table.h"
#include "verdict.h"
#include "ceil.h"
#include "fair.h"
#include "police.h"
#include "params.h"
#include "state.h"
#include "arrive.h"

/* P_i / P_b, as zrtt_weight_pack(); of a flow of the low-latency lane, whose weight is the
 * root, too.
 */
static inline u32 zrtt_bulk_weight(const struct zrtt_flow *f)
{
	if (unlikely(f->l4s))
		return zrtt_weight_square(f->weight);
	return f->weight;
}

/* The ceiling of @f's host, NULL = it has none. */
static inline struct zrtt_ceil *zrtt_flow_ceil(const struct zrtt_vars *vars,
					       const struct zrtt_flow *f)
{
	if (likely(!vars->hosts.ceils))
		return NULL;
	return zrtt_host_ceil(&vars->hosts, zrtt_own_member(&vars->table, f));
}

/* P_i of @f in bulk at this moment, Q30, not bounded by 1; @ceil: zrtt_flow_ceil(). */
static inline u64 zrtt_probability_below(const struct zrtt_vars *vars,
					 const struct zrtt_ceil *ceil, const struct zrtt_flow *f)
{
	return zrtt_weight_times(ceil ? ceil->base_q30 : vars->ctl.p_q30, zrtt_bulk_weight(f));
}

/* The same, for callers that have no @ceil. */
static inline u64 zrtt_probability(const struct zrtt_vars *vars,
				   const struct zrtt_flow *f)
{
	return zrtt_probability_below(vars, zrtt_flow_ceil(vars, f), f);
}

/**
 * zrtt_l4s_overloaded() - is a packet that is to join the low-latency lane to be judged as in
 *	bulk?
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 *
 * If it cannot be marked; and where P_i is above mark_max, which by default is where 2 p' is
 * 1, so that marks cannot do more (RFC 9332 sec. 4.2): then it may be dropped.
 */
static inline bool zrtt_l4s_overloaded(const struct zrtt_params *params,
				       const struct zrtt_vars *vars,
				       const struct zrtt_flow *f,
				       const struct zrtt_arrival *pkt)
{
	return !pkt->ecn || !params->ecn || !zrtt_marks(&params->law, zrtt_probability(vars, f));
}

/* The length of a packet, whatever it counts as. */
static inline u32 zrtt_arrival_length(const struct zrtt_vars *vars, const struct zrtt_arrival *pkt)
{
	return vars->table.members && pkt->weight_q8 != ZRTT_WEIGHT_ONE ? pkt->length : pkt->bytes;
}

/* The verdict by P_i; @ceil is zrtt_flow_ceil(). */
static __always_inline enum zrtt_verdict
zrtt_judge(const struct zrtt_params *params, struct zrtt_vars *vars, struct zrtt_flow *f,
	   const struct zrtt_ceil *ceil, const struct zrtt_arrival *pkt, u32 rnd)
{
	u64 p_q30 = zrtt_probability_below(vars, ceil, f);
	bool marks = zrtt_marks(&params->law, p_q30);
	enum zrtt_verdict verdict;

	/* P_c is no part of what is the mean weight by P_b */
	zrtt_count_weight(&vars->law, p_q30, marks && !(ceil && ceil->held));
	verdict = zrtt_verdict(&params->law, f, p_q30, marks, pkt->segs, pkt->ecn, rnd);
	if (unlikely(verdict != ZRTT_PASS))
		zrtt_flow_packet_hit(f, zrtt_arrival_length(vars, pkt));
	return verdict == ZRTT_MARK && !params->ecn ? ZRTT_DROP : verdict;
}

/* Does the token bucket drop a packet, whatever its P_i is? It does not if the packet has a
 * sequence number of TCP, even one that is not the flow's: a flow that begins may send again what
 * is too far back for zrtt_flow_near().
 */
static inline bool zrtt_is_policed(const struct zrtt_params *params, const struct zrtt_vars *vars,
				   const struct zrtt_flow *f, const struct zrtt_arrival *pkt,
				   u64 now_ns)
{
	return unlikely(vars->police.on) && params->law.tuned && !zrtt_flow_is_tcp(f) &&
	       !pkt->seq_high &&
	       zrtt_police_exceeds(&vars->law, &vars->table, f, pkt->bytes, now_ns);
}

/* zrtt_mark_or_drop() where the host has @ceil; of a constant NULL, that costs nothing. */
static __always_inline enum zrtt_verdict
zrtt_mark_or_drop_below(const struct zrtt_params *params, struct zrtt_vars *vars,
			struct zrtt_flow *f, struct zrtt_ceil *ceil,
			const struct zrtt_arrival *pkt, u32 rnd, u64 now_ns)
{
	enum zrtt_verdict verdict = ZRTT_DROP;

	if (zrtt_is_policed(params, vars, f, pkt, now_ns))
		zrtt_flow_was_policed(f);
	else if (ceil && zrtt_ceil_exceeds(&params->ceil, ceil, now_ns))
		zrtt_flow_was_hit(f);
	else
		verdict = zrtt_judge(params, vars, f, ceil, pkt, rnd);
	if (verdict == ZRTT_DROP)
		zrtt_flow_dropped(f, pkt->bytes);
	if (verdict == ZRTT_DROP && unlikely(vars->table.groups))
		zrtt_host_dropped(&vars->hosts, zrtt_flow_member(&vars->table, f),
				  pkt->host_bytes);
	if (verdict == ZRTT_DROP && ceil)
		zrtt_ceil_leave(ceil);
	return verdict;
}

static noinline __maybe_unused enum zrtt_verdict
zrtt_mark_or_drop_capped(const struct zrtt_params *params, struct zrtt_vars *vars,
			 struct zrtt_flow *f, const struct zrtt_arrival *pkt, u32 rnd,
			 u64 now_ns)
{
	return zrtt_mark_or_drop_below(params, vars, f, zrtt_flow_ceil(vars, f), pkt, rnd,
				       now_ns);
}

/**
 * zrtt_mark_or_drop() - what becomes of a packet that zrtt_arrive() accounted
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 * @rnd: random number
 * @now_ns: clock, as zrtt_arrive() had it
 */
static __always_inline enum zrtt_verdict
zrtt_mark_or_drop(const struct zrtt_params *params, struct zrtt_vars *vars,
		  struct zrtt_flow *f, const struct zrtt_arrival *pkt, u32 rnd, u64 now_ns)
{
	if (unlikely(vars->hosts.ceils))
		return zrtt_mark_or_drop_capped(params, vars, f, pkt, rnd, now_ns);
	return zrtt_mark_or_drop_below(params, vars, f, NULL, pkt, rnd, now_ns);
}

/**
 * zrtt_owes_later() - count P_i of a packet that zrtt_arrive() accounted, and that joins bulk
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 * @now_ns: clock, as zrtt_arrive() had it
 *
 * Its sender would see a mark in it a queue later, and the queue is another one then. So not this
 * packet is hit but the next of its flow that leaves, if zrtt_flow_owes(); see zrtt_settle(). But
 * what P_i drops is not to fill the queue, and a ceiling is a matter of what comes: then nothing
 * happens here.
 *
 * Return: false if zrtt_mark_or_drop() is to say what becomes of it.
 */
static __always_inline bool zrtt_owes_later(const struct zrtt_params *params,
					    struct zrtt_vars *vars, struct zrtt_flow *f,
					    const struct zrtt_arrival *pkt, u64 now_ns)
{
	u64 p_q30 = zrtt_probability_below(vars, NULL, f);

	if (unlikely(p_q30 >= params->law.later_q30 || p_q30 * pkt->segs > ZRTT_SPACE_MAX) ||
	    zrtt_is_policed(params, vars, f, pkt, now_ns))
		return false;
	zrtt_count_weight(&vars->law, p_q30, true);
	if (likely(!vars->ctl.falls))
		zrtt_flow_charge(f, (u32)p_q30 * pkt->segs);
	return true;
}

/* A packet of a member's flow is dropped that had @len bytes. Its host may have gone meanwhile, or
 * hosts, weights and slots have changed.
 */
static noinline __maybe_unused void
zrtt_member_dropped(struct zrtt_vars *vars, struct zrtt_flow *f, u32 len)
{
	const struct zrtt_member *m = zrtt_flow_member(&vars->table, f);

	if (!m || !m->weight_q8)
		return;
	zrtt_flow_dropped(f, zrtt_weighed(len, m->weight_q8));
	if (vars->table.groups && m->tag == f->tag && m->hosts[m->end] &&
	    zrtt_host_stands(&vars->hosts, m, m->end))
		zrtt_host_dropped(&vars->hosts, m,
				  zrtt_weighed(len, m->host_weight * ZRTT_WEIGHT_ONE));
}

/**
 * zrtt_settle() - a packet that leaves is hit for those counted by zrtt_owes_later()
 * @f: its flow, for which zrtt_flow_owes()
 * @bytes: its length
 * @rnd: random number
 */
static inline void zrtt_settle(struct zrtt_flow *f, u32 bytes, u32 rnd)
{
	zrtt_flow_hit(f, rnd);
	zrtt_flow_packet_hit(f, bytes);
}

/**
 * zrtt_dropped_leaving() - a packet is dropped as it leaves, for what its flow owed
 * @vars: state
 * @f: its flow
 * @len: its length
 */
static inline void zrtt_dropped_leaving(struct zrtt_vars *vars, struct zrtt_flow *f, u32 len)
{
	if (unlikely(vars->table.members))
		zrtt_member_dropped(vars, f, len);
	else
		zrtt_flow_dropped(f, len);
}

#endif
