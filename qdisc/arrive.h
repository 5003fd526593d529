/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What few packets take between their headers and their lane.
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

/* The lane of a packet of @flow, which has a host or a weight. */
static __always_inline enum zrtt_lane
zrtt_lane_of_member(struct Qdisc *sch, const struct zrtt_flow *flow, u32 bytes)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	return q->vars.table.groups ? zrtt_host_lane(sch, flow, bytes) :
	       zrtt_lane_of(&q->vars.lanes, &q->vars.table, flow, bytes, q->clock.ns);
}

/* zrtt_arrive_quick() with members, and the packet's lane. It calls nothing, and so need not save
 * registers.
 */
static noinline struct zrtt_flow *zrtt_arrive_member(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_flow *flow;

	zrtt_dissect_member(q, skb);
	if (unlikely(q->asks_more || q->vars.hosts.news))
		return NULL;
	flow = zrtt_arrive_quick(&q->params, &q->vars, &q->stats, &q->seen.pkt, q->clock.ns,
				 true);
	if (likely(flow))
		q->seen.lane = zrtt_lane_of_member(sch, flow, qdisc_pkt_len(skb));
	return flow;
}

/* zrtt_arrive() and the packet's lane, with members or without. */
static __always_inline struct zrtt_flow *
zrtt_arrive_slow_either(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd, bool members)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 bytes = qdisc_pkt_len(skb);
	u64 now_ns = q->clock.ns;
	struct zrtt_flow *flow;
	enum zrtt_lane lane;

	if (unlikely(q->params.line.kind == ZRTT_LINE_AHEAD))
		zrtt_count_from_line(q, skb, segs);
	if (unlikely(q->params.mark_mask))
		zrtt_note_mark(q, skb);
	if (members)
		zrtt_dissect_hosts(q, skb);
	flow = zrtt_arrive_any(&q->params, &q->vars, &q->stats, &q->seen.pkt, rnd, now_ns,
			       members);
	if (unlikely(flow->syn))
		zrtt_time_handshake(q, skb, flow);
	if (members && unlikely(q->vars.hosts.news))
		zrtt_share_hosts(q);
	lane = members ? zrtt_lane_of_member(sch, flow, bytes) :
	       zrtt_lane_of(&q->vars.lanes, &q->vars.table, flow, bytes, now_ns);
	q->seen.lane = unlikely(flow->l4s) ? zrtt_l4s_lane(sch, flow, lane) : lane;
	return flow;
}

static noinline struct zrtt_flow *
zrtt_arrive_member_slow(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd)
{
	return zrtt_arrive_slow_either(sch, skb, segs, rnd, true);
}

static noinline struct zrtt_flow *
zrtt_arrive_slow(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd)
{
	return zrtt_arrive_slow_either(sch, skb, segs, rnd, false);
}

/**
 * zrtt_arrive_closer() - account a packet that takes more than zrtt_arrive_quick()
 * @sch: qdisc
 * @skb: the packet, which zrtt_dissect() read
 * @segs: segments it stands for
 * @rnd: random number
 *
 * Return: its flow; its lane is in struct zrtt_dissected.
 */
static __always_inline struct zrtt_flow *
zrtt_arrive_closer(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (!q->vars.table.members)
		return zrtt_arrive_slow(sch, skb, segs, rnd);
	return zrtt_arrive_member(sch, skb) ?: zrtt_arrive_member_slow(sch, skb, segs, rnd);
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
		q->stats.drop_mark += segs;
		return false;
	}
	return true;
}

#endif
