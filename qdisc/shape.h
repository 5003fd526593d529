/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shaper: when packets leave, where this queue is to be the bottleneck.
 */
#ifndef _ZRTT_SHAPE_H
#define _ZRTT_SHAPE_H

#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "sched.h"
#include "queue.h"
#include "line.h"
#include "peers.h"

/* May the packet that is next leave? If not, the device asks again in time; if so, the
 * link behind is busy with it from now on.
 */
static bool zrtt_shape(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct sk_buff *skb = zrtt_head(sch, zrtt_next_lane(sch));
	const struct zrtt_skb_cb *cb = zrtt_cb(skb);
	u32 bytes = zrtt_link_bytes(q, skb, cb->segs);

	if (q->together.on &&
	    zrtt_split_due(&q->shaper, &q->link, bytes, q->together.split_ns, now_ns))
		zrtt_split(q, bytes, cb->enqueue_ns, now_ns);
	if (!zrtt_shaper_ready(&q->shaper, now_ns)) {
		qdisc_qstats_overlimit(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog, q->shaper.next_ns);
		return false;
	}
	zrtt_shaper_leave(&q->link, &q->shaper, bytes, cb->enqueue_ns, now_ns);
	q->together.sent_bytes += bytes;
	zrtt_count_to_line(q, skb, bytes, now_ns);
	return true;
}

#endif
