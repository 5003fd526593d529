/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is not per packet: P_b, alpha and the averages, and a queue that runs empty.
 */
#ifndef _ZRTT_TICK_H
#define _ZRTT_TICK_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "table.h"
#include "controller.h"
#include "law.h"
#include "control.h"
#include "fair.h"
#include "lane.h"
#include "police.h"
#include "peers.h"
#include "params.h"
#include "state.h"

static inline bool zrtt_tick_due(const struct zrtt_vars *vars, u64 now_ns)
{
	return now_ns >= vars->tick_ns;
}

/* The first part of a tick: what is the queue's own, whoever its peers are. */
static inline void zrtt_tick_begin(const struct zrtt_params *params, struct zrtt_vars *vars,
				   u32 sojourn_us, u64 now_ns)
{
	vars->tick_ns = now_ns + zrtt_ctl_period_us(&params->ctl) * 1000ULL;
	vars->delay_q8 = zrtt_ewma(vars->delay_q8, sojourn_us << ZRTT_DELAY_FRAC,
				   ZRTT_DELAY_WQ_Q16);
	zrtt_table_tick(&vars->table, zrtt_epoch(now_ns));
	if (unlikely(vars->table.groups))
		zrtt_hosts_expire(&vars->hosts, vars->table.update_epochs, zrtt_epoch(now_ns));
}

/* The last one: what follows from P_b and the due share. */
static inline void zrtt_tick_end(const struct zrtt_params *params, struct zrtt_vars *vars)
{
	if (params->law.tuned) {
		zrtt_law_bound(&vars->law, vars->link_rate);
		zrtt_law_bound(&vars->hosts.law, vars->link_rate);
	}
	vars->table.rtt_avg_us = vars->law.rtt_avg_us;
	vars->table.due = vars->law.due;
	vars->hosts.table.due = vars->hosts.law.due;
	vars->law.l4s_gain_q16 = zrtt_penalty_gain(vars->l4s.p_avg_q30, vars->law.due);
	/* hosts that are in the low-latency lane alone have its marks, and no P_b */
	if (!vars->ctl.p_q30)
		vars->hosts.law.gain_q16 = zrtt_penalty_gain(vars->l4s.p_avg_q30,
							     vars->hosts.law.due);
	zrtt_lanes_tick(&vars->lanes, params->lanes, params->l4s, vars->ctl.p_q30,
			vars->law.due);
	zrtt_hosts_bound(&vars->hosts, vars->lanes.least, &params->ceil);
	zrtt_police_tick(&vars->police, &vars->law, params->ctl.target_us);
}

/**
 * zrtt_tick() - what is not per packet: P_b, alpha, averages
 * @params: parameters
 * @vars: state
 * @sojourn_us: age of the older of the packets at the lanes' heads, or zrtt_wait_us() if that is
 *	less; 0 = empty
 * @backlog_pkts: packets in bulk and in the low-latency lane, segments of GSO packets counted
 * @now_ns: clock
 */
static inline void zrtt_tick(const struct zrtt_params *params,
			     struct zrtt_vars *vars, u32 sojourn_us,
			     u32 backlog_pkts, u64 now_ns)
{
	u64 late_ns = sojourn_us ? zrtt_ctl_late_ns(&params->ctl, vars->tick_ns, now_ns) : 0;
	struct zrtt_sums flows, hosts;
	u32 packet_us;

	if (sojourn_us > ZRTT_SOJOURN_MAX_US)
		sojourn_us = ZRTT_SOJOURN_MAX_US;
	packet_us = zrtt_ctl_packet_us(sojourn_us, backlog_pkts);
	zrtt_tick_begin(params, vars, sojourn_us, now_ns);
	flows = zrtt_table_sums(&vars->table);
	hosts = zrtt_hosts_sums(&vars->hosts);
	zrtt_control(&params->ctl, &params->law, &vars->ctl, &vars->law, &flows,
		     zrtt_mean_rate_of_hosts(&flows, &hosts),
		     zrtt_ctl_sojourn(&params->ctl, &vars->ctl, sojourn_us, backlog_pkts),
		     packet_us, vars->delay_q8 >> ZRTT_DELAY_FRAC, late_ns);
	zrtt_law_due(&vars->hosts.law, &hosts, vars->ctl.p_q30);
	zrtt_tick_end(params, vars);
}

/**
 * zrtt_tick_with_peers() - the same of one of the queues of a device
 * @params: parameters
 * @vars: state
 * @d: device
 * @peer: the queue
 * @sojourn_us: see zrtt_tick()
 * @backlog_pkts: see there
 * @now_ns: clock
 *
 * zrtt_tick_begin() has passed, and zrtt_tick_end() is to follow; others wait only for this.
 */
static inline void zrtt_tick_with_peers(const struct zrtt_params *params,
					struct zrtt_vars *vars, struct zrtt_device *d,
					struct zrtt_peer *peer, u32 sojourn_us,
					u32 backlog_pkts, u64 now_ns)
{
	bool hosts = vars->table.groups;

	peer->flows = zrtt_table_sums(&vars->table);
	peer->hosts = zrtt_hosts_sums(&vars->hosts);
	zrtt_peer_tick(&params->ctl, &params->law, d, peer, &vars->law, sojourn_us,
		       backlog_pkts, now_ns);
	vars->ctl = d->ctl;
	vars->law = d->law;
	vars->law.sum_p_q30 = 0;
	vars->law.weighed = 0;
	vars->law.sum_bytes = 0;
	vars->law.sum_squares = 0;
	vars->hosts.law = d->hosts_law;
	peer->rate = params->shaper.rate;
	peer->dues_q8 = hosts ?
		zrtt_peer_dues(zrtt_hosts_dues(&vars->hosts), peer->hosts.other_rate,
			       d->hosts_law.due,
			       peer->hosts.counted ? ZRTT_DUES_PART : ZRTT_DUES_ONE) :
		zrtt_peer_dues((u64)peer->flows.counted << ZRTT_DUES_FRAC,
			       peer->flows.other_rate, d->law.due, ZRTT_DUES_ONE);
}

/* A packet arrived above BLUE's threshold or did not fit at all. */
static inline void zrtt_overflow(const struct zrtt_params *params,
				 struct zrtt_vars *vars, struct zrtt_stats *stats,
				 u64 now_ns)
{
	stats->overflow_events++;
	zrtt_blue_overflow(&params->ctl, &vars->ctl, now_ns);
}

/**
 * zrtt_idle() - the queue is empty
 * @params: parameters
 * @vars: state
 * @now_ns: clock
 *
 * To be called when the last packet leaves, and when one arrives at the empty queue: the
 * link was idle until then, and stays so if that packet is dropped. Without that, P_b = 1
 * would drop all and never fall.
 */
static inline void zrtt_idle(const struct zrtt_params *params, struct zrtt_vars *vars,
			     u64 now_ns)
{
	u64 since_ns = vars->idle_ns ? vars->idle_ns : now_ns;

	zrtt_blue_idle(&params->ctl, &vars->ctl, since_ns, now_ns);
	zrtt_ctl_forget(&params->ctl, &vars->ctl, now_ns - since_ns);
	vars->idle_ns = now_ns;
}

/* A packet was queued. */
static inline void zrtt_idle_end(struct zrtt_vars *vars)
{
	vars->idle_ns = 0;
}

#endif
