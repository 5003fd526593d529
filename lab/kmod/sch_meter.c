// SPDX-License-Identifier: GPL-2.0
/*
 * sch_meter: measures what a child qdisc does to the packets given to it.
 *
 *	htb class -> meter -> qdisc under test
 *
 * Every qdisc is measured in the same way, from outside: each packet gets the
 * time in skb->tstamp on its way in, and the difference on its way out is its
 * sojourn. GSO segmentation copies the time stamp, so it survives a child that
 * splits. Nothing is ever delayed, dropped or reordered here.
 *
 * Class 1 holds the child. Classes 2 and up are flows, told apart by the low bits
 * of their destination port: what left of each, with CE marks as overlimits.
 *
 * Below a shaper a qdisc is never asked for a packet that it does not have, and RED
 * does not notice that it is idle: it may drop all for ever. The meter can ask, as
 * a device would.
 *
 * All hosts are namespaces of one kernel, so a packet carries the hash of the socket it
 * comes from, which no router would know: to tell flows apart as one does, by addresses
 * and ports, the child must not see it.
 *
 * Thin traffic, known by its source address, is measured by class, too, and all traffic by
 * the ECN field with which it came. The child may change that field, so the class is in the
 * low bits of the time stamp: a sojourn is off by 3 ns at most.
 *
 * Of programs that choose ports themselves, each 5-tuple is a class of its own, in the order
 * of their first packets (tuples.h).
 *
 * A forwarded packet arrives with an empty time stamp and leaves with one, unless a line
 * above the meter (sch_line.c) is to know when it came.
 */
#include <linux/if_vlan.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/flow_dissector.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

#include "meter.h"
#include "percentile.h"
#include "tuples.h"

#define METER_BUCKET_US		100U		/* width of a histogram bucket */
#define METER_RANGE_US		4000000U	/* longer sojourns fall in the last one */
#define METER_BUCKETS		(METER_RANGE_US / METER_BUCKET_US)

#define METER_PART_BUCKET_US	20U		/* a frame at 100 Mbit/s takes 121 us */
#define METER_PART_BUCKETS	(METER_RANGE_US / METER_PART_BUCKET_US)

#define METER_ECN_CLASS		3LL		/* mask of the class in the time stamp */

#define METER_FLOWS		4096U		/* power of two */

#define METER_CLASS_CHILD	1UL
#define METER_CLASS_FLOWS	2UL		/* the first of METER_FLOWS */
#define METER_CLASS_TUPLES	(METER_CLASS_FLOWS + METER_FLOWS)

/**
 * struct meter_flow - what left of one flow
 * @bstats:	packets, segments counted one by one, and bytes
 * @ce:		packets with CE
 * @liar:	its ECT(1) is METER_LIAR
 * @class:	of its last packet that was not CE when it came
 */
struct meter_flow {
	struct gnet_stats_basic_sync	bstats;
	u32				ce;
	bool				liar;
	u8				class;
};

/**
 * struct meter_part - one class of traffic: packets that came since the last reset
 * @histogram:	packets per sojourn of METER_PART_BUCKET_US
 * @stats:	counters; its mean and percentiles are filled in when dumped
 * @sum_ns:	sum of their sojourns, nanoseconds
 */
struct meter_part {
	u32			*histogram;
	struct tc_meter_part	stats;
	u64			sum_ns;
};

/**
 * struct meter_sched_data - private data of one meter
 * @child:	the qdisc under test
 * @histogram:	packets per sojourn of METER_BUCKET_US
 * @flows:	METER_FLOWS of them
 * @thin:	the classes of thin traffic
 * @ecn:	the classes by the ECN field
 * @tuples:	what is known of each 5-tuple; NULL unless asked for
 * @since:	the last reset
 * @until:	the stop after it, of 5-tuples
 * @stats:	counters; its percentiles are filled in when dumped
 * @sum_ns:	sum of all sojourns, nanoseconds
 * @poll:	ask the child once more when it is empty
 * @keep:	leave the time stamp in what leaves
 */
struct meter_sched_data {
	struct Qdisc		*child;
	u32			*histogram;
	struct meter_flow	*flows;
	struct meter_part	thin[METER_THIN_CLASSES];
	struct meter_part	ecn[METER_ECN_CLASSES];
	struct tuples		*tuples;
	ktime_t			since;
	ktime_t			until;
	struct tc_meter_xstats	stats;
	u64			sum_ns;
	bool			poll;
	bool			keep;
};

static const struct nla_policy meter_policy[TCA_METER_MAX + 1] = {
	[TCA_METER_RESET] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
	[TCA_METER_POLL] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
	[TCA_METER_LIAR] = { .type = NLA_U32 },
	[TCA_METER_TUPLES] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
	[TCA_METER_STOP] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
	[TCA_METER_KEEP] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
};

static u32 meter_segments(const struct sk_buff *skb)
{
	return max_t(u32, skb_shinfo(skb)->gso_segs, 1);
}

static u8 meter_ecn(struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (!pskb_network_may_pull(skb, sizeof(struct iphdr)))
			return INET_ECN_NOT_ECT;
		return ip_hdr(skb)->tos & INET_ECN_MASK;
	case htons(ETH_P_IPV6):
		if (!pskb_network_may_pull(skb, sizeof(struct ipv6hdr)))
			return INET_ECN_NOT_ECT;
		return ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK;
	default:
		return INET_ECN_NOT_ECT;
	}
}

static u8 meter_ecn_class(struct meter_flow *flow, u8 ecn)
{
	if (ecn == INET_ECN_ECT_1)
		flow->class = flow->liar ? METER_LIAR : METER_L4S;
	else if (ecn != INET_ECN_CE)
		flow->class = METER_CLASSIC;
	return flow->class;
}

static struct meter_flow *meter_flow_of(struct meter_sched_data *q,
					const struct sk_buff *skb)
{
	struct flow_keys keys;

	skb_flow_dissect_flow_keys(skb, &keys, 0);
	return &q->flows[ntohs(keys.ports.dst) & (METER_FLOWS - 1)];
}

/* NULL: not thin traffic. */
static struct meter_part *meter_thin_of(struct meter_sched_data *q, struct sk_buff *skb)
{
	u32 class;

	if (skb_protocol(skb, true) != htons(ETH_P_IP) ||
	    !pskb_network_may_pull(skb, sizeof(struct iphdr)))
		return NULL;
	class = (ntohl(ip_hdr(skb)->saddr) ^ METER_THIN_NET) >> 8;
	return class < METER_THIN_CLASSES ? &q->thin[class] : NULL;
}

static void meter_count_part(struct meter_part *part, const struct sk_buff *skb, u32 segments,
			     u64 sojourn_ns, u32 sojourn_us)
{
	u32 bucket = min(sojourn_us / METER_PART_BUCKET_US, METER_PART_BUCKETS - 1);

	part->histogram[bucket] += segments;
	part->sum_ns += segments * sojourn_ns;
	part->stats.packets_out += segments;
	part->stats.bytes_out += qdisc_pkt_len(skb);
	part->stats.max_us = max(part->stats.max_us, sojourn_us);
}

/* Whether a packet, by the time when it came, counts towards its 5-tuple. */
static bool meter_tuples(const struct meter_sched_data *q, const struct sk_buff *skb)
{
	return q->tuples && !ktime_before(skb->tstamp, q->since) &&
	       ktime_before(skb->tstamp, q->until);
}

static void meter_count_out(struct meter_sched_data *q, struct sk_buff *skb)
{
	s64 sojourn_ns = max_t(s64, ktime_sub(ktime_get(), skb->tstamp), 0);
	u32 sojourn_us = min_t(u64, div_u64(sojourn_ns, NSEC_PER_USEC), U32_MAX);
	u32 bucket = min(sojourn_us / METER_BUCKET_US, METER_BUCKETS - 1);
	struct meter_flow *flow = meter_flow_of(q, skb);
	struct meter_part *thin = meter_thin_of(q, skb);
	u32 segments = meter_segments(skb);
	bool ce = meter_ecn(skb) == INET_ECN_CE;

	q->histogram[bucket] += segments;
	q->sum_ns += segments * sojourn_ns;
	q->stats.max_us = max(q->stats.max_us, sojourn_us);
	q->stats.packets_out += segments;
	q->stats.bytes_out += qdisc_pkt_len(skb);
	_bstats_update(&flow->bstats, qdisc_pkt_len(skb), segments);
	if (ce) {
		q->stats.ce_out += segments;
		flow->ce += segments;
	}
	if (ktime_before(skb->tstamp, q->since))
		return;
	meter_count_part(&q->ecn[skb->tstamp & METER_ECN_CLASS], skb, segments, sojourn_ns,
			 sojourn_us);
	if (thin)
		meter_count_part(thin, skb, segments, sojourn_ns, sojourn_us);
	if (meter_tuples(q, skb))
		tuples_out(q->tuples, skb, segments, ce, sojourn_ns, sojourn_us);
}

static void meter_poll(struct meter_sched_data *q)
{
	if (q->poll && !q->child->q.qlen)
		WARN_ON_ONCE(q->child->dequeue(q->child));
}

static int meter_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			 struct sk_buff **to_free)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	struct meter_part *thin = meter_thin_of(q, skb);
	u32 segments = meter_segments(skb);
	u8 ecn = meter_ecn(skb);
	u8 class = meter_ecn_class(meter_flow_of(q, skb), ecn);
	int ret;

	q->stats.packets_in += segments;
	q->stats.bytes_in += len;
	if (ecn == INET_ECN_CE)
		q->stats.ce_in += segments;
	q->ecn[class].stats.packets_in += segments;
	if (thin)
		thin->stats.packets_in += segments;
	skb->tstamp = (ktime_get() & ~METER_ECN_CLASS) | class;
	if (meter_tuples(q, skb))
		tuples_in(q->tuples, skb, segments, ktime_us_delta(skb->tstamp, q->since));
	/* A socket's hash, which changes with each RTO, does not cross a link to a router. */
	skb_clear_hash(skb);

	ret = qdisc_enqueue(skb, q->child, to_free);
	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		meter_poll(q);
		return ret;
	}

	/* A child that split the packet has already told us of the others. */
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *meter_dequeue(struct Qdisc *sch)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_dequeue_peeked(q->child);

	if (!skb)
		return NULL;

	meter_count_out(q, skb);
	if (!q->keep)
		skb_clear_tstamp(skb);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	meter_poll(q);
	return skb;
}

static void meter_forget_part(struct meter_part *part)
{
	memset(part->histogram, 0, METER_PART_BUCKETS * sizeof(*part->histogram));
	memset(&part->stats, 0, sizeof(part->stats));
	part->sum_ns = 0;
}

static void meter_forget(struct meter_sched_data *q)
{
	u32 i;

	for (i = 0; i < METER_FLOWS; i++) {
		gnet_stats_basic_sync_init(&q->flows[i].bstats);
		q->flows[i].ce = 0;
	}
	memset(q->histogram, 0, METER_BUCKETS * sizeof(*q->histogram));
	memset(&q->stats, 0, sizeof(q->stats));
	q->sum_ns = 0;
	for (i = 0; i < METER_THIN_CLASSES; i++)
		meter_forget_part(&q->thin[i]);
	for (i = 0; i < METER_ECN_CLASSES; i++)
		meter_forget_part(&q->ecn[i]);
	/* a packet may come in the same instant */
	q->since = ktime_get() & ~METER_ECN_CLASS;
	if (q->tuples)
		tuples_forget(q->tuples);
	q->until = KTIME_MAX;
}

static int meter_change(struct Qdisc *sch, struct nlattr *opt,
			struct netlink_ext_ack *extack)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_METER_MAX + 1];
	struct tuples *tuples = NULL;
	int err;

	err = nla_parse_nested(tb, TCA_METER_MAX, opt, meter_policy, extack);
	if (err)
		return err;

	if (tb[TCA_METER_TUPLES] && !q->tuples) {
		tuples = kvzalloc(sizeof(*tuples), GFP_KERNEL);
		if (!tuples)
			return -ENOMEM;
	}

	sch_tree_lock(sch);
	if (tuples)
		q->tuples = tuples;
	if (tb[TCA_METER_RESET])
		meter_forget(q);
	if (tb[TCA_METER_STOP])
		q->until = ktime_get();
	if (tb[TCA_METER_POLL])
		q->poll = true;
	if (tb[TCA_METER_KEEP])
		q->keep = true;
	if (tb[TCA_METER_LIAR])
		q->flows[nla_get_u32(tb[TCA_METER_LIAR]) & (METER_FLOWS - 1)].liar = true;
	sch_tree_unlock(sch);
	return 0;
}

static bool meter_make_part(struct meter_part *part)
{
	part->histogram = kvcalloc(METER_PART_BUCKETS, sizeof(*part->histogram), GFP_KERNEL);
	return part->histogram;
}

static int meter_init(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	u32 i;

	q->child = &noop_qdisc;
	q->histogram = kvcalloc(METER_BUCKETS, sizeof(*q->histogram), GFP_KERNEL);
	q->flows = kvcalloc(METER_FLOWS, sizeof(*q->flows), GFP_KERNEL);
	if (!q->histogram || !q->flows)
		return -ENOMEM;	/* the core calls destroy() */
	for (i = 0; i < METER_THIN_CLASSES; i++)
		if (!meter_make_part(&q->thin[i]))
			return -ENOMEM;
	for (i = 0; i < METER_ECN_CLASSES; i++)
		if (!meter_make_part(&q->ecn[i]))
			return -ENOMEM;
	meter_forget(q);
	return 0;
}

static void meter_reset(struct Qdisc *sch)
{
	struct meter_sched_data *q = qdisc_priv(sch);

	qdisc_reset(q->child);
}

static void meter_destroy(struct Qdisc *sch)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	u32 i;

	qdisc_put(q->child);
	if (q->tuples) {
		tuples_forget(q->tuples);
		kvfree(q->tuples);
	}
	for (i = 0; i < METER_THIN_CLASSES; i++)
		kvfree(q->thin[i].histogram);
	for (i = 0; i < METER_ECN_CLASSES; i++)
		kvfree(q->ecn[i].histogram);
	kvfree(q->flows);
	kvfree(q->histogram);
}

static int meter_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	return nest ? nla_nest_end(skb, nest) : -EMSGSIZE;
}

static u32 meter_percentile_us(const struct meter_sched_data *q, u32 per_mille)
{
	return percentile_us(q->histogram, METER_BUCKETS, METER_BUCKET_US,
			     q->stats.packets_out, per_mille, q->stats.max_us);
}

/* At most the longest: a bucket's edge may be above it. */
static u32 meter_part_percentile_us(const struct meter_part *part, u32 per_mille)
{
	u32 us = percentile_us(part->histogram, METER_PART_BUCKETS, METER_PART_BUCKET_US,
			       part->stats.packets_out, per_mille, part->stats.max_us);

	return min(us, part->stats.max_us);
}

static void meter_fill_part(const struct meter_part *part, struct tc_meter_part *st)
{
	*st = part->stats;
	if (!st->packets_out)
		return;
	st->mean_ns = div64_u64(part->sum_ns, st->packets_out);
	st->p95_us = meter_part_percentile_us(part, 950);
	st->p99_us = meter_part_percentile_us(part, 990);
}

static int meter_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	struct tc_meter_xstats st;
	u32 i;

	sch_tree_lock(sch);
	st = q->stats;
	st.elapsed_ns = ktime_to_ns(ktime_sub(ktime_get(), q->since));
	st.tuples_unknown = q->tuples ? q->tuples->unknown : 0;
	if (st.packets_out)
		st.mean_ns = div64_u64(q->sum_ns, st.packets_out);
	st.p50_us = meter_percentile_us(q, 500);
	st.p95_us = meter_percentile_us(q, 950);
	st.p99_us = meter_percentile_us(q, 990);
	for (i = 0; i < METER_THIN_CLASSES; i++)
		meter_fill_part(&q->thin[i], &st.thin[i]);
	for (i = 0; i < METER_ECN_CLASSES; i++)
		meter_fill_part(&q->ecn[i], &st.ecn[i]);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static int meter_dump_class(struct Qdisc *sch, unsigned long cl,
			    struct sk_buff *skb, struct tcmsg *tcm)
{
	struct meter_sched_data *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(cl);
	if (cl == METER_CLASS_CHILD)
		tcm->tcm_info = q->child->handle;
	return 0;
}

/* A reset may have taken it since it was found. */
static int meter_dump_tuple(struct Qdisc *sch, unsigned long index, struct gnet_dump *d)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	struct tc_meter_tuple *copy;
	int ret = 0;

	copy = kzalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -1;
	sch_tree_lock(sch);
	if (q->tuples && index < q->tuples->used)
		*copy = *q->tuples->all[index];
	sch_tree_unlock(sch);
	if (copy->packets_in)
		ret = gnet_stats_copy_app(d, copy, sizeof(*copy));
	kfree(copy);
	return ret;
}

static int meter_dump_class_stats(struct Qdisc *sch, unsigned long cl,
				  struct gnet_dump *d)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	struct gnet_stats_queue qstats = {};
	struct meter_flow *flow;

	if (cl == METER_CLASS_CHILD)
		return 0;
	if (cl >= METER_CLASS_TUPLES)
		return meter_dump_tuple(sch, cl - METER_CLASS_TUPLES, d);

	flow = &q->flows[cl - METER_CLASS_FLOWS];
	qstats.overlimits = READ_ONCE(flow->ce);
	if (gnet_stats_copy_basic(d, NULL, &flow->bstats, true) < 0)
		return -1;
	return gnet_stats_copy_queue(d, NULL, &qstats, 0);
}

static int meter_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
		       struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct meter_sched_data *q = qdisc_priv(sch);

	if (cl != METER_CLASS_CHILD) {
		NL_SET_ERR_MSG(extack, "only class 1 of a meter takes a qdisc");
		return -EOPNOTSUPP;
	}
	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *meter_leaf(struct Qdisc *sch, unsigned long cl)
{
	struct meter_sched_data *q = qdisc_priv(sch);

	return cl == METER_CLASS_CHILD ? q->child : NULL;
}

static unsigned long meter_find(struct Qdisc *sch, u32 classid)
{
	unsigned long cl = TC_H_MIN(classid);

	return cl < METER_CLASS_TUPLES + TUPLES_MAX ? cl : 0;
}

static void meter_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	struct meter_sched_data *q = qdisc_priv(sch);
	u32 i;

	if (walker->stop || !tc_qdisc_stats_dump(sch, METER_CLASS_CHILD, walker))
		return;

	for (i = 0; i < METER_FLOWS; i++) {
		if (!u64_stats_read(&q->flows[i].bstats.packets)) {
			walker->count++;
			continue;
		}
		if (!tc_qdisc_stats_dump(sch, METER_CLASS_FLOWS + i, walker))
			return;
	}
	for (i = 0; q->tuples && i < q->tuples->used; i++)
		if (!tc_qdisc_stats_dump(sch, METER_CLASS_TUPLES + i, walker))
			return;
}

static const struct Qdisc_class_ops meter_class_ops = {
	.graft		= meter_graft,
	.leaf		= meter_leaf,
	.find		= meter_find,
	.walk		= meter_walk,
	.dump		= meter_dump_class,
	.dump_stats	= meter_dump_class_stats,
};

static struct Qdisc_ops meter_qdisc_ops __read_mostly = {
	.cl_ops		= &meter_class_ops,
	.id		= "meter",
	.priv_size	= sizeof(struct meter_sched_data),
	.enqueue	= meter_enqueue,
	.dequeue	= meter_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= meter_init,
	.reset		= meter_reset,
	.destroy	= meter_destroy,
	.change		= meter_change,
	.dump		= meter_dump,
	.dump_stats	= meter_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init meter_module_init(void)
{
	return register_qdisc(&meter_qdisc_ops);
}

static void __exit meter_module_exit(void)
{
	unregister_qdisc(&meter_qdisc_ops);
}

module_init(meter_module_init);
module_exit(meter_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Measures the sojourn of every packet in a child qdisc");
