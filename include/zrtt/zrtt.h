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
#include "controller.h"
#include "law.h"
#include "lane.h"
#include "l4s.h"
#include "shaper.h"

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

/* n/d percent, Q30, rounded to nearest */
#define ZRTT_PERCENT(n, d) \
	((u32)(((u64)ZRTT_P_ONE * (n) + 50 * (d)) / (100 * (d))))

#define ZRTT_SPOOFED		0x2aaaaaaaU	/* changes the tag of spoofed packets */

/* Packets that are queued unless the user says how many. BLUE learns from what does not
 * fit in; the others have zrtt_ctl_limit(), which follows the link, below this one.
 */
#define ZRTT_LIMIT_BLUE		1000
#define ZRTT_LIMIT_MOST		1000000

/* As fq_codel's, where nobody knows how much memory there is. */
#define ZRTT_MEMORY_LIMIT	(32U << 20)

#define ZRTT_MARK_MAX		0xffffU	/* widest field, as on the wire */

/* A tick that a rare packet brings counts for the time that passed, up to this. */
#define ZRTT_TICK_PERIODS_MAX	7

/* Fewer packets on their way than 2.75 are no window: their sender answers no mark, and a
 * loss by a timeout (400 flows on 20 Mbit/s: 37 % of the packets dropped).
 */
#define ZRTT_FILL_BYTES		(11 * 1514ULL / 4)

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
 * @ecn: mark ECT packets
 * @split_gso: queue the segments of a GSO packet one by one
 * @names: know the addresses of flows
 * @lanes: a lane for sparse flows
 * @l4s: a lane for ECT(1)
 * @ctl: how P_b is found
 * @law: how P_i follows
 * @shaper: the link behind, if this queue is to be its bottleneck
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
	bool ecn;
	bool split_gso;
	bool names;
	bool lanes;
	bool l4s;
	struct zrtt_ctl_params ctl;
	struct zrtt_law_params law;
	struct zrtt_shaper_params shaper;
};

/**
 * struct zrtt_vars - everything learnt
 * @ctl: P_b
 * @law: averages and alpha
 * @table: flows
 * @lanes: what is sparse, and goes first
 * @l4s: the low-latency lane
 * @tick_ns: when the next tick is due
 * @idle_ns: when the queue ran empty, 0 = it is not empty
 * @delay_q8: smoothed sojourn, microseconds, ZRTT_DELAY_FRAC fraction bits
 */
struct zrtt_vars {
	struct zrtt_ctl ctl;
	struct zrtt_law law;
	struct zrtt_table table;
	struct zrtt_lanes lanes;
	struct zrtt_l4s l4s;
	u64 tick_ns;
	u64 idle_ns;
	u32 delay_q8;
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
 * @bytes: its length
 * @segs: segments it stands for, 1 or more
 * @rtt_us: its hint, 0 = none
 * @mark_us: RTT of its mark, 0 = none
 * @timed_us: RTT of its connection by timestamps, 0 = none
 * @seq_high: high bits of a TCP packet's sequence number as they lie in it, else 0
 * @seq: of a TCP packet that begins or ends a handshake's timing
 * @ack: of such a packet, 0 = none
 * @rtt_info: it may have an RTT or be of a handshake; else the fields of both are not read
 * @handshake: it is a TCP SYN or SYN-ACK
 * @ecn: ECN codepoint; any but 0 can be marked
 */
struct zrtt_arrival {
	u32 tag;
	u32 bytes;
	u32 segs;
	u32 rtt_us;
	u32 mark_us;
	u32 timed_us;
	u32 seq;
	u32 ack;
	u16 seq_high;
	bool rtt_info;
	bool handshake;
	u8 ecn;
};

/**
 * zrtt_params_preset() - the parameters that make a mode
 * @params: set: mode, controller, law, hint policy, handshake, lanes, l4s
 * @mode: enum zrtt_mode
 *
 * The four reproductions share BLUE with the paper's parameters, draw marks at
 * random, always mark what can be marked, and believe the sender.
 */
static inline void zrtt_params_preset(struct zrtt_params *params, u32 mode)
{
	params->mode = mode;
	params->hint = ZRTT_HINT_TRUST;
	params->handshake = false;
	params->lanes = false;
	params->l4s = false;
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

/* Can @mask select an RTT: adjacent bits, and no more than a hint has, or none? */
static inline bool zrtt_mark_mask_valid(u32 mask)
{
	u32 low = zrtt_lowest_bit(mask);

	return !(mask & (mask + low)) && mask <= (u64)low * ZRTT_MARK_MAX;
}

/* RTT of a packet's mark, microseconds, 0 = none. */
static inline u32 zrtt_mark_to_us(const struct zrtt_params *params, u32 mark)
{
	u32 units = (mark & params->mark_mask) >> params->mark_shift;

	return units <= ZRTT_HINT_MAX ? zrtt_hint_to_us(units) : 0;
}

/* Fill in what follows from the parameters; to be called after any change. */
static inline void zrtt_params_derive(struct zrtt_params *params)
{
	params->law.clamp = params->hint == ZRTT_HINT_CLAMP;
	params->mark_shift = zrtt_log2(zrtt_lowest_bit(params->mark_mask)) >> ZRTT_Q16;
	zrtt_ctl_derive(&params->ctl);
	zrtt_shaper_derive(&params->shaper);
}

/* Forget all but the flows: the queue is empty, and begins anew. */
static inline void zrtt_vars_reset(struct zrtt_vars *vars)
{
	*vars = (struct zrtt_vars) { .table = vars->table };
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
		.ctl = {
			.target_us = 15000,
			.tupdate_us = 16000,
			.threshold = 100,
			.freeze_us = 50000,
			.increment_q30 = ZRTT_PERCENT(2, 1),
			.decrement_q30 = ZRTT_PERCENT(2, 10),
		},
		.shaper = { .raw = true },
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

/**
 * zrtt_fill_us() - the sojourn that gives a flow ZRTT_FILL_BYTES on its way
 * @rate: the flow's rate, bytes per epoch, 0 = not known
 * @rtt_us: its RTT without our queue
 *
 * Return: 0 .. ZRTT_SOJOURN_MAX_US; 0 where the RTT is enough, or @rate is not known.
 */
static inline u32 zrtt_fill_us(u32 rate, u32 rtt_us)
{
	u64 us = rate ? div_u64(ZRTT_FILL_BYTES * ((1ULL << ZRTT_EPOCH_SHIFT) / 1000), rate) : 0;

	if (us > ZRTT_SOJOURN_MAX_US)
		us = ZRTT_SOJOURN_MAX_US;
	return us > rtt_us ? (u32)us - rtt_us : 0;
}

/**
 * zrtt_tick() - what is not per packet: P_b, alpha, averages
 * @params: parameters
 * @vars: state
 * @sojourn_us: age of the older of the packets at the lanes' heads, 0 = empty
 * @backlog_pkts: packets in bulk and in the low-latency lane, segments of GSO packets counted
 * @now_ns: clock
 */
static inline void zrtt_tick(const struct zrtt_params *params,
			     struct zrtt_vars *vars, u32 sojourn_us,
			     u32 backlog_pkts, u64 now_ns)
{
	u64 period_ns = zrtt_ctl_period_us(&params->ctl) * 1000ULL;
	u64 late_ns = vars->tick_ns && sojourn_us ? now_ns - vars->tick_ns : 0;
	u32 epoch = zrtt_epoch(now_ns);
	u32 fill_us;

	if (late_ns > period_ns * ZRTT_TICK_PERIODS_MAX)
		late_ns = period_ns * ZRTT_TICK_PERIODS_MAX;
	if (sojourn_us > ZRTT_SOJOURN_MAX_US)
		sojourn_us = ZRTT_SOJOURN_MAX_US;
	vars->tick_ns = now_ns + period_ns;
	vars->delay_q8 = zrtt_ewma(vars->delay_q8, sojourn_us << ZRTT_DELAY_FRAC,
				   ZRTT_DELAY_WQ_Q16);
	zrtt_table_tick(&vars->table, epoch);
	fill_us = zrtt_fill_us(zrtt_table_mean_rate(&vars->table), vars->law.rtt_avg_us);
	zrtt_ctl_follow(&params->ctl, &vars->ctl, fill_us);
	zrtt_ctl_tick(&params->ctl, &vars->ctl,
		      zrtt_ctl_sojourn(&params->ctl, &vars->ctl, sojourn_us,
				       backlog_pkts),
		      zrtt_us(period_ns + late_ns));
	zrtt_law_tick(&params->law, &vars->law, &vars->table, vars->ctl.p_q30,
		      vars->ctl.p_avg_q30, vars->delay_q8 >> ZRTT_DELAY_FRAC);
	vars->table.rtt_avg_us = vars->law.rtt_avg_us;
	vars->table.due = vars->law.due;
	vars->law.l4s_gain_q16 = zrtt_penalty_gain(vars->l4s.p_avg_q30, vars->law.due);
	zrtt_lanes_tick(&vars->lanes, params->lanes, vars->ctl.p_q30, vars->law.due);
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

/* P_i / P_b, Q16; of a flow of the low-latency lane, whose weight is the root, too. */
static inline u32 zrtt_bulk_weight(const struct zrtt_flow *f)
{
	if (unlikely(f->l4s))
		return zrtt_mul_q16(f->weight_q16, f->weight_q16);
	return f->weight_q16;
}

/* P_i of @f in bulk at this moment, Q30, not bounded by 1. */
static inline u64 zrtt_probability(const struct zrtt_vars *vars,
				   const struct zrtt_flow *f)
{
	return ((u64)vars->ctl.p_q30 * zrtt_bulk_weight(f)) >> ZRTT_Q16;
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

/* Bring a flow's rate, RTT, penalty and weight up to date. */
static inline void zrtt_refresh(const struct zrtt_params *params,
				struct zrtt_vars *vars, struct zrtt_flow *f,
				u32 epoch)
{
	u32 epochs = epoch - f->epoch, bytes = f->bytes;

	zrtt_table_expire(&vars->table, epoch, ZRTT_EXPIRE_UPDATE);
	zrtt_flow_update(&vars->table, f, epoch);
	if (epochs && params->law.tuned)
		zrtt_penalise(&vars->law, f, epochs);
	if (unlikely(f->l4s) && epochs && epochs <= ZRTT_LIVE_EPOCHS)
		zrtt_l4s_judge(&vars->l4s, &vars->law, f,
			       zrtt_mul_q16(bytes, zrtt_epoch_recip[epochs]), epochs);
	f->weight_q16 = zrtt_weight(&params->law, &vars->law, f);
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
	f->l4s = l4s;
	f->weight_q16 = zrtt_weight(&params->law, &vars->law, f);
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

/**
 * zrtt_arrive() - account a packet to its flow
 * @params: parameters
 * @vars: state
 * @stats: counters
 * @pkt: the packet
 * @rnd: random number
 * @now_ns: clock
 *
 * Return: the flow, or that of packets spoofed in its name, its weight up to date.
 */
static inline struct zrtt_flow *
zrtt_arrive(const struct zrtt_params *params, struct zrtt_vars *vars,
	    struct zrtt_stats *stats, const struct zrtt_arrival *pkt, u32 rnd,
	    u64 now_ns)
{
	u32 epoch = zrtt_epoch(now_ns);
	struct zrtt_flow *f;
	bool stale;

	f = zrtt_flow_get(&vars->table, pkt->tag, epoch, rnd);
	if (unlikely(!zrtt_flow_follows(f, pkt->seq_high, epoch)) && params->law.tuned)
		f = zrtt_flow_spoofed(&vars->table, f, pkt->tag, epoch, rnd);
	stale = zrtt_flow_update_due(&vars->table, f, epoch);
	if (unlikely(pkt->rtt_info))
		stale |= zrtt_learn(params, stats, f, pkt, epoch) && f->bytes;
	if (unlikely(stale))
		zrtt_refresh(params, vars, f, epoch);
	if (unlikely(pkt->rtt_info) && pkt->handshake)
		zrtt_syn_arrived(f, !f->bytes && !f->age, pkt->seq, pkt->ack);
	if (unlikely(params->l4s || f->l4s))
		zrtt_classify(params, vars, f, pkt->ecn);
	f->bytes += pkt->bytes;
	return f;
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
 * zrtt_mark_or_drop() - what becomes of a packet that zrtt_arrive() accounted
 * @params: parameters
 * @vars: state
 * @f: its flow
 * @pkt: the packet
 * @rnd: random number
 */
static inline enum zrtt_verdict
zrtt_mark_or_drop(const struct zrtt_params *params, struct zrtt_vars *vars,
		  struct zrtt_flow *f, const struct zrtt_arrival *pkt, u32 rnd)
{
	u64 p_q30 = zrtt_probability(vars, f);
	bool marks = zrtt_marks(&params->law, p_q30);
	enum zrtt_verdict verdict;

	zrtt_count_weight(&vars->law, zrtt_bulk_weight(f), marks);
	verdict = zrtt_verdict(&params->law, f, p_q30, marks, pkt->segs, pkt->ecn, rnd);
	if (verdict == ZRTT_MARK && !params->ecn)
		verdict = ZRTT_DROP;
	/* an update may have counted it already, by what it answered */
	if (verdict == ZRTT_DROP)
		f->bytes -= pkt->bytes < f->bytes ? pkt->bytes : f->bytes;
	return verdict;
}

#endif
