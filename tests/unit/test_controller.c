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

/* After 52 days, what is multiplied has more than 64 bits. */
static void blue_forgets_after_any_idle_time(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);
	struct zrtt_ctl ctl = {};

	(void)state;
	params.freeze_us = TC_ZRTT_FREEZE_MIN;
	zrtt_ctl_derive(&params);
	zrtt_ctl_set(&ctl, ZRTT_P_ONE);
	zrtt_blue_idle(&params, &ctl, S, S + ((UINT64_MAX / params.freeze_recip + 2) << 10));
	assert_int_equal(ctl.p_q30, 0);
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

/* The least of the last 5 of @n values, 0 where there are fewer. */
static u32 least_of_5(const u32 *values, u32 n)
{
	u32 least = n < 5 ? 0 : UINT32_MAX, i;

	for (i = n < 5 ? 0 : n - 5; i < n; i++)
		if (values[i] < least)
			least = values[i];
	return least;
}

static void queue_stands_that_5_updates_saw(void **state)
{
	struct zrtt_ctl ctl = {};
	u32 values[2000], i;
	u64 seed = 50;

	(void)state;
	for (i = 0; i < ARRAY_LEN(values); i++) {
		values[i] = unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US);
		assert_int_equal(zrtt_ctl_standing(&ctl, values[i]),
				 least_of_5(values, i + 1));
	}
	/* 4 updates are a burst, one that finds less ends it, for 5 more */
	for (i = 0; i < 5; i++)
		zrtt_ctl_standing(&ctl, 100);
	for (i = 0; i < 4; i++)
		assert_int_equal(zrtt_ctl_standing(&ctl, 90000), 100);
	assert_int_equal(zrtt_ctl_standing(&ctl, 90000), 90000);
	assert_int_equal(zrtt_ctl_standing(&ctl, 100), 100);
	for (i = 0; i < 4; i++)
		assert_int_equal(zrtt_ctl_standing(&ctl, 90000), 100);
	assert_int_equal(zrtt_ctl_standing(&ctl, 90000), 90000);
}

static void standing_time_is_80_ms(void **state)
{
	(void)state;
	assert_int_equal(ZRTT_STANDING_TICKS * defaults(ZRTT_CTL_PI2).tupdate_us, 80000);
}

/* How far the queue is above the aim, one aim at the most. */
static double burst_error(u32 aim_us, u32 standing_us)
{
	return fmin((double)standing_us - aim_us, aim_us);
}

static void burst_counts_as_twice_the_aim(void **state)
{
	struct zrtt_ctl ctl = { .aim_us = 7500 };
	u32 standing_us;

	(void)state;
	assert_int_equal(zrtt_pi2_error(&ctl, 0), -7500);
	assert_int_equal(zrtt_pi2_error(&ctl, 7499), -1);
	assert_int_equal(zrtt_pi2_error(&ctl, 7500), 0);
	assert_int_equal(zrtt_pi2_error(&ctl, 14999), 7499);
	for (standing_us = 15000; standing_us <= 167500; standing_us += 500)
		assert_int_equal(zrtt_pi2_error(&ctl, standing_us), 7500);
}

static void error_grows_with_the_queue(void **state)
{
	u64 seed = 51;
	u32 i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		const struct zrtt_ctl_params params = random_params(&seed, ZRTT_CTL_PI2);
		const struct zrtt_ctl ctl = {
			.aim_us = unit_spread(&seed, params.target_us / 2,
					      ZRTT_SOJOURN_MAX_US),
		};
		u32 standing_us = unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US);
		u32 longer_us = unit_spread(&seed, standing_us, ZRTT_SOJOURN_MAX_US);
		s64 error = zrtt_pi2_error(&ctl, standing_us);

		assert_near(error, burst_error(ctl.aim_us, standing_us), 0);
		assert_true(error <= (s64)standing_us - ctl.aim_us);
		assert_true(error <= zrtt_pi2_error(&ctl, longer_us));
		assert_int_equal(error > 0, standing_us > ctl.aim_us);
	}
}

static u32 followed(const struct zrtt_ctl_params *params, u32 p_avg_q30, u32 fill_us)
{
	struct zrtt_ctl ctl = { .p_avg_q30 = p_avg_q30, .aim_us = 12345 };

	zrtt_ctl_follow(params, &ctl, fill_us);
	return ctl.aim_us;
}

static void target_follows_the_number_of_flows(void **state)
{
	const struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	const u32 ten = ZRTT_P_ONE / 10;
	u32 fill_us;

	(void)state;
	/* half of it stands, whatever P_b, while flows need less than that */
	for (fill_us = 0; fill_us <= 7500; fill_us += 100)
		assert_int_equal(followed(&params, ZRTT_P_ONE, fill_us), 7500);
	/* in proportion to P_b up to 10 % */
	assert_int_equal(followed(&params, 0, 107500), 7500);
	assert_near(followed(&params, ten / 2, 107500), 57500, 1);
	assert_near(followed(&params, ten, 107500), 107500, 1);
	assert_near(followed(&params, ZRTT_P_ONE, 107500), 107500, 1);
	/* 24 targets at the most */
	assert_int_equal(followed(&params, ten, 360000), 360000);
	assert_int_equal(followed(&params, ten, 360001), 360000);
	assert_int_equal(followed(&params, ZRTT_P_ONE, ZRTT_SOJOURN_MAX_US), 360000);
	assert_near(followed(&params, ten / 2, ZRTT_SOJOURN_MAX_US), (7500 + 360000) / 2, 1);
}

static void target_follows_under_any_parameters(void **state)
{
	u64 seed = 52;
	u32 i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		const struct zrtt_ctl_params params = random_params(&seed, ZRTT_CTL_PI2);
		u32 p_avg_q30 = unit_spread(&seed, 0, ZRTT_P_ONE);
		u32 fill_us = unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US);
		double rest = params.target_us / 2;	/* whole microseconds */
		double share = fmin(1, 10 * P(p_avg_q30));
		double most = fmin(fill_us, 24.0 * params.target_us);

		assert_near(followed(&params, p_avg_q30, fill_us),
			    rest + fmax(0, most - rest) * share, 1);
	}
}

/* The queue was @before_us two updates of 16 ms ago, and is @now_us: does it fall to 7.5 ms in
 * @rtt_us? @at is the next one's place in the ring.
 */
static bool falls_at(u32 at, u32 before_us, u32 now_us, u32 packet_us, u32 rtt_us)
{
	struct zrtt_ctl ctl = { .aim_us = 7500, .at = at };

	/* the ring's last two are before the place of the next one */
	ctl.recent_us[(at + 3) % ZRTT_STANDING_TICKS] = before_us;
	ctl.recent_us[(at + 4) % ZRTT_STANDING_TICKS] = (before_us + now_us) / 2;
	zrtt_ctl_foresee(&ctl, now_us, 16000, packet_us, rtt_us);
	return ctl.falls;
}

static bool falls(u32 before_us, u32 now_us, u32 packet_us, u32 rtt_us)
{
	bool first = falls_at(0, before_us, now_us, packet_us, rtt_us);
	u32 at;

	for (at = 1; at < ZRTT_STANDING_TICKS; at++)
		assert_int_equal(falls_at(at, before_us, now_us, packet_us, rtt_us), first);
	return first;
}

static void queue_that_falls_is_foreseen(void **state)
{
	(void)state;
	assert_true(falls(80000, 56000, 40, 65000));
	assert_false(falls(80000, 56000, 40, 64000));
	assert_false(falls(80000, 60000, 40, 65000));
	assert_false(falls(80000, 80000, 40, 1000000));
	assert_false(falls(56000, 80000, 40, 1000000));
	/* until RTT_avg is known it is 100 ms */
	assert_true(falls(80000, 64000, 40, 0) == falls(80000, 64000, 40, 100000));
	assert_true(falls(80000, 60000, 40, 0));
	/* a packet more or less is no trend */
	assert_true(falls(80000, 56000, 7999, 100000));
	assert_false(falls(80000, 56000, 8000, 100000));
	/* the next update is later: the same fall is slower */
	assert_false(falls(24000, 12000, 40, 5000));
	assert_true(falls(24000, 12000, 40, 12100));
}

static void packet_takes_its_part_of_the_sojourn(void **state)
{
	(void)state;
	assert_int_equal(zrtt_ctl_packet_us(20000, 8), 2500);
	assert_int_equal(zrtt_ctl_packet_us(20000, 1), 20000);
	assert_int_equal(zrtt_ctl_packet_us(20000, 0), 0);
}

/* The law in floats: what p' becomes. */
static double pi2_model(const struct zrtt_ctl_params *params, const struct zrtt_ctl *ctl,
			u32 sojourn_us, u32 elapsed_us, double *tolerance)
{
	double level, slope, scale, root;
	struct zrtt_ctl copy = *ctl;
	u32 standing_us = zrtt_ctl_standing(&copy, sojourn_us);

	level = PI2_ALPHA_PER_S * elapsed_us / 1e6 *
		burst_error(ctl->aim_us, standing_us) / 1e6;
	slope = PI2_BETA * ((double)standing_us - ctl->sojourn_us) / 1e6;
	scale = fmin(1, (double)params->target_us / ctl->aim_us) *
		(1 - ctl->young_q16 / 65536.0);
	*tolerance = (fabs(level) + fabs(slope)) * 1e-4 + 2 * ONE_UNIT;
	root = fmin(1, fmax(0, P(ctl->root_q30) + (level + slope) * scale));
	if (8ULL * sojourn_us <= params->target_us && ctl->empty_ticks >= 1)
		root *= 7 / 8.0;
	return root;
}

static void pi2_follows_rfc_9332(void **state)
{
	u64 seed = 14;
	u32 round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		struct zrtt_ctl_params params = random_params(&seed, ZRTT_CTL_PI2);
		struct zrtt_ctl ctl = {
			.young_q16 = unit_spread(&seed, 0, ZRTT_YOUNG_MAX_Q16),
		};

		for (i = 0; i < 1000; i++) {
			/* runs of long queues, so that they stand */
			u32 least_us = i / 20 % 2 ? params.target_us / 4 : 0;
			u32 sojourn_us = unit_spread(&seed, least_us,
						     10 * params.target_us);
			/* ticks may come late: the integral is one over time */
			u32 elapsed_us = params.tupdate_us * unit_between(&seed, 1, 8);
			double want, tolerance;

			if (sojourn_us > ZRTT_SOJOURN_MAX_US)
				sojourn_us = ZRTT_SOJOURN_MAX_US;
			if (!(i % 50))
				zrtt_ctl_follow(&params, &ctl,
						unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US));
			want = pi2_model(&params, &ctl, sojourn_us, elapsed_us, &tolerance);
			zrtt_ctl_tick(&params, &ctl, sojourn_us, elapsed_us);
			assert_near(P(ctl.root_q30), want, tolerance);
			assert_near(P(ctl.p_q30), P(ctl.root_q30) * P(ctl.root_q30),
				    ONE_UNIT);
			check_range(&ctl);
		}
	}
}

/* Updates that see these sojourns in a row, all else at rest; p' relative to before. */
static double root_left(u32 ticks, u32 sojourn_us)
{
	const struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	struct zrtt_ctl ctl = {};	/* aims at what it sees stand, 0 */
	u32 i;

	zrtt_ctl_set_root(&ctl, ZRTT_P_ONE / 2);
	for (i = 0; i < ticks; i++)
		zrtt_ctl_tick(&params, &ctl, sojourn_us, params.tupdate_us);
	return P(ctl.root_q30) * 2;
}

/* The sojourn itself counts, for it is gone before the least of 5 says so. */
static void empty_queue_lets_go_after_2_updates(void **state)
{
	const struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	const u32 empty_us = params.target_us / 8;
	struct zrtt_ctl ctl = {};
	u32 ticks;

	(void)state;
	assert_near(root_left(1, empty_us), 1, 1e-6);
	for (ticks = 2; ticks < 5; ticks++)
		assert_near(root_left(ticks, empty_us), pow(7 / 8.0, ticks - 1), 1e-6);
	for (ticks = 1; ticks < 5; ticks++)
		assert_near(root_left(ticks, empty_us + 1), 1, 1e-6);
	/* one update that finds a queue, and it is two again */
	zrtt_ctl_set_root(&ctl, ZRTT_P_ONE / 2);
	for (ticks = 0; ticks < 4; ticks++)
		zrtt_ctl_tick(&params, &ctl, ticks % 2 ? empty_us + 1 : 0, params.tupdate_us);
	assert_int_equal(ctl.root_q30, ZRTT_P_ONE / 2);
}

/* Where the target followed, the loop is slower in proportion. */
static void gains_fall_as_the_aim_grows(void **state)
{
	const struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	const u32 aims_us[] = { 7500, 15000, 30000, 150000, 360000 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(aims_us); i++) {
		double scale = fmin(1, 15000.0 / aims_us[i]), want;
		struct zrtt_ctl ctl = {
			.aim_us = aims_us[i], .sojourn_us = aims_us[i] + 1000,
		};
		u32 j;

		for (j = 0; j < ZRTT_STANDING_TICKS; j++)
			ctl.recent_us[j] = aims_us[i] + 2000;
		zrtt_ctl_set_root(&ctl, ZRTT_P_ONE / 2);
		zrtt_ctl_tick(&params, &ctl, aims_us[i] + 2000, params.tupdate_us);
		want = (5 * 0.016 * 0.002 + 3 * 0.001) * scale;
		assert_near(P(ctl.root_q30) - 0.5, want, want * 1e-4 + ONE_UNIT);
	}
}

/* The mean of what young flows have, to a half at most, in 4 s of updates. */
static void young_are_heeded_slowly(void **state)
{
	const u32 parts_q16[] = { 0, 1 << 10, 1 << 14, 3 << 13, 1 << 15, 1 << 16 };
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(parts_q16); i++) {
		double want = fmin(0.5, parts_q16[i] / 65536.0);
		struct zrtt_ctl ctl = {};

		for (j = 0; j < 256; j++)
			zrtt_ctl_heed_young(&ctl, parts_q16[i]);
		assert_near(ctl.young_q16 / 65536.0, want * (1 - exp(-1)), 0.005);
		for (j = 0; j < 2560; j++)
			zrtt_ctl_heed_young(&ctl, parts_q16[i]);
		assert_near(ctl.young_q16 / 65536.0, want, 0.005);
		for (j = 0; j < 2560; j++)
			zrtt_ctl_heed_young(&ctl, 0);
		assert_near(ctl.young_q16 / 65536.0, 0, 0.005);
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
		zrtt_ctl_tick(&params, &ctl, sojourn_us, params.tupdate_us);
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
	zrtt_ctl_tick(&params, &ctl, 0, params.tupdate_us);
	assert_int_equal(ctl.p_q30, ZRTT_PBLUE_FLOOR);
	for (i = 0; i < 20 * S / US / params.tupdate_us; i++)
		zrtt_ctl_tick(&params, &ctl, 2 * params.target_us, params.tupdate_us);
	/* 10 % per 100 ms for 20 s: 1.016^1250 times the floor */
	assert_int_equal(ctl.p_q30, ZRTT_P_ONE);
}

/* The largest of all that is multiplied: neither sign wraps. */
static void extremes_do_not_overflow(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	const u32 longest = ZRTT_SOJOURN_MAX_US;
	struct zrtt_ctl ctl = {};
	u32 i;

	(void)state;
	params.target_us = TC_ZRTT_TARGET_MIN;
	params.tupdate_us = TC_ZRTT_TUPDATE_MAX;
	zrtt_ctl_derive(&params);
	zrtt_ctl_follow(&params, &ctl, 0);
	for (i = 0; i < ZRTT_STANDING_TICKS; i++)
		zrtt_ctl_tick(&params, &ctl, longest, 8 * params.tupdate_us);
	assert_int_equal(ctl.root_q30, ZRTT_P_ONE);
	params.target_us = TC_ZRTT_TARGET_MAX;
	zrtt_ctl_derive(&params);
	zrtt_ctl_follow(&params, &ctl, longest);
	assert_int_equal(ctl.aim_us, longest);
	/* P_b = 1 is not held by a queue of half the aim, nor by none at all */
	zrtt_ctl_tick(&params, &ctl, longest / 2, 8 * params.tupdate_us);
	assert_int_equal(ctl.root_q30, 0);
	zrtt_ctl_set(&ctl, ZRTT_P_ONE);
	zrtt_ctl_tick(&params, &ctl, 0, 8 * params.tupdate_us);
	assert_int_equal(ctl.root_q30, 0);
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
			u32 late = unit_between(&seed, 1, 8);
			u64 gap = (u64)unit_spread(&seed, 0, UINT32_MAX) * US;

			zrtt_ctl_follow(&params, &ctl,
					unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US));
			zrtt_ctl_tick(&params, &ctl,
				      unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US),
				      params.tupdate_us * late);
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

		u32 j;

		zrtt_ctl_set(&ctl, p);
		/* neither error nor slope: PI2 takes over what it finds */
		zrtt_ctl_follow(&params, &ctl, 0);
		ctl.sojourn_us = ctl.aim_us;
		for (j = 0; j < ZRTT_STANDING_TICKS; j++)
			ctl.recent_us[j] = ctl.aim_us;
		zrtt_ctl_tick(&params, &ctl, ctl.aim_us, params.tupdate_us);
		assert_near(P(ctl.p_q30), P(p), P(p) * 1e-3 + 1e-8);
		assert_int_equal(!ctl.root_q30, !p);
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
		zrtt_ctl_tick(params, &ctl, 0, params->tupdate_us);
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
	/* the queue was full for an hour, then it is at a quarter of the target */
	zrtt_ctl_follow(&params, &ctl, 0);
	for (i = 0; i < 3600 * 1000000ULL / params.tupdate_us; i++)
		zrtt_ctl_tick(&params, &ctl, ZRTT_SOJOURN_MAX_US, params.tupdate_us);
	assert_int_equal(ctl.p_q30, ZRTT_P_ONE);
	for (i = 0; i < 60 * 1000000ULL / params.tupdate_us; i++)
		zrtt_ctl_tick(&params, &ctl, params.target_us / 4, params.tupdate_us);
	assert_in_range(ctl.p_q30, 0, ZRTT_P_ONE / 100);
}

static void blue_ticks_at_its_own_pace(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_BLUE);

	(void)state;
	params.freeze_us = 20000;
	assert_int_equal(zrtt_ctl_period_us(&params), 20000);
	params.freeze_us = 90000;
	assert_int_equal(zrtt_ctl_period_us(&params), 90000);
	params.freeze_us = 110000;
	assert_int_equal(zrtt_ctl_period_us(&params), 100000);
	params.freeze_us = TC_ZRTT_FREEZE_MAX;
	assert_int_equal(zrtt_ctl_period_us(&params), 100000);
	params.kind = ZRTT_CTL_PI2;
	assert_int_equal(zrtt_ctl_period_us(&params), params.tupdate_us);
}

/* The first tick is on time, whatever the clock says. */
static void late_tick_counts_for_8_periods_at_most(void **state)
{
	const struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	const u64 period_ns = params.tupdate_us * US;
	u64 late_ns, most_ns = 7 * period_ns;

	(void)state;
	assert_int_equal(zrtt_ctl_late_ns(&params, 0, S), 0);
	for (late_ns = 0; late_ns < 10 * period_ns; late_ns += 12345) {
		u64 counts_ns = late_ns < most_ns ? late_ns : most_ns;

		assert_int_equal(zrtt_ctl_late_ns(&params, S, S + late_ns), counts_ns);
		assert_int_equal(zrtt_ctl_elapsed_us(&params, counts_ns),
				 (period_ns + counts_ns) / US);
	}
}

/* What the queue of @ctl is held at it has, and had before: P_b stays. */
static void rest(const struct zrtt_ctl_params *params, struct zrtt_ctl *ctl)
{
	u32 i;

	ctl->aim_us = params->target_us;
	ctl->sojourn_us = params->target_us;
	for (i = 0; i < ZRTT_STANDING_TICKS; i++)
		ctl->recent_us[i] = params->target_us;
}

/* alpha follows it: a fast one would be a second loop. */
static void average_of_the_others_is_over_1_6_s(void **state)
{
	const u32 others[] = { ZRTT_CTL_PBLUE, ZRTT_CTL_PI2 };
	const u32 tupdates_us[] = { 4000, 16000, 50000 };
	u32 i, j, ticks;

	(void)state;
	for (i = 0; i < ARRAY_LEN(others); i++)
		for (j = 0; j < ARRAY_LEN(tupdates_us); j++) {
			struct zrtt_ctl_params params = defaults(others[i]);
			struct zrtt_ctl ctl = {};

			params.tupdate_us = tupdates_us[j];
			zrtt_ctl_derive(&params);
			zrtt_ctl_set(&ctl, ZRTT_P_ONE / 2);
			rest(&params, &ctl);
			for (ticks = 1600000 / params.tupdate_us; ticks; ticks--)
				zrtt_ctl_tick(&params, &ctl, params.target_us, params.tupdate_us);
			assert_near(P(ctl.p_avg_q30), 0.5 * (1 - exp(-1)), 0.005);
		}
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
		zrtt_ctl_tick(&params, &ctl, 0, params.tupdate_us);
		want = 0.9 * want + 0.1 * 0.1;
		assert_near(P(ctl.p_avg_q30), want, want * 1e-3);
	}
}

/* The target of a link on which 2 packets take longer is these 2. */
static void two_packets_are_never_above_the_target(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	struct zrtt_ctl ctl = { .aim_us = params.target_us };
	u64 seed = 17;
	u32 i;

	(void)state;
	assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, 24000, 2), params.target_us);
	assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, 36000, 3), 22500);
	assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, 14000, 2), 14000);
	assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, 20000, 0), 0);
	/* nor above the aim that follows the number of flows */
	ctl.aim_us = 80000;
	assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, 90000, 2), 80000);
	assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, 72000, 2), 72000);
	for (i = 0; i < 100000; i++) {
		u32 sojourn_us = unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US);
		u32 backlog = unit_spread(&seed, 0, UINT32_MAX);
		double most;

		params = random_params(&seed, unit_between(&seed, 0, 2));
		ctl.aim_us = unit_spread(&seed, 0, ZRTT_SOJOURN_MAX_US);
		most = floor(fmax(params.target_us, ctl.aim_us) * backlog / 2);
		assert_int_equal(zrtt_ctl_sojourn(&params, &ctl, sojourn_us, backlog),
				 fmin(sojourn_us, most));
	}
}

/* The same where a burst is kept. */
static bool late(const struct zrtt_ctl_params *params, const struct zrtt_ctl *ctl, u64 age_ns,
		 u32 backlog_pkts)
{
	return zrtt_ctl_late(params, ctl, age_ns, backlog_pkts, ZRTT_LATE_KEEP_PKTS);
}

static void late_is_10_targets_above_the_aim_and_behind_a_burst(void **state)
{
	const u32 kinds[] = { ZRTT_CTL_BLUE, ZRTT_CTL_PBLUE, ZRTT_CTL_PI2 };
	const u32 targets_us[] = { 15000, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX };
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		struct zrtt_ctl_params params = defaults(kinds[i]);
		struct zrtt_ctl ctl = {};
		bool never = kinds[i] == ZRTT_CTL_BLUE;

		for (j = 0; j < ARRAY_LEN(targets_us); j++) {
			u64 late_ns = 10 * US * targets_us[j];

			params.target_us = targets_us[j];
			assert_false(late(&params, &ctl, late_ns, 1000));
			assert_int_equal(late(&params, &ctl, late_ns + 1, 1000),
					 !never);
			assert_int_equal(late(&params, &ctl, late_ns + 1, 33),
					 !never);
			assert_false(late(&params, &ctl, late_ns + 1, 32));
			assert_int_equal(late(&params, &ctl, UINT64_MAX, UINT32_MAX),
					 !never);
			/* what is aimed at is not late */
			ctl.aim_us = 24 * targets_us[j];
			late_ns += US * ctl.aim_us;
			assert_false(late(&params, &ctl, late_ns, 1000));
			assert_int_equal(late(&params, &ctl, late_ns + 1, 1000),
					 !never);
			ctl.aim_us = 0;
		}
	}
}

/* A link of 50 Mbit/s stands still: what waited goes by itself. One that fell to a third drops all
 * but a burst, until it is no longer known how fast it was.
 */
static void what_a_link_that_stood_still_has_queued_is_not_late(void **state)
{
	const u32 part = 138, epoch = 4 * part, third = part / 3;
	const u32 still[] = { part, part, part / 4, 1 };
	const u32 slower[] = { third, third, third, third };
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	u32 kept = zrtt_ctl_kept(&params, still, epoch);
	struct zrtt_ctl ctl = {};

	(void)state;
	assert_int_equal(ARRAY_LEN(still), ZRTT_LATE_PARTS);
	assert_int_equal(kept, part * 150000 >> 15);
	assert_false(zrtt_ctl_late(&params, &ctl, 1000 * 1000 * US, kept, kept));
	assert_true(zrtt_ctl_late(&params, &ctl, 1000 * 1000 * US, kept + 1, kept));
	assert_int_equal(zrtt_ctl_kept(&params, slower, epoch), ZRTT_LATE_KEEP_PKTS);
	assert_int_equal(zrtt_ctl_kept(&params, slower, 8 * third), third * 150000 >> 15);
	assert_int_equal(zrtt_ctl_kept(&params, slower, 8 * third + 1), ZRTT_LATE_KEEP_PKTS);
	params.target_us = 5000;
	assert_int_equal(zrtt_ctl_kept(&params, still, epoch), part * 50000 >> 15);
	params.target_us = 500;
	assert_int_equal(zrtt_ctl_kept(&params, still, epoch), ZRTT_LATE_KEEP_PKTS);
}

/* The link may have stood still in all parts but one, whichever. */
static void what_is_kept_is_by_the_best_part(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	u32 i, left, want;

	(void)state;
	for (i = 0; i < ZRTT_LATE_PARTS; i++)
		for (left = 1; left < 100; left++) {
			u32 parts[ZRTT_LATE_PARTS] = {};

			parts[i] = left;
			want = left * 150000 >> 15;
			assert_int_equal(zrtt_ctl_kept(&params, parts, 0),
					 want < ZRTT_LATE_KEEP_PKTS ? ZRTT_LATE_KEEP_PKTS : want);
			/* however fast the link is */
			parts[i] = UINT32_MAX;
			assert_int_equal(zrtt_ctl_kept(&params, parts, UINT32_MAX), UINT32_MAX);
		}
}

/* Also where the time is longer than the logarithm's range. */
static void idle_link_forgets_after_any_time(void **state)
{
	const u64 longest[] = { 20 * S, 4 * 3600 * S, 1ULL << 45, (1ULL << 45) + S, UINT64_MAX };
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	struct zrtt_ctl ctl = {};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(longest); i++) {
		zrtt_ctl_set(&ctl, ZRTT_P_ONE);
		zrtt_ctl_forget(&params, &ctl, longest[i]);
		assert_int_equal(ctl.root_q30, 0);
		assert_int_equal(ctl.p_q30, 0);
	}
}

/* p' halves in 537 ms; packets that come one by one leave gaps that are none. */
static void gaps_are_not_idle_times(void **state)
{
	struct zrtt_ctl_params params = defaults(ZRTT_CTL_PI2);
	struct zrtt_ctl ctl = {};

	(void)state;
	zrtt_ctl_set_root(&ctl, ZRTT_P_ONE / 2);
	zrtt_ctl_forget(&params, &ctl, (1 << ZRTT_IDLE_MIN_SHIFT) - 1);
	assert_int_equal(ctl.root_q30, ZRTT_P_ONE / 2);
	zrtt_ctl_forget(&params, &ctl, 1 << ZRTT_IDLE_MIN_SHIFT);
	assert_near(P(ctl.root_q30), 0.5 * exp2(-8.39 / 537), 1e-4);
	zrtt_ctl_set_root(&ctl, ZRTT_P_ONE / 2);
	zrtt_ctl_forget(&params, &ctl, 1 << 29);
	assert_near(P(ctl.root_q30), 0.25, 1e-6);
	/* BLUE has a law of its own for it */
	params.kind = ZRTT_CTL_BLUE;
	zrtt_ctl_forget(&params, &ctl, 100 * S);
	assert_near(P(ctl.root_q30), 0.25, 1e-6);
}

static void limit_follows_the_link_but_not_blues(void **state)
{
	const struct zrtt_ctl_params pi2 = { .kind = ZRTT_CTL_PI2 };
	const struct zrtt_ctl_params blue = { .kind = ZRTT_CTL_BLUE };

	(void)state;
	/* 1 Gbit/s of full-sized packets: half a second */
	assert_in_range(zrtt_ctl_limit(&pi2, 1000000, 11000), 11000 * 3, 11000 * 5);
	/* a slow or unknown link: a burst */
	assert_int_equal(zrtt_ctl_limit(&pi2, 1000000, 0), ZRTT_LIMIT_LEAST);
	assert_int_equal(zrtt_ctl_limit(&pi2, 1000000, 6), ZRTT_LIMIT_LEAST);
	assert_int_equal(zrtt_ctl_limit(&pi2, 1000000, 249), ZRTT_LIMIT_LEAST);
	assert_in_range(zrtt_ctl_limit(&pi2, 1000000, 400), 400 * 3, 400 * 5);
	/* never more than the user said */
	assert_int_equal(zrtt_ctl_limit(&pi2, 10, 0), 10);
	assert_int_equal(zrtt_ctl_limit(&pi2, 1000000, UINT32_MAX), 1000000);
	assert_int_equal(zrtt_ctl_limit(&blue, 300, 11000), 300);
	assert_int_equal(zrtt_ctl_limit(&blue, 5000, 0), 5000);
}

static void most_sent_is_remembered_and_forgotten(void **state)
{
	u32 most = 0, i;

	(void)state;
	most = zrtt_ctl_most_sent(most, 1000);
	assert_int_equal(most, 1000);
	most = zrtt_ctl_most_sent(most, 500);
	assert_in_range(most, 990, 999);
	for (i = 0; i < 256; i++)
		most = zrtt_ctl_most_sent(most, 0);
	assert_in_range(most, 100, 500);
	for (i = 0; i < 2000; i++)
		most = zrtt_ctl_most_sent(most, 0);
	assert_int_equal(most, 0);
	assert_int_equal(zrtt_ctl_most_sent(UINT32_MAX, 0) > 0, true);
	/* 34 s leave 1 / e */
	for (i = 0, most = UINT32_MAX; i < 34000 / 134.218; i++)
		most = zrtt_ctl_most_sent(most, 0);
	assert_near(most / (double)UINT32_MAX, exp(-1), 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit_follows_the_link_but_not_blues),
		cmocka_unit_test(most_sent_is_remembered_and_forgotten),
		cmocka_unit_test(blue_follows_the_papers_pseudo_code),
		cmocka_unit_test(blue_is_frozen_after_a_change),
		cmocka_unit_test(unpolled_idle_link_owes_its_decrements),
		cmocka_unit_test(blue_forgets_after_a_long_idle_time),
		cmocka_unit_test(blue_forgets_after_any_idle_time),
		cmocka_unit_test(only_blue_listens_to_events),
		cmocka_unit_test(pi2_gains_are_twice_those_of_rfc_9332),
		cmocka_unit_test(queue_stands_that_5_updates_saw),
		cmocka_unit_test(standing_time_is_80_ms),
		cmocka_unit_test(burst_counts_as_twice_the_aim),
		cmocka_unit_test(error_grows_with_the_queue),
		cmocka_unit_test(target_follows_the_number_of_flows),
		cmocka_unit_test(target_follows_under_any_parameters),
		cmocka_unit_test(pi2_follows_rfc_9332),
		cmocka_unit_test(young_are_heeded_slowly),
		cmocka_unit_test(empty_queue_lets_go_after_2_updates),
		cmocka_unit_test(gains_fall_as_the_aim_grows),
		cmocka_unit_test(extremes_do_not_overflow),
		cmocka_unit_test(pblue_moves_in_proportion),
		cmocka_unit_test(pblue_starts_from_nothing),
		cmocka_unit_test(probability_stays_one_whatever_happens),
		cmocka_unit_test(change_of_controller_carries_the_probability_over),
		cmocka_unit_test(probability_recovers_once_the_load_is_gone),
		cmocka_unit_test(busy_queue_recovers_too),
		cmocka_unit_test(blue_ticks_at_its_own_pace),
		cmocka_unit_test(late_tick_counts_for_8_periods_at_most),
		cmocka_unit_test(average_of_the_others_is_over_1_6_s),
		cmocka_unit_test(average_follows_with_the_papers_weight),
		cmocka_unit_test(two_packets_are_never_above_the_target),
		cmocka_unit_test(queue_that_falls_is_foreseen),
		cmocka_unit_test(packet_takes_its_part_of_the_sojourn),
		cmocka_unit_test(late_is_10_targets_above_the_aim_and_behind_a_burst),
		cmocka_unit_test(what_a_link_that_stood_still_has_queued_is_not_late),
		cmocka_unit_test(what_is_kept_is_by_the_best_part),
		cmocka_unit_test(idle_link_forgets_after_any_time),
		cmocka_unit_test(gaps_are_not_idle_times),
	};

	return cmocka_run_group_tests_name("controller", tests, NULL, NULL);
}
