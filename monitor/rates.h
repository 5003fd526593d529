/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_RATES_H
#define _MONITOR_RATES_H

#include <stdbool.h>

#include "snapshot.h"

/* Of a lane, per second. */
struct lane_rates {
	double bytes;
	double packets;
	double drops;
};

/* Per second, between two snapshots. */
struct rates {
	double bytes;
	double packets;
	double ecn_mark;
	double drop_mark;
	double drop_late;
	double drop_limit;
	struct lane_rates lane[__TC_ZRTT_LANE_MAX];
};

/**
 * rates_between() - rates of a qdisc between two snapshots
 * @before: the earlier snapshot
 * @now: the later one
 * @instance: of the later one
 * @rates: set on success
 *
 * Return: whether both have the qdisc, and none of its counters fell, as one does
 * if another qdisc replaced it.
 */
bool rates_between(const struct snapshot *before, const struct snapshot *now,
		   const struct instance *instance, struct rates *rates);

#endif
