// SPDX-License-Identifier: GPL-2.0
/* law.h: what mode zrtt adds, odds, mean weight, due share and penalty. */
#include "unit.h"
#include "weight.h"
#include <zrtt/verdict.h>

#define Q16(x)		((x) / (double)ZRTT_Q16_ONE)
#define P_MAX		(1ULL << 52)	/* P_b = 1, weight 2^22 */
#define DUE		100000

static struct zrtt_law_params tuned_params(void)
{
	return (struct zrtt_law_params) {
		.alpha_kind = ZRTT_ALPHA_CAPPED,
		.alpha_max_q16 = 5 * ZRTT_Q16_ONE / 4,
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

static struct zrtt_flow mature_flow(u32 rate)
{
	return (struct zrtt_flow) {
		.age = ZRTT_RATE_EPOCHS, .rate = rate, .counts = 1,
		.threshold_q30 = ZRTT_P_ONE,
	};
}

/* Share of packets of P_i @p_q30 that are not dropped. */
static double passing(const struct zrtt_law_params *params, u64 p_q30, bool ect)
{
	struct zrtt_flow f = mature_flow(DUE);
	const u32 packets = 200000;
	u32 passed = 0, i;
	u64 seed = 40;

	for (i = 0; i < packets; i++)
		passed += zrtt_verdict(params, &f, p_q30, zrtt_marks(params, p_q30), 1, ect,
				       (u32)unit_random(&seed)) != ZRTT_DROP;
	return passed / (double)packets;
}

static void odds_are_exact_to_16_bits(void **state)
{
	u32 odds, before = 0;
	u64 p;

	(void)state;
	assert_int_equal(zrtt_drop_odds(0), 0);
	for (p = 1; p <= P_MAX; p += 1 + p / 5000) {
		double share = p / (double)ZRTT_P_ONE;

		odds = zrtt_drop_odds(p);
		assert_in_range(odds, before, ZRTT_P_ONE - 1);
		before = odds;
		assert_near(odds / (double)ZRTT_P_ONE, share / (1 + share), 2e-4);
	}
	/* one in some ten thousand passes, whatever P_i */
	assert_in_range(ZRTT_P_ONE - zrtt_drop_odds(P_MAX), ZRTT_P_ONE >> 16,
			ZRTT_P_ONE >> 14);
}

/* P_i / (1 + P_i) are dropped just above, P_i marked just below: P_i^2 apart. */
static void odds_hardly_jump_at_a_low_mark_max(void **state)
{
	double p;

	(void)state;
	for (p = 0; p <= 0.2; p += 0.01)
		assert_near(zrtt_drop_odds((u64)(p * ZRTT_P_ONE) + 1) / (double)ZRTT_P_ONE,
			    p, p * p + 2e-4);
}

static void drops_follow_the_odds(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	double before = 1, got;
	u64 p;

	(void)state;
	assert_near(passing(&params, params.mark_max_q30, true), 1, 0);
	for (p = params.mark_max_q30 + 1; p <= P_MAX; p *= 2) {
		got = passing(&params, p, true);
		assert_near(got, 1 / (1 + p / (double)ZRTT_P_ONE), 0.005);
		assert_true(got <= before + 0.005);
		assert_near(passing(&params, p, false), got, 1e-9);
		before = got;
	}
}

static void no_probability_is_too_large(void **state)
{
	struct zrtt_law_params params = tuned_params();
	struct zrtt_flow f = mature_flow(DUE);
	u64 seed = 41, p;
	u32 i;

	(void)state;
	for (p = ZRTT_P_ONE; p <= 1ULL << 62; p *= 2) {
		assert_in_range(zrtt_drop_odds(p), ZRTT_P_ONE / 2 - 1, ZRTT_P_ONE);
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
	struct zrtt_flow f = mature_flow(DUE);
	u64 p;

	(void)state;
	for (p = ZRTT_P_ONE; p <= P_MAX; p *= 2) {
		assert_int_equal(zrtt_verdict(&params, &f, p, true, 1, true, UINT32_MAX),
				 ZRTT_MARK);
		assert_int_equal(zrtt_verdict(&params, &f, p, true, 1, false, UINT32_MAX),
				 ZRTT_DROP);
	}
}

static void reproductions_have_no_factors_of_ours(void **state)
{
	const struct zrtt_law_params params = reproduction_params();
	struct zrtt_law law = { .log_norm = 3 << ZRTT_Q16, .log_due = zrtt_log2(DUE) };
	struct zrtt_flow f = mature_flow(100 * DUE);

	(void)state;
	f.penalty_q16 = ZRTT_PENALTY_MAX;
	assert_int_equal(zrtt_weight(&params, &law, &f), ZRTT_WEIGHT_ONE_PACKED);
	/* nor is a mean learnt that a change of mode would let loose */
	zrtt_count_weight(&law, 4 * ZRTT_Q16_ONE, true);
	zrtt_law_tick(&params, &law, &(struct zrtt_sums) {}, 0, 0, 0);
	assert_int_equal(law.log_norm, 3 << ZRTT_Q16);
}

#define SMALL_P		(ZRTT_P_ONE >> 17)	/* nobody's P_i is above mark_max */

/* Flows of 1 .. 64 times a rate, by turns; the last tick's mean weight. */
static double run_normaliser(const struct zrtt_law_params *params,
			     struct zrtt_law *law, u32 p_b, u32 ticks)
{
	double sum = 0;
	u32 i, j, counted = 0;

	law->p_q30 = p_b;
	for (i = 0; i < ticks; i++) {
		sum = 0;
		counted = 0;
		for (j = 0; j < 7; j++) {
			const struct zrtt_flow f = mature_flow(DUE << j);
			u32 w = zrtt_weight(params, law, &f);
			u64 p = zrtt_weight_times(p_b, w);

			zrtt_count_weight(law, p, zrtt_marks(params, p));
			if (p > params->mark_max_q30)
				continue;
			sum += weight_value(w);
			counted++;
		}
		zrtt_law_normalise(law);
	}
	return sum / counted;
}

static void mean_weight_becomes_1(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const struct zrtt_flow slow = mature_flow(DUE);
	const struct zrtt_flow fast = mature_flow(DUE * 4);
	struct zrtt_law law = { .log_due = zrtt_log2(DUE), .counted = 1 };
	double mean = run_normaliser(&params, &law, SMALL_P, 1);

	(void)state;
	assert_true(mean > 700);
	/* at once where nothing was known */
	assert_near(run_normaliser(&params, &law, SMALL_P, 1), 1, 0.01);
	/* later 1/512 per tick: 8 s leave 1/e of the logarithm */
	law = (struct zrtt_law) {
		.log_due = zrtt_log2(DUE), .counted = 1, .norm_ticks = ZRTT_NORM_TICKS,
	};
	assert_near(log(run_normaliser(&params, &law, SMALL_P, 512)) / log(mean), exp(-1),
		    0.01);
	assert_near(run_normaliser(&params, &law, SMALL_P, 8000), 1, 0.01);
	/* who is heavier than whom is not touched */
	assert_near(weight_value(zrtt_weight(&params, &law, &fast)) /
		    weight_value(zrtt_weight(&params, &law, &slow)), 16, 0.5);
	/* from below, too */
	law.log_norm = -10 * (s32)ZRTT_Q16_ONE;
	assert_near(run_normaliser(&params, &law, SMALL_P, 8000), 1, 0.01);
}

static void the_mean_is_first_one_of_all_updates(void **state)
{
	struct zrtt_law law = { .p_q30 = ZRTT_Q16_ONE };
	u32 i;

	(void)state;
	/* octaves of 4, 2, 4, 2, ... at n updates: each says a part of 1 / n */
	for (i = 0; i < ZRTT_NORM_TICKS; i++) {
		s32 before = law.log_norm, log_mean = (i % 2 ? 2 : 4) * (s32)ZRTT_Q16_ONE;

		zrtt_count_weight(&law, (u64)ZRTT_Q16_ONE << (i % 2 ? 2 : 4), true);
		zrtt_law_normalise(&law);
		assert_int_equal(law.norm_ticks, i + 1);
		assert_int_equal(law.log_norm,
				 zrtt_clamp_log(before - log_mean / (s32)(i + 1), ZRTT_NORM_LOG_MAX));
	}
	zrtt_count_weight(&law, ZRTT_Q16_ONE, true);
	zrtt_law_normalise(&law);
	assert_int_equal(law.norm_ticks, ZRTT_NORM_TICKS);
}

static void a_new_flow_is_marked_by_p_b_at_most(void **state)
{
	const struct zrtt_law_params params = tuned_params(), paper = reproduction_params();
	const struct zrtt_law law = {
		.alpha_q16 = ZRTT_Q16_ONE, .log_rtt = zrtt_log2(100000), .log_norm = ZRTT_Q16_ONE,
	};
	struct zrtt_flow f = { .rtt_us = 10000 };

	(void)state;
	assert_int_equal(zrtt_weight(&params, &law, &f), ZRTT_WEIGHT_ONE_PACKED);
	/* the reproductions weigh by the RTT from the first packet on */
	assert_near(weight_value(zrtt_weight(&paper, &law, &f)), 10, 0.1);
	/* and less than P_b is not raised */
	f.rtt_us = 1000000;
	assert_near(weight_value(zrtt_weight(&params, &law, &f)), 0.2, 0.01);
	f.rtt_us = 10000;
	f.rate = DUE;
	assert_near(weight_value(zrtt_weight(&params, &law, &f)), 20, 0.2);
}

/* Nor much less: without a rate it is one of the due share, not one that sends nothing. */
static void a_new_flow_counts_as_one_of_the_due_share(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const struct zrtt_law law = {
		.log_due = zrtt_log2(DUE), .counted = 1, .log_norm = -(s32)ZRTT_Q16_ONE,
	};
	const struct zrtt_flow new = {}, fair = mature_flow(DUE);

	(void)state;
	assert_near(weight_value(zrtt_weight(&params, &law, &new)), 0.5, 0.001);
	assert_int_equal(zrtt_weight(&params, &law, &new), zrtt_weight(&params, &law, &fair));
}

/* The packets since the last tick were weighed at its P_b. */
static void mean_is_learnt_at_ticks_of_our_mode(void **state)
{
	struct zrtt_law_params params = tuned_params();
	u32 tuned;

	(void)state;
	for (tuned = 0; tuned < 2; tuned++) {
		struct zrtt_law law = { .p_q30 = SMALL_P };

		params.tuned = tuned;
		zrtt_count_weight(&law, 4 * SMALL_P, true);
		zrtt_law_tick(&params, &law, &(struct zrtt_sums) {}, 0, 0, 0);
		assert_int_equal(law.log_norm, tuned ? -2 * (s32)ZRTT_Q16_ONE : 0);
	}
}

static void dropped_flows_have_no_say_in_the_mean(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	struct zrtt_law law = {};

	(void)state;
	zrtt_count_weight(&law, 2 * ZRTT_Q16_ONE, zrtt_marks(&params, params.mark_max_q30));
	assert_int_equal(law.weighed, 1);
	assert_int_equal(law.sum_p_q30, 2 * ZRTT_Q16_ONE);
	zrtt_count_weight(&law, 2 * ZRTT_Q16_ONE, zrtt_marks(&params, params.mark_max_q30 + 1ULL));
	zrtt_count_weight(&law, UINT32_MAX, zrtt_marks(&params, P_MAX));
	assert_int_equal(law.weighed, 1);
	assert_int_equal(law.sum_p_q30, 2 * ZRTT_Q16_ONE);
	/* the mean of those that are marked is 1, whatever the rest weigh */
	law = (struct zrtt_law) { .log_due = zrtt_log2(DUE) };
	assert_near(run_normaliser(&params, &law, ZRTT_P_ONE / 50, 20000), 1, 0.01);
}

static void no_packets_leave_the_mean_alone(void **state)
{
	struct zrtt_law law = { .log_norm = -12345 };
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		law.p_q30 = i % 2;
		zrtt_law_normalise(&law);
	}
	assert_int_equal(law.log_norm, -12345);
	/* nor do some while P_b is 0, whose weights are not known */
	law.p_q30 = 0;
	zrtt_count_weight(&law, 0, true);
	zrtt_law_normalise(&law);
	assert_int_equal(law.log_norm, -12345);
	assert_int_equal(law.weighed, 0);
	/* however many */
	for (i = 0; i < 1000; i++)
		zrtt_count_weight(&law, 0, true);
	zrtt_law_normalise(&law);
	assert_int_equal(law.log_norm, -12345);
}

static void normaliser_is_bounded_and_slow(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const u64 weights[] = { 1U << 31, 2 };	/* the mean's most and least */
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(weights); i++) {
		struct zrtt_law law = { .p_q30 = ZRTT_Q16_ONE, .norm_ticks = ZRTT_NORM_TICKS };

		for (j = 0; j < 20000; j++) {
			s32 before = law.log_norm;

			zrtt_count_weight(&law, weights[i], zrtt_marks(&params, 0));
			zrtt_law_normalise(&law);
			assert_int_equal(law.weighed, 0);
			assert_int_equal(law.sum_p_q30, 0);
			assert_in_range(abs(law.log_norm - before), 0,
					(15 << ZRTT_Q16) / ZRTT_NORM_TICKS);
		}
		assert_int_equal(law.log_norm, i ? ZRTT_NORM_LOG_MAX : -ZRTT_NORM_LOG_MAX);
	}
}

/* A tick over @n flows of these rates, all of which count. */
static void tick_over(struct zrtt_law *law, const u32 *rates, u32 n, u32 p_q30)
{
	const struct zrtt_law_params params = tuned_params();
	struct zrtt_table t = {};
	struct zrtt_sums sums;
	u32 i;

	for (i = 0; i < n; i++) {
		struct zrtt_flow f = mature_flow(rates[i]);

		zrtt_flow_count(&t, &f, zrtt_log2(f.rate), 1);
	}
	sums = zrtt_table_sums(&t);
	zrtt_law_tick(&params, law, &sums, p_q30, p_q30, 0);
}

static void due_share_is_the_geometric_mean(void **state)
{
	u32 rates[100], i, j, n;
	u64 seed = 42;

	(void)state;
	for (i = 0; i < 20000; i++) {
		u32 least = unit_spread(&seed, 2, UINT32_MAX);
		struct zrtt_law law = {};
		double sum = 0;

		n = unit_between(&seed, 1, ARRAY_LEN(rates));
		for (j = 0; j < n; j++) {
			rates[j] = unit_spread(&seed, least, UINT32_MAX);
			sum += log2(rates[j]);
		}
		tick_over(&law, rates, n, 0);
		assert_near(Q16(law.log_due), sum / n, 4e-4);
		/* cut to a whole number of bytes */
		assert_near(law.due, exp2(sum / n), exp2(sum / n) * 4e-4 + 1);
	}
}

static void due_share_stays_while_nobody_counts(void **state)
{
	const u32 rates[] = { 50000, 200000 };
	struct zrtt_law law = {}, before;

	(void)state;
	/* nor is there one before anybody did */
	tick_over(&law, NULL, 0, ZRTT_P_ONE / 10);
	assert_int_equal(law.log_due, 0);
	assert_int_equal(law.due, 0);
	tick_over(&law, rates, ARRAY_LEN(rates), ZRTT_P_ONE / 1000);
	assert_near(law.due, 100000, 40);
	before = law;
	tick_over(&law, NULL, 0, ZRTT_P_ONE / 10);
	assert_int_equal(law.log_due, before.log_due);
	assert_int_equal(law.due, before.due);
	assert_int_equal(law.gain_q16, before.gain_q16);
}

/* Nor is there a share of more than all that a busy link sends, which would mark nobody. */
static void due_share_is_no_more_than_the_link(void **state)
{
	const u32 rates[] = { 50000, 200000 };
	struct zrtt_law law = {}, before;

	(void)state;
	zrtt_law_bound(&law, 1000);
	assert_int_equal(law.log_due, 0);
	tick_over(&law, rates, ARRAY_LEN(rates), ZRTT_P_ONE / 1000);
	before = law;
	/* who counts says what the share is */
	zrtt_law_bound(&law, 1000);
	assert_memory_equal(&law, &before, sizeof(law));
	tick_over(&law, NULL, 0, ZRTT_P_ONE / 10);
	before = law;
	zrtt_law_bound(&law, 0);
	zrtt_law_bound(&law, law.due);
	zrtt_law_bound(&law, UINT64_MAX);
	assert_memory_equal(&law, &before, sizeof(law));
	zrtt_law_bound(&law, 1000);
	assert_int_equal(law.due, 1000);
	assert_int_equal(law.log_due, zrtt_log2(1000));
}

/* The share of flows that are gone is nothing that new ones are compared with. */
static void rates_say_nothing_while_nobody_counts(void **state)
{
	struct zrtt_law_params params = tuned_params();
	const struct zrtt_flow slow = mature_flow(DUE), fast = mature_flow(64 * DUE);
	struct zrtt_law law = { .due = DUE, .log_due = zrtt_log2(DUE) };
	u32 i;

	(void)state;
	assert_int_equal(zrtt_weight(&params, &law, &fast), zrtt_weight(&params, &law, &slow));
	/* but in the reproductions, with a feedback of the user's */
	params.tuned = false;
	for (i = 0; i < 2; i++) {
		assert_true(weight_value(zrtt_weight(&params, &law, &fast)) >
			    1000 * weight_value(zrtt_weight(&params, &law, &slow)));
		params.tuned = true;
		law.counted = 1;
	}
}

/* P_b for each 4096 bytes of the due share, and 1/16 or half of P_b at most, but not above 1/4. */
static void gain_is_a_third_of_the_marks_expected(void **state)
{
	u64 seed = 43;
	u32 i, capped = 0;

	(void)state;
	for (i = 0; i < 200000; i++) {
		u32 due = unit_spread(&seed, 1, UINT32_MAX);
		u32 p_q30 = unit_spread(&seed, 0, ZRTT_P_ONE);
		double p = p_q30 / (double)ZRTT_P_ONE, want = p * due / 4096;
		double most = fmin(fmax(p / 2, 1 / 16.0), 1 / 4.0);
		struct zrtt_law law = {};

		tick_over(&law, &due, 1, p_q30);
		assert_near(Q16(law.gain_q16), fmin(want, most),
			    want * 4e-4 + p / 4096 + 1 / 65536.0);
		assert_in_range(law.gain_q16, 0, (u32)(most * ZRTT_Q16_ONE));
		capped += law.gain_q16 == (u32)(most * ZRTT_Q16_ONE);
	}
	assert_in_range(capped, 20000, 180000);
}

#define OCTAVE	((s32)ZRTT_Q16_ONE)

/* Penalty after @updates updates of @epochs epochs each, at a gain of @gain_q16. */
static s32 penalty(s32 from_q16, u32 rate, u32 gain_q16, u32 updates, u32 epochs)
{
	const struct zrtt_law law = { .log_due = zrtt_log2(DUE), .gain_q16 = gain_q16 };
	struct zrtt_flow f = mature_flow(rate);

	f.penalty_q16 = from_q16;
	f.hit = 1;
	for (; updates; updates--) {
		zrtt_penalise(&law, &f, epochs);
		assert_in_range(f.penalty_q16 - ZRTT_PENALTY_MIN, 0,
				ZRTT_PENALTY_MAX - ZRTT_PENALTY_MIN);
	}
	return f.penalty_q16;
}

static void penalty_is_the_integral_of_what_is_above_the_due_share(void **state)
{
	const u32 gain = ZRTT_Q16_ONE / 16;
	u32 i;

	(void)state;
	assert_near(penalty(0, DUE * 5 / 4, gain, 160, 1), 10 * log2(1.25) * OCTAVE, 400);
	assert_near(penalty(0, DUE * 4 / 5, gain, 160, 1), -10 * log2(1.25) * OCTAVE, 400);
	assert_near(penalty(0, DUE * 21 / 20, gain, 160, 1), 10 * log2(1.05) * OCTAVE, 400);
	/* in proportion to the gain, and to the epochs between updates */
	assert_near(penalty(0, DUE * 5 / 4, gain / 8, 160, 1), 10 * log2(1.25) / 8 * OCTAVE,
		    400);
	assert_near(penalty(0, DUE * 5 / 4, gain, 20, 8), 10 * log2(1.25) * OCTAVE, 400);
	assert_int_equal(penalty(12345, DUE, gain, 1000, 1), 12345);
	assert_int_equal(penalty(12345, 7 * DUE, 0, 1000, 1), 12345);
	for (i = 1; i < 20; i++)
		assert_true(penalty(0, DUE / 10 * i, gain, 50, 1) <=
			    penalty(0, DUE / 10 * (i + 1), gain, 50, 1));
}

/* Credit for marks of a flow with @rate beside a due share of @due after @epochs, at P_b = @p_q30. */
static u32 charged(u32 due, u32 rate, u32 p_q30, u32 epochs)
{
	const struct zrtt_law law = { .due = due, .log_due = zrtt_log2(due), .p_q30 = p_q30 };
	struct zrtt_flow f = mature_flow(rate);

	zrtt_charge_excess(&law, &f, zrtt_log2(rate), epochs);
	return f.acc_q30;
}

static void far_above_a_large_due_share_a_mark_comes_soon(void **state)
{
	const u32 due = ZRTT_LARGE_DUE, much = due / 100 * 131;
	struct zrtt_law law = { .due = due, .log_due = zrtt_log2(due), .p_q30 = 1 };
	struct zrtt_flow f;
	u32 i;

	(void)state;
	assert_int_equal(charged(due, much, 1, 1), ZRTT_P_ONE / 16);
	assert_int_equal(charged(due, much, 1, 3), 3 * (ZRTT_P_ONE / 16));
	assert_int_equal(charged(due, much, 1, 1000), 15 * (ZRTT_P_ONE / 16));
	/* not without a queue, nor of a smaller share, nor nearer to it */
	assert_int_equal(charged(due, much, 0, 1), 0);
	assert_int_equal(charged(due - 1, much, 1, 1), 0);
	assert_int_equal(charged(due, due / 100 * 129, 1, 1), 0);
	/* who does not count, or is an L4S flow, has none */
	f = mature_flow(much);
	f.counts = 0;
	zrtt_charge_excess(&law, &f, zrtt_log2(much), 1);
	f.counts = 1;
	f.l4s = 1;
	zrtt_charge_excess(&law, &f, zrtt_log2(much), 1);
	assert_int_equal(f.acc_q30, 0);
	/* without packets it does not add up to a second mark */
	f.l4s = 0;
	for (i = 0; i < 100; i++)
		zrtt_charge_excess(&law, &f, zrtt_log2(much), 15);
	assert_in_range(f.acc_q30, ZRTT_P_ONE, 2 * ZRTT_P_ONE);
}

/* The rate that counts of a flow that sent @bytes in its last @epochs of @age. */
static u32 growing(u32 due, u8 age, u32 rate, u32 bytes, u32 epochs)
{
	const struct zrtt_law law = { .due = due };
	struct zrtt_flow f = mature_flow(rate);

	f.age = age;
	return (u32)lround(exp2(Q16(zrtt_log_growing(&law, &f, zrtt_log2(rate), bytes, epochs))));
}

static void what_a_young_flow_sent_last_counts_where_the_due_share_is_large(void **state)
{
	const u32 due = ZRTT_LARGE_DUE, mean = 100000, old = ZRTT_RATE_EPOCHS;

	(void)state;
	assert_near(growing(due, old - 1, mean, 4 * mean, 1), 4 * mean, mean / 1000);
	assert_near(growing(due, old - 1, mean, 12 * mean, 3), 4 * mean, mean / 1000);
	assert_near(growing(due, 1, mean, 4 * mean, 1), 4 * mean, mean / 1000);
	/* not if that is less, nor of an older flow or a smaller share */
	assert_near(growing(due, old - 1, mean, mean / 2, 1), mean, mean / 1000);
	assert_near(growing(due, old, mean, 4 * mean, 1), mean, mean / 1000);
	assert_near(growing(due - 1, old - 1, mean, 4 * mean, 1), mean, mean / 1000);
	/* nor after a silence, or where only its RTT is news */
	assert_near(growing(due, 0, mean, 4 * mean, ZRTT_LIVE_EPOCHS + 1), mean, mean / 1000);
	assert_near(growing(due, 0, mean, 4 * mean, UINT32_MAX), mean, mean / 1000);
	assert_near(growing(due, old - 1, mean, 4 * mean, 0), mean, mean / 1000);
}

/* What an epoch at twice the due share adds to the penalty of a flow with this P_i. */
static s32 penalised_at(double p, u32 gain_q16)
{
	struct zrtt_law law = { .log_due = zrtt_log2(DUE), .gain_q16 = gain_q16,
				.p_q30 = ZRTT_P_ONE >> 15 };
	struct zrtt_flow f = mature_flow(2 * DUE);

	f.hit = 1;
	f.weight = zrtt_weight_pack((s32)((log2(p) + 15) * ZRTT_Q16_ONE));
	zrtt_penalise(&law, &f, 1);
	return f.penalty_q16;
}

/* A flow of 2 DUE with @marks per epoch. */
#define P_OF(marks)	((marks) * 1514.0 / (2 * DUE))

static void penalty_follows_the_marks_that_a_flow_has_itself(void **state)
{
	const u32 gain = ZRTT_Q16_ONE / 1000;

	(void)state;
	assert_near(penalised_at(P_OF(0.1), gain), 0.1 * 1514 / 4096 * OCTAVE, 50);
	assert_near(penalised_at(P_OF(0.001), gain), gain, 2);
	assert_near(penalised_at(P_OF(1), gain), OCTAVE / 16, 50);
	assert_near(penalised_at(P_OF(15), gain), OCTAVE / 16, 50);
	/* many marks, and no answer, until half is dropped */
	assert_near(penalised_at(P_OF(17), gain), OCTAVE / 4, 50);
	assert_near(penalised_at(0.99, gain), OCTAVE / 4, 50);
	assert_near(penalised_at(1.01, OCTAVE / 16), OCTAVE / 16, 50);
}

static void penalty_counts_an_octave_and_2_s_at_the_most(void **state)
{
	const u32 gain = ZRTT_Q16_ONE / 16;

	(void)state;
	assert_near(penalty(0, DUE * 2, gain, 16, 1), OCTAVE, 50);
	assert_near(penalty(0, DUE * 100, gain, 16, 1), OCTAVE, 0);
	assert_near(penalty(0, UINT32_MAX, gain, 16, 1), OCTAVE, 0);
	assert_near(penalty(0, DUE / 2, gain, 16, 1), -OCTAVE, 50);
	assert_near(penalty(0, 1, gain, 16, 1), -OCTAVE, 0);
	assert_int_equal(penalty(0, DUE * 2, gain, 1, UINT32_MAX),
			 penalty(0, DUE * 2, gain, 1, ZRTT_LIVE_EPOCHS));
}

static void penalty_is_bounded_both_ways_and_comes_back(void **state)
{
	const u32 gain = ZRTT_Q16_ONE / 16;

	(void)state;
	assert_int_equal(penalty(0, UINT32_MAX, gain, 10000, 1), 21 * OCTAVE);
	assert_int_equal(penalty(0, 1, gain, 10000, 1), -14 * OCTAVE);
	assert_int_equal(penalty(21 * OCTAVE, UINT32_MAX, gain, 1, 15), 21 * OCTAVE);
	assert_near(penalty(21 * OCTAVE, 1, gain, 16, 1), 20 * OCTAVE, 0);
	assert_near(penalty(-14 * OCTAVE, UINT32_MAX, gain, 16, 1), -13 * OCTAVE, 0);
}

/* A law of the largest gain. */
static struct zrtt_law quick_law(void)
{
	return (struct zrtt_law) { .log_due = zrtt_log2(DUE), .gain_q16 = ZRTT_Q16_ONE / 16 };
}

/* The penalty of @f, below its due share, falls from an octave. */
static void check_fall_to_1(const struct zrtt_law *law, struct zrtt_flow *f)
{
	u32 i;

	f->penalty_q16 = OCTAVE;
	for (i = 1; i <= 16; i++) {
		zrtt_penalise(law, f, 1);
		assert_near(f->penalty_q16, (16 - (s32)i) * OCTAVE / 16, 50);
	}
}

/* A penalty of 100 neither rises nor falls. */
static void check_stays(const struct zrtt_law *law, struct zrtt_flow *f, u32 epochs)
{
	f->penalty_q16 = 100;
	zrtt_penalise(law, f, epochs);
	assert_int_equal(f->penalty_q16, 100);
}

/* Who is not hit is not held back: there is nothing to make up for. */
static void penalty_falls_below_1_only_while_the_flow_is_hit(void **state)
{
	const struct zrtt_law law = quick_law();
	struct zrtt_flow f = mature_flow(DUE / 2);
	u32 i;

	(void)state;
	f.hit = 0;
	check_fall_to_1(&law, &f);
	for (i = 0; i < 1000; i++)
		zrtt_penalise(&law, &f, 15);
	assert_int_equal(f.penalty_q16, 0);
	/* what it has it keeps, and it rises as ever */
	f.penalty_q16 = -3 * OCTAVE;
	zrtt_penalise(&law, &f, 15);
	assert_int_equal(f.penalty_q16, -3 * OCTAVE);
	f.rate = 2 * DUE;
	zrtt_penalise(&law, &f, 8);
	assert_near(f.penalty_q16, -5 * OCTAVE / 2, 50);
}

static void penalty_is_a_factor(void **state)
{
	const struct zrtt_law_params params = tuned_params();
	const struct zrtt_law law = { .log_due = zrtt_log2(DUE) };
	struct zrtt_flow f = mature_flow(DUE);
	s32 q16;

	(void)state;
	for (q16 = ZRTT_PENALTY_MIN; q16 <= ZRTT_PENALTY_MAX; q16 += 997) {
		double want = exp2(Q16(q16));

		f.penalty_q16 = q16;
		assert_near(weight_value(zrtt_weight(&params, &law, &f)), want, want * 2e-3);
	}
}

static void only_flows_that_count_are_penalised(void **state)
{
	struct zrtt_law law = quick_law();
	struct zrtt_flow f = mature_flow(4 * DUE);

	(void)state;
	f.counts = 0;
	check_stays(&law, &f, 1);
	/* nor while there is no due share */
	f.counts = 1;
	law.log_due = 0;
	check_stays(&law, &f, 1);
	law.log_due = zrtt_log2(DUE);
	zrtt_penalise(&law, &f, 1);
	assert_int_equal(f.penalty_q16, 100 + OCTAVE / 16);
}

/* What its bucket let pass says too little of its rate, and P_i may have to be above 1. */
static void penalty_rises_by_a_quarter_where_the_bucket_dropped(void **state)
{
	struct zrtt_law law = quick_law();
	struct zrtt_flow f = mature_flow(DUE);

	(void)state;
	law.p_q30 = ZRTT_P_ONE;
	f.penalty_q16 = 4 * OCTAVE;
	f.policed = 1;
	zrtt_penalise(&law, &f, 2);
	assert_int_equal(f.penalty_q16, 9 * OCTAVE / 2);
	/* once, until it drops again */
	zrtt_penalise(&law, &f, 2);
	assert_near(f.penalty_q16, 9 * OCTAVE / 2, 50);
	/* who does not count yet keeps it until he does */
	f.policed = 1;
	f.counts = 0;
	zrtt_penalise(&law, &f, 1);
	assert_near(f.penalty_q16, 9 * OCTAVE / 2, 50);
	f.counts = 1;
	zrtt_penalise(&law, &f, 1);
	assert_near(f.penalty_q16, 19 * OCTAVE / 4, 50);
	f.penalty_q16 = ZRTT_PENALTY_MAX;
	f.policed = 1;
	zrtt_penalise(&law, &f, 1);
	assert_int_equal(f.penalty_q16, ZRTT_PENALTY_MAX);
}

/* The last step down ends there, however large it is, and who does not count has no credit. */
static void penalty_of_1_stays_1(void **state)
{
	const struct zrtt_law law = quick_law();
	struct zrtt_flow f = mature_flow(DUE / 2);

	(void)state;
	f.hit = 0;
	f.penalty_q16 = 1;
	zrtt_penalise(&law, &f, 15);
	assert_int_equal(f.penalty_q16, 0);
	f.hit = 1;
	f.counts = 0;
	zrtt_penalise(&law, &f, 15);
	assert_int_equal(f.penalty_q16, 0);
	f.penalty_q16 = -OCTAVE;
	zrtt_penalise(&law, &f, 15);
	assert_int_equal(f.penalty_q16, -OCTAVE);
}

/* Who is below its due share and no longer counts, as it is not held back, gets rid of it. */
static void penalty_falls_to_1_though_the_flow_does_not_count(void **state)
{
	const struct zrtt_law law = quick_law();
	struct zrtt_flow f = mature_flow(DUE / 8);

	(void)state;
	f.hit = 0;
	f.counts = 0;
	check_fall_to_1(&law, &f);
	zrtt_penalise(&law, &f, 15);
	assert_int_equal(f.penalty_q16, 0);
	/* not without a rate, and not in the low-latency lane */
	f.l4s = 1;
	check_stays(&law, &f, 15);
	f.l4s = 0;
	f.rate = 0;
	check_stays(&law, &f, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odds_are_exact_to_16_bits),
		cmocka_unit_test(odds_hardly_jump_at_a_low_mark_max),
		cmocka_unit_test(drops_follow_the_odds),
		cmocka_unit_test(no_probability_is_too_large),
		cmocka_unit_test(reproductions_mark_at_any_probability),
		cmocka_unit_test(reproductions_have_no_factors_of_ours),
		cmocka_unit_test(mean_weight_becomes_1),
		cmocka_unit_test(the_mean_is_first_one_of_all_updates),
		cmocka_unit_test(a_new_flow_is_marked_by_p_b_at_most),
		cmocka_unit_test(a_new_flow_counts_as_one_of_the_due_share),
		cmocka_unit_test(mean_is_learnt_at_ticks_of_our_mode),
		cmocka_unit_test(dropped_flows_have_no_say_in_the_mean),
		cmocka_unit_test(no_packets_leave_the_mean_alone),
		cmocka_unit_test(normaliser_is_bounded_and_slow),
		cmocka_unit_test(due_share_is_the_geometric_mean),
		cmocka_unit_test(due_share_stays_while_nobody_counts),
		cmocka_unit_test(due_share_is_no_more_than_the_link),
		cmocka_unit_test(rates_say_nothing_while_nobody_counts),
		cmocka_unit_test(gain_is_a_third_of_the_marks_expected),
		cmocka_unit_test(penalty_is_the_integral_of_what_is_above_the_due_share),
		cmocka_unit_test(far_above_a_large_due_share_a_mark_comes_soon),
		cmocka_unit_test(what_a_young_flow_sent_last_counts_where_the_due_share_is_large),
		cmocka_unit_test(penalty_follows_the_marks_that_a_flow_has_itself),
		cmocka_unit_test(penalty_counts_an_octave_and_2_s_at_the_most),
		cmocka_unit_test(penalty_is_bounded_both_ways_and_comes_back),
		cmocka_unit_test(penalty_falls_below_1_only_while_the_flow_is_hit),
		cmocka_unit_test(penalty_is_a_factor),
		cmocka_unit_test(only_flows_that_count_are_penalised),
		cmocka_unit_test(penalty_rises_by_a_quarter_where_the_bucket_dropped),
		cmocka_unit_test(penalty_of_1_stays_1),
		cmocka_unit_test(penalty_falls_to_1_though_the_flow_does_not_count),
	};

	return cmocka_run_group_tests_name("tuned", tests, NULL, NULL);
}
