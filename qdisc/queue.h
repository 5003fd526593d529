/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The FIFO: what joins it, leaves it, and is dropped at its head; its limits.
 */
#ifndef _ZRTT_QUEUE_H
#define _ZRTT_QUEUE_H

#include <net/sch_generic.h>

#include "sched.h"

/* Packets above a lowered limit that are dropped for one that leaves: some 10 us. */
#define ZRTT_TRIM_BATCH		64

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

/* Queue a packet that came at @now_ns and stands for @segs of them. */
static __always_inline int zrtt_push(struct sk_buff *skb, struct Qdisc *sch, u32 segs,
				     u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_skb_cb *cb = zrtt_cb(skb);

	cb->enqueue_ns = now_ns;
	cb->segs = segs;
	q->memory += skb->truesize;
	q->backlog_pkts += segs;
	if (q->backlog_pkts > q->stats.maxq)
		q->stats.maxq = q->backlog_pkts;
	return qdisc_enqueue_tail(skb, sch);
}

/* Take the head of the queue, which is not empty. */
static __always_inline struct sk_buff *zrtt_pull(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	qdisc_qstats_backlog_dec(sch, skb);
	q->backlog_pkts -= zrtt_cb(skb)->segs;
	q->memory -= skb->truesize;
	return skb;
}

/* How long the packet at the head has waited, ns. */
static u64 zrtt_head_age_ns(struct Qdisc *sch, u64 now_ns)
{
	const struct sk_buff *head = qdisc_peek_head(sch);

	return head ? now_ns - zrtt_cb(head)->enqueue_ns : 0;
}

/* Drop the head of the queue; @count is of the reason. */
static void zrtt_drop_head(struct Qdisc *sch, u64 *count, u32 reason)
{
	struct sk_buff *skb = zrtt_pull(sch);

	*count += zrtt_cb(skb)->segs;
	qdisc_qstats_drop(sch);
	qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
	qdisc_dequeue_drop(sch, skb, reason);
}

/* Drop some of the packets that are above a limit that was lowered, but never the last
 * one. Return: whether there may be more.
 */
static bool zrtt_trim(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 i;

	for (i = 0; q->trim && i < ZRTT_TRIM_BATCH; i++) {
		q->trim = sch->q.head != sch->q.tail &&
			  (q->backlog_pkts > q->limit ||
			   q->memory > q->params.memory_limit);
		if (q->trim)
			zrtt_drop_head(sch, &q->stats.drop_limit, QDISC_DROP_OVERLIMIT);
	}
	return q->trim;
}

/* Drop some of the packets that are too old, but never the last one. Return: whether
 * there may be more.
 */
static bool zrtt_drop_late(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 i;

	for (i = 0; i < ZRTT_LATE_BATCH && sch->q.head != sch->q.tail; i++) {
		if (!zrtt_ctl_late(&q->params.ctl, &q->vars.ctl,
				   zrtt_head_age_ns(sch, now_ns), q->backlog_pkts))
			return false;
		zrtt_drop_head(sch, &q->stats.drop_late, QDISC_DROP_CONGESTED);
	}
	return i == ZRTT_LATE_BATCH;
}

#endif
