/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet leaves its lane for the link: what counts it, and what marks or drops it there.
 */
#ifndef _ZRTT_QDISC_LEAVE_H
#define _ZRTT_QDISC_LEAVE_H

#include <net/sch_generic.h>

#include "sched.h"
#include "edit.h"
#include "queue.h"

/* One of 32 sparse packets has its sojourn measured. */
#define ZRTT_SPARSE_SAMPLE	31

/* How long did a packet wait that leaves for the link? Microseconds. */
static noinline u32 zrtt_sojourn_us(const struct zrtt_skb_cb *cb)
{
	u32 most_us = ZRTT_SOJOURN_MAX_US;

	return min_t(u64, div_u64(ktime_get_ns() - cb->enqueue_ns, NSEC_PER_USEC), most_us);
}

/* Smooth the sojourn of packets that leave a lane. */
static noinline void zrtt_sample(u32 *delay_q8, u32 sojourn_us)
{
	*delay_q8 = zrtt_ewma(*delay_q8, sojourn_us << ZRTT_DELAY_FRAC, ZRTT_DELAY_WQ_Q16);
}

/* A sparse packet of @bytes leaves for the link; @l4s_waits: the low-latency lane has some. */
static __always_inline void zrtt_count_sparse(struct Qdisc *sch, enum zrtt_lane lane,
					      const struct zrtt_skb_cb *cb, u32 bytes,
					      bool l4s_waits)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 segs = cb->segs;

	if (unlikely(lane > ZRTT_LANE_SPARSE))
		zrtt_large_left(&q->vars.lanes, bytes, sch->q.head);
	else
		zrtt_lanes_left(&q->vars.lanes, lane, bytes, sch->q.head || l4s_waits ||
				zrtt_head(sch, ZRTT_LANE_LARGE));
	if (lane > ZRTT_LANE_L4S && l4s_waits)
		zrtt_l4s_other_left(&q->vars.l4s, bytes, true);
	q->sparse.pkts += segs;
	q->sparse.bytes += bytes;
	if (unlikely(!(q->sparse.pkts & ZRTT_SPARSE_SAMPLE)))
		zrtt_sample(&q->sparse.delay_q8, zrtt_sojourn_us(cb));
}

/* Set CE in a packet of which that is noted. Return: whether it can be marked. */
static bool zrtt_mark_noted(struct sk_buff *skb, const struct zrtt_skb_cb *cb)
{
	struct zrtt_packet p = { .ip_off = cb->ip_off };
	const u8 *first;
	u8 copy;

	if (cb->ip_off == ZRTT_NO_IP)
		return false;
	/* the header need not be in the linear part */
	first = skb_header_pointer(skb, cb->ip_off, sizeof(copy), &copy);
	if (!first)
		return false;
	p.version = *first >> 4;
	return zrtt_mark(skb, &p);
}

/* A packet leaves the low-latency lane for the link. */
static noinline void zrtt_count_l4s(struct Qdisc *sch, struct sk_buff *skb)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_skb_cb *cb = zrtt_cb(skb);
	struct zrtt_vars *vars = &q->vars;
	u32 bytes = qdisc_pkt_len(skb), sojourn_us = zrtt_sojourn_us(cb);
	struct zrtt_flow *flow = zrtt_flow_lookup(&vars->table, cb->flow);

	zrtt_bulk_left(&vars->lanes, bytes);
	if (zrtt_head(sch, zrtt_sparse_or_other(sch)))
		zrtt_l4s_left(&vars->l4s, bytes);
	q->l4s.pkts += cb->segs;
	q->l4s.bytes += bytes;
	zrtt_sample(&q->l4s.delay_q8, sojourn_us);
	if (flow && zrtt_l4s_verdict(&vars->l4s, &vars->ctl, flow, &vars->law,
				     zrtt_log_due(vars, flow), sojourn_us, zrtt_random(q)) &&
	    q->params.ecn && zrtt_mark_noted(skb, cb)) {
		q->l4s.marks += cb->segs;
		q->stats.ecn_mark += cb->segs;
	}
}

/* A packet of @bytes leaves bulk for the link. */
static __always_inline void zrtt_count_bulk(struct Qdisc *sch, u32 bytes, bool l4s_waits)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	zrtt_bulk_left(&q->vars.lanes, bytes);
	zrtt_law_left(&q->vars.law, bytes);
	if (l4s_waits)
		zrtt_l4s_other_left(&q->vars.l4s, bytes, false);
}

/* Take the head of a lane, which leaves for the link. */
static __always_inline struct sk_buff *zrtt_send(struct Qdisc *sch, enum zrtt_lane lane,
						 bool l4s_waits)
{
	struct sk_buff *skb = zrtt_pull(sch, lane);
	u32 bytes = qdisc_pkt_len(skb);

	_bstats_update(&sch->bstats, bytes, zrtt_cb(skb)->segs);
	if (lane == ZRTT_LANE_BULK)
		zrtt_count_bulk(sch, bytes, l4s_waits);
	else if (lane == ZRTT_LANE_L4S)
		zrtt_count_l4s(sch, skb);
	else
		zrtt_count_sparse(sch, lane, zrtt_cb(skb), bytes, l4s_waits);
	return skb;
}

/* Bulk's head is to leave, and is to be hit. Return: whether it could be marked. */
static bool zrtt_mark_head(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = zrtt_head(sch, ZRTT_LANE_BULK);
	u32 truesize = skb->truesize;

	if (!q->params.ecn || !zrtt_mark_noted(skb, zrtt_cb(skb)))
		return false;
	/* a header that others read, too, was copied */
	q->memory += skb->truesize - truesize;
	q->stats.ecn_mark += zrtt_cb(skb)->segs;
	return true;
}

/* Bulk's head is to leave: if its flow owes a hit, it has it. Return: whether it was dropped. */
static bool zrtt_settle_head(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = zrtt_head(sch, ZRTT_LANE_BULK);
	struct zrtt_skb_cb *cb = zrtt_cb(skb);
	struct zrtt_flow *flow = cb->flow ? zrtt_flow_lookup(&q->vars.table, cb->flow) : NULL;
	bool marked;

	/* once: a shaper may keep it */
	cb->flow = 0;
	if (!flow || !zrtt_flow_owes(flow))
		return false;
	marked = zrtt_mark_head(sch);
	/* a parent may count on the last one, and its flow goes on owing */
	if (!marked && !zrtt_many_queued(sch))
		return false;
	zrtt_settle(flow, qdisc_pkt_len(skb), zrtt_random(q));
	if (marked)
		return false;
	zrtt_dropped_leaving(&q->vars, flow, qdisc_pkt_len(skb));
	zrtt_drop_head(sch, ZRTT_LANE_BULK, &q->stats.drop_mark, QDISC_DROP_CONGESTED);
	return true;
}

/* The same for all that are dropped in a row. Return: whether any was. */
static noinline bool zrtt_settle_heads(struct Qdisc *sch)
{
	u32 i;

	for (i = 0; i < ZRTT_TRIM_BATCH; i++) {
		if (!zrtt_settle_head(sch))
			return i > 0;
		if (zrtt_next_lane(sch) != ZRTT_LANE_BULK)
			return true;
	}
	/* the lock is not held for long: the next one leaves, and its flow goes on owing */
	zrtt_cb(zrtt_head(sch, ZRTT_LANE_BULK))->flow = 0;
	return true;
}

/* Is bulk's head, or one behind it, of a flow that owes a hit? */
static __always_inline bool zrtt_owing(const struct zrtt_sched_data *q)
{
	return (s32)(q->owing_until - q->vars.table.lanes[ZRTT_LANE_BULK].out) > 0;
}

/* Numbers wrap: a hit owed long ago must not seem to be ahead, nor one that is not had any more. */
static void zrtt_owing_end(struct zrtt_sched_data *q)
{
	if (!zrtt_owing(q) || !q->params.law.later_q30)
		q->owing_until = q->vars.table.lanes[ZRTT_LANE_BULK].out;
}

/* Take the head of bulk, or NULL: it was dropped. */
static __always_inline struct sk_buff *zrtt_send_bulk(struct Qdisc *sch, bool l4s_waits)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (unlikely(zrtt_owing(q)) && zrtt_settle_heads(sch))
		return NULL;
	return zrtt_send(sch, ZRTT_LANE_BULK, l4s_waits);
}

/* zrtt_send_next() of a lane that is not usual, or where it takes more to choose one. */
static noinline struct sk_buff *zrtt_send_chosen(struct Qdisc *sch, enum zrtt_lane lane)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (lane == ZRTT_LANES)
		lane = zrtt_choose_lane(sch);
	return lane == ZRTT_LANE_BULK ? zrtt_send_bulk(sch, q->l4s.backlog_pkts) :
					zrtt_send(sch, lane, q->l4s.backlog_pkts);
}

/* Take the head of the lane that is next. The usual ones are named, for the compiler.
 *
 * Return: NULL if the head was dropped; there is another.
 */
static __always_inline struct sk_buff *zrtt_send_next(struct Qdisc *sch)
{
	enum zrtt_lane lane = zrtt_usual_lane(sch);

	switch (lane) {
	case ZRTT_LANE_BULK:
		return zrtt_send_bulk(sch, false);
	case ZRTT_LANE_SPARSE:
		return zrtt_send(sch, ZRTT_LANE_SPARSE, false);
	case ZRTT_LANE_THIN:
		return zrtt_send(sch, ZRTT_LANE_THIN, false);
	default:
		return zrtt_send_chosen(sch, lane);
	}
}

/* Drop packets at bulk's head whose flows owe that, until one is next that is to leave. */
static void zrtt_settle_next(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (zrtt_owing(q) && zrtt_next_lane(sch) == ZRTT_LANE_BULK)
		zrtt_settle_heads(sch);
}

#endif
