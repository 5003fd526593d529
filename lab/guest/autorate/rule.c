// SPDX-License-Identifier: GPL-2.0
/* See rule.h. */
#include "rule.h"

#define PACKET_BITS		(1514 * 8)

/* Of the documented defaults. */
#define DELAYED_MS		30.0	/* one-way, over the baseline: a sample is delayed */
#define RAISE_MOST_BELOW_MS	10.0	/* mean of the window */
#define LOWER_MOST_FROM_MS	60.0	/* likewise */
#define DELAYED_SAMPLES		3	/* of the window: bufferbloat */
#define BASELINE_UP		0.001	/* weight of a sample above the baseline */
#define BASELINE_DOWN		0.9	/* of one below */
#define HIGH_LOAD		0.75	/* of the rate */
#define LOWER_LEAST		0.99
#define LOWER_MOST		0.75
#define RAISE_LEAST		1.0
#define RAISE_MOST		1.04
#define RETURN_DOWN		0.99
#define RETURN_UP		1.01
#define LOWERED_FOR_MS		300.0	/* from lowering to the next change by load or delay */
#define RETURNED_FOR_MS		1000.0

#define LONG_AGO_MS		(-1e9)

void rule_init(struct rule *rule, double min_kbps, double base_kbps, double max_kbps)
{
	int i;

	*rule = (struct rule){
		.min_kbps = min_kbps, .base_kbps = base_kbps, .max_kbps = max_kbps,
		.kbps = base_kbps, .lowered_ms = LONG_AGO_MS, .returned_ms = LONG_AGO_MS,
	};
	for (i = 0; i < RULE_REFLECTORS; i++)
		rule->baseline_ms[i] = -1;
}

void rule_load(struct rule *rule, double achieved_kbps)
{
	rule->achieved_kbps = achieved_kbps;
}

double rule_rate(const struct rule *rule)
{
	return rule->kbps;
}

/* From one value to another as x goes from one threshold to the next. */
static double scaled(double x, double from, double to, double first, double last)
{
	double share = (x - from) / (to - from);

	if (share < 0)
		share = 0;
	if (share > 1)
		share = 1;
	return first + share * (last - first);
}

/* How much longer than its baseline a sample took; the baseline follows. */
static double over_baseline(struct rule *rule, int reflector, double owd_ms)
{
	double *baseline = &rule->baseline_ms[reflector];
	double weight = owd_ms > *baseline ? BASELINE_UP : BASELINE_DOWN;

	if (*baseline < 0)
		*baseline = owd_ms;
	else
		*baseline += weight * (owd_ms - *baseline);
	return owd_ms - *baseline;
}

static void towards_base(struct rule *rule)
{
	if (rule->kbps > rule->base_kbps) {
		rule->kbps *= RETURN_DOWN;
		if (rule->kbps < rule->base_kbps)
			rule->kbps = rule->base_kbps;
	} else {
		rule->kbps *= RETURN_UP;
		if (rule->kbps > rule->base_kbps)
			rule->kbps = rule->base_kbps;
	}
}

/* Takes the round-trip time of a probe, half of which counts. Says if the rate changed. */
bool rule_sample(struct rule *rule, int reflector, double now_ms, double rtt_ms)
{
	double before = rule->kbps, mean = 0;
	double packet_ms = PACKET_BITS / rule->kbps;	/* that a packet of its own takes */
	double delayed_ms = DELAYED_MS + packet_ms;
	int delayed = 0, i;

	rule->delta_ms[rule->next] = over_baseline(rule, reflector, rtt_ms / 2);
	rule->next = (rule->next + 1) % RULE_WINDOW;
	for (i = 0; i < RULE_WINDOW; i++) {
		delayed += rule->delta_ms[i] > delayed_ms;
		mean += rule->delta_ms[i] / RULE_WINDOW;
	}

	if (delayed >= DELAYED_SAMPLES) {
		if (now_ms - rule->lowered_ms >= LOWERED_FOR_MS) {
			rule->kbps *= scaled(mean, delayed_ms, LOWER_MOST_FROM_MS + packet_ms,
					     LOWER_LEAST, LOWER_MOST);
			rule->lowered_ms = now_ms;
		}
	} else if (rule->achieved_kbps > HIGH_LOAD * rule->kbps) {
		if (now_ms - rule->lowered_ms >= LOWERED_FOR_MS)
			rule->kbps *= scaled(mean, RAISE_MOST_BELOW_MS + packet_ms, delayed_ms,
					     RAISE_MOST, RAISE_LEAST);
	} else if (now_ms - rule->returned_ms >= RETURNED_FOR_MS) {
		towards_base(rule);
		rule->returned_ms = now_ms;
	}

	if (rule->kbps < rule->min_kbps)
		rule->kbps = rule->min_kbps;
	if (rule->kbps > rule->max_kbps)
		rule->kbps = rule->max_kbps;
	return rule->kbps != before;
}
