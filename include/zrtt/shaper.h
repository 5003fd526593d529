/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shaper: how many bytes a packet is on the link behind, and when the next one may
 * leave. It works in deficit, as sch_cake's does: the packet that leaves pays for its
 * time, so there are no tokens to save and no burst to set.
 */
#ifndef _ZRTT_SHAPER_H
#define _ZRTT_SHAPER_H

#include <linux/types.h>
#include <linux/math64.h>

#define ZRTT_NS_PER_S		1000000000ULL
#define ZRTT_COST_FRAC		20	/* fraction bits of the time of a byte */

/* A timer is late, by a jiffy where it has no better clock: the link makes up for that
 * much. What is more, a machine that stood still, would be a burst.
 */
#define ZRTT_SHAPER_LATE_NS	10000000ULL

#define ZRTT_CELL_BYTES		53
#define ZRTT_CELL_PAYLOAD	48
#define ZRTT_PTM_BLOCK		64	/* one byte more for each, begun or whole */

#define ZRTT_SHAPER_BYTES_MAX	(1U << 23)	/* of a packet: its time fits 64 bits */

enum zrtt_atm {
	ZRTT_ATM_NONE,
	ZRTT_ATM_ATM,
	ZRTT_ATM_PTM,
};

/**
 * struct zrtt_shaper_params - the link behind
 * @rate: bytes per second, 0 = no shaper
 * @cost_q20: nanoseconds that a byte takes, ZRTT_COST_FRAC fraction bits; follows
 *	from @rate
 * @overhead: bytes that the link adds to a packet; with @raw it is 0
 * @mpu: least bytes of a packet on the link
 * @atm: enum zrtt_atm, what the link makes of it
 * @raw: a packet is as long as the qdisc layer says, link header and all; else it is
 *	the network layer's
 */
struct zrtt_shaper_params {
	u64 rate;
	u64 cost_q20;
	s32 overhead;
	u32 mpu;
	u32 atm;
	bool raw;
};

/**
 * struct zrtt_shaper - where the link is
 * @next_ns: when the next packet may leave
 * @rest_q20: of a nanosecond, what @next_ns leaves out
 */
struct zrtt_shaper {
	u64 next_ns;
	u64 rest_q20;
};

/* The time that a byte takes at @rate, 0 for 0. */
static inline u64 zrtt_shaper_cost(u64 rate)
{
	return rate ? div64_u64(ZRTT_NS_PER_S << ZRTT_COST_FRAC, rate) : 0;
}

static inline void zrtt_shaper_derive(struct zrtt_shaper_params *params)
{
	params->cost_q20 = zrtt_shaper_cost(params->rate);
}

/* What one packet of @len bytes is on the link. */
static inline u32 zrtt_shaper_frame(const struct zrtt_shaper_params *params, u32 len)
{
	s64 sum = (s64)len + params->overhead;

	len = sum < (s64)params->mpu ? params->mpu : (u32)sum;
	switch (params->atm) {
	case ZRTT_ATM_ATM:
		return (len + ZRTT_CELL_PAYLOAD - 1) / ZRTT_CELL_PAYLOAD *
		       ZRTT_CELL_BYTES;
	case ZRTT_ATM_PTM:
		return len + (len + ZRTT_PTM_BLOCK - 1) / ZRTT_PTM_BLOCK;
	}
	return len;
}

/**
 * zrtt_shaper_bytes() - how many bytes a packet is on the link
 * @params: the link
 * @len: bytes of the packet and its link headers, those of each segment counted
 * @link_len: bytes of link header of a segment
 * @segs: segments, 1 or more; they are taken to be of one size
 */
static inline u32 zrtt_shaper_bytes(const struct zrtt_shaper_params *params, u32 len,
				    u32 link_len, u32 segs)
{
	u32 each, last;
	u64 bytes;

	if (len > ZRTT_SHAPER_BYTES_MAX)
		len = ZRTT_SHAPER_BYTES_MAX;
	if (params->raw)
		link_len = 0;
	each = len / segs;
	last = len - each * (segs - 1);
	each = each > link_len ? each - link_len : 0;
	last = last > link_len ? last - link_len : 0;
	bytes = (u64)(segs - 1) * zrtt_shaper_frame(params, each) +
		zrtt_shaper_frame(params, last);
	return bytes < ZRTT_SHAPER_BYTES_MAX ? (u32)bytes : ZRTT_SHAPER_BYTES_MAX;
}

static inline bool zrtt_shaper_ready(const struct zrtt_shaper *s, u64 now_ns)
{
	return now_ns >= s->next_ns;
}

/* When a packet that came at @came_ns and is next may begin: the link did not work on it before. */
static inline u64 zrtt_shaper_begin_ns(const struct zrtt_shaper *s, u64 came_ns)
{
	return s->next_ns < came_ns ? came_ns : s->next_ns;
}

/**
 * zrtt_shaper_leave() - a packet leaves
 * @params: the link
 * @s: where it is
 * @bytes: what zrtt_shaper_bytes() says
 * @came_ns: when the packet came
 * @now_ns: clock; zrtt_shaper_ready()
 */
static inline void zrtt_shaper_leave(const struct zrtt_shaper_params *params,
				     struct zrtt_shaper *s, u32 bytes, u64 came_ns,
				     u64 now_ns)
{
	u64 cost_q20 = bytes * params->cost_q20 + s->rest_q20;
	u64 begin_ns = zrtt_shaper_begin_ns(s, came_ns);

	if (begin_ns + ZRTT_SHAPER_LATE_NS < now_ns)
		begin_ns = now_ns - ZRTT_SHAPER_LATE_NS;
	s->next_ns = begin_ns + (cost_q20 >> ZRTT_COST_FRAC);
	s->rest_q20 = cost_q20 & ((1ULL << ZRTT_COST_FRAC) - 1);
}

/**
 * zrtt_shaper_change() - the rate changes
 * @s: where the link is
 * @from: the link as it was
 * @to: the link as it is from now on
 * @now_ns: clock
 *
 * What the link has not sent yet of a packet, it sends at the new rate.
 */
static inline void zrtt_shaper_change(struct zrtt_shaper *s,
				      const struct zrtt_shaper_params *from,
				      const struct zrtt_shaper_params *to, u64 now_ns)
{
	u64 left_ns = s->next_ns > now_ns ? s->next_ns - now_ns : 0;
	u64 bytes = from->rate ? div64_u64(left_ns << ZRTT_COST_FRAC, from->cost_q20) : 0;

	s->next_ns = now_ns + (bytes * to->cost_q20 >> ZRTT_COST_FRAC);
	s->rest_q20 = 0;
}

#endif
