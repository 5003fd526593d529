/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All that a queue learns, and what it counts.
 */
#ifndef _ZRTT_STATE_H
#define _ZRTT_STATE_H

#include <linux/types.h>
#include "table.h"
#include "controller.h"
#include "law.h"
#include "fair.h"
#include "lane.h"
#include "police.h"
#include "l4s.h"

#define ZRTT_DELAY_FRAC		8	/* fraction bits of the smoothed sojourn */
#define ZRTT_DELAY_WQ_Q16	8192	/* 1/8 per tick */

/**
 * struct zrtt_vars - everything learnt
 * @ctl: P_b
 * @law: averages and alpha
 * @table: flows
 * @hosts: hosts, where @table has members
 * @lanes: what is sparse, and goes first
 * @police: what may answer no mark
 * @l4s: the low-latency lane
 * @tick_ns: when the next tick is due
 * @idle_ns: when the queue ran empty, 0 = it is not empty
 * @delay_q8: smoothed sojourn, microseconds, ZRTT_DELAY_FRAC fraction bits
 * @link_rate: bytes that left in the last epoch, if packets waited all the time, else 0
 */
struct zrtt_vars {
	struct zrtt_ctl ctl;
	struct zrtt_law law;
	struct zrtt_table table;
	struct zrtt_hosts hosts;
	struct zrtt_lanes lanes;
	struct zrtt_police police;
	struct zrtt_l4s l4s;
	u64 tick_ns;
	u64 idle_ns;
	u32 delay_q8;
	u64 link_rate;
};

/**
 * struct zrtt_stats - counters, in packets (segments of a GSO packet) unless
 *	said; see struct tc_zrtt_xstats
 */
struct zrtt_stats {
	u64 packets_in;
	u64 ecn_mark;
	u64 drop_mark;
	u64 drop_limit;
	u64 drop_late;
	u64 purged;
	u64 hint_ok;
	u64 hint_bad;
	u64 hint_clamped;
	u64 hint_stripped;
	u64 idle_events;
	u64 overflow_events;
	u32 maxq;
};

/* Forget all but the flows: the queue is empty, and begins anew. */
static inline void zrtt_vars_reset(struct zrtt_vars *vars)
{
	*vars = (struct zrtt_vars) { .table = vars->table, .hosts = vars->hosts };
	zrtt_hosts_reset(&vars->hosts);
}

#endif
