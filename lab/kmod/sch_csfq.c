// SPDX-License-Identifier: GPL-2.0
/*
 * sch_csfq: core-stateless fair queueing, to compare with.
 *
 * I. Stoica, S. Shenker, H. Zhang: "Core-Stateless Fair Queueing: Achieving
 * Approximately Fair Bandwidth Allocations in High Speed Networks", SIGCOMM 1998.
 *
 * Edge and core are one router here: the rate of each flow, which an edge would
 * write into its packets for the core to read, is estimated on the spot. Then,
 * as in figure 3 of the paper, with r the flow's rate and C the link's:
 *
 *	a packet is dropped with probability max(0, 1 - alpha / r)
 *	A, F = rates of what arrives and of what passes that test
 *	A >= C for a window	alpha *= C / F
 *	A < C for a window	alpha = the largest r seen in it
 *	queue full		alpha *= 0.99, at most down to 3/4 in a window
 *
 * As in the authors' simulator, a link whose queue is short drops nothing: while
 * it is below a quarter of its limit (16 of 64 KB there), there is no alpha.
 *
 * The rate is an option, not a measurement. It divides on the packet's way: that
 * is of no concern to a laboratory.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

#include "csfq.h"

#define CSFQ_SETS		2048U	/* power of two */
#define CSFQ_WAYS		8U	/* flows of a set */
#define CSFQ_NO_SHARE		U32_MAX	/* for alpha: all may pass */
#define CSFQ_THRESHOLD_SHIFT	2	/* limit / 4, see above */
#define CSFQ_CUT_DIVISOR	100U	/* a full queue takes 1 % off alpha */
#define CSFQ_CUTS_MAX		28U	/* of a window: 0.99^28 = 0.755 */

/**
 * struct csfq_average - an exponentially averaged rate
 * @last_us:	time of its last packet, 0 if there was none
 * @rate:	bytes per second
 */
struct csfq_average {
	u64	last_us;
	u32	rate;
};

/**
 * struct csfq_flow - what an edge router knows of a flow
 * @average:	its rate of arrival, the label of its packets
 * @hash:	who it is
 */
struct csfq_flow {
	struct csfq_average	average;
	u32			hash;
};

/**
 * struct csfq_vars - what a core router knows of a link
 * @arrival:	A, rate of all that arrives
 * @accepted:	F, rate of what passes the test of the fair share
 * @since_us:	begin of the window
 * @alpha:	the fair share, bytes per second, or CSFQ_NO_SHARE
 * @largest:	largest label of the window, bytes per second
 * @cuts:	of alpha in this window, by a full queue
 * @congested:	more arrives than the link carries
 */
struct csfq_vars {
	struct csfq_average	arrival;
	struct csfq_average	accepted;
	u64			since_us;
	u32			alpha;
	u32			largest;
	u32			cuts;
	bool			congested;
};

/**
 * struct csfq_sched_data - private data of one qdisc
 * @params:	by attribute
 * @vars:	of the link
 * @flows:	CSFQ_SETS * CSFQ_WAYS of them
 * @key:	so that nobody can tell which flows share a set
 * @stats:	counters; the rates are filled in when dumped
 */
struct csfq_sched_data {
	u32			params[TCA_CSFQ_MAX + 1];
	struct csfq_vars	vars;
	struct csfq_flow	*flows;
	siphash_key_t		key;
	struct tc_csfq_xstats	stats;
};

/**
 * csfq_average_add() - take a packet into an average
 * @average:	bytes per second
 * @bytes:	size of the packet
 * @now_us:	when it came, microseconds
 * @k_us:	K, time constant, microseconds
 *
 * Equation (3) of the paper, with T the time since the packet before:
 *
 *	r' = (1 - e^-x) bytes / T + e^-x r,  x = T / K
 *	   = r + (bytes - T r) / (K w),      w = x / (1 - e^-x)
 *
 * w = 1 + x/2 + x^2/12 - x^4/720 is 2 % off at most before x itself is the better
 * value, at 3.9. An error of w is one of K: the mean of r has none.
 */
static void csfq_average_add(struct csfq_average *average, u32 bytes,
			     u64 now_us, u32 k_us)
{
	u64 gap_us = average->last_us ? now_us - average->last_us : 0;
	s64 rate = average->rate;
	u32 x, w;	/* Q10 */

	average->last_us = now_us;
	if (gap_us >= 4ULL * k_us) {
		rate = div64_u64((u64)bytes * USEC_PER_SEC, gap_us);
	} else {
		x = div_u64(gap_us << 10, k_us);
		w = (1 << 10) + x / 2 + (x * x / 12 >> 10) -
		    (u32)(((u64)x * x * x * x / 720) >> 30);
		rate += div64_s64((s64)bytes * USEC_PER_SEC - (s64)gap_us * rate,
				  (u64)k_us * max(w, x) >> 10);
	}
	average->rate = clamp_t(s64, rate, 0, U32_MAX);
}

/* The flow's own place, or that of the one in its set that was silent for longest. */
static struct csfq_flow *csfq_flow_get(struct csfq_sched_data *q,
				       const struct sk_buff *skb)
{
	u32 hash = skb_get_hash_perturb(skb, &q->key);
	struct csfq_flow *set = &q->flows[(hash & (CSFQ_SETS - 1)) * CSFQ_WAYS];
	struct csfq_flow *oldest = set;
	struct csfq_flow *flow;

	for (flow = set; flow < set + CSFQ_WAYS; flow++) {
		if (flow->hash == hash && flow->average.last_us)
			return flow;
		if (flow->average.last_us < oldest->average.last_us)
			oldest = flow;
	}
	if (oldest->average.last_us)
		q->stats.evicted++;
	memset(oldest, 0, sizeof(*oldest));
	oldest->hash = hash;
	return oldest;
}

static void csfq_new_window(struct csfq_vars *vars, bool congested, u64 now_us)
{
	vars->congested = congested;
	vars->since_us = now_us;
	vars->largest = 0;
	vars->cuts = 0;
}

/**
 * csfq_share_update() - take a packet into the estimate of the fair share
 * @q:		the qdisc
 * @bytes:	size of the packet
 * @label:	rate of its flow, bytes per second
 * @passed:	whether it passed the test of the fair share
 * @now_us:	when it came, microseconds
 * @queue:	packets that wait
 *
 * estimate_alpha() of the paper.
 */
static void csfq_share_update(struct csfq_sched_data *q, u32 bytes, u32 label,
			      bool passed, u64 now_us, u32 queue)
{
	bool is_short = queue < q->params[TCA_CSFQ_LIMIT] >> CSFQ_THRESHOLD_SHIFT;
	u32 k_us = q->params[TCA_CSFQ_K_ALPHA];
	u32 link = q->params[TCA_CSFQ_RATE];
	struct csfq_vars *vars = &q->vars;
	bool congested, is_over;

	csfq_average_add(&vars->arrival, bytes, now_us, k_us);
	if (passed)
		csfq_average_add(&vars->accepted, bytes, now_us, k_us);
	vars->largest = max(vars->largest, label);

	if (vars->alpha == CSFQ_NO_SHARE) {
		if (!is_short) {
			vars->alpha = min(vars->largest, link);
			csfq_new_window(vars, vars->arrival.rate >= link, now_us);
		}
		return;
	}

	congested = vars->arrival.rate >= link;
	is_over = now_us - vars->since_us > q->params[TCA_CSFQ_WINDOW];
	if (congested != vars->congested) {
		csfq_new_window(vars, congested, now_us);
	} else if (is_over && congested) {
		vars->alpha = min_t(u64, div_u64((u64)vars->alpha * link,
						 max(vars->accepted.rate, 1U)), link);
		csfq_new_window(vars, congested, now_us);
	} else if (is_over) {
		vars->alpha = is_short ? CSFQ_NO_SHARE : vars->largest;
		csfq_new_window(vars, congested, now_us);
	}
}

static void csfq_share_cut(struct csfq_vars *vars)
{
	if (vars->alpha == CSFQ_NO_SHARE || vars->cuts == CSFQ_CUTS_MAX)
		return;
	vars->alpha -= vars->alpha / CSFQ_CUT_DIVISOR;
	vars->cuts++;
}

static int csfq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	u64 now_us = div_u64(ktime_get_ns(), NSEC_PER_USEC);
	struct csfq_sched_data *q = qdisc_priv(sch);
	struct csfq_flow *flow = csfq_flow_get(q, skb);
	u32 bytes = qdisc_pkt_len(skb);
	bool above, marked, full;
	u32 label;

	csfq_average_add(&flow->average, bytes, now_us, q->params[TCA_CSFQ_K]);
	label = flow->average.rate;

	/* u label >= alpha, u uniform in 0..1, has probability 1 - alpha / label */
	above = reciprocal_scale(get_random_u32(), label) >= q->vars.alpha;
	full = qdisc_qlen(sch) >= q->params[TCA_CSFQ_LIMIT];
	marked = above && !full && q->params[TCA_CSFQ_ECN] && INET_ECN_set_ce(skb);
	csfq_share_update(q, bytes, label, !above || marked, now_us, qdisc_qlen(sch));

	if (marked)
		q->stats.ecn_mark++;
	if (above && !marked) {
		q->stats.drop_share++;
		return qdisc_drop(skb, sch, to_free);
	}
	if (full) {
		q->stats.drop_limit++;
		csfq_share_cut(&q->vars);
		return qdisc_drop(skb, sch, to_free);
	}
	return qdisc_enqueue_tail(skb, sch);
}

/**
 * struct csfq_range - what a parameter may be
 * @least:	value
 * @most:	value
 * @refusal:	of any other
 */
struct csfq_range {
	u32		least;
	u32		most;
	const char	*refusal;
};

static const struct csfq_range csfq_ranges[TCA_CSFQ_MAX + 1] = {
	[TCA_CSFQ_RATE]    = { 1250, 1250000000, "csfq: rate must be 10kbit to 10gbit" },
	[TCA_CSFQ_LIMIT]   = { 1, 1000000, "csfq: limit must be 1 to 1000000 packets" },
	[TCA_CSFQ_K]	   = { 1000, 10000000, "csfq: k must be 1ms to 10s" },
	[TCA_CSFQ_K_ALPHA] = { 1000, 10000000, "csfq: k_alpha must be 1ms to 10s" },
	[TCA_CSFQ_WINDOW]  = { 1000, 10000000, "csfq: window must be 1ms to 10s" },
	[TCA_CSFQ_ECN]	   = { 0, 1, "csfq: ecn must be 0 or 1" },
};

/* The paper's section 4 where it says so: K, K_alpha. */
static const u32 csfq_defaults[TCA_CSFQ_MAX + 1] = {
	[TCA_CSFQ_LIMIT]	= 100,
	[TCA_CSFQ_K]		= 100 * USEC_PER_MSEC,
	[TCA_CSFQ_K_ALPHA]	= 200 * USEC_PER_MSEC,
	[TCA_CSFQ_WINDOW]	= 100 * USEC_PER_MSEC,
};

static const struct nla_policy csfq_policy[TCA_CSFQ_MAX + 1] = {
	[TCA_CSFQ_RATE ... TCA_CSFQ_MAX] = { .type = NLA_U32 },
};

static int csfq_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct csfq_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_CSFQ_MAX + 1];
	u32 params[TCA_CSFQ_MAX + 1];
	int err, i;

	err = nla_parse_nested(tb, TCA_CSFQ_MAX, opt, csfq_policy, extack);
	if (err)
		return err;

	memcpy(params, q->params, sizeof(params));
	for (i = 1; i <= TCA_CSFQ_MAX; i++) {
		const struct csfq_range *range = &csfq_ranges[i];

		if (tb[i])
			params[i] = nla_get_u32(tb[i]);
		if (params[i] < range->least || params[i] > range->most) {
			if (extack)
				extack->_msg = range->refusal;
			return -EINVAL;
		}
	}

	sch_tree_lock(sch);
	memcpy(q->params, params, sizeof(params));
	sch_tree_unlock(sch);
	return 0;
}

static void csfq_forget(struct csfq_sched_data *q)
{
	memset(q->flows, 0, CSFQ_SETS * CSFQ_WAYS * sizeof(*q->flows));
	memset(&q->vars, 0, sizeof(q->vars));
	q->vars.alpha = CSFQ_NO_SHARE;
}

static int csfq_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct csfq_sched_data *q = qdisc_priv(sch);

	memcpy(q->params, csfq_defaults, sizeof(q->params));
	get_random_bytes(&q->key, sizeof(q->key));
	q->flows = kvcalloc(CSFQ_SETS * CSFQ_WAYS, sizeof(*q->flows), GFP_KERNEL);
	if (!q->flows)
		return -ENOMEM;
	csfq_forget(q);

	if (!opt) {
		NL_SET_ERR_MSG(extack, "csfq: rate of the link is needed");
		return -EINVAL;
	}
	return csfq_change(sch, opt, extack);
}

static void csfq_reset(struct Qdisc *sch)
{
	qdisc_reset_queue(sch);
	csfq_forget(qdisc_priv(sch));
}

static void csfq_destroy(struct Qdisc *sch)
{
	struct csfq_sched_data *q = qdisc_priv(sch);

	kvfree(q->flows);
}

static int csfq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct csfq_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= TCA_CSFQ_MAX; i++) {
		if (nla_put_u32(skb, i, q->params[i])) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	return nla_nest_end(skb, nest);
}

static int csfq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct csfq_sched_data *q = qdisc_priv(sch);
	struct tc_csfq_xstats st;

	sch_tree_lock(sch);
	st = q->stats;
	st.fair_share = q->vars.alpha;
	st.arrival_rate = q->vars.arrival.rate;
	st.accepted_rate = q->vars.accepted.rate;
	st.congested = q->vars.congested;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops csfq_qdisc_ops __read_mostly = {
	.id		= "csfq",
	.priv_size	= sizeof(struct csfq_sched_data),
	.enqueue	= csfq_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= csfq_init,
	.reset		= csfq_reset,
	.destroy	= csfq_destroy,
	.change		= csfq_change,
	.dump		= csfq_dump,
	.dump_stats	= csfq_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init csfq_module_init(void)
{
	return register_qdisc(&csfq_qdisc_ops);
}

static void __exit csfq_module_exit(void)
{
	unregister_qdisc(&csfq_qdisc_ops);
}

module_init(csfq_module_init);
module_exit(csfq_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Core-stateless fair queueing, edge and core in one");
