/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The private data of a qdisc, and what a queued packet carries.
 */
#ifndef _ZRTT_SCHED_H
#define _ZRTT_SCHED_H

#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <zrtt/hash.h>
#include <zrtt/names.h>
#include <zrtt/zrtt.h>

struct zrtt_net;
struct zrtt_shared;

/* A flow takes one cache line, and has three bits each for its lane and the source of its RTT. */
static_assert(sizeof(struct zrtt_flow) == 64);
static_assert((int)ZRTT_LANES <= 8);
static_assert((int)ZRTT_RTT_SOURCES <= 8);

/**
 * struct zrtt_dissected - what is known of the packet that is being enqueued
 * @p: where its headers are, and what they say
 * @data: its first bytes, in which they are
 * @pkt: for the algorithm
 * @lane: where zrtt_arrive_slow_either() puts it
 */
struct zrtt_dissected {
	struct zrtt_packet p;
	const u8 *data;
	struct zrtt_arrival pkt;
	enum zrtt_lane lane;
};

/**
 * struct zrtt_clock - the clock of arrivals, read for several packets at once
 * @ns: the last reading
 * @jiffies: the jiffy of that reading
 * @until: zrtt_moved() from which the clock is read again
 * @share: packets that may share a reading
 * @late: by that reading, a packet of thin, sparse or large waits too long, see zrtt_lanes_late()
 */
struct zrtt_clock {
	u64 ns;
	u32 jiffies;
	u32 until;
	u32 share;
	bool late;
};

/**
 * struct zrtt_departures - what left the queue, by epoch
 * @epoch: the epoch that the clock was last read in
 * @bytes: bytes dequeued before it
 * @pkts: packets dequeued before it
 * @rate: bytes dequeued in the epoch before it
 * @behind: packets that left the lanes behind sparse before it
 * @behind_rate: the same in the epoch before it
 * @most: most packets dequeued in an epoch, see zrtt_ctl_most_sent()
 * @idle_events: times the queue had run empty before it
 * @waits: packets waited as it began
 */
struct zrtt_departures {
	u32 epoch;
	u64 bytes;
	u64 pkts;
	u64 rate;
	u32 behind;
	u32 behind_rate;
	u32 most;
	u64 idle_events;
	bool waits;
};

/**
 * struct zrtt_recent - what left the queue in the last moments
 * @part: time of the last look, in 2^25 ns
 * @at: how many of @left there were
 * @pkts: packets dequeued before the last look
 * @left: see zrtt_ctl_kept()
 * @kept: what follows from them
 */
struct zrtt_recent {
	u32 part;
	u32 at;
	u32 pkts;
	u32 left[ZRTT_LATE_PARTS];
	u32 kept;
};

/**
 * struct zrtt_sparse - sparse flows, packets counted with the segments of GSO packets
 * @lanes: all but bulk, by enum zrtt_lane
 * @pkts: those that left for the link
 * @bytes: bytes of these
 * @drops: packets dropped that were in it, or to join it
 * @delay_q8: smoothed sojourn of those that left, microseconds, ZRTT_DELAY_FRAC
 *	fraction bits
 */
struct zrtt_sparse {
	struct qdisc_skb_head lanes[ZRTT_LANE_BULK];
	u64 pkts;
	u64 bytes;
	u64 drops;
	u32 delay_q8;
};

/**
 * struct zrtt_l4s_counts - the low-latency lane, packets counted with their segments
 * @backlog_pkts: packets in it
 * @pkts: those that left for the link
 * @bytes: bytes of these
 * @marks: of these, those that it marked
 * @drops: packets dropped that were in it, or to join it
 * @delay_q8: smoothed sojourn of those that left, microseconds, ZRTT_DELAY_FRAC
 *	fraction bits
 */
struct zrtt_l4s_counts {
	u32 backlog_pkts;
	u64 pkts;
	u64 bytes;
	u64 marks;
	u64 drops;
	u32 delay_q8;
};

/**
 * struct zrtt_together - where there is a zrtt for each queue of a device
 * @shared: what they have in common, NULL = this one is elsewhere
 * @on: that counts
 * @split_ns: when its part of the rate may be another
 * @sent_bytes: what it sent since it last asked for that, as on the link
 * @peer: what it says of itself; others read it, and seldom
 */
struct zrtt_together {
	struct zrtt_shared *shared;
	bool on;
	u64 split_ns;
	u64 sent_bytes;
	struct zrtt_peer peer ____cacheline_aligned_in_smp;
};

/**
 * struct zrtt_hidden - the line whose rate is to be found
 * @kind: enum zrtt_line_kind
 * @max: the most that its rate may be, bytes per second
 * @line: what is known of it
 * @answers: of packets that answered, not yet looked at; with ZRTT_LINE_AHEAD
 * @asker: who asks for those of others, 0 = nobody; with ZRTT_LINE_BEHIND
 * @loss: what the line loses of TCP data
 * @bytes: on the line so far
 */
struct zrtt_hidden {
	u32 kind;
	u64 max;
	struct zrtt_line line;
	struct zrtt_line_answers answers;
	u8 asker;
	struct zrtt_loss loss;
	u32 bytes;
};

/**
 * struct zrtt_sched_data - private data of a qdisc
 * @params: what the user set
 * @vars: what the algorithm learnt
 * @stats: what it counted
 * @sparse: the lanes that go before bulk; bulk is Qdisc.q, whose qlen counts all
 * @l4s: what passed the low-latency lane
 * @net: connections that are timed by timestamps, NULL = timestamps are off
 * @names: addresses of the flows, one per slot, NULL = nobody asked for them
 * @key: of the flow hash
 * @host_key: of hosts, the same in all queues of a device
 * @rnd: state of the random number generator
 * @backlog_pkts: packets queued, segments of GSO packets counted
 * @ahead_pkts: those of them that are in a lane before bulk
 * @rare_pkts: those of these that are in a lane of zrtt_is_rare()
 * @limit: most that @backlog_pkts may be, at the link's present rate
 * @owing_until: of packets in bulk before this number, one may be hit as it leaves
 * @memory: bytes of memory that queued packets take
 * @trim: a limit was lowered below what is queued, packets are to be dropped
 * @clock: of arrivals
 * @dequeue_jiffies: the jiffy in which zrtt_dequeue_clock() ran last; jiffies - 1 = it runs
 *	for the next packet, too
 * @sent: what left the queue, by epoch
 * @wanted: what @params make us look for in packets
 * @names_or_strip: @names or the removal of hints is on
 * @asks_more: each packet takes more than its arrival
 * @looks_closer: zrtt_arrive_closer() is due for each packet
 * @handshake_flag: TCP flag of the packets that begin a handshake's timing
 * @link: the link behind as it is at present, its part of the rate if several queues share it
 * @shaper: when the next packet may leave
 * @hidden: the line, where its rate is to be found
 * @watchdog: wakes the device when the shaper lets a packet leave
 * @seen: the packet that is being enqueued; here, as kernels clear their stack
 * @head: copy of its first bytes if its headers are not in one piece
 * @recent: what left of late, which says what packets are late
 * @together: the other queues of the device
 */
struct zrtt_sched_data {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_stats stats;
	struct zrtt_sparse sparse;
	struct zrtt_l4s_counts l4s;
	struct zrtt_net *net;
	struct zrtt_name *names;
	struct zrtt_hash_key key;
	struct zrtt_hash_key host_key;
	u32 rnd;
	u32 backlog_pkts;
	u32 ahead_pkts;
	u32 rare_pkts;
	u32 limit;
	u32 owing_until;
	u32 memory;
	bool trim;
	struct zrtt_clock clock;
	u32 dequeue_jiffies;
	struct zrtt_departures sent;
	struct zrtt_wanted wanted;
	bool names_or_strip;
	bool asks_more;
	bool looks_closer;
	u8 handshake_flag;
	struct zrtt_shaper_params link;
	struct zrtt_shaper shaper;
	struct zrtt_hidden hidden;
	struct qdisc_watchdog watchdog;
	struct zrtt_dissected seen;
	u8 head[ZRTT_PACKET_BYTES];
	struct zrtt_recent recent;
	struct zrtt_together together;
};

/* The RTT measurement that starts when a packet leaves the queue. */
enum zrtt_timing {
	ZRTT_TIMES_NOTHING,
	ZRTT_TIMES_HANDSHAKE,
	ZRTT_TIMES_HALF,		/* by timestamps, of direction 0 ... */
	ZRTT_TIMES_OTHER_HALF,		/* ... or 1 */
	ZRTT_TIMES_QUIC,
};

/**
 * struct zrtt_skb_cb - what a queued packet carries
 * @enqueue_ns: when it came
 * @tag: with @times, hash of the flow or of the connection
 * @after: in a returning lane, the number of the packet that it waits for
 * @segs: packets it counts for
 * @times: enum zrtt_timing
 * @below: in a returning lane, the lane of the packet that it waits for
 * @ip_off: in bulk and the low-latency lane, offset of the IP header, ZRTT_NO_IP if there is none
 * @flow: there, hash of the flow; in bulk 0 if the verdict on the packet is final
 *
 * It must fit into QDISC_CB_PRIV_LEN: no padding to the alignment of u64.
 */
struct zrtt_skb_cb {
	u64 enqueue_ns;
	union {
		u32 tag;
		u32 after;
	};
	u16 segs;
	u8 times;
	union {
		u8 below;
		u8 ip_off;
	};
	u32 flow;
} __packed __aligned(4);

#define ZRTT_NO_IP	0xff

static inline struct zrtt_skb_cb *zrtt_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct zrtt_skb_cb));
	return (struct zrtt_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* A linear congruential generator (Knuth, Lewis): spacing marks needs speed, not
 * secrecy. Its high bits are the random ones, and the ones that are used.
 */
static inline u32 zrtt_random(struct zrtt_sched_data *q)
{
	q->rnd = q->rnd * 1664525 + 1013904223;
	return q->rnd;
}

/* Packets that came and went so far, low bits. */
static inline u32 zrtt_moved(const struct Qdisc *sch, const struct zrtt_sched_data *q)
{
	return (u32)(q->stats.packets_in + u64_stats_read(&sch->bstats.packets));
}

#endif
