/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_line: netlink contract between the laboratory's line and tc(8).
 */
#ifndef _LAB_LINE_H
#define _LAB_LINE_H

#include <linux/types.h>

enum {
	TCA_LINE_UNSPEC,
	TCA_LINE_LIMIT,		/* u32, bytes that its FIFO holds */
	TCA_LINE_RATE,		/* u32, bits per second */
	TCA_LINE_TRACE,		/* string, file of times, in place of a rate */
	TCA_LINE_START,		/* u8, 1: the trace begins now */
	TCA_LINE_RESET,		/* u8, 1: forget everything counted so far */
	TCA_LINE_BEFORE,	/* u8, 1: it is before its child */
	__TCA_LINE_MAX,
};
#define TCA_LINE_MAX	(__TCA_LINE_MAX - 1)

/* How long packets took. */
struct tc_line_delay {
	__u64 packets;
	__u64 mean_ns;
	__u32 p50_us;		/* upper edge of its bucket */
	__u32 p95_us;		/* as above */
	__u32 p99_us;		/* as above */
	__u32 max_us;
};

struct tc_line_xstats {
	__u64 packets_in;	/* that came to the FIFO */
	__u64 packets_out;	/* that left the line */
	__u64 bytes_out;	/* of these, link-layer headers counted */
	__u64 capacity_bytes;	/* that could have left */
	__u64 elapsed_ns;	/* since the last reset */
	__u64 drops;		/* packets that the FIFO had no room for */
	struct tc_line_delay own;	/* in the FIFO */
	struct tc_line_delay whole;	/* in it and in the child */
};

#endif
