/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection's RTT from both of its directions, by TCP timestamps (RFC 7323).
 *
 * A router that sees both directions of a connection can time each half of its
 * path: a packet leaves with a new TSval, and the first packet back that echoes
 * it (TSecr) closes the half on that side. The two halves make the RTT, without
 * a handshake and without the queues of this router: a half begins when its
 * packet leaves one queue and ends when the echo arrives at the other.
 *
 * Many packets share a TSval, and only the first may be timed: an echo answers
 * that one. So a probe begins at a packet whose TSval was seen to change.
 *
 * A receiver echoes the TSval of the segment that last filled the left edge of its window, and
 * of those that it acknowledges at once, the earliest (RFC 7323 sec. 4.3). Of a probe that
 * came second, or behind a hole, only a newer echo comes, and late. It is given up then.
 */
#ifndef _ZRTT_HALVES_H
#define _ZRTT_HALVES_H

#include <linux/types.h>
#include "fixed.h"
#include "hint.h"
#include "answers.h"

#define ZRTT_CONNS		16384	/* of a table: 512 KiB */
#define ZRTT_CONN_WAYS		4	/* slots of a set, all that a lookup visits */
#define ZRTT_CONN_SETS		(ZRTT_CONNS / ZRTT_CONN_WAYS)
#define ZRTT_WINDOW_SHIFT	8	/* a window is 2^8 epochs = 34 s */

/* A clock may lag by a jiffy, which an epoch may end in. One epoch of the 65536 that 16
 * bits tell apart means that.
 */
#define ZRTT_CLOCK_LAG_EPOCHS	1

/* A probe without an echo is given up: its packet was lost, or the peer is silent.
 * Longer than any RTT that a hint can state, and a full queue. For so long a newer TSval
 * is waited for, too: the one that is known may be a third party's, or of a connection
 * that had these ports before.
 */
#define ZRTT_PROBE_MAX_US	4000000

/* What is sent again need not be the first packet of its TSval: its echo may be sooner by a tick.
 * That is 10 ms at most, as of a kernel of 100 Hz that counts in jiffies.
 */
#define ZRTT_PROBE_TICK_US	10000

/* Clocks have ticks of 1 us or longer: what is newer by more was not sent while a probe that is
 * timed was away.
 */
#define ZRTT_PROBE_TICKS	ZRTT_PROBE_MAX_US

/**
 * enum zrtt_probe - what one direction of a connection is at
 * @ZRTT_PROBE_NONE: no TSval is known
 * @ZRTT_PROBE_WATCH: one is, the next that is newer begins a probe
 * @ZRTT_PROBE_QUEUED: the packet that began it is in our queue
 * @ZRTT_PROBE_FLYING: it has left
 * @ZRTT_PROBE_AGAIN: so has one that the receiver waits for, and echoes when it comes
 */
enum zrtt_probe {
	ZRTT_PROBE_NONE,
	ZRTT_PROBE_WATCH,
	ZRTT_PROBE_QUEUED,
	ZRTT_PROBE_FLYING,
	ZRTT_PROBE_AGAIN,
};

/* Who asks what the line's delay is, that is whose queue a probe left, beside enum zrtt_probe; 0 =
 * nobody, as an RTT is for all.
 */
#define ZRTT_ASKER_SHIFT	3
#define ZRTT_PROBE_BITS		((1U << ZRTT_ASKER_SHIFT) - 1)
#define ZRTT_ASKERS		(256U >> ZRTT_ASKER_SHIFT)

/**
 * struct zrtt_half - the path beyond one side of the router
 * @tsval: of the probe, or the newest seen
 * @since_us: when the watch began, or the probe was queued, then when it left
 * @least: shortest echo of this window, in units of the hint, 0 = none
 * @least_before: of the window before
 */
struct zrtt_half {
	u32 tsval;
	u32 since_us;
	u16 least;
	u16 least_before;
};

/**
 * struct zrtt_conn - one connection, two to a cache line
 * @tag: the same for both directions, 0 = never used
 * @seen: epoch of the last packet, low bits; its upper byte is the window
 * @probe: enum zrtt_probe of each direction, and from bit ZRTT_ASKER_SHIFT on who asks for
 *	its answer
 * @half: what the packets of each direction cross next
 */
struct zrtt_conn {
	u32 tag;
	u16 seen;
	u8 probe[2];
	struct zrtt_half half[2];
};

/**
 * struct zrtt_echo - a TCP packet with timestamps, or with what zrtt/acks.h takes for them
 * @tag: its connection, never 0
 * @tsval: its own timestamp
 * @tsecr: the one it echoes
 * @way: its direction, 0 or 1
 * @asker: who asks for the answer if it is sent again, below ZRTT_ASKERS; 0 = nobody
 * @ack: @tsecr counts
 * @answers: set: it answers a probe ...
 * @again: ... that was sent again, so that @answer may be too short by ZRTT_PROBE_TICK_US
 * @answered: set: who asked for that
 * @answer: set with @answers
 */
struct zrtt_echo {
	u32 tag;
	u32 tsval;
	u32 tsecr;
	u8 way;
	u8 asker;
	bool ack;
	bool answers;
	bool again;
	u8 answered;
	struct zrtt_line_answer answer;
};

/* @a is newer than @b, on a clock that wraps. */
static inline bool zrtt_newer(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* Which of the ZRTT_CONN_SETS sets a connection is in. */
static inline u32 zrtt_conn_set(u32 tag)
{
	return tag % ZRTT_CONN_SETS;
}

/* For how long a connection was not seen, counted from ZRTT_CLOCK_LAG_EPOCHS before. */
static inline u16 zrtt_conn_silent(const struct zrtt_conn *conn, u16 seen)
{
	return (u16)(seen + ZRTT_CLOCK_LAG_EPOCHS - conn->seen);
}

/* The slot of a connection in its set, or NULL and the slot to take in @evicted. */
static inline struct zrtt_conn *zrtt_conn_find(struct zrtt_conn *set, u32 tag,
					       u16 seen,
					       struct zrtt_conn **evicted)
{
	u32 i;

	*evicted = set;
	for (i = 0; i < ZRTT_CONN_WAYS; i++) {
		if (set[i].tag == tag)
			return &set[i];
		if (!set[i].tag) {
			*evicted = &set[i];
			break;
		}
		if (zrtt_conn_silent(&set[i], seen) > zrtt_conn_silent(*evicted, seen))
			*evicted = &set[i];
	}
	return NULL;
}

/* The same, or NULL, of one that need have no slot: the clock only chooses which to take. */
static inline struct zrtt_conn *zrtt_conn_known(struct zrtt_conn *set, u32 tag)
{
	struct zrtt_conn *evicted;

	return zrtt_conn_find(set, tag, 0, &evicted);
}

/* Begin a new window if it is time, so that a path may become longer. The queues of
 * both directions have clocks of their own, one of which may lag behind.
 */
static inline void zrtt_conn_age(struct zrtt_conn *conn, u16 seen)
{
	u8 windows = (seen >> ZRTT_WINDOW_SHIFT) - (conn->seen >> ZRTT_WINDOW_SHIFT);
	u32 way;

	if (zrtt_conn_silent(conn, seen) <= ZRTT_CLOCK_LAG_EPOCHS)
		return;
	conn->seen = seen;
	if (!windows)
		return;
	for (way = 0; way < 2; way++) {
		struct zrtt_half *half = &conn->half[way];

		half->least_before = windows == 1 ? half->least : 0;
		half->least = 0;
	}
}

/* The slot of a connection, of this window; another one's if it had none. */
static inline struct zrtt_conn *zrtt_conn_take(struct zrtt_conn *set, u32 tag, u16 seen)
{
	struct zrtt_conn *evicted, *conn = zrtt_conn_find(set, tag, seen, &evicted);

	if (!conn) {
		conn = evicted;
		*conn = (struct zrtt_conn) { .tag = tag, .seen = seen };
	}
	zrtt_conn_age(conn, seen);
	return conn;
}

/* The echo of a probe took @gap_us. */
static inline void zrtt_half_take(struct zrtt_half *half, u32 gap_us)
{
	u16 units = zrtt_hint_from_us(gap_us);

	if (gap_us > ZRTT_HINT_MAX_US)
		return;
	if (!half->least || units < half->least)
		half->least = units;
}

static inline u32 zrtt_half_us(const struct zrtt_half *half)
{
	u16 least = half->least;

	if (!least || (half->least_before && half->least_before < least))
		least = half->least_before;
	return zrtt_hint_to_us(least);
}

/* RTT of the path without this router's queues: 64 .. ZRTT_HINT_MAX_US, 0 = not
 * known.
 */
static inline u32 zrtt_conn_rtt_us(const struct zrtt_conn *conn)
{
	u32 one_us = zrtt_half_us(&conn->half[0]);
	u32 other_us = zrtt_half_us(&conn->half[1]);
	u32 rtt_us = one_us && other_us ? one_us + other_us : 0;

	return rtt_us < ZRTT_HINT_MAX_US ? rtt_us : ZRTT_HINT_MAX_US;
}

/* Whether this packet begins a probe of its direction. */
static inline bool zrtt_conn_probe(struct zrtt_conn *conn,
				   const struct zrtt_echo *pkt, u32 now_us)
{
	struct zrtt_half *half = &conn->half[pkt->way];
	u8 *probe = &conn->probe[pkt->way];

	switch (*probe & ZRTT_PROBE_BITS) {
	case ZRTT_PROBE_NONE:
		*probe = ZRTT_PROBE_WATCH;
		half->tsval = pkt->tsval;
		half->since_us = now_us;
		return false;
	case ZRTT_PROBE_WATCH:
		if (!zrtt_newer(pkt->tsval, half->tsval))
			break;
		*probe = ZRTT_PROBE_QUEUED;
		half->tsval = pkt->tsval;
		half->since_us = now_us;
		return true;
	}
	if (zrtt_age_us(half->since_us, now_us, ZRTT_PROBE_MAX_US) > ZRTT_PROBE_MAX_US)
		*probe = ZRTT_PROBE_NONE;
	return false;
}

/* What @gap_us, the time of an answer, counts as for the least of them. */
static inline u32 zrtt_echo_us(const struct zrtt_echo *pkt, u32 gap_us)
{
	return gap_us + (pkt->again ? ZRTT_PROBE_TICK_US : 0);
}

/* The packet may answer the probe of the other direction. */
static inline void zrtt_conn_answer(struct zrtt_conn *conn, struct zrtt_echo *pkt, u32 now_us)
{
	u8 back = !pkt->way;
	struct zrtt_half *half = &conn->half[back];
	u8 state = conn->probe[back] & ZRTT_PROBE_BITS;
	u8 asker = conn->probe[back] >> ZRTT_ASKER_SHIFT;
	u32 gap_us = now_us - half->since_us;

	/* wraps: older is far ahead */
	if (!pkt->ack || state < ZRTT_PROBE_FLYING ||
	    pkt->tsecr - half->tsval > ZRTT_PROBE_TICKS)
		return;
	conn->probe[back] = ZRTT_PROBE_NONE;
	if (pkt->tsecr != half->tsval)
		return;
	pkt->again = state == ZRTT_PROBE_AGAIN;
	zrtt_half_take(half, zrtt_echo_us(pkt, gap_us));
	pkt->answers = gap_us <= ZRTT_HINT_MAX_US;
	pkt->answered = asker;
	pkt->answer = (struct zrtt_line_answer) {
		.left_us = half->since_us,
		.gap_us = gap_us,
		.excess_us = gap_us > zrtt_half_us(half) ? gap_us - zrtt_half_us(half) : 0,
	};
}

/**
 * zrtt_conn_arrive() - a packet of a connection comes to one of the queues
 * @set: the connection's set
 * @pkt: the packet
 * @now_us: clock, wraps
 * @epoch: the same in epochs
 * @rtt_us: set to the connection's RTT, 0 = not known
 *
 * Return: true if the packet begins a probe; zrtt_conn_left() is due then.
 */
static inline bool zrtt_conn_arrive(struct zrtt_conn *set,
				    struct zrtt_echo *pkt, u32 now_us, u32 epoch, u32 *rtt_us)
{
	struct zrtt_conn *conn = zrtt_conn_take(set, pkt->tag, (u16)epoch);

	zrtt_conn_answer(conn, pkt, now_us);
	*rtt_us = zrtt_conn_rtt_us(conn);
	return zrtt_conn_probe(conn, pkt, now_us);
}

/**
 * zrtt_pair_excess() - two hosts, of which one answered a probe
 * @set: the set of @pair, which has a slot as a connection has
 * @pair: hash of both, of the one that answered first; never 0
 * @pkt: the answer, of any of their connections
 * @epoch: clock in epochs
 *
 * A connection that begins while packets wait on the path does not know how short that is.
 *
 * Return: how much longer the answer took than the shortest of them all, microseconds.
 */
static inline u32 zrtt_pair_excess(struct zrtt_conn *set, u32 pair, const struct zrtt_echo *pkt,
				   u32 epoch)
{
	struct zrtt_half *half = &zrtt_conn_take(set, pair, (u16)epoch)->half[0];
	u32 gap_us = pkt->answer.gap_us, least_us;

	zrtt_half_take(half, zrtt_echo_us(pkt, gap_us));
	least_us = zrtt_half_us(half);
	return least_us && gap_us > least_us ? gap_us - least_us : 0;
}

/* The packet is a probe from now on, and who asks for its answer is told. */
static inline void zrtt_conn_ask(struct zrtt_conn *conn, const struct zrtt_echo *pkt,
				 enum zrtt_probe state, u32 now_us)
{
	struct zrtt_half *half = &conn->half[pkt->way];

	conn->probe[pkt->way] = (u8)(state | pkt->asker << ZRTT_ASKER_SHIFT);
	half->tsval = pkt->tsval;
	half->since_us = now_us;
}

/* A packet that is sent again leaves, with what @pkt says of it but for @tsecr: it is a better probe
 * than one behind the hole.
 */
static inline void zrtt_conn_again(struct zrtt_conn *set, const struct zrtt_echo *pkt, u32 now_us)
{
	struct zrtt_conn *conn = zrtt_conn_known(set, pkt->tag);

	if (conn && (conn->probe[pkt->way] & ZRTT_PROBE_BITS) != ZRTT_PROBE_AGAIN)
		zrtt_conn_ask(conn, pkt, ZRTT_PROBE_AGAIN, now_us);
}

/* The packet that began a probe of direction @way was dropped by its queue. */
static inline void zrtt_conn_dropped(struct zrtt_conn *set, u32 tag, u8 way)
{
	struct zrtt_conn *conn = zrtt_conn_known(set, tag);

	if (conn && (conn->probe[way] & ZRTT_PROBE_BITS) == ZRTT_PROBE_QUEUED)
		conn->probe[way] = ZRTT_PROBE_NONE;
}

/* The packet that began a probe of direction @way left its queue. */
static inline void zrtt_conn_left(struct zrtt_conn *set, u32 tag, u8 way, u32 now_us)
{
	struct zrtt_conn *conn = zrtt_conn_known(set, tag);

	if (!conn || (conn->probe[way] & ZRTT_PROBE_BITS) != ZRTT_PROBE_QUEUED)
		return;
	conn->probe[way] += ZRTT_PROBE_FLYING - ZRTT_PROBE_QUEUED;
	conn->half[way].since_us = now_us;
}

#endif
