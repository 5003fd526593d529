/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_zrtt: netlink contract between the qdisc, tc(8) and monitors.
 *
 * Fixed-point formats used below:
 *   Q30  probability, 1 << 30 is 100 %
 *   Q16  exponent alpha, 1 << 16 is 1.0
 */
#ifndef _UAPI_LINUX_PKT_SCHED_ZRTT_H
#define _UAPI_LINUX_PKT_SCHED_ZRTT_H

#include <linux/types.h>

#define TC_ZRTT_P_ONE		(1U << 30)	/* 100 %, Q30 */
#define TC_ZRTT_ALPHA_ONE	(1U << 16)	/* exponent 1.0, Q16 */
#define TC_ZRTT_PENALTY_ONE	(1U << 16)	/* penalty of 1, Q16 */

/* Presets: what TCA_ZRTT_MODE sets; attributes beside it override the preset. */
enum tc_zrtt_mode {
	TC_ZRTT_MODE_ZRTT,	/* due shares by feedback, PI2, spaced marks */
	TC_ZRTT_MODE_PAPER,	/* Zhang and Ye 2004, eq. (4) and (5) on BLUE */
	TC_ZRTT_MODE_MRTT,	/* Matsuda et al. 2002: alpha 2 on BLUE */
	TC_ZRTT_MODE_PRTO,	/* Habib et al. 2002: Padhye ratio on BLUE */
	TC_ZRTT_MODE_BLUE,	/* Feng et al. 2002: the same P for every flow */
	__TC_ZRTT_MODE_MAX,
};

/* What turns queue events into P_b. */
enum tc_zrtt_controller {
	TC_ZRTT_CTL_BLUE,	/* additive steps on overflow and idle events */
	TC_ZRTT_CTL_PBLUE,	/* BLUE with steps proportional to P_b */
	TC_ZRTT_CTL_PI2,	/* PI controller on sqrt(P_b), RFC 9332 */
	__TC_ZRTT_CTL_MAX,
};

/* What turns P_b into the exponent alpha. */
enum tc_zrtt_alpha {
	TC_ZRTT_ALPHA_CAPPED,	/* min(alpha_max, pth / P_b) */
	TC_ZRTT_ALPHA_PAPER,	/* min(2, pth / P_b), eq. (5) */
	TC_ZRTT_ALPHA_FIXED,	/* TCA_ZRTT_ALPHA */
	__TC_ZRTT_ALPHA_MAX,
};

/* How far a sender's RTT hint is believed. */
enum tc_zrtt_hint {
	TC_ZRTT_HINT_CLAMP,	/* bounded by what the queue saw itself */
	TC_ZRTT_HINT_TRUST,	/* taken as it is */
	TC_ZRTT_HINT_IGNORE,	/* not read */
	__TC_ZRTT_HINT_MAX,
};

/* What the link behind the shaper makes of a packet. */
enum tc_zrtt_atm {
	TC_ZRTT_ATM_NONE,	/* nothing */
	TC_ZRTT_ATM_ATM,	/* cells of 53 bytes, 48 of them payload */
	TC_ZRTT_ATM_PTM,	/* 65 bytes for 64 */
	__TC_ZRTT_ATM_MAX,
};

/* Whose rate the shaper finds by itself, if no rate is set. */
enum tc_zrtt_auto {
	TC_ZRTT_AUTO_OFF,	/* nobody's: TCA_ZRTT_BANDWIDTH is the rate */
	TC_ZRTT_AUTO_EGRESS,	/* that of the line behind this queue */
	TC_ZRTT_AUTO_INGRESS,	/* that of the line before it */
	__TC_ZRTT_AUTO_MAX,
};

/* What the rate of TCA_ZRTT_AUTO does, and why. */
enum tc_zrtt_line {
	TC_ZRTT_LINE_OFF,	/* there is none */
	TC_ZRTT_LINE_START,	/* it is the most allowed: nothing is known yet */
	TC_ZRTT_LINE_HOLD,	/* it stays: what is sent does not fill it */
	TC_ZRTT_LINE_GROW,	/* it grows: the line is full and has no queue */
	TC_ZRTT_LINE_QUEUE,	/* it empties the queue of the line */
	TC_ZRTT_LINE_BLIND,	/* it stays: no connection passes both ways */
	TC_ZRTT_LINE_LOSS,	/* the line loses above it, and has no queue that is seen */
	__TC_ZRTT_LINE_MAX,
};

/* Where the RTT of a flow comes from. */
enum tc_zrtt_source {
	TC_ZRTT_SOURCE_NONE,
	TC_ZRTT_SOURCE_HINT,
	TC_ZRTT_SOURCE_MARK,
	TC_ZRTT_SOURCE_TIMESTAMPS,
	TC_ZRTT_SOURCE_HANDSHAKE,
	TC_ZRTT_SOURCE_QUIC,
	__TC_ZRTT_SOURCE_MAX,
};

/* Among whom the link is divided first; within one of these, among its flows. */
enum tc_zrtt_fair {
	TC_ZRTT_FAIR_FLOW,	/* flows, and nothing else */
	TC_ZRTT_FAIR_SRCHOST,	/* source hosts */
	TC_ZRTT_FAIR_DSTHOST,	/* destination hosts */
	TC_ZRTT_FAIR_DUALHOST,	/* of both, the host with more flows */
	TC_ZRTT_FAIR_MARK,	/* subscribers: TCA_ZRTT_FAIR_MASK of skb->mark */
	__TC_ZRTT_FAIR_MAX,
};

/* Which address of a flow is that of its host. */
enum tc_zrtt_end {
	TC_ZRTT_END_SOURCE,
	TC_ZRTT_END_DESTINATION,
	__TC_ZRTT_END_MAX,
};

/* The FIFOs that packets are queued in; without lanes, all in bulk. */
enum tc_zrtt_lane {
	TC_ZRTT_LANE_SPARSE,	/* flows that send little, served first within a bound */
	TC_ZRTT_LANE_BULK,	/* all others */
	TC_ZRTT_LANE_L4S,	/* ECT(1), of flows that send more than sparse ones */
	__TC_ZRTT_LANE_MAX,
};

enum {
	TCA_ZRTT_UNSPEC,
	TCA_ZRTT_MODE,		/* u32, enum tc_zrtt_mode */
	TCA_ZRTT_LIMIT,		/* u32, packets; a GSO packet counts its segments */
	TCA_ZRTT_CONTROLLER,	/* u32, enum tc_zrtt_controller */
	TCA_ZRTT_TARGET,	/* u32, microseconds of sojourn */
	TCA_ZRTT_TUPDATE,	/* u32, microseconds between controller updates */
	TCA_ZRTT_THRESHOLD,	/* u32, packets, BLUE's q_lim */
	TCA_ZRTT_FREEZE,	/* u32, microseconds, BLUE's freeze_time */
	TCA_ZRTT_INCREMENT,	/* u32, Q30, BLUE's d1 */
	TCA_ZRTT_DECREMENT,	/* u32, Q30, BLUE's d2 */
	TCA_ZRTT_ALPHA_LAW,	/* u32, enum tc_zrtt_alpha */
	TCA_ZRTT_ALPHA,		/* u32, Q16, exponent of TC_ZRTT_ALPHA_FIXED */
	TCA_ZRTT_ALPHA_MAX,	/* u32, Q16, cap of TC_ZRTT_ALPHA_CAPPED */
	TCA_ZRTT_PTH,		/* u32, Q30, P_th of the alpha law */
	TCA_ZRTT_FEEDBACK,	/* u32, exponent of the rate feedback, 0 = off */
	TCA_ZRTT_MARK_MAX,	/* u32, Q30, largest P_i that still marks */
	TCA_ZRTT_FLOWS,		/* u32, slots of the flow table, power of two */
	TCA_ZRTT_HINT,		/* u32, enum tc_zrtt_hint */
	TCA_ZRTT_STRIP,		/* u8, 0 or 1: remove the hint from forwarded packets */
	TCA_ZRTT_HANDSHAKE,	/* u8, 0 or 1: take RTTs from TCP handshakes */
	TCA_ZRTT_ECN,		/* u8, 0 or 1: mark ECT packets */
	TCA_ZRTT_SPLIT_GSO,	/* u8, 0 or 1: queue the segments of a GSO packet */
	TCA_ZRTT_MARK_RTT,	/* u32, bits of skb->mark with the RTT, 32 us; 0 = off */
	TCA_ZRTT_TIMESTAMPS,	/* u8, 0 or 1: take RTTs from TCP timestamps of both ways */
	TCA_ZRTT_NAMES,		/* u8, 0 or 1: know the addresses of flows */
	TCA_ZRTT_BANDWIDTH,	/* u64, bytes per second of the shaper, 0 = none */
	TCA_ZRTT_OVERHEAD,	/* s32, bytes beside the network layer's, or _RAW */
	TCA_ZRTT_MPU,		/* u32, least bytes of a packet on the link */
	TCA_ZRTT_ATM,		/* u32, enum tc_zrtt_atm */
	TCA_ZRTT_PAD,
	TCA_ZRTT_MEMORY_LIMIT,	/* u32, bytes of memory, as the kernel charges packets */
	TCA_ZRTT_LANES,		/* u8, 0 or 1: a lane for sparse flows, mode zrtt only */
	TCA_ZRTT_L4S,		/* u8, 0 or 1: a low-latency lane for ECT(1), mode zrtt only */
	TCA_ZRTT_FAIR,		/* u32, enum tc_zrtt_fair, mode zrtt only */
	TCA_ZRTT_FAIR_MASK,	/* u32, adjacent bits of skb->mark: whose packet it is */
	TCA_ZRTT_PREFIX6,	/* u32, bits of an IPv6 address that are the host's */
	TCA_ZRTT_NAT,		/* u8, 0 or 1: hosts by their addresses before translation */
	TCA_ZRTT_WEIGHT_MASK,	/* u32, adjacent bits of skb->mark with a weight; 0 = off */
	TCA_ZRTT_WEIGHT_DSCP,	/* __u16[64], Q8, weights of flows by their DSCP */
	TCA_ZRTT_AUTO,		/* u32, enum tc_zrtt_auto; then TCA_ZRTT_BANDWIDTH is the present rate */
	TCA_ZRTT_AUTO_MIN,	/* u64, bytes per second, least rate of TCA_ZRTT_AUTO */
	TCA_ZRTT_AUTO_MAX,	/* u64, bytes per second, largest one */
	TCA_ZRTT_QUIC,		/* u8, 0 or 1: take RTTs from QUIC */
	TCA_ZRTT_CEIL,		/* u64, bytes per second of a host of weight 1, 0 = no ceiling */
	__TCA_ZRTT_MAX,
};
#define TCA_ZRTT_MAX	(__TCA_ZRTT_MAX - 1)

/*
 * A live flow is a class, whose minor number is its slot of the table, from 1 on; those in
 * the first TC_ZRTT_CLASSES_MAX slots are shown. TCA_OPTIONS of a class has:
 */
enum {
	TCA_ZRTT_FLOW_UNSPEC,
	TCA_ZRTT_FLOW_RTT,	/* u32, RTT_i, microseconds, 0 = none known */
	TCA_ZRTT_FLOW_SOURCE,	/* u32, enum tc_zrtt_source */
	TCA_ZRTT_FLOW_RATE,	/* u64, smoothed, without what P_i drops, bytes per second */
	TCA_ZRTT_FLOW_PROB,	/* u32, P_i, Q30, at most TC_ZRTT_P_ONE */
	TCA_ZRTT_FLOW_PROTOCOL,	/* u8, of IP; this and what follows if names are known */
	TCA_ZRTT_FLOW_SRC,	/* 4 or 16 bytes as in a packet */
	TCA_ZRTT_FLOW_DST,	/* 4 or 16 bytes as in a packet */
	TCA_ZRTT_FLOW_SPORT,	/* be16, where there are ports */
	TCA_ZRTT_FLOW_DPORT,	/* be16, where there are ports */
	TCA_ZRTT_FLOW_PAD,
	TCA_ZRTT_FLOW_HOST_RATE, /* u64, of its host or subscriber, bytes per second */
	TCA_ZRTT_FLOW_HOST_MARK, /* u32, the field of skb->mark, with fair mark */
	TCA_ZRTT_FLOW_HOST,	/* u32, its host: the slot of that, from 1 on */
	TCA_ZRTT_FLOW_HOST_END,	/* u8, enum tc_zrtt_end, unless with fair mark */
	TCA_ZRTT_FLOW_HOST_DUE,	/* u64, due share of its host, of the weight of that */
	TCA_ZRTT_FLOW_HOST_FLOWS, /* u32, live flows that its host is an end of */
	TCA_ZRTT_FLOW_HOST_PENALTY, /* u32, Q16, what P_i is multiplied by for its host */
	__TCA_ZRTT_FLOW_MAX,
};
#define TCA_ZRTT_FLOW_MAX	(__TCA_ZRTT_FLOW_MAX - 1)

#define TC_ZRTT_CLASSES_MAX	0xffff

/* Ranges, both ends allowed. */
#define TC_ZRTT_LIMIT_MIN	1		/* packets */
#define TC_ZRTT_LIMIT_MAX	1000000		/* packets */
#define TC_ZRTT_TARGET_MIN	100		/* microseconds */
#define TC_ZRTT_TARGET_MAX	1000000		/* microseconds */
#define TC_ZRTT_TUPDATE_MIN	1000		/* microseconds */
#define TC_ZRTT_TUPDATE_MAX	1000000		/* microseconds */
#define TC_ZRTT_THRESHOLD_MIN	1		/* packets */
#define TC_ZRTT_THRESHOLD_MAX	1000000		/* packets */
#define TC_ZRTT_FREEZE_MIN	1000		/* microseconds */
#define TC_ZRTT_FREEZE_MAX	10000000	/* microseconds */
#define TC_ZRTT_STEP_MIN	1		/* increment, decrement: Q30 */
#define TC_ZRTT_STEP_MAX	TC_ZRTT_P_ONE	/* increment, decrement: Q30 */
#define TC_ZRTT_ALPHA_LIMIT	(4 * TC_ZRTT_ALPHA_ONE)	/* alpha, alpha_max: 0..4, Q16 */
#define TC_ZRTT_PTH_MIN		(TC_ZRTT_P_ONE / 10000)	/* 0.01 %, Q30 */
#define TC_ZRTT_PTH_MAX		TC_ZRTT_P_ONE	/* Q30 */
#define TC_ZRTT_FEEDBACK_MAX	3		/* exponent, from 0 */
#define TC_ZRTT_FLOWS_MIN	64		/* slots */
#define TC_ZRTT_FLOWS_MAX	(1U << 22)	/* slots */
/* Slots that anyone may ask for who may add a qdisc, as in a container: 7 MB with names.
 * More need CAP_NET_ADMIN in the initial user namespace.
 */
#define TC_ZRTT_FLOWS_UNPRIV	(1U << 16)
#define TC_ZRTT_MARK_BITS_MAX	16		/* adjacent bits of mark_rtt, from 0 */
#define TC_ZRTT_FAIR_BITS_MAX	24		/* adjacent bits of fair mark, from 1 */
#define TC_ZRTT_PREFIX6_MIN	1		/* bits */
#define TC_ZRTT_PREFIX6_MAX	128		/* bits */
#define TC_ZRTT_WEIGHT_BITS_MAX	8		/* adjacent bits of weight mark, from 0 */
#define TC_ZRTT_WEIGHT_ONE	256		/* Q8 */
#define TC_ZRTT_WEIGHT_MIN	(TC_ZRTT_WEIGHT_ONE / 16)
#define TC_ZRTT_WEIGHT_MAX	(TC_ZRTT_WEIGHT_ONE * 64)
#define TC_ZRTT_DSCPS		64
#define TC_ZRTT_BANDWIDTH_MIN	1000ULL		/* bytes per second; 0 = no shaper */
#define TC_ZRTT_BANDWIDTH_MAX	125000000000ULL	/* bytes per second */
#define TC_ZRTT_CEIL_MAX	12500000000ULL	/* bytes per second; the least is bandwidth's */
#define TC_ZRTT_AUTO_RATE_MAX	1250000000ULL	/* min, max: bytes per second */
#define TC_ZRTT_OVERHEAD_MIN	(-64)		/* bytes */
#define TC_ZRTT_OVERHEAD_MAX	256		/* bytes */
#define TC_ZRTT_OVERHEAD_RAW	0x7fffffff	/* packets as long as the kernel counts */
#define TC_ZRTT_MPU_MAX		256		/* bytes, from 0 */

/* Statistics of a lane. A packet refused on arrival counts in the lane it was to join. */
struct tc_zrtt_lane_stats {
	__u64 packets;		/* packets that left it for the link */
	__u64 bytes;		/* their bytes */
	__u64 marks;		/* of these packets, those that got CE here */
	__u64 drops;		/* packets dropped, for whatever reason */
	__u32 backlog_packets;	/* packets in it */
	__u32 delay_us;		/* smoothed sojourn, microseconds */
};

/*
 * Extended statistics. Fields are only ever appended: a reader accepts a
 * shorter structure and ignores what follows the part it knows.
 * "Packets" count the segments of a GSO packet one by one, so that
 * packets_in = sent (basic statistics) + drop_mark + drop_limit + drop_late
 *              + purged + backlog_packets.
 */
struct tc_zrtt_xstats {
	__u64 packets_in;	/* packets offered to the queue */
	__u64 ecn_mark;		/* packets marked CE */
	__u64 drop_mark;	/* packets dropped by the AQM */
	__u64 drop_limit;	/* packets dropped at the hard limit */
	__u64 purged;		/* packets discarded when the qdisc was reset */
	__u64 hint_ok;		/* packets with a valid hint */
	__u64 hint_bad;		/* packets with a malformed hint, read as none */
	__u64 hint_clamped;	/* hints bounded by the clamp policy */
	__u64 hint_stripped;	/* hints removed by the strip option */
	__u64 idle_events;	/* times the queue ran empty */
	__u64 overflow_events;	/* arrivals above threshold or limit */
	__u64 evicted;		/* live flows that lost their slot to another */
	__u32 prob;		/* P_b, Q30 */
	__u32 alpha;		/* exponent now in use, Q16 */
	__u32 delay_us;		/* smoothed sojourn, microseconds */
	__u32 rtt_avg_us;	/* mean RTT over live flows, microseconds, 0 = none known */
	__u32 flows;		/* live flows, seen in the last 2 s */
	__u32 flows_hinted;	/* live flows whose RTT comes from a hint */
	__u32 flows_handshake;	/* live flows whose RTT comes from the handshake */
	__u32 backlog_packets;	/* packets in the queue */
	__u32 maxq;		/* largest backlog_packets so far */
	__u32 dq_rate;		/* dq_rate64, at most 2^32 - 1 */
	__u64 drop_late;	/* packets dropped at the head, older than 10 targets */
	__u32 flows_marked;	/* live flows whose RTT comes from skb->mark */
	__u32 flows_timestamps;	/* live flows whose RTT comes from TCP timestamps */
	__u32 memory_used;	/* bytes of memory of the packets in the queue */
	__u32 limit_now;	/* packets that fit in at the link's present rate */
	__u64 dq_rate64;	/* departure rate, bytes per second */
	__u64 l4s_barred;	/* times that a flow lost the low-latency lane */
	struct tc_zrtt_lane_stats lane[__TC_ZRTT_LANE_MAX];	/* they sum up to the above */
	__u32 hosts;		/* hosts or subscribers seen in the last 2 s, 0 with fair flow */
	__u32 hosts_held;	/* of these, those that are held back at the due share */
	__u64 host_due;		/* due share of a host of weight 1, bytes per second */
	__u64 hosts_evicted;	/* hosts of the last 2 s that lost their slot */
	__u32 flows_quic;	/* live flows whose RTT comes from QUIC */
	__u32 line_hosts;	/* hosts that told of the line of TCA_ZRTT_AUTO last */
	__u64 line_rate;	/* its present rate, bytes per second; 0 = off */
	__u64 line_measured;	/* rate of the line when it had a queue, bytes per second */
	__u64 line_lowered;	/* times that line_rate was lowered */
	__u64 line_raised;	/* times that it was raised */
	__u32 line_state;	/* enum tc_zrtt_line */
	__u32 line_queue_us;	/* delay of the line's own queue, microseconds */
	__u64 line_lost;	/* bytes of TCP data that the line lost */
	__u64 line_ceiling;	/* rate at which it lost last, bytes per second; 0 = none */
};

#endif
