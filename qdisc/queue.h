/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lanes, all FIFOs: what joins them, leaves them, and is dropped at their heads;
 * their limits.
 */
#ifndef _ZRTT_QUEUE_H
#define _ZRTT_QUEUE_H

#include <net/sch_generic.h>

#include "sched.h"

/* Packets above a lowered limit that are dropped for one that leaves: some 10 us. */
#define ZRTT_TRIM_BATCH		64

/* One of 8 sparse packets has its sojourn measured. */
#define ZRTT_SPARSE_SAMPLE	7

/* What the queue may hold follows from the parameters and from the link's rate. */
static void zrtt_derive_limit(struct zrtt_sched_data *q)
{
	q->limit = zrtt_ctl_limit(&q->params.ctl, zrtt_params_limit(&q->params),
				  q->sent.most);
}

/* Does a packet of @truesize exceed a limit? One always fits in. */
static bool zrtt_full(const struct zrtt_sched_data *q, u32 truesize)
{
	return q->backlog_pkts >= q->limit ||
	       ((u64)q->memory + truesize > q->params.memory_limit && q->backlog_pkts);
}

static __always_inline struct qdisc_skb_head *zrtt_lane_list(struct Qdisc *sch,
							     enum zrtt_lane lane)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	if (lane == ZRTT_LANE_BULK)
		return &sch->q;
	return lane == ZRTT_LANE_SPARSE ? &q->sparse.q : &q->sparse.returning;
}

/* Queue a packet of @flow that came at @now_ns and stands for @segs of them. */
static __always_inline int zrtt_push(struct sk_buff *skb, struct Qdisc *sch,
				     enum zrtt_lane lane, struct zrtt_flow *flow,
				     u32 segs, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_skb_cb *cb = zrtt_cb(skb);
	u32 after;

	cb->enqueue_ns = now_ns;
	cb->segs = segs;
	q->memory += skb->truesize;
	q->backlog_pkts += segs;
	if (q->backlog_pkts > q->stats.maxq)
		q->stats.maxq = q->backlog_pkts;
	after = zrtt_lane_join(&q->vars.table, flow, lane);
	if (lane == ZRTT_LANE_BULK)
		return qdisc_enqueue_tail(skb, sch);
	if (lane == ZRTT_LANE_RETURNING)
		cb->after = after;
	q->sparse.backlog_pkts += segs;
	__qdisc_enqueue_tail(skb, zrtt_lane_list(sch, lane));
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}

/* Is there a packet in a lane? One that a parent has peeked at counts in qlen, but is in
 * none.
 */
static bool zrtt_any_queued(const struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return sch->q.head || q->sparse.backlog_pkts;
}

/* Is there more than one? */
static bool zrtt_many_queued(const struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_passage *bulk = &q->vars.table.bulk;

	return bulk->in - bulk->out + q->sparse.q.qlen + q->sparse.returning.qlen > 1;
}

/* The head of a lane, or NULL; of the returning lane, once it may leave. */
static struct sk_buff *zrtt_head(struct Qdisc *sch, enum zrtt_lane lane)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *head = zrtt_lane_list(sch, lane)->head;

	if (lane == ZRTT_LANE_RETURNING && head && sch->q.head &&
	    (s32)(q->vars.table.bulk.out - zrtt_cb(head)->after) < 0)
		return NULL;
	return head;
}

/* The lane that is served next as far as sparse flows go: none of them has a packet that
 * may leave if it is bulk.
 */
static enum zrtt_lane zrtt_sparse_lane(struct Qdisc *sch)
{
	if (zrtt_head(sch, ZRTT_LANE_RETURNING))
		return ZRTT_LANE_RETURNING;
	return zrtt_head(sch, ZRTT_LANE_SPARSE) ? ZRTT_LANE_SPARSE : ZRTT_LANE_BULK;
}

/* The lane whose head came first; not bulk if two came at once. */
static noinline enum zrtt_lane zrtt_older_lane(struct Qdisc *sch)
{
	enum zrtt_lane lane = zrtt_sparse_lane(sch);
	const struct sk_buff *bulk = sch->q.head;

	if (lane != ZRTT_LANE_BULK && bulk &&
	    zrtt_cb(bulk)->enqueue_ns < zrtt_cb(zrtt_head(sch, lane))->enqueue_ns)
		return ZRTT_LANE_BULK;
	return lane;
}

/* The lane that is served next. */
static __always_inline enum zrtt_lane zrtt_next_lane(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (likely(!q->sparse.backlog_pkts))
		return ZRTT_LANE_BULK;
	return zrtt_lanes_led(&q->vars.lanes) ? zrtt_older_lane(sch) : zrtt_sparse_lane(sch);
}

/* Take the head of a lane, which is not empty. */
static __always_inline struct sk_buff *zrtt_pull(struct Qdisc *sch, enum zrtt_lane lane)
{
	struct sk_buff *skb = __qdisc_dequeue_head(zrtt_lane_list(sch, lane));
	struct zrtt_sched_data *q = qdisc_priv(sch);

	if (likely(lane == ZRTT_LANE_BULK)) {
		q->vars.table.bulk.out++;
	} else {
		q->vars.table.returning.out += lane == ZRTT_LANE_RETURNING;
		q->sparse.backlog_pkts -= zrtt_cb(skb)->segs;
		sch->q.qlen--;
	}
	qdisc_qstats_backlog_dec(sch, skb);
	q->backlog_pkts -= zrtt_cb(skb)->segs;
	q->memory -= skb->truesize;
	return skb;
}

/* How long did a sparse packet wait that leaves for the link? */
static noinline void zrtt_sample_sparse(struct zrtt_sched_data *q, u64 enqueue_ns)
{
	u64 us = div_u64(ktime_get_ns() - enqueue_ns, NSEC_PER_USEC);
	u32 most_us = ZRTT_SOJOURN_MAX_US;

	q->sparse.delay_q8 = zrtt_ewma(q->sparse.delay_q8,
				       min_t(u64, us, most_us) << ZRTT_DELAY_FRAC,
				       ZRTT_DELAY_WQ_Q16);
}

/* A sparse packet leaves for the link. */
static noinline void zrtt_count_sparse(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_skb_cb *cb = zrtt_cb(skb);
	u32 bytes = qdisc_pkt_len(skb);

	zrtt_sparse_left(&q->vars.lanes, bytes, sch->q.head);
	q->sparse.pkts += cb->segs;
	q->sparse.bytes += bytes;
	if (!(q->sparse.pkts & ZRTT_SPARSE_SAMPLE))
		zrtt_sample_sparse(q, cb->enqueue_ns);
}

/* How long the head of a lane has waited, ns; 0 = the lane is empty. */
static u64 zrtt_head_age_ns(struct Qdisc *sch, enum zrtt_lane lane, u64 now_ns)
{
	const struct sk_buff *head = zrtt_head(sch, lane);

	return head ? now_ns - zrtt_cb(head)->enqueue_ns : 0;
}

/* The lane of a packet that is not to join bulk, where these lanes wait, as they have more
 * than their part of the link. Known flows go to bulk, but those of small packets not at
 * once: they stay where they are, or where they came back to. What is new may be a flood.
 */
static noinline enum zrtt_lane zrtt_admit(struct Qdisc *sch, const struct sk_buff *skb,
					  const struct zrtt_flow *flow, enum zrtt_lane lane,
					  u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	bool small = qdisc_pkt_len(skb) <= ZRTT_LANE_SMALL;
	u64 most_ns = q->params.ctl.target_us * (NSEC_PER_USEC / 2);

	if (lane == ZRTT_LANE_SPARSE) {
		u64 age_ns = zrtt_head_age_ns(sch, lane, now_ns);

		if (likely(age_ns <= most_ns))
			return lane;
		if (!flow->live)
			return zrtt_lanes_spill(&q->vars.lanes, qdisc_pkt_len(skb)) ?
			       ZRTT_LANE_BULK : ZRTT_LANE_NONE;
		if (small && age_ns <= 2 * most_ns)
			return lane;
		small = small && flow->returned;
	}
	return small && !zrtt_cb(skb)->times &&
	       zrtt_head_age_ns(sch, ZRTT_LANE_RETURNING, now_ns) <= most_ns ?
	       ZRTT_LANE_RETURNING : ZRTT_LANE_BULK;
}

/* A packet of @segs was dropped, or is not queued. */
static void zrtt_count_drop(struct zrtt_sched_data *q, enum zrtt_lane lane, u32 segs,
			    u64 *count)
{
	*count += segs;
	if (lane != ZRTT_LANE_BULK)
		q->sparse.drops += segs;
}

/* Drop the head of a lane; @count is of the reason. */
static void zrtt_drop_head(struct Qdisc *sch, enum zrtt_lane lane, u64 *count, u32 reason)
{
	struct sk_buff *skb = zrtt_pull(sch, lane);

	zrtt_count_drop(qdisc_priv(sch), lane, zrtt_cb(skb)->segs, count);
	qdisc_qstats_drop(sch);
	qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
	qdisc_dequeue_drop(sch, skb, reason);
}

/* A sparse packet has joined a full queue: bulk loses its head, not who sends little. */
static noinline void zrtt_make_room(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = zrtt_pull(sch, ZRTT_LANE_BULK);

	q->stats.drop_limit += zrtt_cb(skb)->segs;
	qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
	qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

/* Discard all packets, as the device is reset. */
static void zrtt_purge(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	q->stats.purged += q->backlog_pkts;
	q->backlog_pkts = 0;
	q->sparse.backlog_pkts = 0;
	q->memory = 0;
	q->vars.table.bulk.out = q->vars.table.bulk.in;
	q->vars.table.returning.out = q->vars.table.returning.in;
	__qdisc_reset_queue(&q->sparse.q);
	__qdisc_reset_queue(&q->sparse.returning);
	qdisc_reset_queue(sch);
}

/* Drop some of the packets that are above a limit that was lowered, those of bulk first,
 * but never the last one. Return: whether there may be more.
 */
static bool zrtt_trim(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 i;

	for (i = 0; q->trim && i < ZRTT_TRIM_BATCH; i++) {
		q->trim = zrtt_many_queued(sch) &&
			  (q->backlog_pkts > q->limit ||
			   q->memory > q->params.memory_limit);
		if (q->trim)
			zrtt_drop_head(sch, sch->q.head ? ZRTT_LANE_BULK : zrtt_sparse_lane(sch),
				       &q->stats.drop_limit, QDISC_DROP_OVERLIMIT);
	}
	return q->trim;
}

/* Drop some of the packets that are too old, but never the last one. Return: whether
 * there may be more.
 */
static bool zrtt_drop_late(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	enum zrtt_lane lane;
	u32 i;

	for (i = 0; i < ZRTT_LATE_BATCH && zrtt_many_queued(sch); i++) {
		lane = zrtt_older_lane(sch);
		if (!zrtt_ctl_late(&q->params.ctl, &q->vars.ctl,
				   zrtt_head_age_ns(sch, lane, now_ns), q->backlog_pkts))
			return false;
		zrtt_drop_head(sch, lane, &q->stats.drop_late, QDISC_DROP_CONGESTED);
	}
	return i == ZRTT_LATE_BATCH;
}

#endif
