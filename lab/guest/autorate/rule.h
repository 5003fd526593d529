/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rule by which the rate of a shaper follows a line, from load and the delay of probes.
 *
 * Written from the published documentation of the cake-autorate project (its README, and the
 * comments of its file of defaults, version 3), for one direction; the defaults are those.
 * Left out are the choice and the health of reflectors, sleep and stalls, which nothing in
 * the laboratory would bring about.
 */
#ifndef _AUTORATE_RULE_H
#define _AUTORATE_RULE_H

#include <stdbool.h>

#define RULE_REFLECTORS		6
#define RULE_WINDOW		6	/* samples that detection looks back at */

/**
 * struct rule - its state; rates are in kbit/s, times in ms
 * @min_kbps:	the least rate
 * @base_kbps:	that to which it returns without load
 * @max_kbps:	the most
 * @kbps:	the rate now
 * @achieved_kbps: what was carried lately
 * @baseline_ms: one-way delay without a queue, of each reflector; negative: none yet
 * @delta_ms:	how much longer the last samples took, in turn
 * @next:	of @delta_ms, where the next goes
 * @lowered_ms:	when the rate was last lowered for delay
 * @returned_ms: when it last went towards the base
 */
struct rule {
	double	min_kbps;
	double	base_kbps;
	double	max_kbps;
	double	kbps;
	double	achieved_kbps;
	double	baseline_ms[RULE_REFLECTORS];
	double	delta_ms[RULE_WINDOW];
	int	next;
	double	lowered_ms;
	double	returned_ms;
};

void rule_init(struct rule *rule, double min_kbps, double base_kbps, double max_kbps);
void rule_load(struct rule *rule, double achieved_kbps);
bool rule_sample(struct rule *rule, int reflector, double now_ms, double rtt_ms);
double rule_rate(const struct rule *rule);

#endif
