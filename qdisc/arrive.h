/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What packets take between their headers and their lane, most of them little.
 */
#ifndef _ZRTT_QDISC_ARRIVE_H
#define _ZRTT_QDISC_ARRIVE_H

#include <linux/skbuff.h>

#include "sched.h"
#include "dissect.h"
#include "hosts.h"
#include "line.h"
#include "queue.h"
#include "peers.h"

/* Does each packet take more than its arrival? Few parameters ask for that. */
static bool zrtt_asks_more(const struct zrtt_sched_data *q)
{
	return q->params.line.kind == ZRTT_LINE_AHEAD || q->params.mark_mask || q->params.l4s;
}

/* The lane of a packet of @flow, which has a host or a weight: @m. */
static __always_inline enum zrtt_lane
zrtt_lane_of_member(struct Qdisc *sch, const struct zrtt_flow *flow, const struct zrtt_member *m,
		    u32 bytes)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	return q->vars.table.groups ? zrtt_host_lane(sch, flow, m, bytes) :
	       zrtt_lane_of(&q->vars.lanes, &q->vars.table, flow, bytes, q->clock.ns);
}

/* zrtt_arrive() and the packet's lane, with members or without; @flow: NULL if it is not known. */
static __always_inline struct zrtt_flow *
zrtt_arrive_slow_either(struct Qdisc *sch, struct sk_buff *skb, struct zrtt_flow *flow, u32 segs,
			u32 rnd, bool members)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_table *table = &q->vars.table;
	u32 bytes = qdisc_pkt_len(skb);
	u64 now_ns = q->clock.ns;
	enum zrtt_lane lane;

	if (unlikely(q->params.line.kind == ZRTT_LINE_AHEAD))
		zrtt_count_from_line(q, skb, segs);
	if (unlikely(q->params.mark_mask))
		zrtt_note_mark(q, skb);
	if (members)
		zrtt_dissect_hosts(q, skb, flow);
	flow = zrtt_arrive_any(&q->params, &q->vars, &q->stats, flow, &q->seen.pkt, rnd, now_ns,
			       members);
	if (unlikely(flow->syn))
		zrtt_time_handshake(q, skb, flow);
	if (members && unlikely(q->vars.hosts.news))
		zrtt_share_hosts(q);
	lane = members ? zrtt_lane_of_member(sch, flow, zrtt_own_member(table, flow), bytes) :
	       zrtt_lane_of(&q->vars.lanes, table, flow, bytes, now_ns);
	q->seen.lane = unlikely(flow->l4s) ? zrtt_l4s_lane(sch, flow, bytes, lane) : lane;
	return flow;
}

static noinline struct zrtt_flow *
zrtt_arrive_member_slow(struct Qdisc *sch, struct sk_buff *skb, struct zrtt_flow *flow, u32 segs,
			u32 rnd)
{
	return zrtt_arrive_slow_either(sch, skb, flow, segs, rnd, true);
}

static noinline struct zrtt_flow *
zrtt_arrive_slow(struct Qdisc *sch, struct sk_buff *skb, struct zrtt_flow *flow, u32 segs, u32 rnd)
{
	return zrtt_arrive_slow_either(sch, skb, flow, segs, rnd, false);
}

/**
 * zrtt_arrive_lane() - account a packet, and find its lane
 * @sch: qdisc
 * @skb: the packet, which zrtt_dissect() read
 * @lane: set to the lane
 * @segs: segments it stands for
 * @rnd: random number
 *
 * Return: its flow.
 */
static __always_inline struct zrtt_flow *
zrtt_arrive_lane(struct Qdisc *sch, struct sk_buff *skb, enum zrtt_lane *lane, u32 segs, u32 rnd)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_table *table = &q->vars.table;
	struct zrtt_flow *flow = zrtt_flow_known(table, q->seen.pkt.tag);

	if (likely(zrtt_arrive_quick(&q->params, &q->vars, &q->stats, flow, NULL, &q->seen.pkt,
				     q->clock.ns, false))) {
		*lane = zrtt_lane_of(&q->vars.lanes, table, flow, qdisc_pkt_len(skb), q->clock.ns);
		return flow;
	}
	flow = zrtt_arrive_slow(sch, skb, flow, segs, rnd);
	*lane = q->seen.lane;
	return flow;
}

/* The same where there are members. */
static __always_inline struct zrtt_flow *
zrtt_arrive_member(struct Qdisc *sch, struct sk_buff *skb, enum zrtt_lane *lane, u32 segs, u32 rnd)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_table *table = &q->vars.table;
	struct zrtt_flow *flow = zrtt_flow_known(table, q->seen.pkt.tag);
	struct zrtt_member *m = flow ? zrtt_own_member(table, flow) : NULL;

	zrtt_dissect_member(q, skb);
	if (likely(!q->asks_more && zrtt_arrive_quick(&q->params, &q->vars, &q->stats, flow, m,
						      &q->seen.pkt, q->clock.ns, true))) {
		if (unlikely(q->vars.hosts.news))
			zrtt_share_hosts(q);
		*lane = zrtt_lane_of_member(sch, flow, m, qdisc_pkt_len(skb));
		return flow;
	}
	flow = zrtt_arrive_member_slow(sch, skb, flow, segs, rnd);
	*lane = q->seen.lane;
	return flow;
}

/* The same where packets may take more: there may be members, or parameters that ask for more. */
static __always_inline struct zrtt_flow *
zrtt_arrive_closer(struct Qdisc *sch, struct sk_buff *skb, enum zrtt_lane *lane, u32 segs, u32 rnd)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_flow *flow;

	if (likely(q->vars.table.members))
		return zrtt_arrive_member(sch, skb, lane, segs, rnd);
	if (!q->asks_more)
		return zrtt_arrive_lane(sch, skb, lane, segs, rnd);
	flow = zrtt_flow_known(&q->vars.table, q->seen.pkt.tag);
	flow = zrtt_arrive_slow(sch, skb, flow, segs, rnd);
	*lane = q->seen.lane;
	return flow;
}

/* Judge a packet of @segs that is to join bulk. Return: false if it is to be dropped. */
static noinline bool zrtt_judge_now(struct zrtt_sched_data *q, struct sk_buff *skb,
				    struct zrtt_flow *flow, u32 segs, u32 rnd)
{
	enum zrtt_verdict verdict = zrtt_mark_or_drop(&q->params, &q->vars, flow, &q->seen.pkt,
						      rnd, q->clock.ns);

	zrtt_cb(skb)->flow = 0;
	if (verdict == ZRTT_MARK && zrtt_mark(skb, &q->seen.p))
		q->stats.ecn_mark += segs;
	else if (verdict != ZRTT_PASS) {
		zrtt_count_drop(q, skb, ZRTT_LANE_BULK, segs, &q->stats.drop_mark);
		return false;
	}
	return true;
}

#endif
