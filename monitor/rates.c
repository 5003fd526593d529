// SPDX-License-Identifier: GPL-2.0
#include "rates.h"

bool rates_between(const struct snapshot *before, const struct snapshot *now,
		   const struct instance *instance, struct rates *rates)
{
	const struct instance *was = snapshot_find(before, instance);
	const struct tc_zrtt_xstats *is = &instance->xstats;
	double s = now->at_s - before->at_s;

	if (!was || s <= 0 || is->packets_in < was->xstats.packets_in ||
	    instance->bytes < was->bytes)
		return false;
	*rates = (struct rates){
		.bytes = (instance->bytes - was->bytes) / s,
		.packets = (instance->packets - was->packets) / s,
		.ecn_mark = (is->ecn_mark - was->xstats.ecn_mark) / s,
		.drop_mark = (is->drop_mark - was->xstats.drop_mark) / s,
		.drop_late = (is->drop_late - was->xstats.drop_late) / s,
		.drop_limit = (is->drop_limit - was->xstats.drop_limit) / s,
	};
	return true;
}
