/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes in place of one FIFO. Flows that send no more than their due, in small bursts,
 * are sparse: their small packets (ACKs, queries, voice, games) join the thin lane, larger
 * ones the sparse lane. These go first, within a bound. All other packets are in the bulk
 * lane. There is no queue per flow.
 *
 * No flow's packets change places. Down, to a lane that is served later, a flow may go at
 * any time: where that one is served out of turn, the older head goes first. Up it goes once
 * its last packet has left the lane below. Small packets need not pause for that: as long as
 * their flow has packets in sparse they join these. From bulk they join the returning lane,
 * whose head waits for that last packet, and then goes before thin. Small packets of flows that
 * seldom send go before all.
 *
 * Flows that have half of a large due share or more are sparse, too, but have the large lane,
 * behind sparse: short flows are not to wait for them. Large packets that come back from bulk
 * where the due share is large return before that lane.
 */
#ifndef _ZRTT_LANE_H
#define _ZRTT_LANE_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "table.h"
#include "law.h"

/* What a sparse flow may send in an epoch beside its rate: three full packets, and half of what
 * it leaves of its due share, up to 16 packets, as the pictures of a call come in bursts, and
 * pages. More for all lets a TCP flow of few packets per RTT stay sparse, where nothing is
 * marked; more than 16 does the same on fast links.
 */
#define ZRTT_LANE_BURST		(3 * ZRTT_FULL_PACKET)
#define ZRTT_LANE_LEFT_MAX	(16 * ZRTT_FULL_PACKET)

/* A sparse flow sends at most the due share, or half of it while it is hit: a transfer that
 * is marked at its due share, and backs off, must not go unmarked until it is back there.
 * Until the due share is known at least this much, 361 kbit/s: before P_b was above 0 for
 * 125 updates, 2 s, it is the mean of whoever was there, such as one call.
 */
#define ZRTT_LANE_RATE		(4 * ZRTT_FULL_PACKET)
#define ZRTT_LANE_TICKS		125

/* Where the due share is large, marks are too few to hold a flow at it, and a sender that backs
 * off when its RTT grows (Vegas, BBR on a short path) has little of it in the queue of bulk. So
 * the flow is sparse up to the whole share while it is hit, too, and returns from bulk as soon as
 * it sends less. From half of the share on it has the large lane: several of them are ahead of
 * bulk by all that they may, and short flows waited for them in sparse. With smaller shares that
 * costs delay, and Reno flows of long RTTs are late. With the low-latency lane none is large: that
 * lane goes before sparse, where a flow that is not marked would have what it leaves. Nor is any
 * where P_b is above an eighth: marks are not few there, and a flood that is alone has a due share
 * of all, which it must not send unmarked.
 */
#define ZRTT_LANE_LARGE_P	(ZRTT_P_ONE / 8)

/* Small packets are not of a transfer that grows until it is marked: they are sparse up to
 * the whole due share. And up to a part of the link where that is more, so that voice and
 * games do not wait among hundreds of transfers: each flow may have an eighth of what small
 * packets leave of an eighth of the link. On a slow link that is less than a call: there that is a
 * quarter, if not more than 160 kbit/s, and a flow may have all of it, and who is in thin stays so
 * while anything is left: what it sends itself is none of what others leave it.
 *
 * Of TCP they may be ACKs of a transfer that grows. Where these exceed their share of the link (40
 * times as fast down as up) and are held back, that is as for large packets, or thin is theirs.
 */
#define ZRTT_LANE_SMALL		378	/* a quarter of a full packet, bytes */
#define ZRTT_LANE_SMALL_SHIFT	3
#define ZRTT_LANE_CALL		2684	/* bytes per epoch */

/* How far the lanes before bulk may get ahead of it, where both wait, until the older head
 * goes first: bytes, and a share of what the link carries in an epoch, 4 ms of it. Thin for
 * itself, too: sparse packets use up what both have, and not what thin has.
 */
#define ZRTT_LANE_LEAD		(16 * 1024)
#define ZRTT_LANE_LEAD_SHIFT	5

/* On a slow link that is half an epoch, 67 ms, or a full packet: what waits behind for longer is
 * dropped as late (ZRTT_LATE_TARGETS) before it is the older head. TCP had nothing beside calls
 * that want all of 512 kbit/s.
 */
#define ZRTT_LANE_LEAD_SLOW_SHIFT	1

/* New flows may be a flood of one packet each: their small packets have that much in thin, and as
 * much in bulk. On a slow link it is a share of what that sent in the last epoch.
 */
#define ZRTT_LANE_NEW_SHIFT	4
#define ZRTT_LANE_NEW		757

/* A flow that sends less than a small packet in an epoch, such as pings, does not wait behind ACKs,
 * which on a slow link come in a burst after each full packet, and at the begin of transfers are
 * more than thin may send. Of such flows an eighth of what the link sent in the last epoch may go
 * first, or two small packets, as that may be little; and no more than 16: to tell takes time.
 */
#define ZRTT_LANE_SELDOM_LEAST	(2 * ZRTT_LANE_SMALL)
#define ZRTT_LANE_SELDOM_MOST	(16 * ZRTT_LANE_SMALL)

/* Small packets that return from bulk go before thin, and a flood would go before calls: one for so
 * many bytes of the lead may wait for its flow's last one below. Others stay in bulk.
 */
#define ZRTT_LANE_RETURN_BYTES	256

#define ZRTT_LANE_FEW		3	/* packets that may wait long on a slow link */

#define ZRTT_LANE_BYTES_MAX	(1U << 29)	/* no rate per epoch is taken for more */

/**
 * struct zrtt_lanes - what decides on a packet's lane, and on the lane that is served
 * @rate: most that a sparse flow sends, bytes per epoch, 0 = all packets are in bulk
 * @least: it is no less than this
 * @small_rate: the same of small packets, if that is more
 * @stay_rate: the same of a flow that is in thin
 * @large_due: least due share that is large, bytes per epoch
 * @lead: how far lanes may get ahead of bulk, bytes
 * @new_most: what small packets of new flows may have of thin in an epoch, and of bulk once more
 * @seldom_most: what small packets of flows that seldom send may have before thin in an epoch
 * @thin_ahead: bytes that left thin and the lanes before it while others waited, less what left
 *	bulk or the low-latency lane since
 * @ahead: the same of sparse, too, up to twice @lead
 * @large_ahead: the same of the large lane while bulk waited, up to twice @lead
 * @ticks: updates since P_b was 0, up to ZRTT_LANE_TICKS
 * @thin_bytes: what left thin in this epoch
 * @new_bytes: what joined thin of new flows in this epoch
 * @spilt_bytes: what went to bulk of new flows in this epoch
 * @seldom_bytes: what was looked at in this epoch, whether it goes before thin
 */
struct zrtt_lanes {
	u32 rate;
	u32 least;
	u32 small_rate;
	u32 stay_rate;
	u32 large_due;
	u32 lead;
	u32 new_most;
	u32 seldom_most;
	u32 thin_ahead;
	u32 ahead;
	u32 large_ahead;
	u32 ticks;
	u32 thin_bytes;
	u32 new_bytes;
	u32 spilt_bytes;
	u32 seldom_bytes;
};

/* Did congestion last for so long that due shares are those of flows that are held back? */
static inline bool zrtt_lanes_believe(const struct zrtt_lanes *lanes)
{
	return lanes->ticks >= ZRTT_LANE_TICKS;
}

/* The rate up to which a flow is sparse whose due share is @due, 0 = not known; bytes per epoch. */
static inline u32 zrtt_lanes_rate(const struct zrtt_lanes *lanes, u32 due)
{
	if (unlikely(!due))
		return ZRTT_LANE_RATE;
	return due > lanes->least ? due : lanes->least;
}

/* P_b is @p_q30, the due share @due bytes per epoch: what is sparse follows. */
static inline void zrtt_lanes_tick(struct zrtt_lanes *lanes, bool on, bool l4s, u32 p_q30,
				   u32 due)
{
	lanes->large_due = l4s || p_q30 > ZRTT_LANE_LARGE_P ? ~0U : ZRTT_LARGE_DUE;
	if (!p_q30)
		lanes->ticks = 0;
	else if (lanes->ticks < ZRTT_LANE_TICKS)
		lanes->ticks++;
	lanes->least = zrtt_lanes_believe(lanes) ? 0 : ZRTT_LANE_RATE;
	lanes->rate = on ? zrtt_lanes_rate(lanes, due) : 0;
	if (!lanes->lead) {
		lanes->lead = ZRTT_LANE_LEAD;
		lanes->new_most = ZRTT_LANE_NEW;
		lanes->seldom_most = ZRTT_LANE_SELDOM_LEAST;
	}
}

/* Bound the rate of small packets by what those of the last epoch left of a part of @sent, the
 * bytes that left all lanes in it.
 */
static inline void zrtt_lanes_bound_small(struct zrtt_lanes *lanes, u32 due, u32 sent)
{
	u32 left = sent >> ZRTT_LANE_SMALL_SHIFT, part;

	if (left < ZRTT_LANE_CALL)
		left = 2 * left < ZRTT_LANE_CALL ? 2 * left : ZRTT_LANE_CALL;
	left = left > lanes->thin_bytes ? left - lanes->thin_bytes : 0;
	part = left >> ZRTT_LANE_SMALL_SHIFT;
	if (part < ZRTT_LANE_CALL)
		part = left < ZRTT_LANE_CALL ? left : ZRTT_LANE_CALL;
	lanes->small_rate = part > due ? part : due;
	lanes->stay_rate = left && lanes->small_rate < ZRTT_LANE_CALL ? ZRTT_LANE_CALL :
			   lanes->small_rate;
}

/**
 * zrtt_lanes_end_epoch() - bounds that follow the link
 * @lanes: state
 * @due: the due share, bytes per epoch
 * @sent: bytes that left all lanes in the epoch
 * @busy: there were packets all the time
 */
static inline void zrtt_lanes_end_epoch(struct zrtt_lanes *lanes, u32 due, u64 sent, bool busy)
{
	s32 most = sent < ZRTT_LANE_BYTES_MAX ? (s32)sent : (s32)ZRTT_LANE_BYTES_MAX;
	s32 lead = most >> ZRTT_LANE_LEAD_SHIFT;
	s32 slow = busy ? most >> ZRTT_LANE_LEAD_SLOW_SHIFT : ZRTT_LANE_LEAD;

	slow = zrtt_clamp_between(slow, ZRTT_FULL_PACKET, ZRTT_LANE_LEAD);
	lanes->lead = lead > slow ? lead : slow;
	lanes->new_most = zrtt_clamp_between(most >> ZRTT_LANE_NEW_SHIFT, ZRTT_LANE_NEW,
					     (s32)lanes->lead);
	lanes->seldom_most = zrtt_clamp_between(most >> ZRTT_LANE_SMALL_SHIFT,
						ZRTT_LANE_SELDOM_LEAST, ZRTT_LANE_SELDOM_MOST);
	zrtt_lanes_bound_small(lanes, due, (u32)most);
	lanes->thin_bytes = 0;
	lanes->new_bytes = 0;
	lanes->spilt_bytes = 0;
	lanes->seldom_bytes = 0;
}

/* How many small packets may be on their way up. */
static inline u32 zrtt_lanes_return_most(const struct zrtt_lanes *lanes)
{
	return lanes->lead / ZRTT_LANE_RETURN_BYTES;
}

/* May @bytes more of new flows do what @used bytes of them did in this epoch? */
static inline bool zrtt_lanes_allow(const struct zrtt_lanes *lanes, u32 *used, u32 bytes)
{
	if (*used > lanes->new_most)
		return false;
	*used += bytes;
	return true;
}

/* Did @f, whose rate is below @rate, send more in this epoch than a burst and @rate? */
static inline bool zrtt_lane_exceeds(const struct zrtt_flow *f, u32 rate, u64 now_ns)
{
	/* in 64 bits nothing is to be saturated, which saves what zrtt_mul_q16() takes for that */
	u64 most = ((u64)rate * zrtt_flow_elapsed(f, now_ns)) >> ZRTT_Q16;
	u32 sent = f->bytes - ZRTT_LANE_BURST, left = (rate - f->rate) / 2;

	if (likely(sent <= most))
		return false;
	return sent - most > (left < ZRTT_LANE_LEFT_MAX ? left : ZRTT_LANE_LEFT_MAX);
}

/* The lane of a packet that belongs in @own, thin, sparse or large, while its flow has packets in
 * @lane, another one. A call may have voice and video in one flow: its small packets follow
 * large ones into sparse, and its large ones small ones from thin or from before it. None of
 * them has to wait in bulk for that.
 */
static noinline __maybe_unused enum zrtt_lane
zrtt_lane_behind(enum zrtt_lane lane, enum zrtt_lane own, bool large_due)
{
	if (lane == ZRTT_LANE_SELDOM || lane == ZRTT_LANE_THIN)
		return own;
	if (lane == ZRTT_LANE_LARGE || (lane == ZRTT_LANE_SPARSE && own == ZRTT_LANE_LARGE))
		return ZRTT_LANE_LARGE;
	if (lane == ZRTT_LANE_SPARSE)
		return lane;
	if (own == ZRTT_LANE_THIN)
		return ZRTT_LANE_RETURNING;
	return large_due ? ZRTT_LANE_RETURNING_LARGE : ZRTT_LANE_BULK;
}

/* The rate up to which small packets of @f are sparse, whose large ones are so up to @rate. */
static inline u32 zrtt_lanes_small(const struct zrtt_lanes *lanes, const struct zrtt_flow *f,
				   u32 rate)
{
	u32 small_rate = f->lane <= ZRTT_LANE_THIN ? lanes->stay_rate : lanes->small_rate;

	return rate < small_rate ? small_rate : rate;
}

/* zrtt_lane_of() of a flow that is sparse up to @most bytes per epoch. */
static __always_inline enum zrtt_lane zrtt_lane_up_to(struct zrtt_lanes *lanes,
						      const struct zrtt_table *t,
						      const struct zrtt_flow *f, u32 bytes,
						      u64 now_ns, u32 most)
{
	bool small = bytes <= ZRTT_LANE_SMALL, large_due = most >= lanes->large_due;
	enum zrtt_lane own;
	u32 rate = most;

	if (f->hit && !large_due)
		rate /= 2;
	if (small && lanes->rate && !(f->hit && zrtt_flow_is_tcp(f)))
		rate = zrtt_lanes_small(lanes, f, rate);
	if (f->rate >= rate || unlikely(f->last & ZRTT_LAST_BULK))
		return ZRTT_LANE_BULK;
	if (f->bytes > ZRTT_LANE_BURST && zrtt_lane_exceeds(f, rate, now_ns))
		return ZRTT_LANE_BULK;
	own = small && (f->live || zrtt_lanes_allow(lanes, &lanes->new_bytes, bytes)) ?
	      ZRTT_LANE_THIN :
	      large_due && f->rate >= rate / 2 ? ZRTT_LANE_LARGE : ZRTT_LANE_SPARSE;
	if (f->lane != own && zrtt_flow_queued(t, f))
		return zrtt_lane_behind(f->lane, own, large_due);
	return own;
}

/**
 * zrtt_lane_of() - the lane of a packet that zrtt_arrive() accounted
 * @lanes: state
 * @t: flow table
 * @f: its flow
 * @bytes: its length
 * @now_ns: clock
 */
static __always_inline enum zrtt_lane zrtt_lane_of(struct zrtt_lanes *lanes,
					  const struct zrtt_table *t,
					  const struct zrtt_flow *f, u32 bytes,
					  u64 now_ns)
{
	return zrtt_lane_up_to(lanes, t, f, bytes, now_ns, lanes->rate);
}

/* Does @f send so little that its packets may go before thin? */
static inline bool zrtt_lane_seldom(const struct zrtt_lanes *lanes, const struct zrtt_flow *f)
{
	return f->rate <= ZRTT_LANE_SMALL && lanes->seldom_bytes < lanes->seldom_most;
}

/**
 * zrtt_lane_of_seldom() - the lane of a packet that zrtt_lane_of() puts in thin
 * @lanes: state
 * @t: flow table
 * @f: its flow, for which zrtt_lane_seldom()
 * @bytes: its length
 */
static noinline __maybe_unused enum zrtt_lane
zrtt_lane_of_seldom(struct zrtt_lanes *lanes, const struct zrtt_table *t,
		    const struct zrtt_flow *f, u32 bytes)
{
	lanes->seldom_bytes += bytes;
	if (!zrtt_flow_mature(f) || f->l4s ||
	    (f->lane != ZRTT_LANE_SELDOM && zrtt_flow_queued(t, f)))
		return ZRTT_LANE_THIN;
	return ZRTT_LANE_SELDOM;
}

/**
 * zrtt_lane_of_host() - zrtt_lane_of() a packet of a host's flow, which has a due share of its own
 * @lanes: state
 * @t: flow table
 * @f: its flow
 * @due: that share, 0 = not known
 * @bytes: its length
 * @now_ns: clock
 */
static __always_inline enum zrtt_lane zrtt_lane_of_host(struct zrtt_lanes *lanes,
							const struct zrtt_table *t,
							const struct zrtt_flow *f, u32 due,
							u32 bytes, u64 now_ns)
{
	return zrtt_lane_up_to(lanes, t, f, bytes, now_ns,
			       lanes->rate ? zrtt_lanes_rate(lanes, due) : 0);
}

/**
 * zrtt_lane_of_l4s() - the lane of a packet of an L4S flow that zrtt_lane_of() puts behind thin
 * @t: flow table
 * @f: its flow
 * @bytes: its length
 * @lane: sparse, bulk, or where large packets return
 * @leaves: the head of the returning lane may leave
 *
 * Of a flow that has packets there, the first one of an epoch may return, as a small one of
 * a sparse flow does, and the next ones follow until all these may leave. Nothing is marked
 * there: who still has packets there then is too fast to return.
 */
static inline enum zrtt_lane zrtt_lane_of_l4s(const struct zrtt_table *t,
					      const struct zrtt_flow *f, u32 bytes,
					      enum zrtt_lane lane, bool leaves)
{
	if (f->last & ZRTT_LAST_BULK)
		return ZRTT_LANE_BULK;
	if (f->lane == ZRTT_LANE_THIN || f->lane == ZRTT_LANE_L4S || !zrtt_flow_queued(t, f))
		return ZRTT_LANE_L4S;
	if (f->lane == ZRTT_LANE_RETURNING)
		return leaves ? ZRTT_LANE_BULK : ZRTT_LANE_RETURNING;
	return f->bytes == bytes ? ZRTT_LANE_RETURNING : lane;
}

/* A packet of @f joins @lane. */
static inline void zrtt_lane_join(struct zrtt_table *t, struct zrtt_flow *f,
				  enum zrtt_lane lane)
{
	f->last = ++t->lanes[lane].in & ZRTT_LAST_MASK;
	f->lane = lane;
}

/* Had those that are @ahead so much that bulk goes first if its head is older? */
static inline bool zrtt_lanes_led(const struct zrtt_lanes *lanes, u32 ahead)
{
	return unlikely(ahead > lanes->lead);
}

/* A packet of @bytes left @lane, up to sparse, while others waited or not. */
static inline void zrtt_lanes_left(struct zrtt_lanes *lanes, enum zrtt_lane lane, u32 bytes,
				   bool others_wait)
{
	u32 thin_bytes = lane > ZRTT_LANE_L4S ? 0 : bytes;

	lanes->thin_bytes += thin_bytes;
	if (!others_wait) {
		lanes->thin_ahead = 0;
		lanes->ahead = 0;
		return;
	}
	lanes->thin_ahead += thin_bytes;
	lanes->ahead += bytes;
	if (lanes->ahead > 2 * lanes->lead)
		lanes->ahead = 2 * lanes->lead;
	if (lanes->thin_ahead > lanes->ahead)
		lanes->thin_ahead = lanes->ahead;
}

/* A packet of @bytes left that thin and sparse were ahead of. */
static inline void zrtt_lanes_repay(struct zrtt_lanes *lanes, u32 bytes)
{
	lanes->ahead -= bytes < lanes->ahead ? bytes : lanes->ahead;
	lanes->thin_ahead -= bytes < lanes->thin_ahead ? bytes : lanes->thin_ahead;
}

/* A packet of @bytes left bulk or the low-latency lane. */
static inline void zrtt_bulk_left(struct zrtt_lanes *lanes, u32 bytes)
{
	if (likely(!(lanes->ahead | lanes->large_ahead)))
		return;
	lanes->large_ahead -= bytes < lanes->large_ahead ? bytes : lanes->large_ahead;
	zrtt_lanes_repay(lanes, bytes);
}

/* A packet of @bytes left the large lane, or returned there, while bulk waited or not. */
static inline void zrtt_large_left(struct zrtt_lanes *lanes, u32 bytes, bool bulk_waits)
{
	if (!bulk_waits) {
		lanes->large_ahead = 0;
		zrtt_lanes_repay(lanes, bytes);
		return;
	}
	lanes->large_ahead += bytes;
	if (lanes->large_ahead > 2 * lanes->lead)
		lanes->large_ahead = 2 * lanes->lead;
}

#endif
