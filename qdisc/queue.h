/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lanes, all FIFOs: what joins them, leaves them, and is dropped at their heads;
 * their limits.
 */
#ifndef _ZRTT_QUEUE_H
#define _ZRTT_QUEUE_H

#include <net/sch_generic.h>

#include "sched.h"
#include "timing.h"
#include "edit.h"

/* Packets above a lowered limit that are dropped for one that leaves: some 10 us. */
#define ZRTT_TRIM_BATCH		64

/* So many packets of a lane are no queue to look at. */
#define ZRTT_SPARSE_PKTS	8

/* What the queue may hold, and in how much of it nothing is late, follow from the parameters and
 * from the link's rate.
 */
static void zrtt_derive_limits(struct zrtt_sched_data *q)
{
	q->limit = zrtt_ctl_limit(&q->params.ctl, zrtt_params_limit(&q->params),
				  q->sent.most);
	q->recent.kept = zrtt_ctl_kept(&q->params.ctl, q->recent.left, q->sent.most);
}

/* Does a packet of @truesize exceed a limit? One always fits in. */
static bool zrtt_full(const struct zrtt_sched_data *q, u32 truesize)
{
	return q->backlog_pkts >= q->limit ||
	       ((u64)q->memory + truesize > q->params.memory_limit && q->backlog_pkts);
}

/* Is more queued than a limit allows? */
static bool zrtt_exceeds(const struct zrtt_sched_data *q)
{
	return q->backlog_pkts > q->limit || q->memory > q->params.memory_limit;
}

static __always_inline struct qdisc_skb_head *zrtt_lane_list(struct Qdisc *sch,
							     enum zrtt_lane lane)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	return lane == ZRTT_LANE_BULK ? &sch->q : &q->sparse.lanes[lane];
}

/* Packets in all lanes but bulk and the low-latency lane. */
static u32 zrtt_sparse_backlog(const struct zrtt_sched_data *q)
{
	return q->ahead_pkts - q->l4s.backlog_pkts;
}

/* Is @lane one whose packets wait for what is in others? */
static __always_inline bool zrtt_returns(enum zrtt_lane lane)
{
	return lane == ZRTT_LANE_RETURNING || lane == ZRTT_LANE_RETURNING_LARGE;
}

/* Is @lane one that few packets join: not thin, sparse, large or bulk? */
static __always_inline bool zrtt_is_rare(enum zrtt_lane lane)
{
	return lane == ZRTT_LANE_SELDOM || lane == ZRTT_LANE_L4S || zrtt_returns(lane);
}

/* What a packet of @flow that joins a returning lane waits for. */
static void zrtt_wait_below(const struct zrtt_table *t, struct zrtt_skb_cb *cb,
			    const struct zrtt_flow *flow)
{
	cb->after = t->lanes[flow->lane].in - zrtt_flow_behind(t, flow);
	cb->below = flow->lane;
}

/* Queue a packet of @flow that came at @now_ns and stands for @segs of them. */
static __always_inline void zrtt_push(struct sk_buff *skb, struct Qdisc *sch,
				      enum zrtt_lane lane, struct zrtt_flow *flow,
				      u32 segs, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_skb_cb *cb = zrtt_cb(skb);

	cb->enqueue_ns = now_ns;
	cb->segs = segs;
	q->memory += skb->truesize;
	q->backlog_pkts += segs;
	if (q->backlog_pkts > q->stats.maxq)
		q->stats.maxq = q->backlog_pkts;
	if (unlikely(zrtt_returns(lane)))
		zrtt_wait_below(&q->vars.table, cb, flow);
	zrtt_lane_join(&q->vars.table, flow, lane);
	if (lane != ZRTT_LANE_BULK) {
		q->ahead_pkts += segs;
		sch->q.qlen++;
	}
	if (unlikely(zrtt_is_rare(lane)))
		q->rare_pkts += segs;
	if (unlikely(lane == ZRTT_LANE_L4S))
		q->l4s.backlog_pkts += segs;
	__qdisc_enqueue_tail(skb, zrtt_lane_list(sch, lane));
	qdisc_qstats_backlog_inc(sch, skb);
}

/* Is there a packet in a lane? One that a parent has peeked at counts in qlen, but is in
 * none.
 */
static bool zrtt_any_queued(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return q->backlog_pkts;
}

/* Packets in a lane, GSO packets counted as one. */
static u32 zrtt_lane_packets(const struct zrtt_sched_data *q, enum zrtt_lane lane)
{
	const struct zrtt_passage *passage = &q->vars.table.lanes[lane];

	return passage->in - passage->out;
}

/* What joined the lanes behind sparse, and what left them, low bits. */
static struct zrtt_passage zrtt_passage_behind(const struct zrtt_sched_data *q)
{
	struct zrtt_passage behind = {};
	u32 lane;

	for (lane = ZRTT_LANE_SPARSE + 1; lane < ZRTT_LANES; lane++) {
		behind.in += q->vars.table.lanes[lane].in;
		behind.out += q->vars.table.lanes[lane].out;
	}
	return behind;
}

/* An epoch has ended, in all of which the clock was read if it is @whole. */
static void zrtt_note_behind(struct zrtt_sched_data *q, bool whole)
{
	u32 left = zrtt_passage_behind(q).out;

	q->sent.behind_rate = whole ? left - q->sent.behind : 0;
	q->sent.behind = left;
}

/* How long a packet that joins bulk now will wait: by what left the lanes behind sparse in the last
 * epoch, as what goes before them may have most of the link. Their packets are alike.
 */
static u32 zrtt_bulk_wait_us(const struct zrtt_sched_data *q)
{
	struct zrtt_passage behind = zrtt_passage_behind(q);

	return zrtt_wait_us((u64)(behind.in - behind.out) * ZRTT_FULL_PACKET,
			    (u64)q->sent.behind_rate * ZRTT_FULL_PACKET);
}

/* Is there more than one packet? */
static bool zrtt_many_queued(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 lane, packets = 0;

	for (lane = 0; lane < ZRTT_LANES; lane++)
		packets += zrtt_lane_packets(q, lane);
	return packets > 1;
}

/* The head of a lane, or NULL. */
static struct sk_buff *zrtt_head(struct Qdisc *sch, enum zrtt_lane lane)
{
	return zrtt_lane_list(sch, lane)->head;
}

/* Has @lane, a returning one, a head that may leave, as what it waits for has left? */
static noinline bool zrtt_returned(struct Qdisc *sch, enum zrtt_lane lane)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *head = zrtt_head(sch, lane);

	return head && (s32)(q->vars.table.lanes[zrtt_cb(head)->below].out -
			     zrtt_cb(head)->after) >= 0;
}

/* Of two lanes, that whose head came first; @first if they came at once. One has a head. */
static enum zrtt_lane zrtt_older_of(struct Qdisc *sch, enum zrtt_lane first,
				    enum zrtt_lane then)
{
	const struct sk_buff *a = zrtt_head(sch, first), *b = zrtt_head(sch, then);

	if (!a || !b)
		return a ? first : then;
	return zrtt_cb(b)->enqueue_ns < zrtt_cb(a)->enqueue_ns ? then : first;
}

/* The lane of the thin packet that is next. */
static enum zrtt_lane zrtt_thin_lane(struct Qdisc *sch)
{
	return zrtt_returned(sch, ZRTT_LANE_RETURNING) ? ZRTT_LANE_RETURNING : ZRTT_LANE_THIN;
}

/* The same of the packet of a flow that has much of a large due share. */
static enum zrtt_lane zrtt_large_lane(struct Qdisc *sch)
{
	return zrtt_returned(sch, ZRTT_LANE_RETURNING_LARGE) ? ZRTT_LANE_RETURNING_LARGE :
							       ZRTT_LANE_LARGE;
}

/* Of the large lane and bulk, the one whose head came first. What returns may be newer than what is
 * in the lane of its kind.
 */
static enum zrtt_lane zrtt_older_behind(struct Qdisc *sch)
{
	return zrtt_older_of(sch, ZRTT_LANE_LARGE,
			     zrtt_older_of(sch, zrtt_large_lane(sch), ZRTT_LANE_BULK));
}

/* The lane whose head came first, of those whose head may leave. There is one: a packet
 * waits for one that came before it.
 */
static noinline enum zrtt_lane zrtt_older_lane(struct Qdisc *sch)
{
	enum zrtt_lane lane = zrtt_older_behind(sch);

	lane = zrtt_older_of(sch, ZRTT_LANE_SPARSE, lane);
	lane = zrtt_older_of(sch, ZRTT_LANE_L4S, lane);
	lane = zrtt_older_of(sch, zrtt_thin_lane(sch), lane);
	lane = zrtt_older_of(sch, ZRTT_LANE_THIN, lane);
	return zrtt_older_of(sch, ZRTT_LANE_SELDOM, lane);
}

/* Of these, the one that is served next. */
static enum zrtt_lane zrtt_large_or_bulk(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	enum zrtt_lane large = zrtt_large_lane(sch);

	if (unlikely(zrtt_lanes_led(&q->vars.lanes, q->vars.lanes.large_ahead)))
		return zrtt_older_behind(sch);
	return zrtt_head(sch, large) ? large : ZRTT_LANE_BULK;
}

/* The same with sparse. If that had more than its part, bulk is not to wait for the large lane,
 * too.
 */
static noinline enum zrtt_lane zrtt_sparse_or_other(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (!zrtt_head(sch, ZRTT_LANE_SPARSE))
		return zrtt_large_or_bulk(sch);
	if (unlikely(zrtt_lanes_led(&q->vars.lanes, q->vars.lanes.ahead)))
		return zrtt_older_of(sch, ZRTT_LANE_SPARSE, zrtt_older_behind(sch));
	return ZRTT_LANE_SPARSE;
}

/* The same, or the low-latency lane if it waits: the others get their part of the link only if
 * the head is older, so that no flow's packets change places that goes there.
 */
static noinline enum zrtt_lane zrtt_l4s_or_other(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (!q->l4s.backlog_pkts)
		return zrtt_sparse_or_other(sch);
	if (q->vars.l4s.credit <= 0)
		return ZRTT_LANE_L4S;
	return zrtt_older_of(sch, ZRTT_LANE_L4S, zrtt_sparse_or_other(sch));
}

/* The lane that is served next if not all packets are in bulk, in any case. */
static noinline enum zrtt_lane zrtt_choose_lane(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_lanes *lanes = &q->vars.lanes;
	enum zrtt_lane thin = zrtt_thin_lane(sch), other;

	if (zrtt_head(sch, ZRTT_LANE_SELDOM))
		return ZRTT_LANE_SELDOM;
	if (zrtt_head(sch, thin) && !zrtt_lanes_led(lanes, lanes->thin_ahead))
		return thin;
	other = zrtt_l4s_or_other(sch);
	/* thin packets had more than their part, but those that came first stay first */
	if (zrtt_older_of(sch, ZRTT_LANE_THIN, other) == other &&
	    zrtt_older_of(sch, thin, other) == other)
		return other;
	return zrtt_older_lane(sch);
}

/* The lane that is served next, ZRTT_LANES if that is not as simple as usual. If it is, nothing
 * is in the lanes that few packets join.
 */
static __always_inline enum zrtt_lane zrtt_usual_lane(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_lanes *lanes = &q->vars.lanes;

	if (likely(!q->ahead_pkts))
		return ZRTT_LANE_BULK;
	if (unlikely(q->rare_pkts))
		return ZRTT_LANES;
	if (zrtt_head(sch, ZRTT_LANE_THIN))
		return zrtt_lanes_led(lanes, lanes->thin_ahead) ? ZRTT_LANES : ZRTT_LANE_THIN;
	if (unlikely(zrtt_head(sch, ZRTT_LANE_LARGE)))
		return zrtt_sparse_or_other(sch);
	if (zrtt_lanes_led(lanes, lanes->ahead))
		return zrtt_older_of(sch, ZRTT_LANE_SPARSE, ZRTT_LANE_BULK);
	return ZRTT_LANE_SPARSE;
}

/* The lane that is served next. */
static enum zrtt_lane zrtt_next_lane(struct Qdisc *sch)
{
	enum zrtt_lane lane = zrtt_usual_lane(sch);

	return lane == ZRTT_LANES ? zrtt_choose_lane(sch) : lane;
}

/* Take the head of a lane, which is not empty. */
static __always_inline struct sk_buff *zrtt_pull(struct Qdisc *sch, enum zrtt_lane lane)
{
	struct sk_buff *skb = __qdisc_dequeue_head(zrtt_lane_list(sch, lane));
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 segs = zrtt_cb(skb)->segs;

	q->vars.table.lanes[lane].out++;
	if (lane != ZRTT_LANE_BULK) {
		q->ahead_pkts -= segs;
		sch->q.qlen--;
	}
	if (unlikely(zrtt_is_rare(lane)))
		q->rare_pkts -= segs;
	if (unlikely(lane == ZRTT_LANE_L4S))
		q->l4s.backlog_pkts -= segs;
	qdisc_qstats_backlog_dec(sch, skb);
	q->backlog_pkts -= segs;
	q->memory -= skb->truesize;
	return skb;
}

/* Note whose a packet is, for when it leaves. */
static __always_inline void zrtt_note_flow(struct zrtt_sched_data *q, struct sk_buff *skb,
					   const struct zrtt_flow *flow)
{
	const struct zrtt_packet *p = &q->seen.p;
	struct zrtt_skb_cb *cb = zrtt_cb(skb);

	cb->flow = flow->tag;
	cb->ip_off = p->version && p->ip_off < ZRTT_NO_IP ? p->ip_off : ZRTT_NO_IP;
}

/* The same of a packet that is about to join bulk, whose flow may owe a hit. */
static __always_inline void zrtt_note_owing(struct zrtt_sched_data *q, struct sk_buff *skb,
					    const struct zrtt_flow *flow)
{
	zrtt_note_flow(q, skb, flow);
	if (unlikely(zrtt_flow_owes(flow)))
		q->owing_until = q->vars.table.lanes[ZRTT_LANE_BULK].in + 1;
}

/* Did packets wait in all of the epoch that ends? */
static bool zrtt_stayed_busy(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	bool waits = qdisc_qlen(sch);
	bool busy = waits && q->sent.waits && q->sent.idle_events == q->stats.idle_events;

	q->sent.waits = waits;
	q->sent.idle_events = q->stats.idle_events;
	return busy;
}

/* Is there a packet behind the lanes of sparse flows? */
static bool zrtt_others_wait(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return sch->q.head || q->l4s.backlog_pkts;
}

/* How long the head of a lane has waited, ns; 0 = the lane is empty. */
static u64 zrtt_head_age_ns(struct Qdisc *sch, enum zrtt_lane lane, u64 now_ns)
{
	const struct sk_buff *head = zrtt_head(sch, lane);

	return head ? now_ns - zrtt_cb(head)->enqueue_ns : 0;
}

/* Has @lane, thin, sparse or large, more than its part of the link? It has if more than its lead
 * over bulk was sent, or if more than a few packets wait in it though none do behind it.
 */
static bool zrtt_lane_leads(struct Qdisc *sch, enum zrtt_lane lane)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_lanes *lanes = &q->vars.lanes;

	if (!zrtt_others_wait(sch))
		return zrtt_lane_packets(q, lane) > ZRTT_SPARSE_PKTS;
	return zrtt_lanes_led(lanes, lane == ZRTT_LANE_THIN ? lanes->thin_ahead :
				     lane == ZRTT_LANE_SPARSE ? lanes->ahead : lanes->large_ahead);
}

/* Has the head of @lane waited for more than half of the target? */
static bool zrtt_lane_late(struct Qdisc *sch, enum zrtt_lane lane, u64 now_ns)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return zrtt_head_age_ns(sch, lane, now_ns) >
	       q->params.ctl.target_us * (NSEC_PER_USEC / 2);
}

/* Is thin, sparse or large late? If not, none is until the clock is read again, as later heads
 * came later.
 */
static bool zrtt_lanes_late(struct Qdisc *sch, u64 now_ns)
{
	return zrtt_lane_late(sch, ZRTT_LANE_THIN, now_ns) ||
	       zrtt_lane_late(sch, ZRTT_LANE_SPARSE, now_ns) ||
	       zrtt_lane_late(sch, ZRTT_LANE_LARGE, now_ns);
}

/* Is @lane, before bulk, one that zrtt_admit() is to look at? */
static bool zrtt_may_wait(const struct zrtt_sched_data *q, enum zrtt_lane lane)
{
	return zrtt_returns(lane) || q->clock.late;
}

/* Is @lane, thin, sparse or large, to take no more packets? It is if it has more than its part and
 * its head is late, but not for the few packets that take long on a slow link.
 */
static bool zrtt_lane_waits(struct Qdisc *sch, enum zrtt_lane lane, u64 now_ns)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return zrtt_lane_packets(q, lane) > ZRTT_LANE_FEW &&
	       zrtt_lane_late(sch, lane, now_ns) && zrtt_lane_leads(sch, lane);
}

/* The lane of a packet of @flow that is not to join bulk, if zrtt_may_wait(). If its lane takes no
 * more, live flows go to bulk, and all flows do if bulk is empty. New flows may be a flood.
 *
 * Return: ZRTT_LANES if the packet is refused.
 */
static noinline enum zrtt_lane zrtt_admit(struct Qdisc *sch, const struct sk_buff *skb,
					  const struct zrtt_flow *flow, enum zrtt_lane lane,
					  u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_lanes *lanes = &q->vars.lanes;

	if (lane == ZRTT_LANE_RETURNING &&
	    zrtt_lane_packets(q, lane) > zrtt_lanes_return_most(lanes))
		return ZRTT_LANE_BULK;
	if (zrtt_returns(lane))
		/* the place for what it waits for is taken */
		return zrtt_cb(skb)->times ? ZRTT_LANE_BULK : lane;
	if (lane == ZRTT_LANE_SELDOM || lane == ZRTT_LANE_L4S ||
	    likely(!zrtt_lane_waits(sch, lane, now_ns)))
		return lane;
	if (flow->live || !zrtt_others_wait(sch) ||
	    zrtt_lanes_allow(lanes, &lanes->spilt_bytes, qdisc_pkt_len(skb)))
		return ZRTT_LANE_BULK;
	return ZRTT_LANES;
}

/* Is a packet of @flow, which is new, refused? It would go ahead, but is to join bulk, as flows that
 * have packets there lost their slots. A flood of few packets each is always behind its own.
 */
static noinline bool zrtt_new_waits(struct Qdisc *sch, const struct sk_buff *skb,
				    const struct zrtt_flow *flow, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_lanes *lanes = &q->vars.lanes;

	return lanes->rate && (flow->last & ZRTT_LAST_BULK) &&
	       zrtt_lane_late(sch, ZRTT_LANE_BULK, now_ns) &&
	       !zrtt_lanes_allow(lanes, &lanes->spilt_bytes, qdisc_pkt_len(skb));
}

/* The lane of a packet of @flow, which has @m: one that goes ahead is to be within the host's due
 * share and ceiling, too.
 */
static __always_inline enum zrtt_lane
zrtt_host_lane(struct Qdisc *sch, const struct zrtt_flow *flow, const struct zrtt_member *m,
	       u32 bytes)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	enum zrtt_lane lane = zrtt_lane_of_host(&q->vars.lanes, &q->vars.table, flow, m->due, bytes,
						q->clock.ns);
	const struct zrtt_ceil *ceil;

	if (lane == ZRTT_LANE_BULK ||
	    zrtt_host_exceeds(&q->vars.hosts, m, q->seen.pkt.host_bytes,
			      bytes <= ZRTT_LANE_SMALL, zrtt_epoch(q->clock.ns)))
		return ZRTT_LANE_BULK;
	ceil = zrtt_host_ceil(&q->vars.hosts, m);
	return ceil && zrtt_ceil_full(&q->params.ceil, ceil, q->clock.ns) ? ZRTT_LANE_BULK : lane;
}

/* The lane of a packet of @bytes of @flow, ECT(1), that zrtt_lane_of() puts in @lane. */
static noinline enum zrtt_lane zrtt_l4s_lane(struct Qdisc *sch, const struct zrtt_flow *flow,
					     u32 bytes, enum zrtt_lane lane)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	if (lane < ZRTT_LANE_L4S)
		return lane;
	if (zrtt_head_age_ns(sch, ZRTT_LANE_L4S, q->clock.ns) > ZRTT_L4S_LATE_NS &&
	    zrtt_l4s_exceeds(zrtt_log_due(&q->vars, flow), flow, max(flow->rate, flow->bytes)))
		return ZRTT_LANE_BULK;
	if (sch->q.head && !zrtt_l4s_allows(&q->vars.l4s, flow, bytes))
		return lane;
	return zrtt_lane_of_l4s(&q->vars.table, flow, q->seen.pkt.bytes, lane,
				zrtt_returned(sch, ZRTT_LANE_RETURNING));
}

/* Is a packet dropped that is to join the low-latency lane? */
static noinline bool zrtt_l4s_drops(struct zrtt_sched_data *q, struct zrtt_flow *flow)
{
	const struct zrtt_arrival *pkt = &q->seen.pkt;

	if (likely(!zrtt_l4s_overloaded(&q->params, &q->vars, flow, pkt)))
		return false;
	return zrtt_mark_or_drop(&q->params, &q->vars, flow, pkt,
				 zrtt_random(q), q->clock.ns) == ZRTT_DROP;
}

/* A packet of @segs was dropped, or is not queued. */
static void zrtt_count_drop(struct zrtt_sched_data *q, const struct sk_buff *skb,
			    enum zrtt_lane lane, u32 segs, u64 *count)
{
	if (zrtt_cb(skb)->times)
		zrtt_stop_timing(q, zrtt_cb(skb));
	*count += segs;
	if (lane == ZRTT_LANE_L4S)
		q->l4s.drops += segs;
	else if (lane != ZRTT_LANE_BULK)
		q->sparse.drops += segs;
}

/* Drop the head of a lane; @count is of the reason. */
static void zrtt_drop_head(struct Qdisc *sch, enum zrtt_lane lane, u64 *count, u32 reason)
{
	struct sk_buff *skb = zrtt_pull(sch, lane);

	zrtt_count_drop(qdisc_priv(sch), skb, lane, zrtt_cb(skb)->segs, count);
	qdisc_qstats_drop(sch);
	qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
	qdisc_dequeue_drop(sch, skb, reason);
}

/* May bulk lose its head to a sparse packet? Only if it is next by age: a flow may have older
 * packets in other lanes, and would overtake them when it returns, as nothing of it is in
 * bulk.
 */
static noinline bool zrtt_has_room(struct Qdisc *sch)
{
	return zrtt_older_lane(sch) == ZRTT_LANE_BULK;
}

/* A packet has joined a full queue: bulk loses its head, not who sends little. */
static noinline void zrtt_make_room(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 i;

	/* it may be as large as many of bulk's */
	for (i = 0; i < ZRTT_TRIM_BATCH && zrtt_exceeds(q) && zrtt_has_room(sch); i++) {
		skb = zrtt_pull(sch, ZRTT_LANE_BULK);
		zrtt_count_drop(q, skb, ZRTT_LANE_BULK, zrtt_cb(skb)->segs, &q->stats.drop_limit);
		qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
		qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
	}
}

/* Discard all packets, as the device is reset. */
static void zrtt_purge(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 lane;

	q->stats.purged += q->backlog_pkts;
	q->backlog_pkts = 0;
	q->memory = 0;
	q->ahead_pkts = 0;
	q->rare_pkts = 0;
	q->l4s.backlog_pkts = 0;
	for (lane = 0; lane < ZRTT_LANE_BULK; lane++)
		__qdisc_reset_queue(&q->sparse.lanes[lane]);
	for (lane = 0; lane < ZRTT_LANES; lane++)
		q->vars.table.lanes[lane].out = q->vars.table.lanes[lane].in;
	qdisc_reset_queue(sch);
}

/* Drop some of the packets that are above a limit that was lowered, the older ones first,
 * but never the last one. Return: whether there may be more.
 */
static bool zrtt_trim(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 i;

	for (i = 0; q->trim && i < ZRTT_TRIM_BATCH; i++) {
		q->trim = zrtt_many_queued(sch) && zrtt_exceeds(q);
		if (q->trim)
			zrtt_drop_head(sch, zrtt_older_lane(sch), &q->stats.drop_limit,
				       QDISC_DROP_OVERLIMIT);
	}
	return q->trim;
}

/* Note what left since the last time. */
static void zrtt_note_left(struct Qdisc *sch, u64 now_ns)
{
	u32 part = (u32)(now_ns >> ZRTT_LATE_PART_SHIFT), pkts, left;
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_recent *recent = &q->recent;

	if (part == recent->part)
		return;
	pkts = (u32)u64_stats_read(&sch->bstats.packets);
	left = (pkts - recent->pkts) / (part - recent->part);
	recent->part = part;
	recent->pkts = pkts;
	if (left)
		recent->left[recent->at++ % ZRTT_LATE_PARTS] = left;
	zrtt_derive_limits(q);
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
				   zrtt_head_age_ns(sch, lane, now_ns), q->backlog_pkts,
				   q->recent.kept))
			return false;
		zrtt_drop_head(sch, lane, &q->stats.drop_late, QDISC_DROP_CONGESTED);
	}
	return i == ZRTT_LATE_BATCH;
}

#endif
