/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTTs from TCP handshakes, seen in one direction.
 *
 * A SYN leaves the queue, and the next packet of the same flow answers what the SYN
 * brought back: the gap is one round trip of the path without our own queue.
 *
 *   client    SYN seq x          ->   ACK seq x + 1, ack y + 1
 *   server    SYN-ACK seq y, ack x + 1   ->   seq y + 1, ack > x + 1
 *
 * Nobody must be able to state an RTT by one packet in another's name:
 *
 * - only the first packet of a flow is timed: a SYN on a live flow is not;
 * - the answer has the sequence number that follows the SYN's, which who does not see
 *   the SYN must guess (one in 65536);
 * - an acknowledgment number that did not advance answers nothing: a server with TCP
 *   Fast Open (RFC 7413) sends data right behind its SYN-ACK;
 * - a second SYN may be the one that is answered (Karn's algorithm, RFC 6298 section 3):
 *   neither is timed.
 */
#ifndef _ZRTT_HANDSHAKE_H
#define _ZRTT_HANDSHAKE_H

#include <linux/types.h>
#include "hint.h"
#include "flow.h"
#include "rtt.h"

/* Eight bits of an acknowledgment number, never 0. Two numbers whose difference is a
 * multiple of 256 differ, too, unless it is a multiple of 65536 or chance has it.
 */
static inline u8 zrtt_fold_ack(u32 ack)
{
	u8 fold = (u8)(ack ^ ack >> 8 ^ ack >> 16 ^ ack >> 24);

	return fold ? fold : 1;
}

/**
 * zrtt_syn_arrived() - a flow's SYN or SYN-ACK is queued
 * @f: flow
 * @first: it is the flow's first packet, or the first for longer than 2 s
 * @seq: its sequence number
 * @ack: its acknowledgment number, 0 = none
 */
static inline void zrtt_syn_arrived(struct zrtt_flow *f, bool first, u32 seq, u32 ack)
{
	if (!first) {
		if (f->syn)
			zrtt_flow_anchor(f, 0, false);
		return;
	}
	f->syn = ZRTT_SYN_QUEUED;
	f->syn_seq = (u16)(seq + 1);
	f->syn_ack = ack ? zrtt_fold_ack(ack) : 0;
}

/* The SYN left the queue at @now_us. */
static inline void zrtt_syn_left(struct zrtt_flow *f, u32 now_us)
{
	if (f->syn != ZRTT_SYN_QUEUED)
		return;
	f->syn = ZRTT_SYN_LEFT;
	f->syn_at = (u16)(now_us >> ZRTT_HINT_UNIT_SHIFT);
}

/**
 * zrtt_syn_answered() - a packet with an acknowledgment arrived behind the SYN
 * @f: flow; its SYN has left
 * @seq: the packet's sequence number
 * @high: its high bits as they lie in the packet
 * @ack: its acknowledgment number
 * @now_us: clock, wraps
 * @epoch: the same in epochs
 *
 * A packet with another sequence number is somebody else's, or answers nothing. What
 * timestamps say is better.
 *
 * Return: true if the queue learnt the RTT.
 */
static inline bool zrtt_syn_answered(struct zrtt_flow *f, u32 seq, u16 high, u32 ack,
				     u32 now_us, u32 epoch)
{
	u16 units = (u16)((now_us >> ZRTT_HINT_UNIT_SHIFT) - f->syn_at);
	bool advanced = f->syn_ack != zrtt_fold_ack(ack);

	if ((u16)seq != f->syn_seq)
		return false;
	zrtt_flow_anchor(f, high, true);
	if (!advanced || !units || f->timed)
		return false;
	zrtt_flow_saw(f, zrtt_hint_to_us(units), epoch);
	return true;
}

#endif
