/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTTs of QUIC, seen in one direction: from the handshake and from the spin bit (RFC 9000
 * sec. 17.4, RFC 9312 sec. 3.8).
 *
 * The handshake shows one round trip of the path without our own queue:
 *
 *   client    Initial                ->   first Handshake packet, which needs the server's
 *   server    Initial, Handshake     ->   first 1-RTT packet behind a gap: HANDSHAKE_DONE
 *
 * - only what begins with a flow's first packet is timed, and once: an Initial in the name
 *   of a flow that is silent changes nothing;
 * - what may have been sent by a timer (RFC 9002 sec. 6.2: another Initial from a client,
 *   anything but 1-RTT from a server), ends the timing, as a second SYN does;
 * - servers send 1-RTT packets right behind their Handshake, too: that gap must be seen;
 * - a gap of a second is a timer's.
 *
 * The spin bit changes once per round trip, our own queue included, or longer if the
 * sender has nothing to send. So the least time between two changes counts, of this window
 * or the one before. An end that does not take part sends any bits (RFC 9000 sec. 17.4),
 * and packets that were reordered show changes that are none: a change counts if three more
 * packets have the new bit, and if seven such changes went before it without any other. Bits
 * drawn per packet do that once in 2^24 changes.
 */
#ifndef _ZRTT_SPIN_H
#define _ZRTT_SPIN_H

#include <linux/types.h>
#include "flow.h"
#include "rtt.h"
#include "halves.h"
#include "quic.h"

/* The clock: 2^16 ns, low 16 bits. A flow that was silent for 2 s is interrupted, so that
 * with ZRTT_SPIN_MAX_US before, the clock does not wrap unseen.
 */
#define ZRTT_SPIN_SHIFT		16
#define ZRTT_SPIN_LEAST		16	/* 1 ms: below, it is not a round trip */
#define ZRTT_SPIN_MOST		32000	/* 2.1 s */
#define ZRTT_SPIN_GOOD		7	/* edges that confirm a flow's */

/* Gaps of handshakes: a client's second part of a flight, or a server's, comes sooner; a
 * timer without a sample of the RTT waits for 1 s (RFC 9002 sec. 6.2.2), or less, but then
 * what it sends shows it.
 */
#define ZRTT_QUIC_GAP_CLIENT	16	/* 1 ms */
#define ZRTT_QUIC_GAP_SERVER	32	/* 2 ms */
#define ZRTT_QUIC_GAP_MOST	13700	/* 0.9 s */

static inline u16 zrtt_spin_clock(u64 now_ns)
{
	return (u16)(now_ns >> ZRTT_SPIN_SHIFT);
}

/* 65.536 us each */
static inline u32 zrtt_spin_to_us(u16 units)
{
	return ((u32)units << 13) / 125;
}

/**
 * zrtt_quic_arrived() - a packet that begins QUIC is queued
 * @f: flow
 * @first: it is the flow's first packet, or the first for longer than 2 s
 * @kind: what it holds
 */
static inline void zrtt_quic_arrived(struct zrtt_flow *f, bool first,
				     enum zrtt_quic_kind kind)
{
	if (!first || f->syn == ZRTT_SYN_QUIC || kind < ZRTT_QUIC_INITIAL)
		return;
	f->syn = ZRTT_SYN_QUIC;
	f->spin_least = ZRTT_QUIC_NO_LEAST;
	f->spin = 0;
	zrtt_quic_spins(f);
	if (kind > ZRTT_QUIC_INITIAL_HANDSHAKE)
		return;
	f->spin_run = 0;
	if (kind == ZRTT_QUIC_HELLO)
		f->quic = ZRTT_QUIC_CLIENT;
	else if (kind == ZRTT_QUIC_INITIAL)
		f->quic = ZRTT_QUIC_SERVER;
	else
		f->quic = ZRTT_QUIC_FLIGHT;
}

/* Is the departure of the flow's packets of interest? */
static inline bool zrtt_quic_shakes(const struct zrtt_flow *f)
{
	return f->syn == ZRTT_SYN_QUIC && f->quic != ZRTT_QUIC_SPIN;
}

/* A packet of a handshake left the queue at @now_ns. */
static inline void zrtt_quic_left(struct zrtt_flow *f, u64 now_ns)
{
	if (!zrtt_quic_shakes(f))
		return;
	/* a client's first Initial is what the server answers */
	if (f->quic == ZRTT_QUIC_CLIENT && f->spin_run)
		return;
	f->spin_run = 1;
	f->syn_at = zrtt_spin_clock(now_ns);
}

/* The gap is the RTT. */
static inline bool zrtt_quic_gap(struct zrtt_flow *f, u16 gap, u32 epoch)
{
	zrtt_quic_spins(f);
	zrtt_flow_saw(f, zrtt_spin_to_us(gap), epoch);
	return true;
}

/* A client's packet behind its first. Return: true if the queue learnt the RTT. */
static inline bool zrtt_quic_client(struct zrtt_flow *f, enum zrtt_quic_kind kind, u16 gap,
				    u32 epoch)
{
	bool soon = !f->spin_run || gap <= ZRTT_QUIC_GAP_CLIENT;

	switch (kind) {
	case ZRTT_QUIC_HANDSHAKE:
	case ZRTT_QUIC_INITIAL_HANDSHAKE:
		if (!soon)
			return zrtt_quic_gap(f, gap, epoch);
		/* a server, whose first datagram was padded */
		f->quic = ZRTT_QUIC_FLIGHT;
		return false;
	case ZRTT_QUIC_INITIAL:
	case ZRTT_QUIC_HELLO:
		if (!soon)
			zrtt_quic_spins(f);
		return false;
	case ZRTT_QUIC_OTHER:
		return false;
	default:
		zrtt_quic_spins(f);
		return false;
	}
}

/* The same of a server's. */
static inline bool zrtt_quic_server(struct zrtt_flow *f, enum zrtt_quic_kind kind, u16 gap,
				    u32 epoch)
{
	bool soon = !f->spin_run || gap <= ZRTT_QUIC_GAP_SERVER;

	if (f->quic == ZRTT_QUIC_SERVER) {
		if (kind == ZRTT_QUIC_HANDSHAKE || kind == ZRTT_QUIC_INITIAL_HANDSHAKE)
			f->quic = ZRTT_QUIC_FLIGHT;
		else if (kind <= ZRTT_QUIC_SHORT)
			zrtt_quic_spins(f);
		return false;
	}
	if (soon)
		return false;
	if (kind == ZRTT_QUIC_SHORT)
		return zrtt_quic_gap(f, gap, epoch);
	zrtt_quic_spins(f);
	return false;
}

/* Two edges were @period apart. Return: true if the queue learnt the flow's first RTT. */
static inline bool zrtt_spin_take(struct zrtt_flow *f, u16 period, u32 epoch)
{
	u8 shift = ZRTT_WINDOW_SHIFT - ZRTT_PASSIVE_SHIFT;
	u8 windows = (u8)(epoch >> ZRTT_PASSIVE_SHIFT) >> shift;
	bool first = !f->passive_us;
	u32 rtt_us;

	if (!first && windows != f->passive_at >> shift) {
		/* the path may have become longer */
		if (f->spin_least != ZRTT_QUIC_NO_LEAST)
			f->passive_us = zrtt_spin_to_us(f->spin_least);
		f->spin_least = ZRTT_QUIC_NO_LEAST;
	}
	if (period < f->spin_least)
		f->spin_least = period;
	rtt_us = zrtt_spin_to_us(f->spin_least);
	if (!first && f->passive_us < rtt_us)
		rtt_us = f->passive_us;
	zrtt_flow_saw(f, rtt_us, epoch);
	return first;
}

/**
 * zrtt_spin_arrived() - a packet with a spin bit was queued
 * @f: flow of ZRTT_QUIC_SPIN, without a hint or mark
 * @spin: the bit
 * @now: zrtt_spin_clock()
 * @epoch: the same in epochs
 *
 * Return: true if the queue learnt the flow's first RTT.
 */
static inline bool zrtt_spin_arrived(struct zrtt_flow *f, bool spin, u16 now, u32 epoch)
{
	u16 since = now - f->syn_at;

	if (spin != f->spin) {
		bool edge = f->spin_run == ZRTT_SPIN_RUN && since >= ZRTT_SPIN_LEAST &&
			    since <= ZRTT_SPIN_MOST;

		if (!edge)
			f->spin_good = 0;
		f->spin_period = since;
		f->syn_at = now;
		f->spin = spin;
		f->spin_run = 0;
		return false;
	}
	if (f->spin_run == ZRTT_SPIN_RUN || ++f->spin_run < ZRTT_SPIN_RUN)
		return false;
	if (f->spin_good == ZRTT_SPIN_GOOD)
		return zrtt_spin_take(f, f->spin_period, epoch);
	f->spin_good++;
	return false;
}

/**
 * zrtt_quic_seen() - a packet of a flow that is QUIC was queued
 * @f: flow
 * @kind: what it holds
 * @spin: its spin bit
 * @now: zrtt_spin_clock()
 * @epoch: the same in epochs
 *
 * Return: true if the queue learnt the flow's first RTT.
 */
static inline bool zrtt_quic_seen(struct zrtt_flow *f, enum zrtt_quic_kind kind, bool spin,
				  u16 now, u32 epoch)
{
	u16 gap = now - f->syn_at;

	if (f->quic != ZRTT_QUIC_SPIN && f->spin_run && gap > ZRTT_QUIC_GAP_MOST)
		zrtt_quic_spins(f);
	switch (f->quic) {
	case ZRTT_QUIC_CLIENT:
		return zrtt_quic_client(f, kind, gap, epoch);
	case ZRTT_QUIC_SERVER:
	case ZRTT_QUIC_FLIGHT:
		return zrtt_quic_server(f, kind, gap, epoch);
	}
	/* what is too long stays too long when the clock wraps */
	if (gap > ZRTT_SPIN_MOST)
		f->syn_at = now - ZRTT_SPIN_MOST - 1;
	if (kind != ZRTT_QUIC_SHORT)
		return false;
	if (f->hinted_q8) {
		/* which use the memory of @spin_period */
		zrtt_quic_spins(f);
		return false;
	}
	return zrtt_spin_arrived(f, spin, now, epoch);
}

#endif
