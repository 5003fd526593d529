// SPDX-License-Identifier: GPL-2.0
/* law.h: what mode zrtt adds, odds, mean weight, price, and the memory of alpha. */
#include "unit.h"
#include <zrtt/law.h>

#define W(q16)		((q16) / (double)ZRTT_Q16_ONE)
#define P_MAX		(1ULL << 45)	/* P_b = 1, weight 2^15 */
#define RATE_AVG	100000

static struct zrtt_law_params tuned_params(void)
{
	return (struct zrtt_law_params) {
		.alpha_kind = ZRTT_ALPHA_AUTO,
		.alpha_max_q16 = 2 * ZRTT_Q16_ONE,
		.pth_q30 = ZRTT_P_ONE / 25,
		.feedback = 2,
		.mark_max_q30 = ZRTT_P_ONE / 10,
		.tuned = true,
	};
}

static struct zrtt_law_params reproduction_params(void)
{
	return (struct zrtt_law_params) {
		.alpha_kind = ZRTT_ALPHA_FIXED,
		.mark_max_q30 = ZRTT_P_ONE,
	};
}

static struct zrtt_flow mature_flow(u32 passed)
{
	return (struct zrtt_flow) {
		.age = ZRTT_RATE_EPOCHS, .rate = passed, .passed = passed,
		.threshold_q30 = ZRTT_P_ONE,
	};
}

/* Share of packets of P_i @p_q30 that are not dropped. */
static double passing(const struct zrtt_law_params *params, u64 p_q30, bool ect)
{
	struct zrtt_flow f = mature_flow(RATE_AVG);
	const u32 packets = 200000;
	u32 passed = 0, i;
	u64 seed = 40;

	for (i = 0; i < packets; i++)
		passed += zrtt_verdict(params, &f, p_q30, zrtt_marks(params, p_q30), 1, ect,
				       (u32)unit_random(&seed)) != ZRTT_DROP;
	return passed / (double)packets;
}

static void share_is_what_the_odds_leave(void **state)
{
	struct zrtt_law_params params = tuned_params();
	u32 share, before = ZRTT_Q16_ONE;
	u64 p;

	(void)state;
	assert_int_equal(zrtt_pass_share(&params, 0), ZRTT_Q16_ONE);
	for (p = 1; p <= P_MAX; p += 1 + p / 5000) {
		share = zrtt_pass_share(&params, p);
		assert_in_range(share, 1, before);
		before = share;
		if (p <= params.mark_max_q30)
			assert_int_equal(share, ZRTT_Q16_ONE);
		else
			assert_near(W(share), 1 / (1 + p / (double)ZRTT_P_ONE), 2e-4);
	}
	assert_in_range(zrtt_pass_share(&params, P_MAX), 1, 2);
}

/* P_i / (1 + P_i) are dropped just above, P_i marked just below: P_i^2 apart. */
static void share_hardly_jumps_at_mark_max(void **state)
{
	struct zrtt_law_params params = tuned_params();
	double p;

	(void)state;
	for (p = 0; p <= 0.2; p += 0.01) {
		params.mark_max_q30 = (u32)(p * ZRTT_P_ONE);
		assert_near(1 - W(zrtt_pass_share(&params, params.mark_max_q30 + 1)),
			    p, p * p + 2e-4);
	}
}

static void drops_follow_the_share(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	double before = 1, got, share;
	u64 p;

	(void)state;
	assert_near(passing(&params, params.mark_max_q30, true), 1, 0);
	for (p = params.mark_max_q30 + 1; p <= P_MAX; p *= 2) {
		share = W(zrtt_pass_share(&params, p));
		got = passing(&params, p, true);
		assert_near(got, share, 0.005);
		assert_true(got <= before + 0.005);
		assert_near(passing(&params, p, false), got, 1e-9);
		before = got;
	}
}

static void no_probability_is_too_large(void **state)
{
	struct zrtt_law_params params = tuned_params();
	struct zrtt_flow f = mature_flow(RATE_AVG);
	u64 seed = 41, p;
	u32 i;

	(void)state;
	for (p = ZRTT_P_ONE; p <= 1ULL << 62; p *= 2) {
		assert_in_range(zrtt_pass_share(&params, p), 0, ZRTT_Q16_ONE / 2 + 1);
		for (i = 0; i < 1000; i++) {
			assert_int_not_equal(zrtt_verdict(&params, &f, p, false, 65535, true,
							  (u32)unit_random(&seed)),
					     ZRTT_MARK);
			assert_in_range(f.acc_q30, 0, ZRTT_P_ONE / 2 * 3);
			assert_in_range(f.threshold_q30, ZRTT_P_ONE / 2,
					ZRTT_P_ONE / 2 * 3);
		}
	}
}

/* The papers' P_i ends at 1, where every packet is marked. */
static void reproductions_mark_at_any_probability(void **state)
{
	const struct zrtt_law_params params = reproduction_params();
	struct zrtt_flow f = mature_flow(RATE_AVG);
	u64 p;

	(void)state;
	for (p = ZRTT_P_ONE; p <= P_MAX; p *= 2) {
		assert_int_equal(zrtt_pass_share(&params, p), ZRTT_Q16_ONE);
		assert_int_equal(zrtt_verdict(&params, &f, p, true, 1, true, UINT32_MAX),
				 ZRTT_MARK);
		assert_int_equal(zrtt_verdict(&params, &f, p, true, 1, false, UINT32_MAX),
				 ZRTT_DROP);
	}
}

static void reproductions_have_no_factors_of_ours(void **state)
{
	const struct zrtt_law_params params = reproduction_params();
	struct zrtt_law law = { .log_norm = 3 << ZRTT_Q16, .log_rate = zrtt_log2(RATE_AVG) };
	struct zrtt_flow f = mature_flow(100 * RATE_AVG);

	(void)state;
	f.price_q13 = ZRTT_PRICE_MAX;
	assert_int_equal(zrtt_weight(&params, &law, &f), ZRTT_Q16_ONE);
	f.price_q13 = 0;
	zrtt_set_price(&params, &law, &f, 1);
	assert_int_equal(f.price_q13, 0);
	/* nor is a mean learnt that a change of mode would let loose */
	zrtt_weigh(&law, 4 * ZRTT_Q16_ONE, true);
	zrtt_law_tick(&params, &law, &(struct zrtt_table) {}, 0, 0, 0, 1);
	assert_int_equal(law.log_norm, 3 << ZRTT_Q16);
}

/* Flows of 1 .. 64 times a rate, by turns; the last tick's mean weight. */
static double run_normaliser(const struct zrtt_law_params *params,
			     struct zrtt_law *law, u32 p_b, u32 ticks)
{
	double sum = 0;
	u32 i, j, counted = 0;

	for (i = 0; i < ticks; i++) {
		sum = 0;
		counted = 0;
		for (j = 0; j < 7; j++) {
			const struct zrtt_flow f = mature_flow(RATE_AVG << j);
			u32 w = zrtt_weight(params, law, &f);
			u64 p = ((u64)p_b * w) >> ZRTT_Q16;

			zrtt_weigh(law, w, zrtt_marks(params, p));
			if (p > params->mark_max_q30)
				continue;
			sum += W(w);
			counted++;
		}
		zrtt_law_normalise(law);
	}
	return sum / counted;
}

static void mean_weight_becomes_1(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const struct zrtt_flow slow = mature_flow(RATE_AVG);
	const struct zrtt_flow fast = mature_flow(RATE_AVG * 4);
	struct zrtt_law law = { .log_rate = zrtt_log2(RATE_AVG) };
	double mean = run_normaliser(&params, &law, 0, 1);

	(void)state;
	assert_true(mean > 700);
	/* 1/512 per tick: 8 s leave 1/e of the logarithm */
	assert_near(log(run_normaliser(&params, &law, 0, 512)) / log(mean), exp(-1),
		    0.01);
	assert_near(run_normaliser(&params, &law, 0, 8000), 1, 0.01);
	/* who is heavier than whom is not touched */
	assert_near(zrtt_weight(&params, &law, &fast) /
		    (double)zrtt_weight(&params, &law, &slow), 16, 0.5);
	/* from below, too */
	law.log_norm = -10 * (s32)ZRTT_Q16_ONE;
	assert_near(run_normaliser(&params, &law, 0, 8000), 1, 0.01);
}

static void dropped_flows_have_no_say_in_the_mean(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	struct zrtt_law law = {};

	(void)state;
	zrtt_weigh(&law, 2 * ZRTT_Q16_ONE, zrtt_marks(&params, params.mark_max_q30));
	assert_int_equal(law.weighed, 1);
	assert_int_equal(law.weights, 2 * ZRTT_Q16_ONE);
	zrtt_weigh(&law, 2 * ZRTT_Q16_ONE, zrtt_marks(&params, params.mark_max_q30 + 1ULL));
	zrtt_weigh(&law, UINT32_MAX, zrtt_marks(&params, P_MAX));
	assert_int_equal(law.weighed, 1);
	assert_int_equal(law.weights, 2 * ZRTT_Q16_ONE);
	/* the mean of those that are marked is 1, whatever the rest weigh */
	law = (struct zrtt_law) { .log_rate = zrtt_log2(RATE_AVG) };
	assert_near(run_normaliser(&params, &law, ZRTT_P_ONE / 50, 20000), 1, 0.01);
}

static void no_packets_leave_the_mean_alone(void **state)
{
	struct zrtt_law law = { .log_norm = -12345 };
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		zrtt_law_normalise(&law);
	assert_int_equal(law.log_norm, -12345);
}

static void normaliser_is_bounded_and_slow(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const u32 weights[] = { 1U << 31, 2 };	/* the most and the least */
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(weights); i++) {
		struct zrtt_law law = {};

		for (j = 0; j < 20000; j++) {
			s32 before = law.log_norm;

			zrtt_weigh(&law, weights[i], zrtt_marks(&params, 0));
			zrtt_law_normalise(&law);
			assert_int_equal(law.weighed, 0);
			assert_int_equal(law.weights, 0);
			assert_in_range(abs(law.log_norm - before), 0,
					(15 << ZRTT_Q16) >> ZRTT_NORM_SHIFT);
		}
		assert_int_equal(law.log_norm, i ? ZRTT_WEIGHT_LOG_MAX :
				 -ZRTT_WEIGHT_LOG_MAX);
	}
}

/* Regressions of @epochs epochs, the slope of the given sign. */
static u32 run_alpha(struct zrtt_law *law, s64 cov, u32 p_avg_q30, u32 *epoch,
		     u32 epochs)
{
	const struct zrtt_law_params params = tuned_params();
	const struct zrtt_table t = { .fit_n = 2, .fit_xx = 1000, .fit_xy = cov };
	u32 i;

	for (i = 0; i < epochs; i++)
		zrtt_law_tick(&params, law, &t, 0, p_avg_q30, 0, ++*epoch);
	return law->alpha_q16;
}

static void alpha_starts_at_1(void **state)
{
	struct zrtt_law law = {};
	u32 epoch = 1000;

	(void)state;
	assert_int_equal(run_alpha(&law, 0, 0, &epoch, 1), ZRTT_Q16_ONE);
	assert_int_equal(law.fit_q16, ZRTT_Q16_ONE);
	/* and stays where no slope moves it */
	assert_int_equal(run_alpha(&law, 0, 0, &epoch, 100), ZRTT_Q16_ONE);
}

static void alpha_does_not_wind_up(void **state)
{
	struct zrtt_law law = {};
	u32 epoch = 1000;

	(void)state;
	/* long RTTs lose for 10 minutes, bound 0.4 */
	assert_near(W(run_alpha(&law, -1000, ZRTT_P_ONE / 10, &epoch, 4500)), 0.4, 1e-3);
	assert_near(W(law.fit_q16), 0.4, 0.07);
	/* long RTTs win for 2 s: alpha falls at once */
	assert_true(W(run_alpha(&law, 1000, ZRTT_P_ONE / 10, &epoch, 16)) < 0.3);
	/* nor below 0 */
	assert_int_equal(run_alpha(&law, 1000, 0, &epoch, 4500), 0);
	assert_int_equal(law.fit_q16, 0);
	assert_true(run_alpha(&law, -1000, 0, &epoch, ZRTT_FIT_EPOCHS) > 0);
}

static void alpha_outlives_a_short_time_of_high_probability(void **state)
{
	struct zrtt_law law = { .fit_q16 = 3 * ZRTT_Q16_ONE / 2, .fit_epoch = 1000 };
	u32 epoch = 1000;

	(void)state;
	assert_near(W(run_alpha(&law, -1000, ZRTT_P_ONE / 10, &epoch, 4)), 0.4, 1e-3);
	assert_true(W(run_alpha(&law, 0, 0, &epoch, 1)) > 1.2);
}

#define PRICE(octaves)	((octaves) * (1 << ZRTT_PRICE_FRAC))

/* Price after @epochs epochs, from @price_q13; @usual_q13 is the usual one's end. */
static u32 price(u32 price_q13, u32 passed, u32 epochs, s32 *usual_q13)
{
	const struct zrtt_law_params params = tuned_params();
	struct zrtt_law law = { .log_rate = zrtt_log2(RATE_AVG) };
	struct zrtt_flow f = mature_flow(passed);
	u32 i;

	f.price_q13 = price_q13;
	for (i = 0; i < epochs; i++) {
		zrtt_set_price(&params, &law, &f, 1);
		assert_in_range(f.price_q13, 0, ZRTT_PRICE_MAX);
	}
	if (usual_q13)
		*usual_q13 = law.usual_q13;
	return f.price_q13;
}

static void price_is_the_integral_of_what_is_above_r_avg(void **state)
{
	u32 i;

	(void)state;
	/* 1/16 of it per epoch; at most an octave counts */
	assert_near(price(0, RATE_AVG * 2, 16, NULL), PRICE(1), 50);
	assert_near(price(0, RATE_AVG * 100, 16, NULL), PRICE(1), 50);
	assert_near(price(0, RATE_AVG * 5 / 4, 160, NULL), PRICE(10 * log2(1.25)), 400);
	assert_near(price(0, RATE_AVG * 21 / 20, 160, NULL), PRICE(10 * log2(1.05)), 400);
	assert_int_equal(price(0, RATE_AVG, 1000, NULL), 0);
	assert_int_equal(price(0, RATE_AVG / 2, 1000, NULL), 0);
	for (i = 1; i < 20; i++)
		assert_true(price(0, RATE_AVG * i, 50, NULL) <=
			    price(0, RATE_AVG * (i + 1), 50, NULL));
}

static void price_falls_as_it_rises(void **state)
{
	(void)state;
	assert_near(price(PRICE(3), RATE_AVG / 2, 16, NULL), PRICE(2), 50);
	assert_near(price(PRICE(3), RATE_AVG * 4 / 5, 16, NULL), PRICE(3 - log2(1.25)), 50);
	assert_near(price(PRICE(3), RATE_AVG, 32, NULL), PRICE(3), 50);
	assert_int_equal(price(PRICE(6), 0, 200, NULL), 0);
}

static void price_is_bounded_and_a_factor(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const struct zrtt_law law = { .log_rate = zrtt_log2(RATE_AVG) };
	struct zrtt_flow f = mature_flow(RATE_AVG);
	u32 price_q13;

	(void)state;
	assert_int_equal(price(0, UINT32_MAX, 10000, NULL), ZRTT_PRICE_MAX);
	for (price_q13 = 0; price_q13 <= ZRTT_PRICE_MAX; price_q13 += 31) {
		double want = pow(2, price_q13 / (double)PRICE(1));

		f.price_q13 = (u16)price_q13;
		assert_near(W(zrtt_weight(&params, &law, &f)), want, want * 2e-3);
	}
}

static void young_flow_pays_what_is_usual(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	struct zrtt_law law = { .log_rate = zrtt_log2(RATE_AVG), .usual_q13 = PRICE(2) };
	struct zrtt_flow f = mature_flow(RATE_AVG);
	s32 usual;

	(void)state;
	for (f.age = 0; f.age < ZRTT_MATURE_EPOCHS; f.age++) {
		zrtt_set_price(&params, &law, &f, 1);
		assert_int_equal(f.price_q13, PRICE(2));
	}
	assert_int_equal(law.usual_q13, PRICE(2));
	zrtt_set_price(&params, &law, &f, 1);
	assert_near(f.price_q13, PRICE(2), 50);
	/* usual is what the large flows pay */
	price(PRICE(4), RATE_AVG, 1000, &usual);
	assert_near(usual, PRICE(4), 200);
	price(PRICE(4), RATE_AVG / 3, 1000, &usual);
	assert_int_equal(usual, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share_is_what_the_odds_leave),
		cmocka_unit_test(share_hardly_jumps_at_mark_max),
		cmocka_unit_test(drops_follow_the_share),
		cmocka_unit_test(no_probability_is_too_large),
		cmocka_unit_test(reproductions_mark_at_any_probability),
		cmocka_unit_test(reproductions_have_no_factors_of_ours),
		cmocka_unit_test(mean_weight_becomes_1),
		cmocka_unit_test(dropped_flows_have_no_say_in_the_mean),
		cmocka_unit_test(no_packets_leave_the_mean_alone),
		cmocka_unit_test(normaliser_is_bounded_and_slow),
		cmocka_unit_test(alpha_starts_at_1),
		cmocka_unit_test(alpha_does_not_wind_up),
		cmocka_unit_test(alpha_outlives_a_short_time_of_high_probability),
		cmocka_unit_test(price_is_the_integral_of_what_is_above_r_avg),
		cmocka_unit_test(price_falls_as_it_rises),
		cmocka_unit_test(price_is_bounded_and_a_factor),
		cmocka_unit_test(young_flow_pays_what_is_usual),
	};

	return cmocka_run_group_tests_name("tuned", tests, NULL, NULL);
}
