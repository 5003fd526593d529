/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the queue knows of a flow: its rate, what hit it, and what rtt.h and seq.h are about.
 *
 * Time is cut into epochs of 134 ms.
 */
#ifndef _ZRTT_FLOW_H
#define _ZRTT_FLOW_H

#include <linux/types.h>
#include "fixed.h"

#define ZRTT_FULL_PACKET	1514	/* bytes, with Ethernet's header */

#define ZRTT_EPOCH_SHIFT	27	/* an epoch is 2^27 ns = 134 ms */
#define ZRTT_EPOCH_US		((1ULL << ZRTT_EPOCH_SHIFT) / 1000)
#define ZRTT_LIVE_EPOCHS	15	/* 2 s: a flow counts in averages */
#define ZRTT_SLOW_EPOCHS	127	/* 17 s: see zrtt_flow_begins_anew() */

/* For 12 epochs (1.6 s) the rate of a flow is the mean since it began, from then on a moving
 * average.
 */
#define ZRTT_RATE_EPOCHS	12

/* A flow is mature when it is 8 epochs old (1 s), and counts in the due share once it has also
 * sent in 8 epochs: short flows come and go, and must not move the due share. Age alone is not
 * enough, as a short flow that lost its first packet is a second old when it begins. Where that was
 * enough, 14 flows beside 110 of 7 kB per second had an eighth of the due share, and P_b was 0.3.
 */
#define ZRTT_MATURE_EPOCHS	8

/* A due share of 128 full packets per epoch, 11.6 Mbit/s, or more is large: marks are seconds
 * apart there.
 */
#define ZRTT_LARGE_DUE		(128 * ZRTT_FULL_PACKET)

/* For so long a mark or drop counts as recent: 17 s, and 34 s where the due share is large. Forgotten
 * sooner, TCP that grows to its share after a mark would seem to be application-limited.
 */
#define ZRTT_HIT_SHIFT		7
#define ZRTT_L4S_HIT_SHIFT	3	/* 1.1 s, where marks come in each RTT */

/* In the low-latency lane marks come in each RTT, and are counted for 8.6 s. TCP Prague of a
 * short RTT may behave as one of 25 ms, and what has less than a packet per RTT has no more
 * marks than packets.
 */
#define ZRTT_L4S_LOOK_SHIFT	6
#define ZRTT_L4S_LOOK		(1U << ZRTT_L4S_LOOK_SHIFT)
#define ZRTT_L4S_RTT_US		25000
#define ZRTT_L4S_EPOCH_SHIFT	17	/* an epoch is 2^17 us nearly */
#define ZRTT_L4S_MARK_BYTES	(4ULL * ZRTT_FULL_PACKET)
#define ZRTT_L4S_HIT_RTTS	2

enum zrtt_rtt_source {
	ZRTT_RTT_NONE,
	ZRTT_RTT_HINT,
	ZRTT_RTT_MARK,
	ZRTT_RTT_TIMESTAMPS,
	ZRTT_RTT_HANDSHAKE,
	ZRTT_RTT_QUIC,
	ZRTT_RTT_SOURCES,
};

/**
 * enum zrtt_syn - what the timing of a flow's handshake is at; handshake.h, spin.h
 * @ZRTT_SYN_NONE: nothing is timed
 * @ZRTT_SYN_QUEUED: the flow's first packet, a SYN, is in our queue, or was dropped
 * @ZRTT_SYN_LEFT: it has left, its answer is awaited
 * @ZRTT_SYN_QUIC: the flow is QUIC, which has phases of its own
 */
enum zrtt_syn {
	ZRTT_SYN_NONE,
	ZRTT_SYN_QUEUED,
	ZRTT_SYN_LEFT,
	ZRTT_SYN_QUIC,
};

/**
 * enum zrtt_quic_phase - what the timing of a QUIC flow is at; spin.h
 * @ZRTT_QUIC_SPIN: the handshake is over, or not timed: the spin bit counts
 * @ZRTT_QUIC_CLIENT: a client's Initial was seen, a Handshake packet is awaited
 * @ZRTT_QUIC_SERVER: a server's Initial was seen
 * @ZRTT_QUIC_FLIGHT: and a Handshake packet of it; 1-RTT is awaited
 */
enum zrtt_quic_phase {
	ZRTT_QUIC_SPIN,
	ZRTT_QUIC_CLIENT,
	ZRTT_QUIC_SERVER,
	ZRTT_QUIC_FLIGHT,
};

#define ZRTT_SPIN_RUN		3	/* packets that confirm an edge of the spin bit */
#define ZRTT_QUIC_NO_LEAST	0xffff	/* no UDP packet has it for a sequence number's bits */

/**
 * struct zrtt_flow - one slot, one cache line
 * @tag: hash of the flow's addresses and ports, 0 = never used
 * @older: neighbour in the list of live flows
 * @newer: neighbour in the list of live flows
 * @epoch: of its first packet or last update
 * @bytes: arrivals since then that P_i did not drop. They wrap at 32 Gbit/s, times the weight, where
 *	7000 flows or more are live, as updates are rare there: no due share of so many is near that
 * @rate: r_i, their smoothed rate, bytes per epoch
 * @penalty_q16: integral of r_i above the due share: log2 of a factor of P_i, Q16
 * @policed: its token bucket dropped a packet since its penalty was last updated
 * @marks: its packets that were marked or dropped as of the low-latency lane since the last
 *	look at them, up to 255
 * @updates: where it has not that lane, its updates, up to ZRTT_MATURE_EPOCHS
 * @hit_at: and the most octaves that @rate had since its last hit, by two
 * @rtt_us: RTT_i in use, 0 = none known
 * @age: epochs since it started, up to ZRTT_LIVE_EPOCHS
 * @strikes: updates in a row in which it did not answer the marks of the low-latency lane
 * @barred: it lost that lane
 * @hinted_q8: smoothed RTT of hints or marks, microseconds, ZRTT_RTT_FRAC
 *	fraction bits, 0 = none
 * @passive_us: what was seen of the RTT: the gap of the handshake, or what
 *	timestamps say; 0 = nothing
 * @ect0: its last packet that was ECT was ECT(0)
 * @marked_q8: of its last packets in the low-latency lane, those that were marked, Q8
 * @hinted_epoch: epoch of the last hint or mark, low bits
 * @spin_period: without a hint or mark, of QUIC: the last time between two edges of the spin
 *	bit, in units of ZRTT_SPIN_SHIFT
 * @syn_at: when the flow's SYN left the queue, in units of the hint, low bits; of QUIC, when
 *	its last packet of the handshake left or its last edge came, in units of ZRTT_SPIN_SHIFT
 * @syn_seq: with @syn, the sequence number that its answer has, low bits
 * @syn_ack: with @syn, the acknowledgment number that its answer exceeds, folded
 * @seq: without, high bits of the last packet's sequence number as they lie in it, 0
 *	where there are none
 * @seq_known: another packet followed that one: it was not spoofed
 * @spin_least: of QUIC, the least of these of this window, or ZRTT_QUIC_NO_LEAST
 * @quic: of QUIC, enum zrtt_quic_phase
 * @spin: its last spin bit
 * @spin_run: packets that had it behind the first, up to 3; in a handshake, one has left
 * @spin_good: edges in a row without doubt, up to 7
 * @passive_at: epoch of @passive_us, low bits of the units of ZRTT_PASSIVE_SHIFT
 * @weight: P_i / P_b, of the low-latency lane its square root, as zrtt_weight_pack()
 * @acc_q30: marking credit
 * @threshold_q30: credit that triggers the next mark
 * @last: number of its last packet in @lane, low bits; or ZRTT_LAST_BULK
 * @lane: enum zrtt_lane of its last packet
 * @l4s: its packets are ECT(1), and have the low-latency lane and its law
 * @hit: a packet of it was marked or dropped recently
 * @counts: @rate is in the due share
 * @looks: looks at @marks in a row that say that its sender is not scalable
 * @source: enum zrtt_rtt_source of @rtt_us
 * @live: on the list and in the sums
 * @syn: enum zrtt_syn
 * @hinted_by_mark: @hinted_q8 is the operator's, not a hint
 * @timed: @passive_us comes from timestamps
 */
struct zrtt_flow {
	u32 tag;
	u32 older;
	u32 newer;
	u32 epoch;
	u32 bytes;
	u32 rate;
	union {
		struct {
			s32 penalty_q16:23;
			u32 policed:1;
			u32 marks:8;
		};
		struct {
			u32 :24;
			u32 updates:4;
			u32 hit_at:4;
		};
	};
	u32 rtt_us:24;
	u32 age:4;
	u32 strikes:3;
	u32 barred:1;
	u32 hinted_q8;
	u32 passive_us:23;
	u32 ect0:1;
	u32 marked_q8:8;
	union {
		u16 hinted_epoch;
		u16 spin_period;
	};
	u16 syn_at;
	union {
		u16 syn_seq;
		u16 seq;
		u16 spin_least;
	};
	union {
		u8 syn_ack;
		u8 seq_known;
		struct {
			u8 quic:2;
			u8 spin:1;
			u8 spin_run:2;
			u8 spin_good:3;
		};
	};
	u8 passive_at;
	u32 weight;
	u32 acc_q30;
	u32 threshold_q30;
	u16 last;
	u8 lane:3;
	u8 l4s:1;
	u8 hit:1;
	u8 counts:1;
	u8 looks:2;
	u8 source:3;
	u8 live:1;
	u8 syn:2;
	u8 hinted_by_mark:1;
	u8 timed:1;
};

/* A packet of @f was dropped that counted as @bytes. An update may have counted it already, by what
 * it answered.
 */
static inline void zrtt_flow_dropped(struct zrtt_flow *f, u32 bytes)
{
	f->bytes -= bytes < f->bytes ? bytes : f->bytes;
}

/* P_i / P_b of a flow: its last six bits say by how many the others are to be shifted. */
#define ZRTT_WEIGHT_SHIFT_BITS	6
#define ZRTT_WEIGHT_SHIFT_MASK	63
#define ZRTT_WEIGHT_ONE_SHIFT	25
#define ZRTT_WEIGHT_ONE_PACKED	((1U << (ZRTT_WEIGHT_ONE_SHIFT + ZRTT_WEIGHT_SHIFT_BITS)) | \
				 ZRTT_WEIGHT_ONE_SHIFT)

/* @x times @weight, of zrtt_weight_pack(); @x is below 2^38. */
static inline u64 zrtt_weight_times(u64 x, u32 weight)
{
	return (x * (weight >> ZRTT_WEIGHT_SHIFT_BITS)) >> (weight & ZRTT_WEIGHT_SHIFT_MASK);
}

/* The square of @weight, which is 2^-7.5 .. 2^11. */
static inline u32 zrtt_weight_square(u32 weight)
{
	const u32 down = ZRTT_WEIGHT_ONE_SHIFT + 1;
	u64 root = weight >> ZRTT_WEIGHT_SHIFT_BITS;

	return (u32)((root * root) >> down) << ZRTT_WEIGHT_SHIFT_BITS |
	       (2 * (weight & ZRTT_WEIGHT_SHIFT_MASK) - down);
}

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

/* Mean of @bytes over @epochs, 0 .. ZRTT_LIVE_EPOCHS; 0 over none. */
static inline u32 zrtt_mean_of_epochs(u32 bytes, u32 epochs)
{
	return zrtt_mul_q16(bytes, zrtt_epoch_recip[epochs]);
}

/* A rate per epoch, below 2^43, per second. */
static inline u64 zrtt_per_second(u64 per_epoch)
{
	return per_epoch * (1000000000 >> 9) >> (ZRTT_EPOCH_SHIFT - 9);
}

static inline u32 zrtt_epoch(u64 now_ns)
{
	return (u32)(now_ns >> ZRTT_EPOCH_SHIFT);
}

/* The epochs of an age or a silence that count: no live flow has more. */
static inline u32 zrtt_live_epochs(u32 epochs)
{
	return epochs < ZRTT_LIVE_EPOCHS ? epochs : ZRTT_LIVE_EPOCHS;
}

/* The time since @f's last update, epochs, Q16. */
static inline u32 zrtt_flow_elapsed(const struct zrtt_flow *f, u64 now_ns)
{
	return (u32)(now_ns >> (ZRTT_EPOCH_SHIFT - ZRTT_Q16)) - (f->epoch << ZRTT_Q16);
}

static inline bool zrtt_flow_mature(const struct zrtt_flow *f)
{
	return f->age >= ZRTT_MATURE_EPOCHS;
}

/* Do @f's packets have TCP's sequence numbers? Of 65536 flows one that does may not seem so. */
static inline bool zrtt_flow_is_tcp(const struct zrtt_flow *f)
{
	return f->seq && f->syn != ZRTT_SYN_QUIC;
}

/* Had @f in the low-latency lane at least a mark in @rtts RTTs, or in 4 full packets, in the
 * @epochs since the last look?
 */
static inline bool zrtt_flow_marked(const struct zrtt_flow *f, u32 epochs, u32 rtts)
{
	u32 rtt_us = f->rtt_us < ZRTT_L4S_RTT_US ? ZRTT_L4S_RTT_US : f->rtt_us;

	return (u64)f->marks * rtts * rtt_us >= (u64)epochs << ZRTT_L4S_EPOCH_SHIFT ||
	       f->marks * ZRTT_L4S_MARK_BYTES >= (u64)f->rate * epochs;
}

/* The epochs after which a mark or drop of @f, whose due share is @due, is forgotten, log2 */
static inline u32 zrtt_flow_hit_shift(const struct zrtt_flow *f, u32 due)
{
	if (f->l4s)
		return ZRTT_L4S_HIT_SHIFT;
	return due < ZRTT_LARGE_DUE ? ZRTT_HIT_SHIFT : ZRTT_HIT_SHIFT + 1;
}

/* The octaves of @rate, by two, which are 0 to 15 */
static inline u32 zrtt_rate_octaves(u32 rate)
{
	return (u32)zrtt_log2(rate) >> (ZRTT_Q16 + 1);
}

/* A packet of @f is marked, or dropped in place of that. */
static inline void zrtt_flow_was_hit(struct zrtt_flow *f)
{
	f->hit = 1;
	if (f->l4s)
		f->marks += f->marks < 255;
	else
		f->hit_at = zrtt_rate_octaves(f->rate);
}

/* TCP sends so few bytes as an ACK. */
#define ZRTT_ACK_BYTES		128
#define ZRTT_HIT_AT_ACK		15	/* as if it had had the highest rate since */

/* The same of a packet of @bytes. No sender learns that an ACK was lost: that does not hold it back. */
static inline void zrtt_flow_packet_hit(struct zrtt_flow *f, u32 bytes)
{
	bool ack = bytes < ZRTT_ACK_BYTES && !f->l4s && zrtt_flow_is_tcp(f);
	u32 hit_at = f->hit ? f->hit_at : ZRTT_HIT_AT_ACK;

	zrtt_flow_was_hit(f);
	if (ack)
		f->hit_at = hit_at;
}

/* Is @f held back? Who sends less than a quarter to a sixteenth of what he did since his last hit has
 * little to send. In the low-latency lane one that grows is marked now and then, too, by a
 * queue that others made. A look says nothing in its first second.
 */
static inline bool zrtt_flow_held(const struct zrtt_flow *f)
{
	u32 epochs = (f->epoch + f->tag) % ZRTT_L4S_LOOK;

	if (likely(!f->l4s))
		return f->hit && f->hit_at < zrtt_rate_octaves(f->rate) + 2;
	return f->hit && (epochs < ZRTT_MATURE_EPOCHS ||
			  zrtt_flow_marked(f, epochs, ZRTT_L4S_HIT_RTTS));
}

/* @f joins the low-latency lane or leaves it: @marks and @updates have one place. */
static inline void zrtt_flow_set_l4s(struct zrtt_flow *f, bool l4s)
{
	f->l4s = l4s;
	f->marks = 0;
	if (!l4s && zrtt_flow_mature(f))
		f->updates = ZRTT_MATURE_EPOCHS;
}

/* A flow's first packet. What is not set here is not read before it is. */
static inline void zrtt_flow_begin(struct zrtt_flow *f, u32 tag, u32 epoch, u32 rnd)
{
	f->tag = tag;
	f->epoch = epoch;
	f->bytes = 0;
	f->rate = 0;
	f->penalty_q16 = 0;
	f->policed = 0;
	f->rtt_us = 0;
	f->hinted_q8 = 0;
	f->passive_us = 0;
	f->weight = ZRTT_WEIGHT_ONE_PACKED;
	f->acc_q30 = 0;
	f->threshold_q30 = ZRTT_P_ONE / 2 + (rnd >> 2);
	f->age = 0;
	f->strikes = 0;
	f->looks = 0;
	f->marks = 0;
	f->barred = 0;
	f->marked_q8 = 0;
	f->ect0 = 0;
	f->last = 0;
	f->lane = 0;
	f->l4s = 0;
	f->hit = 0;
	f->counts = 0;
	f->source = ZRTT_RTT_NONE;
	f->live = 0;
	f->syn = ZRTT_SYN_NONE;
	f->seq = 0;
	f->seq_known = 0;
	f->hinted_by_mark = 0;
	f->timed = 0;
}

/* Fold the arrivals of the last @epochs (1 .. ZRTT_LIVE_EPOCHS) into the rate: the
 * plain mean of a young flow, so that it is not taken for a slow one.
 */
static inline void zrtt_flow_rate(struct zrtt_flow *f, u32 epochs)
{
	u32 mean = zrtt_mean_of_epochs(f->bytes, epochs);
	u32 gain_q16 = zrtt_rate_gains[epochs];

	if (f->age < ZRTT_RATE_EPOCHS) {
		f->age = zrtt_live_epochs(f->age + epochs);
		gain_q16 = epochs * zrtt_epoch_recip[f->age];
	}
	f->rate = zrtt_ewma(f->rate, mean, gain_q16);
}

/* The timing of a handshake ends, and @seq is the flow's, if that is @known. */
static inline void zrtt_flow_anchor(struct zrtt_flow *f, u16 seq, bool known)
{
	f->syn = ZRTT_SYN_NONE;
	f->seq = seq;
	f->seq_known = known;
}

/* QUIC's handshake is not timed any more; edges of the spin bit are to be seen anew. */
static inline void zrtt_quic_spins(struct zrtt_flow *f)
{
	f->quic = ZRTT_QUIC_SPIN;
	f->spin_run = ZRTT_SPIN_RUN;
	f->spin_good = 0;
}

/* The flow was silent: what is being timed is not to be continued. QUIC stays known, as its
 * next packets do not say what they are.
 */
static inline void zrtt_flow_interrupt(struct zrtt_flow *f)
{
	if (f->syn == ZRTT_SYN_QUIC) {
		zrtt_quic_spins(f);
	} else if (f->syn) {
		zrtt_flow_anchor(f, 0, false);
	}
}

#endif
