// SPDX-License-Identifier: GPL-2.0
/* law.h and verdict.h against the printed equations, in floats. */
#include "unit.h"
#include "weight.h"
#include <zrtt/hint.h>
#include <zrtt/verdict.h>

#define P(q30)		((q30) / (double)ZRTT_P_ONE)
#define Q16(x)		((x) / (double)ZRTT_Q16_ONE)
#define Q30(p)		((u32)((p) * ZRTT_P_ONE))
#define LIVE		100	/* flows of the tables made here */

/* A law that has just ticked over flows with these averages. */
static struct zrtt_law law_of(const struct zrtt_law_params *params, u32 rtt_avg_us,
			      u32 due, u32 p_q30, u32 p_avg_q30, u32 queue_us)
{
	const struct zrtt_sums sums = {
		.with_rtt = LIVE, .counted = LIVE,
		.sum_log_rate = LIVE * (s64)zrtt_log2(due),
		.sum_rtt_us = (u64)LIVE * rtt_avg_us,
	};
	struct zrtt_law law = {};

	zrtt_law_tick(params, &law, &sums, p_q30, p_avg_q30, queue_us);
	return law;
}

static void alpha_is_capped(void **state)
{
	u64 seed = 20;
	u32 i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct zrtt_law_params params = {
			.alpha_kind = ZRTT_ALPHA_CAPPED,
			.alpha_max_q16 = unit_between(&seed, 0, 4 * ZRTT_Q16_ONE),
			.pth_q30 = unit_spread(&seed, ZRTT_P_ONE / 10000, ZRTT_P_ONE),
		};
		u32 p_avg = unit_spread(&seed, 0, ZRTT_P_ONE);
		struct zrtt_law law = law_of(&params, 1, 1, 0, p_avg, 0);
		double want = Q16(params.alpha_max_q16);

		if (p_avg)
			want = fmin(want, P(params.pth_q30) / P(p_avg));
		assert_near(Q16(law.alpha_q16), want, want * 1e-3 + 3e-5);
	}
}

/* "alpha = 2 while P_b_avg <= 0.02, else P_th / P_b_avg", continuous */
static void alpha_of_the_paper_is_equation_5(void **state)
{
	const struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_PAPER,
		.alpha_max_q16 = ZRTT_Q16_ONE,	/* not this law's cap */
		.pth_q30 = ZRTT_P_ONE / 20,
	};
	u64 seed = 21;
	u32 i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		u32 p_avg = unit_spread(&seed, 1, ZRTT_P_ONE);
		struct zrtt_law law = law_of(&params, 1, 1, 0, p_avg, 0);
		double want = fmin(2, 0.05 / P(p_avg));

		assert_near(Q16(law.alpha_q16), want, want * 1e-3);
		if (P(p_avg) <= 0.02)
			assert_near(Q16(law.alpha_q16), 2, 1e-9);
	}
}

static void alpha_is_fixed(void **state)
{
	struct zrtt_law_params params = { .alpha_kind = ZRTT_ALPHA_FIXED };

	(void)state;
	for (params.alpha_q16 = 0; params.alpha_q16 <= 4 * ZRTT_Q16_ONE;
	     params.alpha_q16 += 4096)
		assert_int_equal(law_of(&params, 1, 1, 0, ZRTT_P_ONE, 0).alpha_q16,
				 params.alpha_q16);
}

/* P_i = P_b (RTT_avg / RTT_i)^alpha (r_i / due)^feedback, within 1 %. */
static void check_equation(u64 *seed, u32 feedback)
{
	struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_FIXED,
		.alpha_q16 = unit_between(seed, 0, 4 * ZRTT_Q16_ONE),
		.feedback = feedback,
	};
	u32 rtt_avg_us = unit_spread(seed, 1000, ZRTT_HINT_MAX_US);
	u32 due = unit_spread(seed, 1000, 1U << 30);
	u32 p_b = unit_spread(seed, ZRTT_P_ONE / 10000, ZRTT_P_ONE);
	struct zrtt_law law = law_of(&params, rtt_avg_us, due, p_b, p_b, 0);
	const struct zrtt_flow f = {
		.rtt_us = unit_spread(seed, 32, ZRTT_HINT_MAX_US),
		.rate = unit_spread(seed, 1, UINT32_MAX),
		.source = ZRTT_RTT_HINT,
	};
	double weight = pow((double)rtt_avg_us / f.rtt_us, Q16(params.alpha_q16)) *
			pow((double)f.rate / due, feedback);
	u32 got = zrtt_weight(&params, &law, &f);

	weight = fmin(1 << 22, fmax(1 / 32768.0, weight));
	assert_near(weight_value(got), weight, weight * 0.01);
	assert_near(P(zrtt_weight_times(p_b, got)), P(p_b) * weight,
		    P(p_b) * weight * 0.01 + P(1));
}

static void probability_is_the_equation(void **state)
{
	u64 seed = 22;
	u32 i;

	(void)state;
	for (i = 0; i < 400000; i++)
		check_equation(&seed, i % 4);
}

static void mrtt_is_the_square_of_the_ratio(void **state)
{
	const struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_FIXED, .alpha_q16 = 2 * ZRTT_Q16_ONE,
	};
	struct zrtt_law law = law_of(&params, 80000, 1000, ZRTT_P_ONE / 100, 0, 0);
	u32 rtt_ms;

	(void)state;
	for (rtt_ms = 10; rtt_ms <= 640; rtt_ms *= 2) {
		struct zrtt_flow f = { .rtt_us = rtt_ms * 1000, .rate = 77 };
		double want = 80.0 / rtt_ms * 80 / rtt_ms;

		assert_near(weight_value(zrtt_weight(&params, &law, &f)), want, want * 0.01);
	}
}

static void unknown_rtt_counts_as_the_average(void **state)
{
	struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_FIXED, .alpha_q16 = 2 * ZRTT_Q16_ONE,
	};
	struct zrtt_law law = law_of(&params, 80000, 5000, ZRTT_P_ONE / 100, 0, 0);
	const struct zrtt_flow unknown = { .rate = 5000 };
	const struct zrtt_flow average = { .rate = 5000, .rtt_us = 80000 };

	(void)state;
	assert_near(weight_value(zrtt_weight(&params, &law, &unknown)), 1, 1e-3);
	params.feedback = 2;
	assert_near(weight_value(zrtt_weight(&params, &law, &unknown)),
		    weight_value(zrtt_weight(&params, &law, &average)), 1e-3);
	params.padhye = true;
	assert_near(weight_value(zrtt_weight(&params, &law, &unknown)), 1, 1e-3);
}

/* Nobody's RTT is known at the last tick: no reason to treat flows apart. */
static void unknown_average_makes_no_difference(void **state)
{
	const struct zrtt_sums sums = { .counted = 1, .sum_log_rate = zrtt_log2(5000) };
	const struct zrtt_flow f = { .rate = 5000, .rtt_us = 20000 };
	struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_FIXED, .alpha_q16 = 2 * ZRTT_Q16_ONE,
	};
	u32 padhye;

	(void)state;
	for (padhye = 0; padhye < 2; padhye++) {
		struct zrtt_law law = {};

		params.padhye = padhye;
		zrtt_law_tick(&params, &law, &sums, ZRTT_P_ONE / 50, 0, 15000);
		assert_near(weight_value(zrtt_weight(&params, &law, &f)), 1, 1e-3);
	}
}

/* It does not go with the last flow that has one: those that come next are weighed by it. */
static void average_stays_while_nobodys_rtt_is_known(void **state)
{
	const struct zrtt_law_params params = {};
	struct zrtt_law law = law_of(&params, 80000, 5000, ZRTT_P_ONE / 50, 0, 0);
	const struct zrtt_law before = law;

	(void)state;
	zrtt_law_tick(&params, &law, &(struct zrtt_sums) {}, ZRTT_P_ONE / 50, 0, 0);
	assert_int_equal(law.log_rtt, before.log_rtt);
	assert_int_equal(law.rtt_avg_us, before.rtt_avg_us);
}

/* With a feedback of the user's, before any flow was old enough to count. */
static void rates_say_nothing_before_there_is_a_due_share(void **state)
{
	const struct zrtt_law_params params = { .feedback = 2 };
	const struct zrtt_flow f = { .rate = 5000 };
	const struct zrtt_law law = {};

	(void)state;
	assert_int_equal(zrtt_weight(&params, &law, &f), ZRTT_WEIGHT_ONE_PACKED);
}

static void steady_factor_makes_p_b_its_mean(void **state)
{
	const struct zrtt_law_params params = {};
	struct zrtt_law law = law_of(&params, 1, 1, ZRTT_P_ONE / 64, ZRTT_P_ONE / 16, 0);

	(void)state;
	assert_int_equal(law.log_steady, 2 << ZRTT_Q16);
	law = law_of(&params, 1, 1, ZRTT_P_ONE / 16, ZRTT_P_ONE / 64, 0);
	assert_int_equal(law.log_steady, -(2 << ZRTT_Q16));
	/* of no use where one is 0 */
	assert_int_equal(law_of(&params, 1, 1, 0, ZRTT_P_ONE, 0).log_steady, 0);
	assert_int_equal(law_of(&params, 1, 1, ZRTT_P_ONE, 0, 0).log_steady, 0);
}

static void unconfirmed_hint_is_trusted_within_a_factor_of_4(void **state)
{
	struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_FIXED, .alpha_q16 = 2 * ZRTT_Q16_ONE,
		.clamp = true,
	};
	struct zrtt_law law = law_of(&params, 80000, 5000, ZRTT_P_ONE / 100, 0, 0);
	u64 seed = 23;
	u32 i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		struct zrtt_flow f = {
			.rtt_us = unit_spread(&seed, 32, ZRTT_HINT_MAX_US),
			.rate = 5000,
			.source = ZRTT_RTT_HINT,
		};
		double want = pow(80000.0 / f.rtt_us, 2);
		double bounded = fmin(4, fmax(0.25, want));

		assert_near(weight_value(zrtt_weight(&params, &law, &f)), bounded,
			    bounded * 0.01);
		/* the handshake confirms it: then the bound is on the hint */
		f.passive_us = f.rtt_us;
		want = fmin(1 << 22, fmax(1 / 32768.0, want));
		assert_near(weight_value(zrtt_weight(&params, &law, &f)), want, want * 0.01);
		f.passive_us = 0;
		params.padhye = true;
		assert_near(log2(weight_value(zrtt_weight(&params, &law, &f))), 0, 2);
		params.padhye = false;
	}
}

/* Whatever a wrong RTT is: with the hint policies that trust, too. A hint on top is no better. */
static void rtt_of_quic_is_trusted_within_a_factor_of_4(void **state)
{
	struct zrtt_law_params params = {
		.alpha_kind = ZRTT_ALPHA_FIXED, .alpha_q16 = 2 * ZRTT_Q16_ONE,
	};
	struct zrtt_law law = law_of(&params, 80000, 5000, ZRTT_P_ONE / 100, 0, 0);
	u64 seed = 29;
	u32 i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		struct zrtt_flow f = {
			.rtt_us = unit_spread(&seed, 1000, ZRTT_HINT_MAX_US),
			.passive_us = 50000,
			.rate = 5000,
			.source = ZRTT_RTT_QUIC,
			.syn = ZRTT_SYN_QUIC,
		};
		double want = fmin(4, fmax(0.25, pow(80000.0 / f.rtt_us, 2)));

		params.clamp = i % 2;
		assert_near(weight_value(zrtt_weight(&params, &law, &f)), want, want * 0.01);
		f.source = ZRTT_RTT_HINT;
		params.clamp = true;
		assert_near(weight_value(zrtt_weight(&params, &law, &f)), want, want * 0.01);
	}
}

/* Padhye et al. 1998 in floats, as field.md of the paper's eq. (2): s / packet */
static double padhye_time_s(double rtt_s, double p)
{
	const double b = 2;
	double rto_s = fmax(0.2, 4 * rtt_s);

	return rtt_s * sqrt(2 * b * p / 3) +
	       rto_s * fmin(1, 3 * sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p);
}

static double padhye_p(double rtt_s, double time_s)
{
	double low = 0, high = 1;
	u32 i;

	for (i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (padhye_time_s(rtt_s, middle) < time_s)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void padhye_time_is_the_equation(void **state)
{
	u64 seed = 24;
	u32 i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		u32 rtt_us = unit_spread(&seed, 1000, ZRTT_HINT_MAX_US);
		double p = P(unit_spread(&seed, ZRTT_P_ONE / 10000, ZRTT_P_ONE));
		double want = padhye_time_s(rtt_us / 1e6, p) * 1e6;

		assert_near(Q16(zrtt_padhye_time(rtt_us, (s32)(log2(p) * 65536))),
			    want, want * 0.005);
	}
}

static void padhye_time_grows_with_the_probability(void **state)
{
	const u32 rtts_us[] = { 32, 1000, 50000, 200000, 2000000, 12000000 };
	u64 before, now;
	u32 i;
	s32 log_p;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rtts_us); i++)
		for (log_p = ZRTT_PADHYE_LOG_MIN, before = 0; log_p <= 0; log_p += 64) {
			now = zrtt_padhye_time(rtts_us[i], log_p);
			assert_true(now >= before);
			before = now;
		}
}

static void prto_equalises_padhyes_throughput(void **state)
{
	const struct zrtt_law_params params = {
		.padhye = true, .alpha_kind = ZRTT_ALPHA_FIXED,
	};
	u64 seed = 25;
	u32 i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		u32 rtt_avg_us = unit_spread(&seed, 5000, 1000000);
		u32 queue_us = unit_spread(&seed, 0, 100000);
		u32 p_b = unit_spread(&seed, Q30(0.001), ZRTT_P_ONE);
		struct zrtt_law law = law_of(&params, rtt_avg_us, 5000, p_b, p_b,
					     queue_us);
		const struct zrtt_flow f = {
			.rtt_us = unit_spread(&seed, 5000, 1000000), .rate = 1,
		};
		double time_s = padhye_time_s((rtt_avg_us + queue_us) / 1e6, P(p_b));
		double want = padhye_p((f.rtt_us + queue_us) / 1e6, time_s);
		double got = P(zrtt_weight_times(p_b, zrtt_weight(&params, &law, &f)));

		if (want > 1e-4)
			assert_near(got, want, want * 0.03);
	}
}

/* Where P_b is less than what P_i is looked for from. */
static void prto_is_blue_where_hardly_anything_is_marked(void **state)
{
	const struct zrtt_law_params params = { .padhye = true };
	const struct zrtt_flow f = { .rtt_us = 10000, .rate = 1 };
	u32 p_b;

	(void)state;
	for (p_b = 0; p_b < ZRTT_P_ONE >> 24; p_b++) {
		struct zrtt_law law = law_of(&params, 100000, 5000, p_b, p_b, 0);

		assert_int_equal(zrtt_weight(&params, &law, &f), ZRTT_WEIGHT_ONE_PACKED);
	}
}

static void feedback_counts_beside_padhye_too(void **state)
{
	const struct zrtt_law_params params = { .padhye = true, .feedback = 2 };
	struct zrtt_law law = law_of(&params, 80000, 5000, ZRTT_P_ONE / 100, 0, 0);
	const struct zrtt_flow f = { .rtt_us = 80000, .rate = 10000 };

	(void)state;
	assert_near(weight_value(zrtt_weight(&params, &law, &f)), 4, 0.04);
}

/* Verdicts on a run of packets of one flow. */
struct tally {
	u32 marks;
	u32 drops;
	double gap_mean;
	double gap_variance;
};

static struct tally run_verdicts(const struct zrtt_law_params *params, u32 p_q30,
				 u32 segs, bool ect, u32 packets, u64 seed)
{
	struct zrtt_flow f = { .threshold_q30 = ZRTT_P_ONE };
	double sum = 0, sum_of_squares = 0;
	struct tally tally = {};
	u32 i, last = 0, hits;

	for (i = 1; i <= packets; i++) {
		enum zrtt_verdict v = zrtt_verdict(params, &f, p_q30,
						   zrtt_marks(params, p_q30), segs,
						   ect, (u32)unit_random(&seed));

		if (v == ZRTT_PASS)
			continue;
		tally.marks += v == ZRTT_MARK;
		tally.drops += v == ZRTT_DROP;
		sum += i - last;
		sum_of_squares += (double)(i - last) * (i - last);
		last = i;
	}
	hits = tally.marks + tally.drops;
	tally.gap_mean = sum / hits;
	tally.gap_variance = sum_of_squares / hits - tally.gap_mean * tally.gap_mean;
	return tally;
}

static void marks_come_with_their_probability(void **state)
{
	const double ps[] = { 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9 };
	struct zrtt_law_params params = { .mark_max_q30 = ZRTT_P_ONE };
	const u32 packets = 4000000;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ps); i++) {
		double deviation = sqrt(ps[i] * (1 - ps[i]) / packets);
		struct tally random, spaced;

		params.tuned = false;
		random = run_verdicts(&params, Q30(ps[i]), 1, true, packets, i);
		params.tuned = true;
		spaced = run_verdicts(&params, Q30(ps[i]), 1, true, packets, i);
		assert_near(random.marks / (double)packets, ps[i], 5 * deviation);
		assert_near(spaced.marks / (double)packets, ps[i], 0.01 * ps[i]);
		/* that is what spacing is for */
		if (ps[i] <= 0.3)
			assert_true(spaced.gap_variance < random.gap_variance / 4);
		else if (ps[i] <= 0.5)
			assert_true(spaced.gap_variance < random.gap_variance);
	}
}

static void ends_of_the_range_are_certain(void **state)
{
	struct zrtt_law_params params = { .mark_max_q30 = ZRTT_P_ONE };
	u32 tuned;

	(void)state;
	for (tuned = 0; tuned < 2; tuned++) {
		params.tuned = tuned;
		assert_int_equal(run_verdicts(&params, 0, 1, true, 100000, 1).marks, 0);
		/* a threshold may be above 1: the first packet may get away */
		assert_in_range(run_verdicts(&params, ZRTT_P_ONE, 1, true, 100000,
					     2).marks, tuned ? 90000 : 100000,
				100000);
	}
}

/* A super-packet is hit as often as one of its segments would be. */
static void every_segment_has_its_chance(void **state)
{
	struct zrtt_law_params params = { .mark_max_q30 = ZRTT_P_ONE };
	u32 tuned;

	(void)state;
	for (tuned = 0; tuned < 2; tuned++) {
		params.tuned = tuned;
		assert_near(run_verdicts(&params, Q30(0.002), 40, true, 1000000,
					 3).marks, 80000, 1500);
		/* 65535 is the most that gso_segs can hold */
		assert_in_range(run_verdicts(&params, Q30(0.002), 65535, true, 10000,
					     3).marks, tuned ? 9000 : 10000, 10000);
	}
}

static void only_ect_below_mark_max_is_marked(void **state)
{
	struct zrtt_law_params params = { .mark_max_q30 = Q30(0.1) };
	struct tally tally;
	u32 tuned;

	(void)state;
	for (tuned = 0; tuned < 2; tuned++) {
		params.tuned = tuned;
		tally = run_verdicts(&params, Q30(0.1), 1, true, 10000, 4);
		assert_true(tally.marks > 500 && !tally.drops);
		tally = run_verdicts(&params, Q30(0.1) + 1, 1, true, 10000, 4);
		assert_true(tally.drops > 500 && !tally.marks);
		tally = run_verdicts(&params, Q30(0.1), 1, false, 10000, 4);
		assert_true(tally.drops > 500 && !tally.marks);
		/* it is P_i that counts, not the chance of a super-packet */
		tally = run_verdicts(&params, Q30(0.09), 10, true, 10000, 4);
		assert_true(tally.marks > 500 && !tally.drops);
	}
}

/* Credit does not pile up while P_i is high, to be spent when it is low. */
static void past_hits_are_not_owed(void **state)
{
	const struct zrtt_law_params params = {
		.tuned = true, .mark_max_q30 = ZRTT_P_ONE,
	};
	struct zrtt_flow f = { .threshold_q30 = ZRTT_P_ONE };
	u32 hits = 0, i;
	u64 seed = 26;

	(void)state;
	for (i = 0; i < 100000; i++)
		zrtt_verdict(&params, &f, ZRTT_P_ONE, true, 1000, true,
			     (u32)unit_random(&seed));
	for (i = 0; i < 1000; i++)
		hits += zrtt_verdict(&params, &f, 0, true, 1, true,
				     (u32)unit_random(&seed)) != ZRTT_PASS;
	assert_in_range(hits, 0, 2);
}

/* The largest P_i there may be, of a packet that stands for many. */
static void largest_chance_does_not_wrap(void **state)
{
	const struct zrtt_law_params params = { .mark_max_q30 = ZRTT_P_ONE };
	struct zrtt_flow f = { .threshold_q30 = ZRTT_P_ONE };
	u32 segs;

	(void)state;
	for (segs = 1; segs <= 1U << 16; segs *= 2)
		assert_int_equal(zrtt_verdict(&params, &f, 1ULL << 52, false, segs, true,
					      UINT32_MAX), ZRTT_DROP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alpha_is_capped),
		cmocka_unit_test(alpha_of_the_paper_is_equation_5),
		cmocka_unit_test(alpha_is_fixed),
		cmocka_unit_test(probability_is_the_equation),
		cmocka_unit_test(mrtt_is_the_square_of_the_ratio),
		cmocka_unit_test(unknown_rtt_counts_as_the_average),
		cmocka_unit_test(unknown_average_makes_no_difference),
		cmocka_unit_test(average_stays_while_nobodys_rtt_is_known),
		cmocka_unit_test(rates_say_nothing_before_there_is_a_due_share),
		cmocka_unit_test(steady_factor_makes_p_b_its_mean),
		cmocka_unit_test(unconfirmed_hint_is_trusted_within_a_factor_of_4),
		cmocka_unit_test(rtt_of_quic_is_trusted_within_a_factor_of_4),
		cmocka_unit_test(padhye_time_is_the_equation),
		cmocka_unit_test(padhye_time_grows_with_the_probability),
		cmocka_unit_test(prto_equalises_padhyes_throughput),
		cmocka_unit_test(prto_is_blue_where_hardly_anything_is_marked),
		cmocka_unit_test(feedback_counts_beside_padhye_too),
		cmocka_unit_test(marks_come_with_their_probability),
		cmocka_unit_test(ends_of_the_range_are_certain),
		cmocka_unit_test(every_segment_has_its_chance),
		cmocka_unit_test(only_ect_below_mark_max_is_marked),
		cmocka_unit_test(past_hits_are_not_owed),
		cmocka_unit_test(largest_chance_does_not_wrap),
	};

	return cmocka_run_group_tests_name("law", tests, NULL, NULL);
}
