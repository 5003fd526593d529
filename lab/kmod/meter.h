/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_meter: netlink contract between the laboratory's meter and tc(8).
 */
#ifndef _LAB_METER_H
#define _LAB_METER_H

#include <linux/types.h>

enum {
	TCA_METER_UNSPEC,
	TCA_METER_RESET,	/* u8, 1: forget everything counted so far */
	TCA_METER_POLL,		/* u8, 1: ask the child once more when it is empty */
	TCA_METER_LIAR,		/* u32, destination port whose ECT(1) is METER_LIAR */
	TCA_METER_TUPLES,	/* u8, 1: count each 5-tuple */
	TCA_METER_STOP,		/* u8, 1: of 5-tuples, what has come by now is all */
	TCA_METER_KEEP,		/* u8, 1: packets leave with the time when they came */
	__TCA_METER_MAX,
};
#define TCA_METER_MAX	(__TCA_METER_MAX - 1)

/*
 * Thin traffic is what comes from 10.4.0.0/16: the third octet is its class
 * (lab/model/thin.py, lab/net/network.py).
 */
#define METER_THIN_NET		0x0a040000U
#define METER_THIN_CLASSES	4

/*
 * Classes of all traffic by what a packet had in its ECN field when it came; one that was
 * CE then belongs to the class of the last packet of its destination port that was not.
 */
enum {
	METER_CLASSIC,		/* Not-ECT or ECT(0) */
	METER_L4S,		/* ECT(1) */
	METER_LIAR,		/* ECT(1), of a port that TCA_METER_LIAR named */
	METER_ECN_CLASSES,
};

/*
 * One class of traffic: packets that came since the last reset. Of thin traffic, a packet
 * is never split; otherwise "packets" count the segments of a GSO packet one by one.
 */
struct tc_meter_part {
	__u64 packets_in;	/* packets offered to the child */
	__u64 packets_out;	/* of these, packets the child let go */
	__u64 bytes_out;	/* bytes, link-layer headers counted */
	__u64 mean_ns;		/* sojourn, nanoseconds */
	__u32 p95_us;		/* sojourn, microseconds, upper edge of its bucket */
	__u32 p99_us;		/* as above */
	__u32 max_us;		/* sojourn, microseconds */
	__u32 pad;
};

/* "Packets" count the segments of a GSO packet one by one. */
struct tc_meter_xstats {
	__u64 packets_in;	/* packets offered to the child */
	__u64 packets_out;	/* packets the child let go */
	__u64 bytes_in;		/* bytes, link-layer headers of all segments counted */
	__u64 bytes_out;	/* bytes, as above */
	__u64 ce_in;		/* packets that were CE before the child saw them */
	__u64 ce_out;		/* packets that left with CE */
	__u64 mean_ns;		/* sojourn, nanoseconds, weighted by packets */
	__u32 p50_us;		/* sojourn, microseconds, upper edge of its bucket */
	__u32 p95_us;		/* as above */
	__u32 p99_us;		/* as above */
	__u32 max_us;		/* sojourn, microseconds */
	struct tc_meter_part thin[METER_THIN_CLASSES];
	struct tc_meter_part ecn[METER_ECN_CLASSES];
	__u64 elapsed_ns;	/* since the last reset */
	__u64 tuples_unknown;	/* packets of 5-tuples that there was no room for */
};

/* The packets of a 5-tuple. Ports are 0 without TCP or UDP; IPv4 takes the first 4 bytes. */
struct tc_meter_key {
	__u8 saddr[16];
	__u8 daddr[16];
	__be16 sport;
	__be16 dport;
	__u8 family;		/* AF_INET, AF_INET6, 0: another one */
	__u8 protocol;		/* of IP */
	__u16 pad;
};

/*
 * Sojourns below 32 us have a bucket for each microsecond; from there on, each octave has
 * 32 buckets.
 */
#define METER_TUPLE_STEPS	32U
#define METER_TUPLE_BUCKETS	(18U * METER_TUPLE_STEPS)	/* up to 4 s */

/* One 5-tuple, xstats of a class: packets that came from the last reset to a stop. */
struct tc_meter_tuple {
	struct tc_meter_key key;
	__u64 packets_in;	/* packets offered to the child */
	__u64 packets_out;	/* of these, packets the child let go */
	__u64 bytes_out;	/* bytes, link-layer headers counted */
	__u64 payload_in;	/* bytes behind the header of TCP or UDP */
	__u64 payload_out;	/* as above, of what left */
	__u64 ce_out;		/* packets that left with CE */
	__u64 sojourn_ns;	/* sum of sojourns, nanoseconds */
	__u64 first_us;		/* when the first packet came, microseconds after the reset */
	__u64 last_us;		/* when the last one came */
	__u32 max_us;		/* sojourn, microseconds */
	__u32 buckets[METER_TUPLE_BUCKETS];	/* packets by sojourn */
};

#endif
