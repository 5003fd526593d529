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
	TCA_METER_REHASH,	/* u8, 1: have each packet hashed again */
	__TCA_METER_MAX,
};
#define TCA_METER_MAX	(__TCA_METER_MAX - 1)

/*
 * Thin traffic is what comes from 10.4.0.0/16: the third octet is its class
 * (lab/model/thin.py, lab/net/network.py).
 */
#define METER_THIN_NET		0x0a040000U
#define METER_THIN_CLASSES	4

/* One class of thin traffic: packets that came since the last reset. */
struct tc_meter_thin {
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
	struct tc_meter_thin thin[METER_THIN_CLASSES];
};

#endif
