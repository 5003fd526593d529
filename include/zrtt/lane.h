/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FIFOs in place of one. The sparse lane takes flows that send less than their due, in
 * small bursts: new flows, ACKs, queries, voice, games. It is served first, within a bound;
 * all other packets are in the bulk lane. There is no queue per flow.
 *
 * No flow's packets change places. From sparse to bulk a flow may go at any time: bulk goes
 * first only where its head is the older one. From bulk to sparse it goes once its last
 * packet has left bulk. A flow of small packets need not pause for that: until then they
 * join the returning lane, whose head waits for the last packet of its flow in bulk, and
 * then goes before sparse.
 */
#ifndef _ZRTT_LANE_H
#define _ZRTT_LANE_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "table.h"

/* enum tc_zrtt_lane */
enum zrtt_lane {
	ZRTT_LANE_SPARSE,
	ZRTT_LANE_BULK,
	ZRTT_LANE_RETURNING,	/* to tc, a part of sparse */
	ZRTT_LANE_NONE,		/* the packet is refused */
};

/* What a sparse flow may send in an epoch beside its rate: three full packets. More lets a
 * TCP flow of few packets per RTT stay sparse, where nothing is marked.
 */
#define ZRTT_LANE_BURST		(3 * 1514)

/* A sparse flow sends at most the due share, or half of it while it is hit: a transfer that
 * is marked at its due share, and backs off, must not go unmarked until it is back there.
 * Until the due share is known this much, 361 kbit/s.
 */
#define ZRTT_LANE_RATE		(4 * 1514)

/* Small packets are not of a transfer that grows until it is marked: they are sparse up to
 * the whole due share. And up to a part of the link where that is more, so that voice and
 * games do not wait among hundreds of transfers: each flow may have an eighth of what small
 * packets leave of an eighth of the link.
 */
#define ZRTT_LANE_SMALL		378	/* a quarter of a full packet, bytes */
#define ZRTT_LANE_SMALL_SHIFT	3

/* How far sparse may get ahead of bulk, where both wait, before the older head goes first:
 * bytes, and a share of what the link carries in an epoch, 4 ms of it.
 */
#define ZRTT_LANE_LEAD		(16 * 1024)
#define ZRTT_LANE_LEAD_SHIFT	5

#define ZRTT_LANE_BYTES_MAX	(1U << 29)	/* no rate per epoch is taken for more */

/**
 * struct zrtt_lanes - what decides on a packet's lane, and on the lane that is served
 * @rate: what a sparse flow sends less than, bytes per epoch, 0 = there is one lane
 * @small_rate: the same of small packets, if that is more
 * @small_bytes: what left the sparse lane in small packets in this epoch
 * @spilt: what went to bulk of new flows in this epoch, bytes
 * @lead: how far sparse may get ahead of bulk, bytes, if above ZRTT_LANE_LEAD
 * @ahead: how far it is, up to twice that
 */
struct zrtt_lanes {
	u32 rate;
	u32 small_rate;
	u32 small_bytes;
	u32 spilt;
	u32 lead;
	u32 ahead;
};

/* The due share is @due bytes per epoch, 0 = not known: what is sparse follows. */
static inline void zrtt_lanes_tick(struct zrtt_lanes *lanes, bool on, u32 due)
{
	lanes->rate = !on ? 0 : due ? due : ZRTT_LANE_RATE;
}

/**
 * zrtt_lanes_end_epoch() - bounds that follow the link
 * @lanes: state
 * @due: the due share, bytes per epoch
 * @sent: bytes that left both lanes in the epoch
 */
static inline void zrtt_lanes_end_epoch(struct zrtt_lanes *lanes, u32 due, u64 sent)
{
	u32 part, most = sent < ZRTT_LANE_BYTES_MAX ? (u32)sent : ZRTT_LANE_BYTES_MAX;

	lanes->lead = most >> ZRTT_LANE_LEAD_SHIFT;
	part = most >> ZRTT_LANE_SMALL_SHIFT;
	part = part > lanes->small_bytes ?
	       (part - lanes->small_bytes) >> ZRTT_LANE_SMALL_SHIFT : 0;
	lanes->small_rate = part > due ? part : due;
	lanes->small_bytes = 0;
	lanes->spilt = 0;
}

/**
 * zrtt_lane_of() - the lane of a packet that zrtt_arrive() accounted
 * @lanes: state
 * @t: flow table
 * @f: its flow
 * @bytes: its length
 * @now_ns: clock
 */
static inline enum zrtt_lane zrtt_lane_of(const struct zrtt_lanes *lanes,
					  const struct zrtt_table *t,
					  const struct zrtt_flow *f, u32 bytes,
					  u64 now_ns)
{
	bool small = bytes <= ZRTT_LANE_SMALL;
	u32 rate = lanes->rate >> f->hit, elapsed_q16;

	if (small && lanes->rate && rate < lanes->small_rate)
		rate = lanes->small_rate;
	if (f->rate >= rate)
		return ZRTT_LANE_BULK;
	elapsed_q16 = (u32)(now_ns >> (ZRTT_EPOCH_SHIFT - ZRTT_Q16)) -
		      (f->epoch << ZRTT_Q16);
	if (f->bytes > ZRTT_LANE_BURST + (u64)zrtt_mul_q16(rate, elapsed_q16))
		return ZRTT_LANE_BULK;
	if (zrtt_flow_in_bulk(t, f) || zrtt_flow_returning(t, f))
		return small ? ZRTT_LANE_RETURNING : ZRTT_LANE_BULK;
	return ZRTT_LANE_SPARSE;
}

/**
 * zrtt_lane_join() - a packet joins a lane
 * @t: flow table
 * @f: its flow
 * @lane: the lane that zrtt_lane_of() said, or bulk
 *
 * Return: in the returning lane, the number of the packet that is to leave bulk before it.
 */
static inline u32 zrtt_lane_join(struct zrtt_table *t, struct zrtt_flow *f,
				 enum zrtt_lane lane)
{
	u32 after = t->bulk.out;

	if (likely(lane == ZRTT_LANE_BULK)) {
		f->last = (u16)++t->bulk.in;
	} else if (lane == ZRTT_LANE_SPARSE) {
		/* none is in bulk; that is still so when numbers have come round */
		f->last = (u16)t->bulk.out;
	} else {
		if (zrtt_flow_in_bulk(t, f))
			after = zrtt_flow_bulk_last(t, f);
		f->last = (u16)++t->returning.in;
	}
	f->returned = lane == ZRTT_LANE_RETURNING;
	return after;
}

/* How far sparse may get ahead of bulk, bytes. */
static inline u32 zrtt_lanes_lead(const struct zrtt_lanes *lanes)
{
	return lanes->lead > ZRTT_LANE_LEAD ? lanes->lead : ZRTT_LANE_LEAD;
}

/* Has sparse had so much that bulk goes first if its head is older? */
static inline bool zrtt_lanes_led(const struct zrtt_lanes *lanes)
{
	return unlikely(lanes->ahead > zrtt_lanes_lead(lanes));
}

/* May a packet of @bytes of a new flow go to bulk, as sparse is full? A burst may, a flood
 * would leave nothing of bulk.
 */
static inline bool zrtt_lanes_spill(struct zrtt_lanes *lanes, u32 bytes)
{
	if (lanes->spilt > zrtt_lanes_lead(lanes))
		return false;
	lanes->spilt += bytes;
	return true;
}

/* A packet of @bytes left sparse, while bulk waited or not. */
static inline void zrtt_sparse_left(struct zrtt_lanes *lanes, u32 bytes, bool bulk_waits)
{
	u32 most = 2 * zrtt_lanes_lead(lanes);

	if (bytes <= ZRTT_LANE_SMALL)
		lanes->small_bytes += bytes;
	lanes->ahead = bulk_waits ? lanes->ahead + bytes : 0;
	if (lanes->ahead > most)
		lanes->ahead = most;
}

/* A packet of @bytes left bulk. */
static inline void zrtt_bulk_left(struct zrtt_lanes *lanes, u32 bytes)
{
	if (unlikely(lanes->ahead))
		lanes->ahead -= bytes < lanes->ahead ? bytes : lanes->ahead;
}

#endif
