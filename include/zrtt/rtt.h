/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow's RTT: from the sender's hints or the operator's marks, or as the queue saw it itself, and
 * for how long each is remembered.
 */
#ifndef _ZRTT_RTT_H
#define _ZRTT_RTT_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"

#define ZRTT_RTT_EPOCHS		224	/* 30 s: an RTT of a hint or mark is remembered */

/* What the queue saw of an RTT itself is believed for 128 times 2^5 epochs, 9 minutes, and
 * fades into RTT_avg over 5 more: a path may change, and who forged an RTT after all must
 * not have forged it for good. Forgotten at once, it would be missed: 20 flows that began
 * together had a Jain index of 0.989 for half a minute.
 */
#define ZRTT_PASSIVE_SHIFT	5
#define ZRTT_PASSIVE_FADES	128
#define ZRTT_PASSIVE_AGES	192	/* 2^6 more */
#define ZRTT_PASSIVE_FADE_SHIFT	6
#define ZRTT_PASSIVE_SILENT	64	/* the age has 8 bits, which must not wrap */

#define ZRTT_RTT_WQ_Q16		6554	/* w_q = 0.1, paper eq. (3) */
#define ZRTT_RTT_FRAC		8	/* fraction bits of the smoothed RTT of hints */

/* Trust: a hint may exceed the passive RTT by a quarter and 2 ms of host
 * jitter, which is what honest senders were seen to need. The passive RTT may have
 * waited in other queues, so that a hint may be a quarter of it, but not less: anybody
 * can send hints in a flow's name.
 */
#define ZRTT_CLAMP_SLACK_US	2000
#define ZRTT_CLAMP_BELOW	4

/* Is there an RTT of a hint or mark that is not forgotten yet? */
static inline bool zrtt_flow_hinted(const struct zrtt_flow *f, u32 epoch)
{
	return f->hinted_q8 && (u16)(epoch - f->hinted_epoch) <= ZRTT_RTT_EPOCHS;
}

/* The age of passive_us, in units of ZRTT_PASSIVE_SHIFT epochs. */
static inline u8 zrtt_flow_passive_age(const struct zrtt_flow *f, u32 epoch)
{
	return (u8)(epoch >> ZRTT_PASSIVE_SHIFT) - f->passive_at;
}

/* Forget what is too old, @epochs after the flow's last packets. */
static inline void zrtt_flow_forget(struct zrtt_flow *f, u32 epochs, u32 epoch)
{
	if (epochs > ZRTT_RTT_EPOCHS || !zrtt_flow_hinted(f, epoch))
		f->hinted_q8 = 0;
	if (zrtt_flow_passive_age(f, epoch) >= ZRTT_PASSIVE_AGES ||
	    epochs >= ZRTT_PASSIVE_SILENT << ZRTT_PASSIVE_SHIFT) {
		f->passive_us = 0;
		f->timed = 0;
	}
}

/* Which of the queue's own sources @passive_us comes from. */
static inline enum zrtt_rtt_source zrtt_flow_passive_source(const struct zrtt_flow *f)
{
	if (f->timed)
		return ZRTT_RTT_TIMESTAMPS;
	return f->syn == ZRTT_SYN_QUIC ? ZRTT_RTT_QUIC : ZRTT_RTT_HANDSHAKE;
}

/* RTT_i by preference: hint or mark, timestamps, handshake or QUIC, none. */
static inline void zrtt_flow_choose_rtt(struct zrtt_flow *f, u32 epoch)
{
	if (zrtt_flow_hinted(f, epoch)) {
		f->source = f->hinted_by_mark ? ZRTT_RTT_MARK : ZRTT_RTT_HINT;
		f->rtt_us = f->hinted_q8 >> ZRTT_RTT_FRAC;
	} else if (f->passive_us) {
		f->source = zrtt_flow_passive_source(f);
		f->rtt_us = f->passive_us;
	} else {
		f->source = ZRTT_RTT_NONE;
		f->rtt_us = 0;
	}
}

/* Let an RTT_i that the queue saw long ago fade into @rtt_avg_us, 0 = not known. */
static inline void zrtt_flow_fade(struct zrtt_flow *f, u32 rtt_avg_us, u32 epoch)
{
	s64 above_us = (s64)f->rtt_us - rtt_avg_us;
	s64 left = ZRTT_PASSIVE_AGES - zrtt_flow_passive_age(f, epoch);

	if (f->source < ZRTT_RTT_TIMESTAMPS || !rtt_avg_us ||
	    left > ZRTT_PASSIVE_AGES - ZRTT_PASSIVE_FADES)
		return;
	f->rtt_us = (u32)(rtt_avg_us + ((above_us * left) >> ZRTT_PASSIVE_FADE_SHIFT));
}

/* Remember the RTT of a hint or mark, smoothed with the paper's w_q (eq. 3); what the
 * other of the two said before is not mixed in.
 */
static inline void zrtt_flow_remember(struct zrtt_flow *f, u32 rtt_us, bool by_mark,
				      u32 epoch)
{
	u32 rtt_q8 = rtt_us << ZRTT_RTT_FRAC;

	if (zrtt_flow_hinted(f, epoch) && f->hinted_by_mark == by_mark)
		rtt_q8 = zrtt_ewma(f->hinted_q8, rtt_q8, ZRTT_RTT_WQ_Q16);
	f->hinted_q8 = rtt_q8;
	f->hinted_by_mark = by_mark;
	f->hinted_epoch = (u16)epoch;
}

/**
 * zrtt_flow_hint() - the flow's packet carried a hint
 * @f: flow
 * @rtt_us: the hint, 32 .. ZRTT_HINT_MAX_US
 * @clamp: bound it by the passive RTT where one is known, but not by QUIC's
 * @epoch: now
 *
 * Return: true if it was bounded.
 */
static inline bool zrtt_flow_hint(struct zrtt_flow *f, u32 rtt_us, bool clamp,
				  u32 epoch)
{
	u32 most = f->passive_us + f->passive_us / 4 + ZRTT_CLAMP_SLACK_US;
	u32 least = f->passive_us / ZRTT_CLAMP_BELOW;
	bool known = f->passive_us && f->syn != ZRTT_SYN_QUIC;
	bool bounded = clamp && known && (rtt_us > most || rtt_us < least);

	if (bounded)
		rtt_us = rtt_us > most ? most : least;
	zrtt_flow_remember(f, rtt_us, false, epoch);
	return bounded;
}

/**
 * zrtt_flow_mark() - the flow's packet carried the operator's mark
 * @f: flow
 * @rtt_us: the RTT, 32 .. ZRTT_HINT_MAX_US
 * @epoch: now
 *
 * Taken as it is, but not while a hint is remembered. Return: true if taken.
 */
static inline bool zrtt_flow_mark(struct zrtt_flow *f, u32 rtt_us, u32 epoch)
{
	if (zrtt_flow_hinted(f, epoch) && !f->hinted_by_mark)
		return false;
	zrtt_flow_remember(f, rtt_us, true, epoch);
	return true;
}

/* The queue saw that the flow's RTT is @rtt_us. */
static inline void zrtt_flow_saw(struct zrtt_flow *f, u32 rtt_us, u32 epoch)
{
	f->passive_us = rtt_us;
	f->passive_at = (u8)(epoch >> ZRTT_PASSIVE_SHIFT);
}

/* Timestamps of both directions say that the flow's RTT is @rtt_us. */
static inline void zrtt_flow_timed(struct zrtt_flow *f, u32 rtt_us, u32 epoch)
{
	zrtt_flow_saw(f, rtt_us, epoch);
	f->timed = 1;
}

#endif
