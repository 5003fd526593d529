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

/* zrtt_arrive_closer(), with members or without. */
static __always_inline struct zrtt_flow *
zrtt_arrive_closer_either(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd,
			  bool members)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_arrival *pkt = &q->seen.pkt;
	u32 bytes = qdisc_pkt_len(skb);
	u64 now_ns = q->clock.ns;
	struct zrtt_flow *flow;
	enum zrtt_lane lane;

	if (unlikely(q->params.line.kind == ZRTT_LINE_AHEAD))
		zrtt_count_from_line(q, skb, segs);
	if (unlikely(q->params.mark_mask))
		zrtt_note_mark(q, skb);
	if (members)
		zrtt_dissect_host(q, skb);
	flow = zrtt_arrive_either(&q->params, &q->vars, &q->stats, pkt, rnd, now_ns, members);
	if (unlikely(flow->syn))
		zrtt_time_handshake(q, skb, flow);
	lane = members && q->vars.table.groups ?
	       zrtt_lane_with_hosts(sch, flow, bytes) :
	       zrtt_lane_of(&q->vars.lanes, &q->vars.table, flow, bytes, now_ns);
	q->seen.lane = unlikely(flow->l4s) ? zrtt_l4s_lane(sch, flow, lane) : lane;
	return flow;
}

static noinline struct zrtt_flow *
zrtt_arrive_of_member(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd)
{
	return zrtt_arrive_closer_either(sch, skb, segs, rnd, true);
}

static noinline struct zrtt_flow *
zrtt_arrive_of_none(struct Qdisc *sch, struct sk_buff *skb, u32 segs, u32 rnd)
{
	return zrtt_arrive_closer_either(sch, skb, segs, rnd, false);
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
static struct zrtt_flow *zrtt_arrive_closer(struct Qdisc *sch, struct sk_buff *skb, u32 segs,
					    u32 rnd)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return q->vars.table.members ? zrtt_arrive_of_member(sch, skb, segs, rnd) :
				       zrtt_arrive_of_none(sch, skb, segs, rnd);
}

#endif
