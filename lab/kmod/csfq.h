/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_csfq: netlink contract between core-stateless fair queueing and tc(8).
 */
#ifndef _LAB_CSFQ_H
#define _LAB_CSFQ_H

#include <linux/types.h>

/* All are u32. */
enum {
	TCA_CSFQ_UNSPEC,
	TCA_CSFQ_RATE,		/* bytes per second, of the link; has no default */
	TCA_CSFQ_LIMIT,		/* packets, of the queue */
	TCA_CSFQ_K,		/* microseconds, to average a flow's rate over */
	TCA_CSFQ_K_ALPHA,	/* microseconds, to average the sums' rates over */
	TCA_CSFQ_WINDOW,	/* microseconds from one fair share to the next */
	TCA_CSFQ_ECN,		/* 1: mark what can be marked instead of dropping it */
	__TCA_CSFQ_MAX,
};

#define TCA_CSFQ_MAX	(__TCA_CSFQ_MAX - 1)

struct tc_csfq_xstats {
	__u32 fair_share;	/* bytes per second, U32_MAX = all may pass */
	__u32 arrival_rate;	/* bytes per second, of all flows */
	__u32 accepted_rate;	/* bytes per second, of what passed the test */
	__u32 evicted;		/* flows that lost their place in the table */
	__u32 drop_share;	/* packets dropped for being above the fair share */
	__u32 drop_limit;	/* packets dropped because the queue was full */
	__u32 ecn_mark;		/* packets marked for being above the fair share */
	__u32 congested;	/* 1: more arrives than the link carries */
};

#endif
