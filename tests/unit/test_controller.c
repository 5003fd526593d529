// SPDX-License-Identifier: GPL-2.0
/* controller.h against the pseudo code of BLUE and float models of the others. */
#include "unit.h"
#include <zrtt/controller.h>

#include <linux/pkt_sched_zrtt.h>

#define P(q30)		((q30) / (double)ZRTT_P_ONE)
#define ONE_UNIT	(1.0 / ZRTT_P_ONE)
#define US		1000ULL		/* ns */
#define S		1000000000ULL	/* ns */

static struct zrtt_ctl_params defaults(u32 kind)
{
	struct zrtt_ctl_params params = {
		.kind = kind,
		.target_us = 15000,
		.tupdate_us = 16000,
		.threshold = 100,
		.freeze_us = 50000,
		.increment_q30 = ZRTT_P_ONE / 50,
		.decrement_q30 = ZRTT_P_ONE / 500,
	};

	zrtt_ctl_derive(&params);
	return params;
}

/* Anything that tc accepts. */
static struct zrtt_ctl_params random_params(u64 *seed, u32 kind)
{
	struct zrtt_ctl_params params = {
		.kind = kind,
		.target_us = unit_spread(seed, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX),
		.tupdate_us = unit_spread(seed, TC_ZRTT_TUPDATE_MIN,
					  TC_ZRTT_TUPDATE_MAX),
		.threshold = unit_spread(seed, TC_ZRTT_THRESHOLD_MIN,
					 TC_ZRTT_THRESHOLD_MAX),
		.freeze_us = unit_spread(seed, TC_ZRTT_FREEZE_MIN, TC_ZRTT_FREEZE_MAX),
		.increment_q30 = unit_spread(seed, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX),
		.decrement_q30 = unit_spread(seed, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX),
	};

	zrtt_ctl_derive(&params);
	return params;
}

/* P_b and p' belong together, and both are probabilities. */
static void check_range(const struct zrtt_ctl *ctl)
{
	assert_in_range(ctl->p_q30, 0, ZRTT_P_ONE);
	assert_in_range(ctl->root_q30, 0, ZRTT_P_ONE);
	assert_in_range(ctl->p_avg_q30, 0, ZRTT_P_ONE);
	assert_near(P(ctl->root_q30), sqrt(P(ctl->p_q30)), 2e-4);
}

/* Feng et al. 2002, figure 2, event by event. */
struct blue {
	double p;
	u64 last_update;
};

static void blue_loss(struct blue *b, const struct zrtt_ctl_params *params, u64 now)
{
	if (now - b->last_update > params->freeze_us * US) {
		b->p = fmin(1, b->p + P(params->increment_q30));
		b->last_update = now;
	}
}

static void blue_link_idle(struct blue *b, const struct zrtt_ctl_params *params,
			   u64 now)
{
	if (now - b->last_update > params->freeze_us * US) {
		b->p = fmax(0, b->p - P(params->decrement_q30));
		b->last_update = now;
	}
}

static void blue_follows_the_papers_pseudo_code(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);
	struct zrtt_ctl ctl = {};
	struct blue want = {};
	u64 seed = 12, now = S;
	u32 i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		/* runs of losses, then runs of idle links, to reach both ends */
		bool busy = i / 5000 % 2;

		if (!(i % 10000))
			params = random_params(&seed, ZRTT_CTL_BLUE);
		/* odd: never exactly at the end of a freeze, a multiple of 1 us */
		now += 2 * unit_spread(&seed, 1, 2 * params.freeze_us) * US / 2 + 1;
		if (unit_between(&seed, 0, 9) < (busy ? 8 : 2)) {
			zrtt_blue_overflow(&params, &ctl, now);
			blue_loss(&want, &params, now);
		} else {
			zrtt_blue_idle(&params, &ctl, now, now);
			if (want.p > 0)
				blue_link_idle(&want, &params, now);
		}
		assert_near(P(ctl.p_q30), want.p, ONE_UNIT);
		check_range(&ctl);
	}
}

static void blue_is_frozen_after_a_change(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);
	struct zrtt_ctl ctl = {};
	u64 freeze_ns = params.freeze_us * US, t;

	(void)state;
	zrtt_blue_overflow(&params, &ctl, S);
	assert_int_equal(ctl.p_q30, params.increment_q30);
	for (t = 0; t < freeze_ns; t += freeze_ns / 100) {
		zrtt_blue_overflow(&params, &ctl, S + t);
		zrtt_blue_idle(&params, &ctl, S + t, S + t);
		assert_int_equal(ctl.p_q30, params.increment_q30);
	}
	zrtt_blue_overflow(&params, &ctl, S + freeze_ns + 1);
	assert_int_equal(ctl.p_q30, 2 * params.increment_q30);
	zrtt_blue_idle(&params, &ctl, S + 3 * freeze_ns, S + 3 * freeze_ns);
	assert_int_equal(ctl.p_q30, 2 * params.increment_q30 - params.decrement_q30);
}

/*
 * An idle link that was not polled owes what polling would have given: a
 * decrement per freeze time. Its clock counts 1024 ns and multiplies by a
 * rounded reciprocal, hence up to 3 % fewer.
 */
static void unpolled_idle_link_owes_its_decrements(void **state)
{
	u64 seed = 13;
	u32 i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct zrtt_ctl_params params = random_params(&seed, ZRTT_CTL_BLUE);
		struct zrtt_ctl ctl = { .changed_ns = S };
		u64 freeze_ns = params.freeze_us * US;
		u64 since = S + unit_spread(&seed, 0, 4 * params.freeze_us) * US;
		u64 now = since + (u64)unit_spread(&seed, 0, UINT32_MAX) * US;
		u64 first = S + freeze_ns > since ? S + freeze_ns : since;
		double steps, got;

		params.decrement_q30 = 1;
		zrtt_ctl_set(&ctl, ZRTT_P_ONE);
		zrtt_blue_idle(&params, &ctl, since, now);
		steps = now < first ? 0 : 1 + (double)((now - first) / freeze_ns);
		got = ZRTT_P_ONE - (double)ctl.p_q30;
		assert_true(got <= steps);
		assert_true(got >= 0.97 * steps - 1);
	}
}

static void blue_forgets_after_a_long_idle_time(void **state)
{
	const u64 hours[] = { 1, 24, 24 * 365 };
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(hours); i++) {
		struct zrtt_ctl ctl = { .changed_ns = S };

		zrtt_ctl_set(&ctl, ZRTT_P_ONE);
		zrtt_blue_idle(&params, &ctl, 2 * S, 2 * S + hours[i] * 3600 * S);
		assert_int_equal(ctl.p_q30, 0);
		check_range(&ctl);
	}
}

static void only_blue_listens_to_events(void **state)
{
	const u32 others[] = { ZRTT_CTL_PBLUE, ZRTT_CTL_PI2 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(others); i++) {
		struct zrtt_ctl_params params = defaults(others[i]);
		struct zrtt_ctl ctl = {};

		zrtt_ctl_set(&ctl, ZRTT_P_ONE / 4);
		zrtt_blue_overflow(&params, &ctl, S);
		zrtt_blue_idle(&params, &ctl, S, 100 * S);
		assert_int_equal(ctl.p_q30, ZRTT_P_ONE / 4);
	}
}

/* RFC 9332 section 2.5.1, for RTT_max = 200 ms, doubled. */
#define PI2_RTT_MAX_S	0.2
#define PI2_ALPHA_PER_S	(2 * 0.1 / (PI2_RTT_MAX_S * PI2_RTT_MAX_S))	/* of T */
#define PI2_BETA	(2 * 0.3 / PI2_RTT_MAX_S)			/* per s */

static void pi2_gains_are_twice_those_of_rfc_9332(void **state)
{
	const double scale = exp2(ZRTT_P_SHIFT + ZRTT_PI2_FRAC);

	(void)state;
	assert_near(ZRTT_PI2_BETA / scale * 1e6, PI2_BETA, PI2_BETA * 1e-4);
	assert_near(ZRTT_PI2_ALPHA_PER_US / scale * 1e12, PI2_ALPHA_PER_S,
		    PI2_ALPHA_PER_S * 1e-4);
}

static void pi2_follows_rfc_9332(void **state)
{
	u64 seed = 14;
	u32 round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		struct zrtt_ctl_params params = random_params(&seed, ZRTT_CTL_PI2);
		double period_s = params.tupdate_us / 1e6;
		double alpha = PI2_ALPHA_PER_S * period_s;
		struct zrtt_ctl ctl = {};

		for (i = 0; i < 1000; i++) {
			u32 sojourn_us = unit_spread(&seed, 0, 4 * params.target_us);
			double q = sojourn_us / 1e6, q_old = ctl.sojourn_us / 1e6;
			double level = alpha * (q - params.target_us / 1e6);
			double slope = PI2_BETA * (q - q_old);
			double want = P(ctl.root_q30) + level + slope;
			double tolerance;

			want = fmin(1, fmax(0, want));
			tolerance = (fabs(level) + fabs(slope)) * 1e-4 + ONE_UNIT;
			zrtt_ctl_tick(&params, &ctl, sojourn_us);
			/* an empty queue may fall faster than RFC 9332 says */
			if (q + q_old >= params.target_us / 1e6)
				assert_near(P(ctl.root_q30), want, tolerance);
			else
				assert_true(P(ctl.root_q30) <= want + tolerance);
			assert_near(P(ctl.p_q30), P(ctl.root_q30) * P(ctl.root_q30),
				    ONE_UNIT);
			check_range(&ctl);
		}
	}
}

/* P_b += P_b e (q - target) / target, cut to -1 .. 1, 10 % per 100 ms. */
static void pblue_moves_in_proportion(void **state)
{
	u64 seed = 15;
	u32 i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		struct zrtt_ctl_params params = random_params(&seed, ZRTT_CTL_PBLUE);
		u32 sojourn_us = unit_spread(&seed, 0, 4 * params.target_us);
		double error = fmin(1, (double)sojourn_us / params.target_us - 1);
		double step = error * params.tupdate_us / ZRTT_PBLUE_STEP_US;
		struct zrtt_ctl ctl = {};
		double before, want;

		zrtt_ctl_set(&ctl, unit_spread(&seed, ZRTT_PBLUE_FLOOR, ZRTT_P_ONE));
		before = P(ctl.p_q30);
		want = fmin(1, fmax(P(ZRTT_PBLUE_FLOOR), before * (1 + step)));
		zrtt_ctl_tick(&params, &ctl, sojourn_us);
		/* error, step and product are each cut to Q16 */
		assert_near(P(ctl.p_q30), want,
			    before * (1e-2 * fabs(step) + 3 / 65536.0) + ONE_UNIT);
		check_range(&ctl);
	}
}

static void pblue_starts_from_nothing(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PBLUE);
	struct zrtt_ctl ctl = {};
	u32 i;

	(void)state;
	zrtt_ctl_tick(&params, &ctl, 0);
	assert_int_equal(ctl.p_q30, ZRTT_PBLUE_FLOOR);
	for (i = 0; i < 20 * S / US / params.tupdate_us; i++)
		zrtt_ctl_tick(&params, &ctl, 2 * params.target_us);
	/* 10 % per 100 ms for 20 s: 1.016^1250 times the floor */
	assert_int_equal(ctl.p_q30, ZRTT_P_ONE);
}

static void probability_stays_one_whatever_happens(void **state)
{
	u64 seed = 16, now = S;
	u32 round, i;

	(void)state;
	for (round = 0; round < 300; round++) {
		struct zrtt_ctl ctl = {};

		for (i = 0; i < 1000; i++) {
			/* a change of parameters keeps the state */
			struct zrtt_ctl_params params =
				random_params(&seed, unit_between(&seed, 0, 2));
			u64 gap = (u64)unit_spread(&seed, 0, UINT32_MAX) * US;

			zrtt_ctl_tick(&params, &ctl,
				      unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US));
			zrtt_blue_overflow(&params, &ctl, now);
			check_range(&ctl);
			if (unit_random(&seed) & 1) {
				zrtt_blue_idle(&params, &ctl, now, now + gap);
				zrtt_ctl_forget(&params, &ctl, gap);
			}
			now += gap;
			check_range(&ctl);
		}
	}
}

static void change_of_controller_carries_the_probability_over(void **state)
{
	u64 seed = 17;
	u32 i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
		struct zrtt_ctl ctl = {};
		u32 p = unit_spread(&seed, 0, ZRTT_P_ONE);

		zrtt_ctl_set(&ctl, p);
		/* neither error nor slope: PI2 takes over what it finds */
		ctl.sojourn_us = params.target_us;
		zrtt_ctl_tick(&params, &ctl, params.target_us);
		assert_near(P(ctl.p_q30), P(p), P(p) * 1e-3 + 1e-8);
	}
}

/* All the load there is afterwards: a packet every @gap_ns that never waits. */
static double seconds_to_recover(const struct zrtt_ctl_params *params, u64 gap_ns)
{
	struct zrtt_ctl ctl = {};
	u64 now = S;

	zrtt_ctl_set(&ctl, ZRTT_P_ONE);
	while (ctl.p_q30 > ZRTT_P_ONE / 1000 && now < 10000 * S) {
		u64 since = now;

		now += gap_ns;
		zrtt_blue_idle(params, &ctl, since, now);
		zrtt_ctl_forget(params, &ctl, now - since);
		zrtt_ctl_tick(params, &ctl, 0);
	}
	return (double)(now - S) / S;
}

static void probability_recovers_once_the_load_is_gone(void **state)
{
	const u64 gaps_ms[] = { 20, 100, 500, 1000, 10000 };
	struct zrtt_ctl_params params;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(gaps_ms); i++) {
		u64 gap_ns = gaps_ms[i] * 1000 * US;

		params = defaults(ZRTT_CTL_PI2);
		assert_in_range(seconds_to_recover(&params, gap_ns), 0, 20);
		params = defaults(ZRTT_CTL_PBLUE);
		assert_in_range(seconds_to_recover(&params, gap_ns), 0, 200);
		/* BLUE by its own law: 500 decrements of 50 ms */
		params = defaults(ZRTT_CTL_BLUE);
		assert_in_range(seconds_to_recover(&params, gap_ns), 0, 60);
	}
}

static void busy_queue_recovers_too(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	struct zrtt_ctl ctl = {};
	u32 i;

	(void)state;
	/* the queue was full for an hour, then it is at half the target */
	for (i = 0; i < 3600 * 1000000ULL / params.tupdate_us; i++)
		zrtt_ctl_tick(&params, &ctl, ZRTT_SOJOURN_MAX_US);
	assert_int_equal(ctl.p_q30, ZRTT_P_ONE);
	for (i = 0; i < 60 * 1000000ULL / params.tupdate_us; i++)
		zrtt_ctl_tick(&params, &ctl, params.target_us / 2);
	assert_in_range(ctl.p_q30, 0, ZRTT_P_ONE / 100);
}

static void blue_ticks_at_its_own_pace(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);

	(void)state;
	params.freeze_us = 20000;
	assert_int_equal(zrtt_ctl_period_us(&params), 20000);
	params.freeze_us = TC_ZRTT_FREEZE_MAX;
	assert_int_equal(zrtt_ctl_period_us(&params), 100000);
	params.kind = ZRTT_CTL_PI2;
	assert_int_equal(zrtt_ctl_period_us(&params), params.tupdate_us);
}

static void average_follows_with_the_papers_weight(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);
	struct zrtt_ctl ctl = {};
	double want = 0;
	u32 i;

	(void)state;
	zrtt_ctl_set(&ctl, ZRTT_P_ONE / 10);
	for (i = 0; i < 100; i++) {
		zrtt_ctl_tick(&params, &ctl, 0);
		want = 0.9 * want + 0.1 * 0.1;
		assert_near(P(ctl.p_avg_q30), want, want * 1e-3);
	}
}

/* The target of a link on which 3 packets take longer is these 3. */
static void three_packets_are_never_above_the_target(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	u64 seed = 17;
	u32 i;

	(void)state;
	assert_int_equal(zrtt_ctl_sojourn(&params, 36000, 3), params.target_us);
	assert_int_equal(zrtt_ctl_sojourn(&params, 48000, 4), 20000);
	assert_int_equal(zrtt_ctl_sojourn(&params, 14000, 3), 14000);
	assert_int_equal(zrtt_ctl_sojourn(&params, 20000, 0), 0);
	for (i = 0; i < 100000; i++) {
		u32 sojourn_us = unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US);
		u32 backlog = unit_spread(&seed, 0, UINT32_MAX);
		double most;

		params = random_params(&seed, unit_between(&seed, 0, 2));
		most = floor((double)params.target_us * backlog / 3);
		assert_int_equal(zrtt_ctl_sojourn(&params, sojourn_us, backlog),
				 fmin(sojourn_us, most));
	}
}

static void late_is_older_than_10_targets_behind_a_burst(void **state)
{
	const u32 kinds[] = { ZRTT_CTL_BLUE, ZRTT_CTL_PBLUE, ZRTT_CTL_PI2 };
	const u32 targets_us[] = { 15000, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX };
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		struct zrtt_ctl_params params = defaults(kinds[i]);
		bool never = kinds[i] == ZRTT_CTL_BLUE;

		for (j = 0; j < ARRAY_LEN(targets_us); j++) {
			u64 late_ns = 10 * US * targets_us[j];

			params.target_us = targets_us[j];
			assert_false(zrtt_ctl_late(&params, late_ns, 1000));
			assert_int_equal(zrtt_ctl_late(&params, late_ns + 1, 1000), !never);
			assert_int_equal(zrtt_ctl_late(&params, late_ns + 1, 33), !never);
			assert_false(zrtt_ctl_late(&params, late_ns + 1, 32));
			assert_int_equal(zrtt_ctl_late(&params, UINT64_MAX, UINT32_MAX),
					 !never);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blue_follows_the_papers_pseudo_code),
		cmocka_unit_test(blue_is_frozen_after_a_change),
		cmocka_unit_test(unpolled_idle_link_owes_its_decrements),
		cmocka_unit_test(blue_forgets_after_a_long_idle_time),
		cmocka_unit_test(only_blue_listens_to_events),
		cmocka_unit_test(pi2_gains_are_twice_those_of_rfc_9332),
		cmocka_unit_test(pi2_follows_rfc_9332),
		cmocka_unit_test(pblue_moves_in_proportion),
		cmocka_unit_test(pblue_starts_from_nothing),
		cmocka_unit_test(probability_stays_one_whatever_happens),
		cmocka_unit_test(change_of_controller_carries_the_probability_over),
		cmocka_unit_test(probability_recovers_once_the_load_is_gone),
		cmocka_unit_test(busy_queue_recovers_too),
		cmocka_unit_test(blue_ticks_at_its_own_pace),
		cmocka_unit_test(average_follows_with_the_papers_weight),
		cmocka_unit_test(three_packets_are_never_above_the_target),
		cmocka_unit_test(late_is_older_than_10_targets_behind_a_burst),
	};

	return cmocka_run_group_tests_name("controller", tests, NULL, NULL);
}
