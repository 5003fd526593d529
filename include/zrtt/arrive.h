/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet arrives: whose it is, and what it says of its flow.
 */
#ifndef _ZRTT_ARRIVE_H
#define _ZRTT_ARRIVE_H

#include <linux/types.h>
#include "packet.h"
#include "flow.h"
#include "rtt.h"
#include "seq.h"
#include "handshake.h"
#include "host.h"
#include "table.h"
#include "update.h"
#include "quic.h"
#include "spin.h"
#include "ceil.h"
#include "fair.h"
#include "params.h"
#include "state.h"
#include "weigh.h"

/**
 * struct zrtt_arrival - what the algorithm needs to know of a packet
 * @tag: hash of its flow, never 0
 * @bytes: its length, divided by its weight
 * @length: the same, not divided; not read if its weight is 1
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
	u32 length;
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

/* The clock of handshake gaps: microseconds, wraps after 71 minutes. */
static inline u32 zrtt_us(u64 now_ns)
{
	return (u32)div_u64(now_ns, 1000);
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

#endif
