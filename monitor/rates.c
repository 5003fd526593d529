// SPDX-License-Identifier: GPL-2.0
#include "rates.h"

static struct lane_rates lane_rates(const struct tc_zrtt_lane_stats *was,
				    const struct tc_zrtt_lane_stats *is, double s)
{
	return (struct lane_rates){
		.bytes = (is->bytes - was->bytes) / s,
		.packets = (is->packets - was->packets) / s,
		.drops = (is->drops - was->drops) / s,
	};
}

static bool lane_fell(const struct tc_zrtt_lane_stats *was,
		      const struct tc_zrtt_lane_stats *is)
{
	return is->bytes < was->bytes || is->packets < was->packets || is->drops < was->drops;
}

/* Whether any counter that has a rate did. */
static bool fell(const struct instance *before, const struct instance *now)
{
	const struct tc_zrtt_xstats *was = &before->xstats, *is = &now->xstats;
	int i;

	for (i = 0; i < __TC_ZRTT_LANE_MAX; i++) {
		if (lane_fell(&was->lane[i], &is->lane[i]))
			return true;
	}
	return now->bytes < before->bytes || now->packets < before->packets ||
	       is->packets_in < was->packets_in || is->ecn_mark < was->ecn_mark ||
	       is->drop_mark < was->drop_mark || is->drop_late < was->drop_late ||
	       is->drop_limit < was->drop_limit;
}

bool rates_between(const struct snapshot *before, const struct snapshot *now,
		   const struct instance *instance, struct rates *rates)
{
	const struct instance *was = snapshot_find(before, instance);
	const struct tc_zrtt_xstats *is = &instance->xstats;
	double s = now->at_s - before->at_s;
	int i;

	if (!was || s <= 0 || fell(was, instance))
		return false;
	*rates = (struct rates){
		.bytes = (instance->bytes - was->bytes) / s,
		.packets = (instance->packets - was->packets) / s,
		.ecn_mark = (is->ecn_mark - was->xstats.ecn_mark) / s,
		.drop_mark = (is->drop_mark - was->xstats.drop_mark) / s,
		.drop_late = (is->drop_late - was->xstats.drop_late) / s,
		.drop_limit = (is->drop_limit - was->xstats.drop_limit) / s,
	};
	for (i = 0; i < __TC_ZRTT_LANE_MAX; i++)
		rates->lane[i] = lane_rates(&was->xstats.lane[i], &is->lane[i], s);
	return true;
}
