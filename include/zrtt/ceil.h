/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ceiling of a host: what it may have at most, though the link has more.
 *
 * No packet waits for that. A host has a virtual queue instead (Kunniyur and Srikant 2001), which
 * its packets join as they arrive, and which is served at the ceiling. A PI2 of the host's own
 * holds the sojourn there: its P_c has the place of P_b where that is less. What would wait for
 * longer than the target is dropped.
 */
#ifndef _ZRTT_CEIL_H
#define _ZRTT_CEIL_H

#include <linux/types.h>
#include <linux/math64.h>
#include "fixed.h"
#include "flow.h"
#include "shaper.h"
#include "controller.h"
#include "law.h"

/* Half a second, so that it does not run empty when a lone flow backs off: nobody waits in it. Of
 * a low ceiling it is no less than a window of a few packets.
 */
#define ZRTT_CEIL_TARGET_US	500000
#define ZRTT_CEIL_PKTS		6

/* RTTs do not grow with a virtual queue, so that it goes on growing until a mark is answered: with
 * the gains of P_b, rates would swing (Reno and CUBIC have 88 to 93 % of the ceiling, and not 98
 * or 99).
 */
#define ZRTT_CEIL_GAIN_SHIFT	8

#define ZRTT_CEIL_FRAC		8
#define ZRTT_CEIL_ALL		(1U << ZRTT_CEIL_FRAC)

/**
 * struct zrtt_ceil_params - the ceiling of a host of weight 1
 * @rate: bytes per second, 0 = there is none
 * @cost_q20: nanoseconds that a byte takes, ZRTT_COST_FRAC fraction bits
 * @epoch_bytes: bytes per epoch
 * @log_rate: log2 of these, Q16
 * @ctl: of P_c
 */
struct zrtt_ceil_params {
	u64 rate;
	u64 cost_q20;
	u32 epoch_bytes;
	s32 log_rate;
	struct zrtt_ctl_params ctl;
};

/**
 * struct zrtt_ceil - the host in the slot of the same number
 * @tag: of the host; a slot changes hands
 * @base_q30: what its flows' weights are multiplied by, Q30: @p_q30 times @log_part, or P_c
 * @p_q30: P_b
 * @log_part: log2 of what the weights of all its flows would have in common, Q16
 * @others_q8: what other queues of the device have of the ceiling, Q8, below 1
 * @held: P_c is the larger one: the ceiling holds the host, not the link
 * @epoch_bytes: see struct zrtt_ceil_params, as it was for the last packet that took more than
 *	zrtt_ceil_add()
 * @empty_ns: when the virtual queue is empty, if nothing joins it
 * @taken_ns: what the last packet takes of that; 0 = it found the queue full
 * @tick_ns: when the next update of P_c is due
 * @ctl: P_c
 */
struct zrtt_ceil {
	u32 tag;
	u32 base_q30;
	u32 p_q30;
	s32 log_part;
	u8 others_q8;
	bool held;
	u32 epoch_bytes;
	u64 empty_ns;
	u64 taken_ns;
	u64 tick_ns;
	struct zrtt_ctl ctl;
};

/* Fill in what follows from the rate, and from @ctl, which is that of P_b; after any change. */
static inline void zrtt_ceil_derive(struct zrtt_ceil_params *params,
				    const struct zrtt_ctl_params *ctl)
{
	u64 rate = params->rate, epoch_bytes, least_us;

	*params = (struct zrtt_ceil_params) { .rate = rate };
	if (!rate)
		return;
	epoch_bytes = div_u64(rate << (ZRTT_EPOCH_SHIFT - 9), (u32)(ZRTT_NS_PER_S >> 9));
	params->epoch_bytes = epoch_bytes < ~0U ? (u32)epoch_bytes : ~0U;
	params->log_rate = zrtt_log2(params->epoch_bytes);
	params->cost_q20 = zrtt_shaper_cost(rate);
	params->ctl = *ctl;
	params->ctl.kind = ZRTT_CTL_PI2;
	params->ctl.gain_shift = ZRTT_CEIL_GAIN_SHIFT;
	least_us = div64_u64(ZRTT_CEIL_PKTS * ZRTT_FULL_PACKET * 1000000ULL, rate);
	params->ctl.target_us = least_us > ZRTT_CEIL_TARGET_US ? (u32)least_us :
								 ZRTT_CEIL_TARGET_US;
	zrtt_ctl_derive(&params->ctl);
}

/* How long a packet that joins the virtual queue would wait there, ns. */
static inline u64 zrtt_ceil_wait_ns(const struct zrtt_ceil *c, u64 now_ns)
{
	return c->empty_ns > now_ns ? c->empty_ns - now_ns : 0;
}

/* How long @bytes are sent there, ns. */
static inline u64 zrtt_ceil_cost_ns(const struct zrtt_ceil_params *params,
				    const struct zrtt_ceil *c, u32 bytes)
{
	u64 ns;

	if (bytes > ZRTT_SHAPER_BYTES_MAX)
		bytes = ZRTT_SHAPER_BYTES_MAX;
	ns = (bytes * params->cost_q20) >> ZRTT_COST_FRAC;
	return likely(!c->others_q8) ? ns :
	       div_u64(ns << ZRTT_CEIL_FRAC, ZRTT_CEIL_ALL - c->others_q8);
}

/* Is there twice the target? What sparse flows send is not dropped, up to here: they have the
 * ceiling by themselves, as three packets in an epoch are much of a low one, below mq in each queue.
 */
static inline bool zrtt_ceil_full(const struct zrtt_ceil_params *params, const struct zrtt_ceil *c,
				  u64 now_ns)
{
	return zrtt_ceil_wait_ns(c, now_ns) > params->ctl.target_us * 2000ULL;
}

/* A packet joins that counts as @bytes; if it is full, that is forgotten. */
static inline void zrtt_ceil_add(const struct zrtt_ceil_params *params, struct zrtt_ceil *c,
				 u32 bytes, u64 now_ns)
{
	if (c->empty_ns < now_ns)
		c->empty_ns = now_ns;
	c->taken_ns = 0;
	if (!zrtt_ceil_full(params, c, now_ns))
		c->taken_ns = zrtt_ceil_cost_ns(params, c, bytes);
	c->empty_ns += c->taken_ns;
}

/* The ceiling may have changed. If it was raised, what is in the virtual queue takes less time, which is
 * below 2^51 ns. If it was lowered, what takes more would be of less than before: that is forgiven.
 */
static inline void zrtt_ceil_rescale(const struct zrtt_ceil_params *params, struct zrtt_ceil *c,
				     u64 now_ns)
{
	u64 wait_ns = zrtt_ceil_wait_ns(c, now_ns);

	if (unlikely(wait_ns && c->epoch_bytes < params->epoch_bytes))
		c->empty_ns = now_ns + (wait_ns * div_u64((u64)c->epoch_bytes << 12,
							  params->epoch_bytes) >> 12);
	c->epoch_bytes = params->epoch_bytes;
}

/* A packet of the host @tag arrived that counts as @bytes. */
static inline void zrtt_ceil_join(const struct zrtt_ceil_params *params, struct zrtt_ceil *c,
				  u32 tag, u32 bytes, u64 now_ns)
{
	if (unlikely(c->tag != tag))
		*c = (struct zrtt_ceil) { .tag = tag };
	zrtt_ceil_rescale(params, c, now_ns);
	if (c->empty_ns < now_ns)
		zrtt_ctl_forget(&params->ctl, &c->ctl, now_ns - c->empty_ns);
	zrtt_ceil_add(params, c, bytes, now_ns);
}

/* The last packet was dropped, and is not sent. */
static inline void zrtt_ceil_leave(struct zrtt_ceil *c)
{
	c->empty_ns -= c->taken_ns;
	c->taken_ns = 0;
}

/* Is the last packet, which is of bulk, to be dropped? It is by what was there before it: of what is
 * left of a low ceiling below mq, a GSO packet by itself may be longer.
 */
static inline bool zrtt_ceil_exceeds(const struct zrtt_ceil_params *params,
				     const struct zrtt_ceil *c, u64 now_ns)
{
	return zrtt_ceil_wait_ns(c, now_ns) > params->ctl.target_us * 1000ULL + c->taken_ns;
}

static inline bool zrtt_ceil_tick_due(const struct zrtt_ceil *c, u64 now_ns)
{
	return now_ns >= c->tick_ns;
}

/* Is zrtt_ceil_add() all that a packet of the host @tag takes, where P_b is @p_q30? */
static inline bool zrtt_ceil_goes_on(const struct zrtt_ceil *c, u32 tag, u32 p_q30, u64 now_ns)
{
	return c->tag == tag && c->p_q30 == p_q30 && !zrtt_ceil_tick_due(c, now_ns) &&
	       now_ns < c->empty_ns + (1ULL << ZRTT_IDLE_MIN_SHIFT);
}

/* P_b is @p_q30: the weights follow that at once, as their mean is by P_b as it is. */
static inline void zrtt_ceil_follow(struct zrtt_ceil *c, u32 p_q30)
{
	u64 base_q30 = zrtt_weight_times(p_q30, zrtt_weight_pack(c->log_part));

	c->p_q30 = p_q30;
	c->held = c->ctl.p_q30 > base_q30;
	if (c->held)
		base_q30 = c->ctl.p_q30;
	c->base_q30 = base_q30 < ~0U ? (u32)base_q30 : ~0U;
}

/**
 * zrtt_ceil_tick() - update P_c
 * @params: parameters
 * @c: state
 * @p_q30: P_b
 * @log_part: log2 of what all flows of the host have in common in their P_i, Q16
 * @others_q8: what other queues have of the ceiling, 0 .. ZRTT_CEIL_ALL - 1
 * @now_ns: clock
 */
static inline void zrtt_ceil_tick(const struct zrtt_ceil_params *params, struct zrtt_ceil *c,
				  u32 p_q30, s32 log_part, u32 others_q8, u64 now_ns)
{
	u64 late_ns = zrtt_ctl_late_ns(&params->ctl, c->tick_ns, now_ns);
	u64 wait_us = div_u64(zrtt_ceil_wait_ns(c, now_ns), 1000);

	zrtt_ctl_follow(&params->ctl, &c->ctl, 0);
	zrtt_ctl_tick(&params->ctl, &c->ctl,
		      wait_us < ZRTT_SOJOURN_MAX_US ? (u32)wait_us : ZRTT_SOJOURN_MAX_US,
		      zrtt_ctl_elapsed_us(&params->ctl, late_ns));
	c->tick_ns = now_ns + zrtt_ctl_period_us(&params->ctl) * 1000ULL;
	c->others_q8 = (u8)others_q8;
	c->log_part = zrtt_clamp_between(log_part, ZRTT_WEIGHT_LOG_MIN, ZRTT_WEIGHT_LOG_MAX);
	zrtt_ceil_follow(c, p_q30);
}

/* The law as it is for a flow of the host: its weight is multiplied by the base. */
static inline void zrtt_ceil_law(const struct zrtt_ceil *c, struct zrtt_law *law)
{
	law->log_norm -= c->log_part;
	law->log_first -= c->log_part;
	law->p_q30 = c->base_q30;
	if (c->held)
		law->gain_q16 = zrtt_penalty_gain(c->base_q30, law->due);
}

#endif
