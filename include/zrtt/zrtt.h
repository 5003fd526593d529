/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The algorithm as one piece: parameters, state, statistics, and what happens
 * to it: a packet arrives and is judged, a tick passes.
 */
#ifndef _ZRTT_ZRTT_H
#define _ZRTT_ZRTT_H

#include <linux/types.h>
#include "fixed.h"
#include "hint.h"
#include "packet.h"
#include "flow.h"
#include "handshake.h"
#include "table.h"
#include "halves.h"
#include "oneway.h"
#include "quic.h"
#include "spin.h"
#include "controller.h"
#include "law.h"
#include "ceil.h"
#include "fair.h"
#include "lane.h"
#include "police.h"
#include "l4s.h"
#include "shaper.h"
#include "line.h"
#include "peers.h"

enum zrtt_mode {
	ZRTT_MODE_ZRTT,
	ZRTT_MODE_PAPER,
	ZRTT_MODE_MRTT,
	ZRTT_MODE_PRTO,
	ZRTT_MODE_BLUE,
	ZRTT_MODES,
};

enum zrtt_hint_policy {
	ZRTT_HINT_CLAMP,
	ZRTT_HINT_TRUST,
	ZRTT_HINT_IGNORE,
};

enum zrtt_fair {
	ZRTT_FAIR_FLOW,
	ZRTT_FAIR_SRCHOST,
	ZRTT_FAIR_DSTHOST,
	ZRTT_FAIR_DUALHOST,
	ZRTT_FAIR_MARK,
};

/* n/d percent, Q30, rounded to nearest */
#define ZRTT_PERCENT(n, d) \
	((u32)(((u64)ZRTT_P_ONE * (n) + 50 * (d)) / (100 * (d))))

/* Packets that are queued unless the user says how many. BLUE learns from what does not
 * fit in; the others have zrtt_ctl_limit(), which follows the link, below this one.
 */
#define ZRTT_LIMIT_BLUE		1000
#define ZRTT_LIMIT_MOST		1000000

/* As fq_codel's, where nobody knows how much memory there is. */
#define ZRTT_MEMORY_LIMIT	(32U << 20)

#define ZRTT_DSCPS		64
#define ZRTT_PREFIX6		64	/* what a home or an office has at most */

#define ZRTT_MARK_BITS		16	/* widest field, as on the wire */

#define ZRTT_DELAY_FRAC		8	/* fraction bits of the smoothed sojourn */
#define ZRTT_DELAY_WQ_Q16	8192	/* 1/8 per tick */

/**
 * struct zrtt_params - the parameters of the command line
 * @mode: enum zrtt_mode, the preset chosen last
 * @limit: hard limit, packets, 0 = zrtt_params_limit()
 * @memory_limit: the same in bytes of memory
 * @flows: slots of the flow table
 * @hint: enum zrtt_hint_policy
 * @mark_mask: bits of a packet's mark that hold its RTT, 0 = none
 * @mark_shift: lowest of them
 * @strip: remove hints from forwarded packets
 * @handshake: take RTTs from TCP handshakes
 * @timestamps: take RTTs from TCP timestamps of both directions
 * @quic: take RTTs from QUIC
 * @ecn: mark ECT packets
 * @split_gso: queue the segments of a GSO packet one by one
 * @names: know the addresses of flows
 * @lanes: a lane for sparse flows
 * @l4s: a lane for ECT(1)
 * @fair: enum zrtt_fair
 * @fair_mask: bits of a packet's mark that say whose it is
 * @fair_shift: lowest of them
 * @prefix6: bits of an IPv6 address that are the host's
 * @nat: addresses are those before translation
 * @weight_mask: bits of a packet's mark that hold a weight, 0 = none
 * @weight_shift: lowest of them
 * @weighted: not all weights are 1
 * @weight_q8: weights by DSCP
 * @ceil: what a host has at most
 * @ctl: how P_b is found
 * @law: how P_i follows
 * @shaper: the link behind, if this queue is to be its bottleneck
 * @line: where its rate is to be found out; @shaper has the largest one then
 */
struct zrtt_params {
	u32 mode;
	u32 limit;
	u32 memory_limit;
	u32 flows;
	u32 hint;
	u32 mark_mask;
	u32 mark_shift;
	bool strip;
	bool handshake;
	bool timestamps;
	bool quic;
	bool ecn;
	bool split_gso;
	bool names;
	bool lanes;
	bool l4s;
	u32 fair;
	u32 fair_mask;
	u32 fair_shift;
	u32 prefix6;
	bool nat;
	u32 weight_mask;
	u32 weight_shift;
	bool weighted;
	u16 weight_q8[ZRTT_DSCPS];
	struct zrtt_ceil_params ceil;
	struct zrtt_ctl_params ctl;
	struct zrtt_law_params law;
	struct zrtt_shaper_params shaper;
	struct zrtt_line_params line;
};

/**
 * struct zrtt_vars - everything learnt
 * @ctl: P_b
 * @law: averages and alpha
 * @table: flows
 * @hosts: hosts, where @table has members
 * @lanes: what is sparse, and goes first
 * @police: what may answer no mark
 * @l4s: the low-latency lane
 * @tick_ns: when the next tick is due
 * @idle_ns: when the queue ran empty, 0 = it is not empty
 * @delay_q8: smoothed sojourn, microseconds, ZRTT_DELAY_FRAC fraction bits
 * @link_rate: bytes that left in the last epoch, if packets waited all the time, else 0
 */
struct zrtt_vars {
	struct zrtt_ctl ctl;
	struct zrtt_law law;
	struct zrtt_table table;
	struct zrtt_hosts hosts;
	struct zrtt_lanes lanes;
	struct zrtt_police police;
	struct zrtt_l4s l4s;
	u64 tick_ns;
	u64 idle_ns;
	u32 delay_q8;
	u64 link_rate;
};

/**
 * struct zrtt_stats - counters, in packets (segments of a GSO packet) unless
 *	said; see struct tc_zrtt_xstats
 */
struct zrtt_stats {
	u64 packets_in;
	u64 ecn_mark;
	u64 drop_mark;
	u64 drop_limit;
	u64 drop_late;
	u64 purged;
	u64 hint_ok;
	u64 hint_bad;
	u64 hint_clamped;
	u64 hint_stripped;
	u64 idle_events;
	u64 overflow_events;
	u32 maxq;
};

/**
 * struct zrtt_arrival - what the algorithm needs to know of a packet
 * @tag: hash of its flow, never 0
 * @bytes: its length, divided by its weight
 * @host_bytes: the same for its host, where there are hosts
 * @hosts: tags of its hosts, source or the only one first; 0 = none, or known already
 * @weight_q8: its weight, where there are hosts or weights, Q8
 * @host_weight: that of its host
 * @segs: segments it stands for, 1 or more
 * @rtt_us: its hint, 0 = none
 * @mark_us: RTT of its mark, 0 = none
 * @timed_us: RTT of its connection by timestamps, 0 = none
 * @seq_high: high bits of a TCP packet's sequence number as they lie in it, else 0
 * @seq: of a TCP packet that begins or ends a handshake's timing
 * @ack: of such a packet, 0 = none
 * @rtt_info: it may have an RTT or be of a handshake, TCP's or QUIC's; else their fields are
 *	not read
 * @handshake: it is a TCP SYN or SYN-ACK
 * @quic: enum zrtt_quic_kind, where QUIC begins
 * @ecn: ECN codepoint; any but 0 can be marked
 */
struct zrtt_arrival {
	u32 tag;
	u32 bytes;
	u32 host_bytes;
	u32 hosts[ZRTT_HOST_ENDS];
	u16 weight_q8;
	u8 host_weight;
	u32 segs;
	u32 rtt_us;
	u32 mark_us;
	u32 timed_us;
	u32 seq;
	u32 ack;
	u16 seq_high;
	bool rtt_info;
	bool handshake;
	u8 quic;
	u8 ecn;
};

/**
 * zrtt_params_preset() - the parameters that make a mode
 * @params: set: mode, controller, law, hint policy, handshake, quic, lanes, l4s, hosts, weights
 * @mode: enum zrtt_mode
 *
 * The four reproductions share BLUE with the paper's parameters, draw marks at
 * random, always mark what can be marked, and believe the sender.
 */
static inline void zrtt_params_preset(struct zrtt_params *params, u32 mode)
{
	u32 i;

	params->mode = mode;
	params->hint = ZRTT_HINT_TRUST;
	params->handshake = false;
	params->quic = false;
	params->lanes = false;
	params->l4s = false;
	params->fair = ZRTT_FAIR_FLOW;
	params->fair_mask = 0;
	params->weight_mask = 0;
	params->ceil.rate = 0;
	for (i = 0; i < ZRTT_DSCPS; i++)
		params->weight_q8[i] = ZRTT_WEIGHT_ONE;
	params->ctl.kind = ZRTT_CTL_BLUE;
	params->law = (struct zrtt_law_params) {
		.alpha_kind = ZRTT_ALPHA_FIXED,
		.alpha_max_q16 = ZRTT_ALPHA_PAPER_MAX,
		.pth_q30 = ZRTT_PERCENT(5, 1),
		.mark_max_q30 = ZRTT_P_ONE,
	};

	switch (mode) {
	case ZRTT_MODE_ZRTT:
		params->hint = ZRTT_HINT_CLAMP;
		params->handshake = true;
		params->quic = true;
		params->lanes = true;
		params->ctl.kind = ZRTT_CTL_PI2;
		params->law = (struct zrtt_law_params) {
			.alpha_kind = ZRTT_ALPHA_CAPPED,
			.alpha_max_q16 = 5 * ZRTT_Q16_ONE / 4,
			.pth_q30 = ZRTT_PERCENT(4, 1),
			.feedback = 2,
			.mark_max_q30 = ZRTT_PERCENT(25, 1),
			.tuned = true,
		};
		break;
	case ZRTT_MODE_PAPER:
		params->law.alpha_kind = ZRTT_ALPHA_PAPER;
		break;
	case ZRTT_MODE_MRTT:
		params->law.alpha_q16 = 2 * ZRTT_Q16_ONE;
		break;
	case ZRTT_MODE_PRTO:
		params->law.padhye = true;
		break;
	}
}

/* 0 for 0. */
static inline u32 zrtt_lowest_bit(u32 x)
{
	return x & (~x + 1);
}

/* Position of the lowest bit of @mask, 0 for 0. */
static inline u32 zrtt_mask_shift(u32 mask)
{
	return zrtt_log2(zrtt_lowest_bit(mask)) >> ZRTT_Q16;
}

/* Has @mask adjacent bits, and no more than @bits of them, or none? */
static inline bool zrtt_mask_fits(u32 mask, u32 bits)
{
	u32 low = zrtt_lowest_bit(mask);

	return !(mask & (mask + low)) && mask <= low * ((1ULL << bits) - 1);
}

/* RTT of a packet's mark, microseconds, 0 = none. */
static inline u32 zrtt_mark_to_us(const struct zrtt_params *params, u32 mark)
{
	u32 units = (mark & params->mark_mask) >> params->mark_shift;

	return units <= ZRTT_HINT_MAX ? zrtt_hint_to_us(units) : 0;
}

/* Smaller P_i than this are for zrtt_owes_later() to count. */
static inline u32 zrtt_later(const struct zrtt_params *params)
{
	u32 most = params->law.mark_max_q30;

	if (!params->law.tuned || params->ceil.rate)
		return 0;
	return (most < ZRTT_LATER_MAX ? most : ZRTT_LATER_MAX) + 1;
}

/* Fill in what follows from the parameters; to be called after any change. */
static inline void zrtt_params_derive(struct zrtt_params *params)
{
	u32 i;

	params->law.clamp = params->hint == ZRTT_HINT_CLAMP;
	params->law.later_q30 = zrtt_later(params);
	params->mark_shift = zrtt_mask_shift(params->mark_mask);
	params->fair_shift = zrtt_mask_shift(params->fair_mask);
	params->weight_shift = zrtt_mask_shift(params->weight_mask);
	params->weighted = params->weight_mask;
	for (i = 0; i < ZRTT_DSCPS; i++)
		params->weighted |= params->weight_q8[i] != ZRTT_WEIGHT_ONE;
	zrtt_ctl_derive(&params->ctl);
	zrtt_ceil_derive(&params->ceil, &params->ctl);
	if (params->line.kind != ZRTT_LINE_NONE)
		params->shaper.rate = params->line.max;
	zrtt_shaper_derive(&params->shaper);
}

/* Forget all but the flows: the queue is empty, and begins anew. */
static inline void zrtt_vars_reset(struct zrtt_vars *vars)
{
	*vars = (struct zrtt_vars) { .table = vars->table, .hosts = vars->hosts };
	zrtt_hosts_reset(&vars->hosts);
}

/* The hard limit, packets. */
static inline u32 zrtt_params_limit(const struct zrtt_params *params)
{
	if (params->limit)
		return params->limit;
	return params->ctl.kind == ZRTT_CTL_BLUE ? ZRTT_LIMIT_BLUE : ZRTT_LIMIT_MOST;
}

/* What `tc qdisc add ... zrtt` without a parameter means. */
static inline void zrtt_params_init(struct zrtt_params *params)
{
	*params = (struct zrtt_params) {
		.memory_limit = ZRTT_MEMORY_LIMIT,
		.flows = 16384,
		.ecn = true,
		.split_gso = true,
		.prefix6 = ZRTT_PREFIX6,
		.ctl = {
			.target_us = 15000,
			.tupdate_us = 16000,
			.threshold = 100,
			.freeze_us = 50000,
			.increment_q30 = ZRTT_PERCENT(2, 1),
			.decrement_q30 = ZRTT_PERCENT(2, 10),
		},
		.shaper = { .raw = true },
		.line = { .min = ZRTT_LINE_RATE_MIN, .max = ZRTT_LINE_RATE_MAX },
	};
	zrtt_params_preset(params, ZRTT_MODE_ZRTT);
	zrtt_params_derive(params);
}

/* The clock of handshake gaps: microseconds, wraps after 71 minutes. */
static inline u32 zrtt_us(u64 now_ns)
{
	return (u32)div_u64(now_ns, 1000);
}

static inline bool zrtt_tick_due(const struct zrtt_vars *vars, u64 now_ns)
{
	return now_ns >= vars->tick_ns;
}

/* The first part of a tick: what is the queue's own, whoever its peers are. */
static inline void zrtt_tick_begin(const struct zrtt_params *params, struct zrtt_vars *vars,
				   u32 sojourn_us, u64 now_ns)
{
	vars->tick_ns = now_ns + zrtt_ctl_period_us(&params->ctl) * 1000ULL;
	vars->delay_q8 = zrtt_ewma(vars->delay_q8, sojourn_us << ZRTT_DELAY_FRAC,
				   ZRTT_DELAY_WQ_Q16);
	zrtt_table_tick(&vars->table, zrtt_epoch(now_ns));
	if (unlikely(vars->table.groups))
		zrtt_hosts_expire(&vars->hosts, vars->table.update_epochs, zrtt_epoch(now_ns));
}

/* The last one: what follows from P_b and the due share. */
static inline void zrtt_tick_end(const struct zrtt_params *params, struct zrtt_vars *vars)
{
	if (params->law.tuned) {
		zrtt_law_bound(&vars->law, vars->link_rate);
		zrtt_law_bound(&vars->hosts.law, vars->link_rate);
	}
	vars->table.rtt_avg_us = vars->law.rtt_avg_us;
	vars->table.due = vars->law.due;
	vars->hosts.table.due = vars->hosts.law.due;
	vars->law.l4s_gain_q16 = zrtt_penalty_gain(vars->l4s.p_avg_q30, vars->law.due);
	/* hosts that are in the low-latency lane alone have its marks, and no P_b */
	if (!vars->ctl.p_q30)
		vars->hosts.law.gain_q16 = zrtt_penalty_gain(vars->l4s.p_avg_q30,
							     vars->hosts.law.due);
	zrtt_lanes_tick(&vars->lanes, params->lanes, params->l4s, vars->ctl.p_q30,
			vars->law.due);
	zrtt_hosts_bound(&vars->hosts, vars->lanes.least, &params->ceil);
	zrtt_police_tick(&vars->police, &vars->law, params->ctl.target_us);
}

/**
 * zrtt_tick() - what is not per packet: P_b, alpha, averages
 * @params: parameters
 * @vars: state
 * @sojourn_us: age of the older of the packets at the lanes' heads, or zrtt_wait_us() if that is
 *	less; 0 = empty
 * @backlog_pkts: packets in bulk and in the low-latency lane, segments of GSO packets counted
 * @now_ns: clock
 */
static inline void zrtt_tick(const struct zrtt_params *params,
			     struct zrtt_vars *vars, u32 sojourn_us,
			     u32 backlog_pkts, u64 now_ns)
{
	u64 late_ns = sojourn_us ? zrtt_ctl_late_ns(&params->ctl, vars->tick_ns, now_ns) : 0;
	struct zrtt_sums flows, hosts;
	u32 packet_us;

	if (sojourn_us > ZRTT_SOJOURN_MAX_US)
		sojourn_us = ZRTT_SOJOURN_MAX_US;
	packet_us = zrtt_ctl_packet_us(sojourn_us, backlog_pkts);
	zrtt_tick_begin(params, vars, sojourn_us, now_ns);
	flows = zrtt_table_sums(&vars->table);
	hosts = zrtt_hosts_sums(&vars->hosts);
	zrtt_control(&params->ctl, &params->law, &vars->ctl, &vars->law, &flows,
		     zrtt_mean_rate_of_hosts(&flows, &hosts),
		     zrtt_ctl_sojourn(&params->ctl, &vars->ctl, sojourn_us, backlog_pkts),
		     packet_us, vars->delay_q8 >> ZRTT_DELAY_FRAC, late_ns);
	zrtt_law_due(&vars->hosts.law, &hosts, vars->ctl.p_q30);
	zrtt_tick_end(params, vars);
}

/**
 * zrtt_tick_with_peers() - the same of one of the queues of a device
 * @params: parameters
 * @vars: state
 * @d: device
 * @peer: the queue
 * @sojourn_us: see zrtt_tick()
 * @backlog_pkts: see there
 * @now_ns: clock
 *
 * zrtt_tick_begin() has passed, and zrtt_tick_end() is to follow; others wait only for this.
 */
static inline void zrtt_tick_with_peers(const struct zrtt_params *params,
					struct zrtt_vars *vars, struct zrtt_device *d,
					struct zrtt_peer *peer, u32 sojourn_us,
					u32 backlog_pkts, u64 now_ns)
{
	bool hosts = vars->table.groups;

	peer->flows = zrtt_table_sums(&vars->table);
	peer->hosts = zrtt_hosts_sums(&vars->hosts);
	zrtt_peer_tick(&params->ctl, &params->law, d, peer, &vars->law, sojourn_us,
		       backlog_pkts, now_ns);
	vars->ctl = d->ctl;
	vars->law = d->law;
	vars->law.sum_p_q30 = 0;
	vars->law.weighed = 0;
	vars->law.sum_bytes = 0;
	vars->law.sum_squares = 0;
	vars->hosts.law = d->hosts_law;
	peer->rate = params->shaper.rate;
	peer->dues_q8 = hosts ?
		zrtt_peer_dues(zrtt_hosts_dues(&vars->hosts), peer->hosts.other_rate,
			       d->hosts_law.due,
			       peer->hosts.counted ? ZRTT_DUES_PART : ZRTT_DUES_ONE) :
		zrtt_peer_dues((u64)peer->flows.counted << ZRTT_DUES_FRAC,
			       peer->flows.other_rate, d->law.due, ZRTT_DUES_ONE);
}

/* A packet arrived above BLUE's threshold or did not fit at all. */
static inline void zrtt_overflow(const struct zrtt_params *params,
				 struct zrtt_vars *vars, struct zrtt_stats *stats,
				 u64 now_ns)
{
	stats->overflow_events++;
	zrtt_blue_overflow(&params->ctl, &vars->ctl, now_ns);
}

/**
 * zrtt_idle() - the queue is empty
 * @params: parameters
 * @vars: state
 * @now_ns: clock
 *
 * To be called when the last packet leaves, and when one arrives at the empty queue: the
 * link was idle until then, and stays so if that packet is dropped. Without that, P_b = 1
 * would drop all and never fall.
 */
static inline void zrtt_idle(const struct zrtt_params *params, struct zrtt_vars *vars,
			     u64 now_ns)
{
	u64 since_ns = vars->idle_ns ? vars->idle_ns : now_ns;

	zrtt_blue_idle(&params->ctl, &vars->ctl, since_ns, now_ns);
	zrtt_ctl_forget(&params->ctl, &vars->ctl, now_ns - since_ns);
	vars->idle_ns = now_ns;
}

/* A packet was queued. */
static inline void zrtt_idle_end(struct zrtt_vars *vars)
{
	vars->idle_ns = 0;
}

/* P_i / P_b, as zrtt_weight_pack(); of a flow of the low-latency lane, whose weight is the
 * root, too.
 */
static inline u32 zrtt_bulk_weight(const struct zrtt_flow *f)
{
	if (unlikely(f->l4s))
		return zrtt_weight_square(f->weight);
	return f->weight;
}

/* The ceiling of @f's host, NULL = it has none. */
static inline struct zrtt_ceil *zrtt_flow_ceil(const struct zrtt_vars *vars,
					       const struct zrtt_flow *f)
{
	if (likely(!vars->hosts.ceils))
		return NULL;
	return zrtt_host_ceil(&vars->hosts, zrtt_own_member(&vars->table, f));
}

/* P_i of @f in bulk at this moment, Q30, not bounded by 1; @ceil: zrtt_flow_ceil(). */
static inline u64 zrtt_probability_below(const struct zrtt_vars *vars,
					 const struct zrtt_ceil *ceil, const struct zrtt_flow *f)
{
	return zrtt_weight_times(ceil ? ceil->base_q30 : vars->ctl.p_q30, zrtt_bulk_weight(f));
}

/* The same, for callers that have no @ceil. */
static inline u64 zrtt_probability(const struct zrtt_vars *vars,
				   const struct zrtt_flow *f)
{
	return zrtt_probability_below(vars, zrtt_flow_ceil(vars, f), f);
}

/**
 * zrtt_l4s_overloaded() - is a packet that is to join the low-latency lane to be judged as in
 *	bulk?
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 *
 * If it cannot be marked; and where P_i is above mark_max, which by default is where 2 p' is
 * 1, so that marks cannot do more (RFC 9332 sec. 4.2): then it may be dropped.
 */
static inline bool zrtt_l4s_overloaded(const struct zrtt_params *params,
				       const struct zrtt_vars *vars,
				       const struct zrtt_flow *f,
				       const struct zrtt_arrival *pkt)
{
	return !pkt->ecn || !params->ecn || !zrtt_marks(&params->law, zrtt_probability(vars, f));
}

/* log2 of a flow's due share in bytes per epoch, Q16, 0 = not known, as of a flow that waits in a
 * table without hosts to be moved to another one
 */
static inline s32 zrtt_log_due(const struct zrtt_vars *vars, const struct zrtt_flow *f)
{
	const struct zrtt_member *m;

	if (likely(!vars->table.groups))
		return vars->law.log_due;
	m = zrtt_flow_member(&vars->table, f);
	return m ? m->log_due : 0;
}

/* The law as it is for a member's flow; see zrtt_host_law(). */
static inline s32 zrtt_member_law(const struct zrtt_vars *vars, struct zrtt_member *m,
				  struct zrtt_law *law)
{
	law->log_norm -= zrtt_log_price(m->weight_q8);
	return vars->table.groups ? zrtt_host_law(&vars->hosts, m, law) : law->log_due;
}

/* P_i / P_b of a flow that has a host or a weight. */
static noinline __maybe_unused u32 zrtt_weight_of_member(const struct zrtt_params *params,
							 const struct zrtt_vars *vars,
							 const struct zrtt_flow *f)
{
	struct zrtt_law law = vars->law;

	zrtt_member_law(vars, zrtt_own_member(&vars->table, f), &law);
	return zrtt_weight(&params->law, &law, f);
}

/* What P_i / P_b of a flow depends on changed, but not its rate. */
static inline void zrtt_reweigh(const struct zrtt_params *params,
				const struct zrtt_vars *vars, struct zrtt_flow *f)
{
	f->weight = unlikely(vars->table.members) ?
		    zrtt_weight_of_member(params, vars, f) :
		    zrtt_weight(&params->law, &vars->law, f);
}

/* zrtt_refresh(), with members or without: who has none is not to pay for them. */
static __always_inline void
zrtt_refresh_either(const struct zrtt_params *params, struct zrtt_vars *vars,
		    struct zrtt_flow *f, u32 epoch, bool members)
{
	u32 epochs = epoch - f->epoch, bytes = f->bytes;
	const struct zrtt_law *own = &vars->law;
	s32 log_rate, log_due = own->log_due;
	struct zrtt_law of_flow;
	struct zrtt_member *m;

	zrtt_table_expire(&vars->table, epoch, ZRTT_EXPIRE_UPDATE);
	log_rate = zrtt_flow_update(&vars->table, f, epoch);
	if (members) {
		m = zrtt_own_member(&vars->table, f);
		of_flow = vars->law;
		if (vars->table.groups)
			zrtt_host_refresh(&vars->hosts, m, f, epoch);
		log_due = zrtt_member_law(vars, m, &of_flow);
		own = &of_flow;
	}
	if (epochs && params->law.tuned) {
		zrtt_penalise_at(own, f, log_rate, log_due, epochs);
		zrtt_charge_excess(own, f, log_rate, epochs);
		if (unlikely(f->barred))
			zrtt_l4s_charge(f, log_rate, log_due);
		log_rate = zrtt_log_growing(own, f, log_rate, bytes, epochs);
	}
	if (unlikely(f->l4s) && epochs && epochs <= ZRTT_LIVE_EPOCHS)
		zrtt_l4s_judge(&vars->l4s, own->log_due, f,
			       zrtt_mean_of_epochs(bytes, epochs), epochs);
	f->weight = zrtt_weight_at(&params->law, own, f, log_rate);
}

static noinline __maybe_unused void
zrtt_refresh_of_member(const struct zrtt_params *params, struct zrtt_vars *vars,
		       struct zrtt_flow *f, u32 epoch)
{
	zrtt_refresh_either(params, vars, f, epoch, true);
}

/* Bring a flow's rate, RTT, penalty and weight up to date. */
static inline void zrtt_refresh(const struct zrtt_params *params,
				struct zrtt_vars *vars, struct zrtt_flow *f,
				u32 epoch)
{
	if (unlikely(vars->table.members))
		zrtt_refresh_of_member(params, vars, f, epoch);
	else
		zrtt_refresh_either(params, vars, f, epoch, false);
}

/* ECT(1) and CE have the low-latency lane, but CE has not if the last ECT of its flow was
 * ECT(0) (RFC 9331 sec. 5.1, 5.3). What cannot be marked goes where the flow goes.
 */
static noinline __maybe_unused void
zrtt_classify(const struct zrtt_params *params, const struct zrtt_vars *vars,
	      struct zrtt_flow *f, u8 ecn)
{
	bool l4s = f->l4s;

	if (ecn == ZRTT_ECT_0 || ecn == ZRTT_ECT_1)
		f->ect0 = ecn == ZRTT_ECT_0;
	if (ecn != ZRTT_NOT_ECT)
		l4s = !f->ect0;
	l4s &= params->l4s && !f->barred;
	if (l4s == f->l4s)
		return;
	zrtt_flow_set_l4s(f, l4s);
	zrtt_reweigh(params, vars, f);
}

/* Take over the RTT that a packet carries. Return: true if it comes from a new source,
 * which is worth a new weight at once, unless the packet is the flow's first.
 */
static inline bool zrtt_learn(const struct zrtt_params *params,
			      struct zrtt_stats *stats, struct zrtt_flow *f,
			      const struct zrtt_arrival *pkt, u32 epoch)
{
	bool news = false;

	if (pkt->timed_us) {
		news = !f->timed;
		zrtt_flow_timed(f, pkt->timed_us, epoch);
	}
	if (pkt->rtt_us) {
		stats->hint_clamped += zrtt_flow_hint(f, pkt->rtt_us,
						      params->law.clamp, epoch);
		news |= f->source != ZRTT_RTT_HINT;
	} else if (pkt->mark_us) {
		news |= zrtt_flow_mark(f, pkt->mark_us, epoch) &&
			f->source != ZRTT_RTT_MARK;
	}
	return news;
}

/* The slot of packets that are spoofed in the name of @tag's flow @f: they have a rate, a
 * penalty and a share of their own. As they may be the flow's after all, they stay in order
 * with the others: they join bulk, and so does the flow's next packet.
 */
static noinline __maybe_unused struct zrtt_flow *
zrtt_flow_spoofed(struct zrtt_table *t, struct zrtt_flow *f, u32 tag, u32 epoch, u32 rnd)
{
	struct zrtt_flow *spoofed = zrtt_flow_get(t, tag ^ ZRTT_SPOOFED, epoch, rnd);

	f->last |= ZRTT_LAST_BULK;
	spoofed->last |= ZRTT_LAST_BULK;
	return spoofed;
}

/* What the packet weighs, and its host's share of that, is said by each packet. */
static inline void zrtt_member_weigh(struct zrtt_member *m, const struct zrtt_arrival *pkt)
{
	m->weight_q8 = pkt->weight_q8;
	m->host_weight = pkt->host_weight;
}

/* A packet arrived of @f, or spoofed in the name of @owner: whose is it? Return: @f's member. */
static inline struct zrtt_member *
zrtt_meet(const struct zrtt_params *params, struct zrtt_vars *vars, struct zrtt_flow *f,
	  const struct zrtt_flow *owner, const struct zrtt_arrival *pkt, u32 rnd, u64 now_ns)
{
	struct zrtt_member *m = zrtt_own_member(&vars->table, f);
	const u32 *tags = pkt->hosts;
	u32 epoch = zrtt_epoch(now_ns);
	bool stranger;

	zrtt_member_weigh(m, pkt);
	if (!vars->table.groups)
		return m;
	if (f != owner && !tags[0])
		tags = zrtt_own_member(&vars->table, owner)->hosts;
	stranger = zrtt_hosts_meet(&vars->hosts, m, f->tag, tags, epoch, rnd);
	/* a host may have none but flows of one packet, which are never updated */
	if (stranger)
		zrtt_host_refresh(&vars->hosts, m, f, epoch);
	if (unlikely(vars->hosts.ceils))
		zrtt_host_ceil_arrive(&params->ceil, &vars->hosts, m, &vars->law,
				      pkt->host_bytes, now_ns);
	if (stranger)
		zrtt_reweigh(params, vars, f);
	return m;
}

/* zrtt_refresh() where it is known whether there are members. */
static __always_inline void
zrtt_refresh_stale(const struct zrtt_params *params, struct zrtt_vars *vars, struct zrtt_flow *f,
		   u32 epoch, bool members)
{
	if (members)
		zrtt_refresh_of_member(params, vars, f, epoch);
	else
		zrtt_refresh(params, vars, f, epoch);
}

/* A packet of @f arrived: its bytes count for the flow, and for its host if it has one. */
static __always_inline void
zrtt_count_arrival(struct zrtt_vars *vars, struct zrtt_flow *f, const struct zrtt_member *m,
		   const struct zrtt_arrival *pkt, bool members)
{
	f->bytes += pkt->bytes;
	if (members && vars->table.groups)
		zrtt_member_host(&vars->hosts, m)->bytes += pkt->host_bytes;
}

/* A packet may be the one that a flow's RTT is timed by. */
static inline void zrtt_begin_timing(struct zrtt_flow *f, const struct zrtt_arrival *pkt)
{
	bool first = !f->bytes && !f->age;

	if (pkt->handshake)
		zrtt_syn_arrived(f, first, pkt->seq, pkt->ack);
	else if (pkt->quic)
		zrtt_quic_arrived(f, first, (enum zrtt_quic_kind)pkt->quic);
}

/**
 * zrtt_arrive_any() - zrtt_arrive() for all packets
 * @params: parameters
 * @vars: state
 * @stats: counters
 * @f: the flow, NULL = it is not known
 * @pkt: the packet
 * @rnd: random number
 * @now_ns: clock
 * @members: whether there are any; of a constant, what is not needed costs nothing
 *
 * Return: see zrtt_arrive().
 */
static __always_inline struct zrtt_flow *
zrtt_arrive_any(const struct zrtt_params *params, struct zrtt_vars *vars,
		struct zrtt_stats *stats, struct zrtt_flow *f, const struct zrtt_arrival *pkt,
		u32 rnd, u64 now_ns, bool members)
{
	u32 epoch = zrtt_epoch(now_ns);
	struct zrtt_member *m = NULL;
	struct zrtt_flow *owner;
	bool stale;

	if (!f)
		f = zrtt_flow_take(&vars->table, pkt->tag, epoch, rnd);
	owner = f;
	if (unlikely(!zrtt_flow_follows(f, pkt->seq_high, epoch)) && params->law.tuned)
		f = zrtt_flow_spoofed(&vars->table, f, pkt->tag, epoch, rnd);
	if (members)
		m = zrtt_meet(params, vars, f, owner, pkt, rnd, now_ns);
	stale = zrtt_flow_update_due(&vars->table, f, epoch);
	if (unlikely(pkt->rtt_info))
		stale |= zrtt_learn(params, stats, f, pkt, epoch) && f->bytes;
	if (unlikely(stale))
		zrtt_refresh_stale(params, vars, f, epoch, members);
	if (unlikely(pkt->rtt_info))
		zrtt_begin_timing(f, pkt);
	if (unlikely(params->l4s || f->l4s))
		zrtt_classify(params, vars, f, pkt->ecn);
	zrtt_count_arrival(vars, f, m, pkt, members);
	return f;
}

/**
 * zrtt_arrive_quick() - zrtt_arrive() for most packets
 * @params: parameters
 * @vars: state
 * @stats: counters
 * @f: the flow, NULL = it is not known
 * @m: its member, not read if there are none
 * @pkt: the packet
 * @now_ns: clock
 * @members: whether there are any; of a constant, what is not needed costs nothing
 *
 * There is to be no low-latency lane. Most packets are then in sequence, and of a flow that is
 * known and times nothing; where there are members, they have no RTT, their hosts are not to be
 * looked up, and the host's ceiling is not to be updated.
 *
 * Return: false if this packet is none of these: then nothing happened.
 */
static __always_inline bool
zrtt_arrive_quick(const struct zrtt_params *params, struct zrtt_vars *vars,
		  struct zrtt_stats *stats, struct zrtt_flow *f, struct zrtt_member *m,
		  const struct zrtt_arrival *pkt, u64 now_ns, bool members)
{
	u32 epoch = zrtt_epoch(now_ns);
	struct zrtt_ceil *ceil = NULL;
	bool stale;

	if (unlikely(!f || f->seq != pkt->seq_high || f->syn || f->l4s))
		return false;
	if (unlikely(pkt->rtt_info) && (members || pkt->handshake || pkt->quic))
		return false;
	stale = zrtt_flow_update_due(&vars->table, f, epoch);
	if (members) {
		if (unlikely(stale && params->nat))
			return false;
		if (vars->table.groups) {
			if (unlikely(!zrtt_hosts_met(&vars->hosts, m, f->tag, pkt->hosts)))
				return false;
			ceil = zrtt_host_ceil(&vars->hosts, m);
			if (ceil && !zrtt_ceil_goes_on(ceil, m->hosts[m->end], vars->law.p_q30,
						       now_ns))
				return false;
		}
		zrtt_member_weigh(m, pkt);
	}
	f->seq_known = 1;
	if (!members && unlikely(pkt->rtt_info))
		stale |= zrtt_learn(params, stats, f, pkt, epoch) && f->bytes;
	if (unlikely(stale))
		zrtt_refresh_stale(params, vars, f, epoch, members);
	zrtt_count_arrival(vars, f, m, pkt, members);
	if (ceil)
		zrtt_ceil_add(&params->ceil, ceil, pkt->host_bytes, now_ns);
	return true;
}

/**
 * zrtt_arrive() - account a packet to its flow
 * @params: parameters
 * @vars: state
 * @stats: counters
 * @pkt: the packet
 * @rnd: random number
 * @now_ns: clock
 *
 * The module does not call this: qdisc/arrive.h has the same and the choice of the lane, made of
 * zrtt_arrive_quick() and zrtt_arrive_any().
 *
 * Return: the flow, or that of packets spoofed in its name, its weight up to date.
 */
static inline struct zrtt_flow *
zrtt_arrive(const struct zrtt_params *params, struct zrtt_vars *vars,
	    struct zrtt_stats *stats, const struct zrtt_arrival *pkt, u32 rnd,
	    u64 now_ns)
{
	struct zrtt_flow *f = zrtt_flow_known(&vars->table, pkt->tag);
	bool members = vars->table.members;
	struct zrtt_member *m = f && members ? zrtt_own_member(&vars->table, f) : NULL;

	if (!params->l4s && zrtt_arrive_quick(params, vars, stats, f, m, pkt, now_ns, members))
		return f;
	return zrtt_arrive_any(params, vars, stats, f, pkt, rnd, now_ns, members);
}

/**
 * zrtt_answer() - the packet that zrtt_arrive() accounted may answer its flow's SYN
 * @params: parameters
 * @vars: state
 * @f: its flow, of ZRTT_SYN_LEFT
 * @pkt: the packet, TCP with an acknowledgment and no SYN
 * @now_ns: clock, as zrtt_arrive() had it
 * @exact_ns: clock, read now
 */
static inline void zrtt_answer(const struct zrtt_params *params, struct zrtt_vars *vars,
			       struct zrtt_flow *f, const struct zrtt_arrival *pkt,
			       u64 now_ns, u64 exact_ns)
{
	u32 epoch = zrtt_epoch(now_ns);

	if (zrtt_syn_answered(f, pkt->seq, pkt->seq_high, pkt->ack, zrtt_us(exact_ns),
			      epoch) && f->source == ZRTT_RTT_NONE)
		zrtt_refresh(params, vars, f, epoch);
}

/**
 * zrtt_answer_quic() - a packet that zrtt_arrive() accounted is of a flow that is QUIC
 * @params: parameters
 * @vars: state
 * @f: its flow, of ZRTT_SYN_QUIC
 * @kind: what it holds
 * @spin: its spin bit
 * @now_ns: clock, as zrtt_arrive() had it
 * @exact_ns: clock, in a handshake read now
 */
static inline void zrtt_answer_quic(const struct zrtt_params *params, struct zrtt_vars *vars,
				    struct zrtt_flow *f, enum zrtt_quic_kind kind, bool spin,
				    u64 now_ns, u64 exact_ns)
{
	u32 epoch = zrtt_epoch(now_ns);

	if (zrtt_quic_seen(f, kind, spin, zrtt_spin_clock(exact_ns), epoch) &&
	    f->source == ZRTT_RTT_NONE)
		zrtt_refresh(params, vars, f, epoch);
}

/* The length of a packet, whatever it counts as. */
static inline u32 zrtt_arrival_length(const struct zrtt_vars *vars, const struct zrtt_arrival *pkt)
{
	return vars->table.members ? (u32)((u64)pkt->bytes * pkt->weight_q8 / ZRTT_WEIGHT_ONE) :
				     pkt->bytes;
}

/* The verdict by P_i; @ceil is zrtt_flow_ceil(). */
static __always_inline enum zrtt_verdict
zrtt_judge(const struct zrtt_params *params, struct zrtt_vars *vars, struct zrtt_flow *f,
	   const struct zrtt_ceil *ceil, const struct zrtt_arrival *pkt, u32 rnd)
{
	u64 p_q30 = zrtt_probability_below(vars, ceil, f);
	bool marks = zrtt_marks(&params->law, p_q30);
	enum zrtt_verdict verdict;

	/* P_c is no part of what is the mean weight by P_b */
	zrtt_count_weight(&vars->law, p_q30, marks && !(ceil && ceil->held));
	verdict = zrtt_verdict(&params->law, f, p_q30, marks, pkt->segs, pkt->ecn, rnd);
	if (unlikely(verdict != ZRTT_PASS))
		zrtt_flow_packet_hit(f, zrtt_arrival_length(vars, pkt));
	return verdict == ZRTT_MARK && !params->ecn ? ZRTT_DROP : verdict;
}

/* Does the token bucket drop a packet, whatever its P_i is? It does not if the packet has a
 * sequence number of TCP, even one that is not the flow's: a flow that begins may send again what
 * is too far back for zrtt_flow_near().
 */
static inline bool zrtt_is_policed(const struct zrtt_params *params, const struct zrtt_vars *vars,
				   const struct zrtt_flow *f, const struct zrtt_arrival *pkt,
				   u64 now_ns)
{
	return unlikely(vars->police.on) && params->law.tuned && !zrtt_flow_is_tcp(f) &&
	       !pkt->seq_high &&
	       zrtt_police_exceeds(&vars->law, &vars->table, f, pkt->bytes, now_ns);
}

/* zrtt_mark_or_drop() where the host has @ceil; of a constant NULL, that costs nothing. */
static __always_inline enum zrtt_verdict
zrtt_mark_or_drop_below(const struct zrtt_params *params, struct zrtt_vars *vars,
			struct zrtt_flow *f, struct zrtt_ceil *ceil,
			const struct zrtt_arrival *pkt, u32 rnd, u64 now_ns)
{
	enum zrtt_verdict verdict = ZRTT_DROP;

	if (zrtt_is_policed(params, vars, f, pkt, now_ns) ||
	    (ceil && zrtt_ceil_exceeds(&params->ceil, ceil, now_ns)))
		zrtt_flow_was_hit(f);
	else
		verdict = zrtt_judge(params, vars, f, ceil, pkt, rnd);
	if (verdict == ZRTT_DROP)
		zrtt_flow_dropped(f, pkt->bytes);
	if (verdict == ZRTT_DROP && unlikely(vars->table.groups))
		zrtt_host_dropped(&vars->hosts, zrtt_flow_member(&vars->table, f),
				  pkt->host_bytes);
	if (verdict == ZRTT_DROP && ceil)
		zrtt_ceil_leave(ceil);
	return verdict;
}

static noinline __maybe_unused enum zrtt_verdict
zrtt_mark_or_drop_capped(const struct zrtt_params *params, struct zrtt_vars *vars,
			 struct zrtt_flow *f, const struct zrtt_arrival *pkt, u32 rnd,
			 u64 now_ns)
{
	return zrtt_mark_or_drop_below(params, vars, f, zrtt_flow_ceil(vars, f), pkt, rnd,
				       now_ns);
}

/**
 * zrtt_mark_or_drop() - what becomes of a packet that zrtt_arrive() accounted
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 * @rnd: random number
 * @now_ns: clock, as zrtt_arrive() had it
 */
static __always_inline enum zrtt_verdict
zrtt_mark_or_drop(const struct zrtt_params *params, struct zrtt_vars *vars,
		  struct zrtt_flow *f, const struct zrtt_arrival *pkt, u32 rnd, u64 now_ns)
{
	if (unlikely(vars->hosts.ceils))
		return zrtt_mark_or_drop_capped(params, vars, f, pkt, rnd, now_ns);
	return zrtt_mark_or_drop_below(params, vars, f, NULL, pkt, rnd, now_ns);
}

/**
 * zrtt_owes_later() - count P_i of a packet that zrtt_arrive() accounted, and that joins bulk
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 * @now_ns: clock, as zrtt_arrive() had it
 *
 * Its sender would see a mark in it a queue later, and the queue is another one then. So not this
 * packet is hit but the next of its flow that leaves, if zrtt_flow_owes(); see zrtt_settle(). But
 * what P_i drops is not to fill the queue, and a ceiling is a matter of what comes: then nothing
 * happens here.
 *
 * Return: false if zrtt_mark_or_drop() is to say what becomes of it.
 */
static __always_inline bool zrtt_owes_later(const struct zrtt_params *params,
					    struct zrtt_vars *vars, struct zrtt_flow *f,
					    const struct zrtt_arrival *pkt, u64 now_ns)
{
	u64 p_q30 = zrtt_probability_below(vars, NULL, f);

	if (unlikely(p_q30 >= params->law.later_q30 || p_q30 * pkt->segs > ZRTT_SPACE_MAX) ||
	    zrtt_is_policed(params, vars, f, pkt, now_ns))
		return false;
	zrtt_count_weight(&vars->law, p_q30, true);
	if (likely(!vars->ctl.falls))
		zrtt_flow_charge(f, (u32)p_q30 * pkt->segs);
	return true;
}

/* A packet of a member's flow is dropped that had @len bytes. Its host may have gone meanwhile, or
 * hosts, weights and slots have changed.
 */
static noinline __maybe_unused void
zrtt_member_dropped(struct zrtt_vars *vars, struct zrtt_flow *f, u32 len)
{
	const struct zrtt_member *m = zrtt_flow_member(&vars->table, f);

	if (!m || !m->weight_q8)
		return;
	zrtt_flow_dropped(f, zrtt_weighed(len, m->weight_q8));
	if (vars->table.groups && m->tag == f->tag && m->hosts[m->end] &&
	    zrtt_host_stands(&vars->hosts, m, m->end))
		zrtt_host_dropped(&vars->hosts, m,
				  zrtt_weighed(len, m->host_weight * ZRTT_WEIGHT_ONE));
}

/**
 * zrtt_settle() - a packet that leaves is hit for those counted by zrtt_owes_later()
 * @f: its flow, for which zrtt_flow_owes()
 * @bytes: its length
 * @rnd: random number
 */
static inline void zrtt_settle(struct zrtt_flow *f, u32 bytes, u32 rnd)
{
	zrtt_flow_hit(f, rnd);
	zrtt_flow_packet_hit(f, bytes);
}

/**
 * zrtt_dropped_leaving() - a packet is dropped as it leaves, for what its flow owed
 * @vars: state
 * @f: its flow
 * @len: its length
 */
static inline void zrtt_dropped_leaving(struct zrtt_vars *vars, struct zrtt_flow *f, u32 len)
{
	if (unlikely(vars->table.members))
		zrtt_member_dropped(vars, f, len);
	else
		zrtt_flow_dropped(f, len);
}

#endif
