/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a TCP packet its flow's, or spoofed in its name? Its sequence number says.
 */
#ifndef _ZRTT_SEQ_H
#define _ZRTT_SEQ_H

#include <linux/types.h>
#include "hint.h"
#include "flow.h"

/* 1.9 s for an answer to a SYN: the clock of @syn_at wraps after 2.1 s, and for longer
 * gaps there is a second SYN.
 */
#define ZRTT_SYN_EPOCHS_MAX	13

/* A TCP flow's packets follow each other in sequence numbers: who does not see them, and
 * sends in the flow's name, is farther off. A slot has the high 16 bits of the last one;
 * two of their units, 128 KB, and what the flow sends in 4 s, are near.
 */
#define ZRTT_SEQ_SPAN		2
#define ZRTT_SEQ_SPAN_MAX	0x4000
#define ZRTT_SEQ_RATE_SHIFT	11	/* of bytes per epoch: 32 epochs, 2^16 bytes */

/* The number of the two bytes in @seq. */
static inline u16 zrtt_seq_high(u16 seq)
{
	u8 bytes[2];

	__builtin_memcpy(bytes, &seq, sizeof(bytes));
	return zrtt_hint_get16(bytes);
}

/* Is it near those of the flow? @seq as it lies in a packet. */
static inline bool zrtt_flow_near(const struct zrtt_flow *f, u16 seq)
{
	u32 span = ZRTT_SEQ_SPAN + (f->rate >> ZRTT_SEQ_RATE_SHIFT);
	u16 ahead = zrtt_seq_high(seq) - zrtt_seq_high(f->seq);

	if (span > ZRTT_SEQ_SPAN_MAX)
		span = ZRTT_SEQ_SPAN_MAX;
	return (u16)(ahead + span) <= 2 * span;
}

/* A number counts once a packet followed it, and until the flow was silent for 2 s: then
 * it may be another connection's, or have been spoofed.
 */
static inline bool zrtt_flow_anchored(const struct zrtt_flow *f, u32 epoch)
{
	return f->seq_known && epoch - f->epoch <= ZRTT_LIVE_EPOCHS;
}

/**
 * zrtt_flow_spoofs() - would zrtt_flow_owns() say no?
 * @f: flow, stays as it is
 * @seq: high bits of the packet's sequence number as they lie in it
 * @epoch: now
 */
static inline bool zrtt_flow_spoofs(const struct zrtt_flow *f, u16 seq, u32 epoch)
{
	return seq != f->seq && !f->syn && zrtt_flow_anchored(f, epoch) &&
	       !zrtt_flow_near(f, seq);
}

/**
 * zrtt_flow_owns() - is a packet the flow's, or spoofed in its name?
 * @f: flow
 * @seq: high bits of the packet's sequence number as they lie in it, not those of @f
 * @epoch: now
 */
static noinline __maybe_unused bool zrtt_flow_owns(struct zrtt_flow *f, u16 seq, u32 epoch)
{
	bool near;

	if (f->syn) {
		if (f->syn != ZRTT_SYN_QUIC && f->age > ZRTT_SYN_EPOCHS_MAX)
			zrtt_flow_anchor(f, seq, false);
		return true;
	}
	near = zrtt_flow_near(f, seq);
	if (!near && zrtt_flow_anchored(f, epoch))
		return false;
	zrtt_flow_anchor(f, seq, near);
	return true;
}

/* The same, and quick for a packet that is next. One of 65536 handshakes looks so, too,
 * and is not timed.
 */
static inline bool zrtt_flow_follows(struct zrtt_flow *f, u16 seq, u32 epoch)
{
	if (unlikely(seq != f->seq))
		return zrtt_flow_owns(f, seq, epoch);
	f->seq_known = 1;
	return true;
}

#endif
