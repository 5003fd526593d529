/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the queue knows of a flow: its RTT, from those who tell it and those who let it
 * be seen, and its rate.
 *
 * Time is cut into epochs of 134 ms.
 */
#ifndef _ZRTT_FLOW_H
#define _ZRTT_FLOW_H

#include <linux/types.h>
#include "fixed.h"
#include "hint.h"

#define ZRTT_EPOCH_SHIFT	27	/* an epoch is 2^27 ns = 134 ms */
#define ZRTT_LIVE_EPOCHS	15	/* 2 s: a flow counts in averages */
#define ZRTT_RTT_EPOCHS		224	/* 30 s: an RTT is remembered */

/* Epochs after which the mean rate of a flow becomes a moving average (1.6 s), and
 * after which it says enough of the flow (1 s): short flows come and go, and must
 * move neither r_avg nor alpha.
 */
#define ZRTT_RATE_EPOCHS	12
#define ZRTT_MATURE_EPOCHS	8

#define ZRTT_RTT_WQ_Q16		6554	/* w_q = 0.1, paper eq. (3) */
#define ZRTT_RTT_FRAC		8	/* fraction bits of the smoothed value told */

/* Trust: a hint may exceed the passive RTT by a quarter and 2 ms of host
 * jitter, which is what honest senders were seen to need. The passive RTT may have
 * waited in other queues, so that a hint may be a quarter of it, but not less: a
 * stranger can send hints in a flow's name.
 */
#define ZRTT_CLAMP_SLACK_US	2000
#define ZRTT_CLAMP_BELOW	4

enum zrtt_rtt_source {
	ZRTT_RTT_NONE,
	ZRTT_RTT_HINT,
	ZRTT_RTT_MARK,
	ZRTT_RTT_TIMESTAMPS,
	ZRTT_RTT_HANDSHAKE,
	ZRTT_RTT_SOURCES,
};

/**
 * struct zrtt_flow - one slot, one cache line
 * @tag: hash of the flow's addresses and ports, 0 = never used
 * @older: neighbour in the list of live flows
 * @newer: neighbour in the list of live flows
 * @epoch: when it began or closed its books last
 * @bytes: arrivals since then
 * @rate: smoothed arrival rate, bytes per epoch
 * @passed: what of @rate is not dropped, 0 = too young or too thin to count
 * @rtt_us: RTT_i in use, 0 = none known
 * @told_q8: smoothed RTT that hints or marks told, microseconds, ZRTT_RTT_FRAC
 *	fraction bits, 0 = none
 * @told_epoch: epoch of the last one
 * @passive_us: what was seen of the RTT: the smallest handshake gap, or what
 *	timestamps say; 0 = nothing
 * @syn_us: clock at which the first handshake packet left the queue
 * @weight_q16: P_i / P_b
 * @acc_q30: marking credit
 * @threshold_q30: credit that triggers the next mark
 * @price_q13: what it pays for being above r_avg: log2 of a factor of P_i, Q13
 * @age: epochs since it started, up to ZRTT_LIVE_EPOCHS
 * @source: enum zrtt_rtt_source of @rtt_us
 * @live: on the list and in the sums
 * @syn_left: a handshake packet left, its answer is awaited
 * @told_by_mark: @told_q8 is the operator's, not a hint
 * @timed: @passive_us comes from timestamps
 * @spare: not used
 */
struct zrtt_flow {
	u32 tag;
	u32 older;
	u32 newer;
	u32 epoch;
	u32 bytes;
	u32 rate;
	u32 passed;
	u32 rtt_us;
	u32 told_q8;
	u32 told_epoch;
	u32 passive_us;
	u32 syn_us;
	u32 weight_q16;
	u32 acc_q30;
	u32 threshold_q30;
	u16 price_q13;
	u8 age;
	u8 source:3;
	u8 live:1;
	u8 syn_left:1;
	u8 told_by_mark:1;
	u8 timed:1;
	u8 spare:1;
};

/* Weight of the mean of @i epochs in the moving average, Q16: 1 - (11/12)^i, one
 * twelfth being 1 / ZRTT_RATE_EPOCHS.
 */
static const u32 zrtt_rate_gains[ZRTT_LIVE_EPOCHS + 1] = {
	0, 5461, 10468, 15057, 19263, 23119, 26654, 29894,
	32864, 35587, 38083, 40370, 42468, 44390, 46152, 47767,
};

/* 1 / @i, Q16 */
static const u32 zrtt_epoch_recip[ZRTT_LIVE_EPOCHS + 1] = {
	0, 65536, 32768, 21845, 16384, 13107, 10923, 9362,
	8192, 7282, 6554, 5958, 5461, 5041, 4681, 4369,
};

static inline u32 zrtt_epoch(u64 now_ns)
{
	return (u32)(now_ns >> ZRTT_EPOCH_SHIFT);
}

static inline bool zrtt_flow_mature(const struct zrtt_flow *f)
{
	return f->age >= ZRTT_MATURE_EPOCHS;
}

/* A flow's first packet. What is not set here is not read before it is. */
static inline void zrtt_flow_begin(struct zrtt_flow *f, u32 tag, u32 epoch, u32 rnd)
{
	f->tag = tag;
	f->epoch = epoch;
	f->bytes = 0;
	f->rate = 0;
	f->passed = 0;
	f->rtt_us = 0;
	f->told_q8 = 0;
	f->passive_us = 0;
	f->weight_q16 = ZRTT_Q16_ONE;
	f->acc_q30 = 0;
	f->threshold_q30 = ZRTT_P_ONE / 2 + (rnd >> 2);
	f->price_q13 = 0;
	f->age = 0;
	f->source = ZRTT_RTT_NONE;
	f->live = 0;
	f->syn_left = 0;
	f->told_by_mark = 0;
	f->timed = 0;
	f->spare = 0;
}

/* Was an RTT told, by a hint or a mark, that is not forgotten yet? */
static inline bool zrtt_flow_told(const struct zrtt_flow *f, u32 epoch)
{
	return f->told_q8 && epoch - f->told_epoch <= ZRTT_RTT_EPOCHS;
}

/* RTT_i by preference: told in the last 30 s, timestamps, handshake gap, none. */
static inline void zrtt_flow_choose_rtt(struct zrtt_flow *f, u32 epoch)
{
	if (zrtt_flow_told(f, epoch)) {
		f->source = f->told_by_mark ? ZRTT_RTT_MARK : ZRTT_RTT_HINT;
		f->rtt_us = f->told_q8 >> ZRTT_RTT_FRAC;
	} else if (f->passive_us) {
		f->source = f->timed ? ZRTT_RTT_TIMESTAMPS : ZRTT_RTT_HANDSHAKE;
		f->rtt_us = f->passive_us;
	} else {
		f->source = ZRTT_RTT_NONE;
		f->rtt_us = 0;
	}
}

/* Fold the arrivals of the last @epochs (1 .. ZRTT_LIVE_EPOCHS) into the rate: the
 * plain mean of a young flow, so that it is not taken for a slow one.
 */
static inline void zrtt_flow_rate(struct zrtt_flow *f, u32 epochs)
{
	u32 mean = zrtt_mul_q16(f->bytes, zrtt_epoch_recip[epochs]);
	u32 gain_q16 = zrtt_rate_gains[epochs];

	if (f->age < ZRTT_RATE_EPOCHS) {
		f->age += epochs;
		if (f->age > ZRTT_LIVE_EPOCHS)
			f->age = ZRTT_LIVE_EPOCHS;
		gain_q16 = epochs * zrtt_epoch_recip[f->age];
	}
	f->rate = zrtt_ewma(f->rate, mean, gain_q16);
}

/* Remember what was told, smoothed with the paper's w_q (eq. 3); what the other
 * source told before is not mixed in.
 */
static inline void zrtt_flow_remember(struct zrtt_flow *f, u32 rtt_us, bool by_mark,
				      u32 epoch)
{
	u32 rtt_q8 = rtt_us << ZRTT_RTT_FRAC;

	if (zrtt_flow_told(f, epoch) && f->told_by_mark == by_mark)
		rtt_q8 = zrtt_ewma(f->told_q8, rtt_q8, ZRTT_RTT_WQ_Q16);
	f->told_q8 = rtt_q8;
	f->told_by_mark = by_mark;
	f->told_epoch = epoch;
}

/**
 * zrtt_flow_hint() - the flow's packet carried a hint
 * @f: flow
 * @rtt_us: the hint, 32 .. ZRTT_HINT_MAX_US
 * @clamp: bound it by the passive RTT where one is known
 * @epoch: now
 *
 * Return: true if it was bounded.
 */
static inline bool zrtt_flow_hint(struct zrtt_flow *f, u32 rtt_us, bool clamp,
				  u32 epoch)
{
	u32 most = f->passive_us + f->passive_us / 4 + ZRTT_CLAMP_SLACK_US;
	u32 least = f->passive_us / ZRTT_CLAMP_BELOW;
	bool bounded = clamp && f->passive_us && (rtt_us > most || rtt_us < least);

	if (bounded)
		rtt_us = rtt_us > most ? most : least;
	zrtt_flow_remember(f, rtt_us, false, epoch);
	return bounded;
}

/**
 * zrtt_flow_mark() - the operator's mark of the flow's packet told an RTT
 * @f: flow
 * @rtt_us: the RTT, 32 .. ZRTT_HINT_MAX_US
 * @epoch: now
 *
 * Taken as it is, but not while a hint is remembered. Return: true if taken.
 */
static inline bool zrtt_flow_mark(struct zrtt_flow *f, u32 rtt_us, u32 epoch)
{
	if (zrtt_flow_told(f, epoch) && !f->told_by_mark)
		return false;
	zrtt_flow_remember(f, rtt_us, true, epoch);
	return true;
}

/* The flow's SYN or SYN-ACK left the queue at @now_us. */
static inline void zrtt_flow_syn_left(struct zrtt_flow *f, u32 now_us)
{
	f->syn_us = now_us;
	f->syn_left = 1;
}

/**
 * zrtt_flow_syn_answered() - the next packet behind a handshake packet arrived
 * @f: flow
 * @now_us: clock, wraps
 *
 * The gap from the SYN's departure is one round trip of the path without our
 * own queue, an upper bound for the RTT: the least one seen is kept, until
 * timestamps know better.
 */
static inline void zrtt_flow_syn_answered(struct zrtt_flow *f, u32 now_us)
{
	u32 gap_us = now_us - f->syn_us;

	f->syn_left = 0;
	if (f->timed || gap_us < (1U << ZRTT_HINT_UNIT_SHIFT) ||
	    gap_us > ZRTT_HINT_MAX_US)
		return;
	if (!f->passive_us || gap_us < f->passive_us)
		f->passive_us = gap_us;
}

/* Timestamps of both directions say that the flow's RTT is @rtt_us. */
static inline void zrtt_flow_timed(struct zrtt_flow *f, u32 rtt_us)
{
	f->passive_us = rtt_us;
	f->timed = 1;
}

#endif
