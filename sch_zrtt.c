// SPDX-License-Identifier: GPL-2.0
/*
 * sch_zrtt: RTT-fair active queue management without a queue per flow
 *
 * Zhang and Ye, "An adaptive mechanism to guarantee the bandwidth fairness of
 * TCP flows", 2004, and what it takes to make it work on the Linux stack.
 *
 * This file is the walk of a packet: the clock, enqueue, dequeue, and the life of the
 * qdisc. qdisc/ has its parts, include/zrtt/ the algorithm, include/uapi/ the contract
 * with tc.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <net/gso.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/pkt_sched_zrtt.h>
#include <zrtt/zrtt.h>

#include "qdisc/sched.h"
#include "qdisc/timing.h"
#include "qdisc/tables.h"
#include "qdisc/dissect.h"
#include "qdisc/hosts.h"
#include "qdisc/edit.h"
#include "qdisc/queue.h"
#include "qdisc/leave.h"
#include "qdisc/line.h"
#include "qdisc/peers.h"
#include "qdisc/arrive.h"
#include "qdisc/shape.h"
#include "qdisc/config.h"
#include "qdisc/stats.h"

/* Packets that come and go share a reading of the clock, 131 us of them at the rate of
 * the last epoch, 2^10 of which make one, and no more than 16 of each. Those that go
 * count, too: where few come, the reading would grow old.
 */
#define ZRTT_CLOCK_SHIFT	9
#define ZRTT_CLOCK_MAX		31

/* Clock */

/* An epoch has ended: what left in it bounds the queue, and the time between clock readings. */
static noinline void zrtt_end_epoch(struct Qdisc *sch, u32 epoch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u64 bytes = u64_stats_read(&sch->bstats.bytes);
	u64 pkts = u64_stats_read(&sch->bstats.packets);
	bool whole = epoch - q->sent.epoch == 1;
	u32 sent = whole ? (u32)(pkts - q->sent.pkts) : 0;

	q->sent.rate = bytes - q->sent.bytes;
	zrtt_note_behind(q, whole);
	q->vars.link_rate = zrtt_stayed_busy(sch) ? q->sent.rate : 0;
	q->sent.most = zrtt_ctl_most_sent(q->sent.most, sent);
	q->sent.bytes = bytes;
	q->sent.pkts = pkts;
	q->sent.epoch = epoch;
	q->clock.share = min_t(u32, sent >> ZRTT_CLOCK_SHIFT, ZRTT_CLOCK_MAX);
	zrtt_derive_limits(q);
	zrtt_lanes_end_epoch(&q->vars.lanes, q->vars.law.due, q->sent.rate, q->vars.link_rate);
	zrtt_l4s_end_epoch(&q->vars.l4s, q->sent.rate);
}

/* Read the clock, and do what is due by it: the controller's update, the end of an epoch. */
static u64 zrtt_run_clock(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();
	u32 epoch = zrtt_epoch(now_ns);

	q->wanted.ipv4_option = READ_ONCE(ipv4_option);
	if (zrtt_tick_due(&q->vars, now_ns))
		zrtt_run_tick(sch, now_ns);
	if (q->sent.epoch != epoch)
		zrtt_end_epoch(sch, epoch);
	return now_ns;
}

/* An arrival needs a new reading of the clock. */
static noinline void zrtt_enqueue_clock(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	q->clock.ns = zrtt_run_clock(sch);
	q->clock.jiffies = (u32)jiffies;
	q->clock.until = zrtt_moved(sch, q);
	q->clock.late = zrtt_lanes_late(sch, q->clock.ns);
	if (qdisc_qlen(sch))
		q->clock.until += q->clock.share;
	else
		zrtt_idle(&q->params, &q->vars, q->clock.ns);
}

/* The next departure is to read the clock. */
static void zrtt_dequeue_clock_soon(struct zrtt_sched_data *q)
{
	q->dequeue_jiffies = (u32)jiffies - 1;
}

/* Enqueue */

static noinline int zrtt_refuse(struct sk_buff *skb, struct Qdisc *sch,
				struct sk_buff **to_free, enum zrtt_lane lane,
				u32 segs)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	zrtt_overflow(&q->params, &q->vars, &q->stats, q->clock.ns);
	zrtt_count_drop(q, skb, lane, segs, &q->stats.drop_limit);
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

/* Queue a packet in any lane before bulk: it is marked as it leaves, if it is marked at all. */
static noinline int zrtt_enqueue_ahead(struct sk_buff *skb, struct Qdisc *sch,
				       struct sk_buff **to_free, enum zrtt_lane lane,
				       struct zrtt_flow *flow, u32 segs)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	bool full = zrtt_full(q, skb->truesize);

	if (unlikely(lane == ZRTT_LANES ||
		     (full && (lane == ZRTT_LANE_L4S || !zrtt_has_room(sch)))))
		return zrtt_refuse(skb, sch, to_free, lane, segs);
	if (lane == ZRTT_LANE_L4S && zrtt_l4s_drops(q, flow)) {
		zrtt_count_drop(q, skb, lane, segs, &q->stats.drop_mark);
		return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_CONGESTED);
	}
	if (unlikely(q->names_or_strip))
		zrtt_names_or_strip(q, skb, flow);
	if (lane == ZRTT_LANE_L4S)
		zrtt_note_flow(q, skb, flow);
	zrtt_idle_end(&q->vars);
	zrtt_push(skb, sch, lane, flow, segs, q->clock.ns);
	if (unlikely(full))
		zrtt_make_room(sch, to_free);
	return NET_XMIT_SUCCESS;
}

/* The same for thin and sparse, and quick if the packet is not changed and fits in. */
static __always_inline int zrtt_enqueue_sparse(struct sk_buff *skb, struct Qdisc *sch,
					       struct sk_buff **to_free, enum zrtt_lane lane,
					       struct zrtt_flow *flow, u32 segs)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	if (unlikely(q->names_or_strip || zrtt_full(q, skb->truesize)))
		return zrtt_enqueue_ahead(skb, sch, to_free, lane, flow, segs);
	zrtt_idle_end(&q->vars);
	zrtt_push(skb, sch, lane, flow, segs, q->clock.ns);
	return NET_XMIT_SUCCESS;
}

/* Queue a packet that stands for @segs of them; @closer: it takes more than others. */
static __always_inline int zrtt_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
					    struct sk_buff **to_free, u32 segs, bool closer)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 rnd = zrtt_random(q);
	struct zrtt_flow *flow;
	enum zrtt_lane lane;
	u64 now_ns;

	if ((s32)(zrtt_moved(sch, q) - q->clock.until) >= 0 ||
	    q->clock.jiffies != (u32)jiffies)
		zrtt_enqueue_clock(sch);
	now_ns = q->clock.ns;
	q->stats.packets_in += segs;

	zrtt_dissect(q, skb, segs);
	flow = closer ? zrtt_arrive_closer(sch, skb, &lane, segs, rnd) :
	       zrtt_arrive_lane(sch, skb, &lane, segs, rnd);
	if (lane != ZRTT_LANE_BULK) {
		if (lane == ZRTT_LANE_THIN && unlikely(zrtt_lane_seldom(&q->vars.lanes, flow)))
			lane = zrtt_lane_of_seldom(&q->vars.lanes, &q->vars.table, flow,
						   qdisc_pkt_len(skb));
		if (unlikely(zrtt_may_wait(q, lane)))
			lane = zrtt_admit(sch, skb, flow, lane, now_ns);
		if (lane == ZRTT_LANE_SPARSE)
			return zrtt_enqueue_sparse(skb, sch, to_free, ZRTT_LANE_SPARSE, flow, segs);
		if (lane == ZRTT_LANE_THIN)
			return zrtt_enqueue_sparse(skb, sch, to_free, ZRTT_LANE_THIN, flow, segs);
		if (lane != ZRTT_LANE_BULK)
			return zrtt_enqueue_ahead(skb, sch, to_free, lane, flow, segs);
	} else if (unlikely(!flow->live) && zrtt_new_waits(sch, skb, flow, now_ns)) {
		return zrtt_refuse(skb, sch, to_free, ZRTT_LANE_BULK, segs);
	}
	if (unlikely(zrtt_full(q, skb->truesize)))
		return zrtt_refuse(skb, sch, to_free, ZRTT_LANE_BULK, segs);
	if (q->backlog_pkts > q->params.ctl.threshold)
		zrtt_overflow(&q->params, &q->vars, &q->stats, now_ns);
	if (likely(zrtt_owes_later(&q->params, &q->vars, flow, &q->seen.pkt, now_ns))) {
		zrtt_note_owing(q, skb, flow);
	} else if (!zrtt_judge_now(q, skb, flow, segs, rnd)) {
		return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_CONGESTED);
	}
	if (unlikely(q->names_or_strip))
		zrtt_names_or_strip(q, skb, flow);
	zrtt_idle_end(&q->vars);
	zrtt_push(skb, sch, ZRTT_LANE_BULK, flow, segs, now_ns);
	return NET_XMIT_SUCCESS;
}

/* Apart, so that each has what it needs and no more: most packets ... */
static noinline int zrtt_enqueue_usual(struct sk_buff *skb, struct Qdisc *sch,
				       struct sk_buff **to_free)
{
	return zrtt_enqueue_one(skb, sch, to_free, 1, false);
}

/* ... and GSO packets, their segments, and what takes more than its arrival. */
static noinline int zrtt_enqueue_segs(struct sk_buff *skb, struct Qdisc *sch,
				      struct sk_buff **to_free, u32 segs)
{
	return zrtt_enqueue_one(skb, sch, to_free, segs, true);
}

/*
 * Queue the segments of a GSO packet one by one, so that each has its own
 * verdict and none waits behind 64 KB of its own flow. What cannot be split
 * is queued whole, as is what needs no splitting (NULL).
 */
static noinline int zrtt_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
				     struct sk_buff **to_free)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	netdev_features_t features = netif_skb_features(skb);
	u32 whole_len = qdisc_pkt_len(skb), len = 0, queued = 0;
	struct sk_buff *segs, *next;

	segs = q->params.split_gso ?
	       skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK) : NULL;
	if (IS_ERR_OR_NULL(segs))
		return zrtt_enqueue_segs(skb, sch, to_free, zrtt_gso_segs(skb));

	skb_list_walk_safe(segs, segs, next) {
		u32 seg_len = segs->len;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		qdisc_set_pkt_segs(segs, 1);
		if (zrtt_enqueue_segs(segs, sch, to_free, 1) == NET_XMIT_SUCCESS) {
			queued++;
			len += seg_len;
		}
	}
	/* dropped segments have their own reasons */
	consume_skb(skb);
	if (!queued)
		return NET_XMIT_DROP;
	qdisc_tree_reduce_backlog(sch, 1 - queued, whole_len - len);
	return NET_XMIT_SUCCESS;
}

static int zrtt_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (unlikely(skb_is_gso(skb)))
		return zrtt_enqueue_gso(skb, sch, to_free);
	if (unlikely(q->looks_closer))
		return zrtt_enqueue_segs(skb, sch, to_free, 1);
	return zrtt_enqueue_usual(skb, sch, to_free);
}

/* Dequeue */

/*
 * What dequeue does by the clock, once per jiffy: arrivals read it anyway, and
 * departures need it in finer steps for the few packets that begin a timing, and for
 * each packet if they are shaped.
 *
 * Return: whether a packet may leave.
 */
static noinline bool zrtt_dequeue_clock(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u64 now_ns = zrtt_run_clock(sch);
	bool trimming = zrtt_trim(sch);

	q->dequeue_jiffies = (u32)jiffies;
	if (zrtt_drop_late(sch, now_ns) || trimming || q->params.shaper.rate)
		zrtt_dequeue_clock_soon(q);
	if (!q->params.shaper.rate)
		return true;
	/* what is dropped takes nothing of the rate */
	zrtt_settle_next(sch);
	return zrtt_shape(sch, now_ns);
}

/* The last packet leaves; the next arrival reads the clock. */
static noinline void zrtt_ran_empty(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	q->clock.until = zrtt_moved(sch, q);
	q->stats.idle_events++;
	zrtt_idle(&q->params, &q->vars, ktime_get_ns());
}

static struct sk_buff *zrtt_dequeue(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (!zrtt_any_queued(sch))
		return NULL;
	if (q->dequeue_jiffies != (u32)jiffies && !zrtt_dequeue_clock(sch))
		return NULL;

	do
		skb = zrtt_send_next(sch);
	while (unlikely(!skb));
	if (zrtt_cb(skb)->times)
		zrtt_start_timing(q, zrtt_cb(skb), ktime_get_ns());
	if (!qdisc_qlen(sch))
		zrtt_ran_empty(sch);
	return skb;
}

/* Set-up */

/* What follows from the parameters beside the algorithm's own. */
static void zrtt_derive(struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	sch->limit = zrtt_params_limit(&q->params);
	zrtt_derive_limits(q);
	q->wanted.hint = q->params.hint != ZRTT_HINT_IGNORE || q->params.strip;
	q->wanted.timestamps = q->net;
	q->wanted.quic = q->params.quic;
	q->handshake_flag = q->params.handshake ? ZRTT_TCP_SYN : 0;
	q->names_or_strip = q->params.names || q->params.strip;
	q->asks_more = zrtt_asks_more(q);
	q->looks_closer = q->asks_more || q->vars.table.members;
	zrtt_peers_tell(q);
	zrtt_derive_link(q);
	zrtt_derive_line(sch, extack);
}

/* Live: packets stay queued, and what was learnt is carried over. */
static int zrtt_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_params params = q->params;
	struct zrtt_tables tables;
	u32 what;
	int err;

	err = zrtt_parse(&params, opt, extack) ?: zrtt_refuse_place(sch, &params, extack);
	if (err)
		return err;
	what = zrtt_tables_differ(&q->params, &params);
	err = zrtt_tables_alloc(&tables, sch, &params, what);
	if (err)
		goto out;

	sch_tree_lock(sch);
	if (params.shaper.rate != q->params.shaper.rate)
		zrtt_change_shaper(q, &params.shaper);
	q->params = params;
	zrtt_tables_take(q, &tables, what);
	zrtt_derive(sch, extack);
	/* the next departures drop what is above the limits */
	q->trim = zrtt_exceeds(q);
	zrtt_dequeue_clock_soon(q);
	sch_tree_unlock(sch);
	if (what & ZRTT_TABLE_SLOTS)
		zrtt_move_flows(sch);
	zrtt_peers_fit(q);
out:
	zrtt_tables_free(&tables);
	return err;
}

static int zrtt_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_tables tables;
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	sch->flags |= TCQ_F_DEQUEUE_DROPS;
	zrtt_params_init(&q->params);
	q->params.memory_limit = zrtt_memory_limit();
	if (opt) {
		err = zrtt_parse(&q->params, opt, extack) ?: zrtt_refuse_place(sch, &q->params, extack);
		if (err)
			return err;
	}
	err = zrtt_tables_alloc(&tables, sch, &q->params, ZRTT_TABLE_ALL);
	if (err) {
		zrtt_tables_free(&tables);
		return err;
	}
	zrtt_tables_begin(q, &tables);
	get_random_bytes(&q->key, sizeof(q->key));
	zrtt_hash_init(&q->key);
	q->rnd = get_random_u32();
	zrtt_derive(sch, extack);
	return zrtt_peers_join(sch);
}

/* Flows stay: those of a link that was down for a moment come back, the others fall
 * silent. To forget millions of them would take too long under the lock.
 */
static void zrtt_reset(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	zrtt_purge(sch);
	q->clock.until = zrtt_moved(sch, q);
	q->shaper = (struct zrtt_shaper) {};
	qdisc_watchdog_cancel(&q->watchdog);
	zrtt_vars_reset(&q->vars);
}

/* The core calls this after a failed init, too. */
static void zrtt_destroy(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_tables tables = {
		.net = q->net,
		.slots = q->vars.table.slots,
		.names = q->names,
		.members = q->vars.table.members,
		.hosts = q->vars.hosts.table.slots,
		.groups = q->vars.hosts.groups,
		.parts = q->vars.hosts.table.parts,
		.ceils = q->vars.hosts.ceils,
	};

	qdisc_watchdog_cancel(&q->watchdog);
	zrtt_line_stop(sch);
	zrtt_peers_leave(&q->together);
	zrtt_tables_free(&tables);
}

static int zrtt_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_params params;

	/* all of one change, and nothing of the next */
	sch_tree_lock(sch);
	params = q->params;
	params.shaper.rate = zrtt_finds_rate(q) ? q->link.rate : params.shaper.rate;
	sch_tree_unlock(sch);
	return zrtt_dump_params(skb, &params);
}

static struct Qdisc_ops zrtt_qdisc_ops __read_mostly = {
	.id		= "zrtt",
	.cl_ops		= &zrtt_class_ops,
	.priv_size	= sizeof(struct zrtt_sched_data),
	.enqueue	= zrtt_enqueue,
	.dequeue	= zrtt_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= zrtt_init,
	.change		= zrtt_change,
	.reset		= zrtt_reset,
	.destroy	= zrtt_destroy,
	.dump		= zrtt_dump,
	.dump_stats	= zrtt_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("zrtt");

static int __init zrtt_module_init(void)
{
	int err;

	err = register_pernet_subsys(&zrtt_net_ops);
	if (err)
		return err;
	err = register_qdisc(&zrtt_qdisc_ops);
	if (err)
		unregister_pernet_subsys(&zrtt_net_ops);
	return err;
}

static void __exit zrtt_module_exit(void)
{
	unregister_qdisc(&zrtt_qdisc_ops);
	unregister_pernet_subsys(&zrtt_net_ops);
}

module_init(zrtt_module_init)
module_exit(zrtt_module_exit)

MODULE_DESCRIPTION("RTT-fair active queue management without a queue per flow");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
