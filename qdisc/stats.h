/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics, and the live flows as classes.
 */
#ifndef _ZRTT_STATS_H
#define _ZRTT_STATS_H

#include <net/gen_stats.h>
#include <net/netlink.h>
#include <net/sch_generic.h>

#include <linux/pkt_sched_zrtt.h>

#include "sched.h"

static void zrtt_dump_lanes(struct Qdisc *sch, struct tc_zrtt_lane_stats *lane)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_l4s_counts *l4s = &q->l4s;
	const struct zrtt_sparse *sparse = &q->sparse;
	const struct zrtt_stats *stats = &q->stats;

	lane[TC_ZRTT_LANE_SPARSE] = (struct tc_zrtt_lane_stats) {
		.packets = sparse->pkts,
		.bytes = sparse->bytes,
		.drops = sparse->drops,
		.backlog_packets = zrtt_sparse_backlog(q),
		.delay_us = sparse->delay_q8 >> ZRTT_DELAY_FRAC,
	};
	lane[TC_ZRTT_LANE_L4S] = (struct tc_zrtt_lane_stats) {
		.packets = l4s->pkts,
		.bytes = l4s->bytes,
		.marks = l4s->marks,
		.drops = l4s->drops,
		.backlog_packets = l4s->backlog_pkts,
		.delay_us = l4s->delay_q8 >> ZRTT_DELAY_FRAC,
	};
	lane[TC_ZRTT_LANE_BULK] = (struct tc_zrtt_lane_stats) {
		.packets = u64_stats_read(&sch->bstats.packets) - sparse->pkts - l4s->pkts,
		.bytes = u64_stats_read(&sch->bstats.bytes) - sparse->bytes - l4s->bytes,
		.marks = stats->ecn_mark - l4s->marks,
		.drops = stats->drop_mark + stats->drop_limit + stats->drop_late -
			 sparse->drops - l4s->drops,
		.backlog_packets = q->backlog_pkts - q->ahead_pkts,
		.delay_us = q->vars.delay_q8 >> ZRTT_DELAY_FRAC,
	};
}

static int zrtt_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_table *table = &q->vars.table;
	const struct zrtt_line *line = &q->hidden.line;
	const struct zrtt_stats *stats = &q->stats;
	struct tc_zrtt_xstats st;
	struct zrtt_sums sums;

	sch_tree_lock(sch);
	sums = zrtt_table_sums(table);
	st = (struct tc_zrtt_xstats) {
		.packets_in = stats->packets_in,
		.ecn_mark = stats->ecn_mark,
		.drop_mark = stats->drop_mark,
		.drop_limit = stats->drop_limit,
		.purged = stats->purged,
		.hint_ok = stats->hint_ok,
		.hint_bad = stats->hint_bad,
		.hint_clamped = stats->hint_clamped,
		.hint_stripped = stats->hint_stripped,
		.idle_events = stats->idle_events,
		.overflow_events = stats->overflow_events,
		.evicted = table->evicted,
		.prob = q->vars.ctl.p_q30,
		.alpha = q->vars.law.alpha_q16,
		.delay_us = q->vars.delay_q8 >> ZRTT_DELAY_FRAC,
		.rtt_avg_us = q->together.on ? q->vars.law.rtt_avg_us :
			      sums.with_rtt ? div_u64(sums.sum_rtt_us, sums.with_rtt) : 0,
		.flows = table->live,
		.flows_hinted = table->by_source[ZRTT_RTT_HINT],
		.flows_handshake = table->by_source[ZRTT_RTT_HANDSHAKE],
		.backlog_packets = q->backlog_pkts,
		.memory_used = q->memory,
		.limit_now = q->limit,
		.maxq = stats->maxq,
		.dq_rate = min_t(u64, zrtt_per_second(q->sent.rate), U32_MAX),
		.drop_late = stats->drop_late,
		.flows_marked = table->by_source[ZRTT_RTT_MARK],
		.flows_timestamps = table->by_source[ZRTT_RTT_TIMESTAMPS],
		.dq_rate64 = zrtt_per_second(q->sent.rate),
		.l4s_barred = q->vars.l4s.barred,
		.hosts = q->vars.hosts.table.live,
		.hosts_held = q->vars.hosts.table.counted,
		.host_due = zrtt_per_second(q->vars.hosts.law.due),
		.hosts_evicted = q->vars.hosts.table.evicted,
		.flows_quic = table->by_source[ZRTT_RTT_QUIC],
		.line_rate = zrtt_finds_rate(q) ? line->rate : 0,
		.line_measured = line->measured,
		.line_lowered = line->lowered,
		.line_raised = line->raised,
		.line_state = line->state,
		.line_queue_us = line->delay.us,
		.line_hosts = line->hosts,
		.line_lost = q->hidden.loss.bytes,
		.line_ceiling = q->hidden.loss.ceiling,
	};
	zrtt_dump_lanes(sch, st.lane);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/* Live flows as classes */

static struct zrtt_flow *zrtt_class_flow(struct Qdisc *sch, unsigned long cl)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	return &q->vars.table.slots[cl - 1];
}

static u32 zrtt_classes(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return min_t(u32, q->params.flows, TC_ZRTT_CLASSES_MAX);
}

static unsigned long zrtt_class_find(struct Qdisc *sch, u32 classid)
{
	unsigned long cl = TC_H_MIN(classid);

	return cl && cl <= zrtt_classes(sch) && zrtt_class_flow(sch, cl)->live ? cl : 0;
}

static struct Qdisc *zrtt_class_leaf(struct Qdisc *sch, unsigned long cl)
{
	return NULL;
}

/* Flows come and go meanwhile: no lock is held from one to the next. */
static void zrtt_class_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	u32 i, classes = zrtt_classes(sch);

	for (i = arg->skip; i < classes && !arg->stop; i++) {
		if (zrtt_class_flow(sch, i + 1)->live &&
		    arg->fn(sch, i + 1, arg) < 0) {
			arg->stop = 1;
			break;
		}
	}
	arg->count = i;
}

static int zrtt_class_dump_name(struct sk_buff *skb, const struct zrtt_name *name)
{
	u32 len = zrtt_name_addr_bytes(name);

	if (nla_put_u8(skb, TCA_ZRTT_FLOW_PROTOCOL, name->proto) ||
	    nla_put(skb, TCA_ZRTT_FLOW_SRC, len, name->source) ||
	    nla_put(skb, TCA_ZRTT_FLOW_DST, len, name->dest))
		return -EMSGSIZE;
	if (!name->has_ports)
		return 0;
	return nla_put(skb, TCA_ZRTT_FLOW_SPORT, 2, name->ports) ?:
	       nla_put(skb, TCA_ZRTT_FLOW_DPORT, 2, name->ports + 2);
}

/**
 * struct zrtt_class_host - what a class says of hosts and weights
 * @rate: of its host, bytes per second
 * @due: due share of that, bytes per second
 * @slot: of its host
 * @mark: the field of skb->mark that says whose it is
 * @flows: live ones of its host
 * @penalty_q16: of its host, as a factor
 * @weight_q8: its weight
 * @end: which of its addresses is the host's
 * @known: its host is
 */
struct zrtt_class_host {
	u64 rate;
	u64 due;
	u32 slot;
	u32 mark;
	u32 flows;
	u32 penalty_q16;
	u32 weight_q8;
	u8 end;
	bool known;
};

/* A rate counts 1 / weight of the bytes that passed. */
static u64 zrtt_real_rate(u32 rate, u32 weight_q8)
{
	return zrtt_per_second((u64)rate * weight_q8 / ZRTT_WEIGHT_ONE);
}

/* What a host of weight 1 is to have, bytes per epoch, 0 = not known. */
static u32 zrtt_class_due(const struct zrtt_sched_data *q)
{
	u32 due = q->vars.hosts.law.due, ceil = q->params.ceil.epoch_bytes;

	return ceil && (!due || due > ceil) ? ceil : due;
}

/* @m is of a flow whose host still has its slot. */
static void zrtt_class_read_host(const struct zrtt_sched_data *q, const struct zrtt_member *m,
				 struct zrtt_class_host *host)
{
	const struct zrtt_hosts *hosts = &q->vars.hosts;
	const struct zrtt_flow *h = zrtt_member_host(hosts, m);

	host->known = true;
	host->slot = m->slots[m->end];
	host->mark = zrtt_hash_unmark(m->hosts[0]);
	host->end = q->params.fair == ZRTT_FAIR_DSTHOST ? TC_ZRTT_END_DESTINATION : m->end;
	host->rate = zrtt_real_rate(h->rate, m->host_weight * ZRTT_WEIGHT_ONE);
	host->due = zrtt_real_rate(zrtt_class_due(q), m->host_weight * ZRTT_WEIGHT_ONE);
	host->flows = hosts->groups[host->slot].live + hosts->groups[host->slot].others.live;
	host->penalty_q16 = zrtt_exp2(h->penalty_q16);
}

static struct zrtt_class_host zrtt_class_host(const struct zrtt_sched_data *q,
					      const struct zrtt_flow *flow)
{
	struct zrtt_class_host host = { .weight_q8 = ZRTT_WEIGHT_ONE };
	const struct zrtt_table *table = &q->vars.table;
	const struct zrtt_member *m;

	if (!table->members)
		return host;
	m = zrtt_flow_member(table, flow);
	if (m->weight_q8)
		host.weight_q8 = m->weight_q8;
	if (table->groups && m->tag == flow->tag && m->hosts[m->end] &&
	    table->groups[m->slots[m->end]].tag == m->hosts[m->end])
		zrtt_class_read_host(q, m, &host);
	return host;
}

static int zrtt_class_dump_host(struct Qdisc *sch, struct sk_buff *skb,
				const struct zrtt_class_host *host)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (!host->known)
		return 0;
	if (nla_put_u64_64bit(skb, TCA_ZRTT_FLOW_HOST_RATE, host->rate, TCA_ZRTT_FLOW_PAD) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_HOST, host->slot + 1) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_FLOW_HOST_DUE, host->due, TCA_ZRTT_FLOW_PAD) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_HOST_FLOWS, host->flows) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_HOST_PENALTY, host->penalty_q16))
		return -EMSGSIZE;
	return q->params.fair == ZRTT_FAIR_MARK ?
	       nla_put_u32(skb, TCA_ZRTT_FLOW_HOST_MARK, host->mark) :
	       nla_put_u8(skb, TCA_ZRTT_FLOW_HOST_END, host->end);
}

static int zrtt_class_dump(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_flow *slot = zrtt_class_flow(sch, cl);
	struct zrtt_class_host host;
	struct zrtt_name name = {};
	struct zrtt_flow flow;
	struct nlattr *opts;
	u64 p_q30;

	sch_tree_lock(sch);
	flow = *slot;
	p_q30 = zrtt_probability(&q->vars, slot);
	host = zrtt_class_host(q, slot);
	if (q->names && q->names[cl - 1].tag == flow.tag)
		name = q->names[cl - 1];
	sch_tree_unlock(sch);

	tcm->tcm_handle |= TC_H_MIN(cl);
	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_ZRTT_FLOW_RTT, flow.rtt_us) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_SOURCE, flow.source) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_FLOW_RATE,
			      zrtt_real_rate(flow.rate, host.weight_q8), TCA_ZRTT_FLOW_PAD) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_PROB, min_t(u64, p_q30, ZRTT_P_ONE)) ||
	    (name.version && zrtt_class_dump_name(skb, &name)) ||
	    zrtt_class_dump_host(sch, skb, &host)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static const struct Qdisc_class_ops zrtt_class_ops = {
	.leaf	= zrtt_class_leaf,
	.find	= zrtt_class_find,
	.walk	= zrtt_class_walk,
	.dump	= zrtt_class_dump,
};

#endif
