// SPDX-License-Identifier: GPL-2.0
/* oneway.h against a simulated line with a queue at both ends, as the far end's clock shows it. */
#include "unit.h"
#include <zrtt/oneway.h>

#define TAG		0x1234567
#define PATH_US		10000	/* of each way */
#define TICK_US		1000

/* A connection, and the clock of its far end: it is @offset_us ahead, and ticks each @tick_us. */
struct far {
	struct zrtt_oneway oneway;
	u32 tag;
	u32 offset_us;
	u32 tick_us;
	s32 drift_ppm;
	u64 now_us;
	struct zrtt_excess excess;
};

static struct far new_far(void)
{
	return (struct far) { .tag = TAG, .offset_us = 123456789, .tick_us = TICK_US };
}

/* A probe leaves, and its answer comes back. Return: it says something. */
static bool answered(struct far *f, u32 there_us, u32 back_us, u32 excess_us)
{
	struct zrtt_line_answer answer = {
		.left_us = (u32)f->now_us,
		.gap_us = 2 * PATH_US + there_us + back_us,
		.excess_us = excess_us,
	};
	s64 sent_us = (s64)f->now_us + PATH_US + there_us;
	u64 far_us = (u64)(sent_us + sent_us * f->drift_ppm / 1000000) + f->offset_us;

	return zrtt_oneway_answer(&f->oneway, f->tag, (u32)(far_us / f->tick_us), &answer, &f->excess);
}

static void test_each_way_has_its_own_queue(void **state)
{
	static const u32 offsets_us[] = { 0, 5, 123456789, UINT32_MAX - 500000 };
	struct far f;
	u32 i, step;

	(void)state;
	for (i = 0; i < ARRAY_LEN(offsets_us); i++) {
		f = new_far();
		f.offset_us = offsets_us[i];
		/* the clock of the router wraps meanwhile */
		f.now_us = UINT32_MAX - 100000;
		assert_false(answered(&f, 0, 0, 0));
		for (step = 0; step < 100; step++, f.now_us += 20300) {
			u32 there_us = step * 7919 % 300000, back_us = step * 104729 % 200000;

			assert_true(answered(&f, there_us, back_us, 999));
			assert_true(f.excess.apart);
			assert_near(f.excess.there_us, there_us, 2 * TICK_US);
			assert_near(f.excess.back_us, back_us, 2 * TICK_US);
		}
	}
}

/* Who begins while there are queues learns of them when they have gone. */
static void test_least_is_learnt_late(void **state)
{
	struct far f = new_far();

	(void)state;
	assert_false(answered(&f, 50000, 80000, 0));
	f.now_us += 200000;
	assert_true(answered(&f, 60000, 80000, 0));
	assert_near(f.excess.there_us, 10000, 2 * TICK_US);
	f.now_us += 200000;
	assert_true(answered(&f, 0, 90000, 0));
	f.now_us += 200000;
	assert_true(answered(&f, 50000, 80000, 0));
	assert_near(f.excess.there_us, 50000, 2 * TICK_US);
	assert_near(f.excess.back_us, 0, 2 * TICK_US);
}

/* Ticks of 1 us, 4 ms, 10 ms and 500 ms: an answer is then taken as a whole. */
static void test_clock_with_another_tick_is_found_out(void **state)
{
	static const u32 ticks_us[] = { 1, 4000, 10000, 500000 };
	struct far f;
	u32 i, step, odd;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ticks_us); i++) {
		f = new_far();
		f.tick_us = ticks_us[i];
		for (step = 0, odd = 0; step < 50; step++, f.now_us += 50000)
			odd += answered(&f, 0, 0, 77) && f.excess.apart;
		assert_true(odd < 10);
		assert_true(answered(&f, 0, 0, 77));
		assert_false(f.excess.apart);
		assert_int_equal(f.excess.there_us, 77);
		assert_int_equal(f.excess.back_us, 77);
	}
}

/* A clock that is set, as after a guest was moved, is wrong once, whether it goes on or back. */
static void test_clock_that_is_set_stays_of_use(void **state)
{
	static const s32 by_us[] = { 3000000, -3000000 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(by_us); i++) {
		struct far f = new_far();

		assert_false(answered(&f, 0, 0, 0));
		f.now_us += 100000;
		assert_true(answered(&f, 0, 0, 0));
		f.offset_us += by_us[i];
		f.now_us += 100000;
		assert_false(answered(&f, 0, 0, 0));
		f.now_us += 100000;
		assert_true(answered(&f, 30000, 0, 0));
		assert_true(f.excess.apart);
		assert_near(f.excess.there_us, 30000, 2 * TICK_US);
		assert_near(f.excess.back_us, 0, 2 * TICK_US);
	}
}

/* Ten minutes, with a clock that is 100 ppm fast or slow, and answers at any distance. */
static void test_drift_is_no_queue(void **state)
{
	static const s32 drifts_ppm[] = { -100, 100 };
	static const u32 gaps_us[] = { 500, 3000, 8191, 16300, 100000 };
	struct far f;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(drifts_ppm) * ARRAY_LEN(gaps_us); i++) {
		f = new_far();
		f.drift_ppm = drifts_ppm[i % ARRAY_LEN(drifts_ppm)];
		answered(&f, 0, 0, 0);
		while (f.now_us < 600 * 1000000ULL) {
			f.now_us += gaps_us[i / ARRAY_LEN(drifts_ppm)];
			assert_true(answered(&f, 0, 0, 0));
			assert_true(f.excess.apart);
			assert_true(f.excess.there_us <= 2 * TICK_US);
			assert_true(f.excess.back_us <= 2 * TICK_US);
		}
	}
}

/* Who began with a queue has an excess that is too small by that, of either way. */
static void test_queue_at_the_start_is_no_path(void **state)
{
	struct zrtt_excess excess = { 5000, 7000, true };

	(void)state;
	zrtt_oneway_begun_late(&excess, 12000, 12000 + ZRTT_ONEWAY_SLACK_US);
	assert_true(excess.apart);
	zrtt_oneway_begun_late(&excess, 12000, 0);
	assert_true(excess.apart);
	assert_int_equal(excess.there_us, 5000);
	zrtt_oneway_begun_late(&excess, 12000, 112000);
	assert_false(excess.apart);
	assert_int_equal(excess.there_us, 105000);
	assert_int_equal(excess.back_us, 7000);
	/* who forgot how short the path is has more of one way than of both */
	excess.there_us = 50000;
	zrtt_oneway_begun_late(&excess, 0, 70000);
	assert_int_equal(excess.there_us, 70000);
	zrtt_oneway_begun_late(&excess, 0, 20000);
	assert_int_equal(excess.there_us, 70000);
}

static void test_place_is_kept_while_it_is_used(void **state)
{
	struct far f = new_far();

	(void)state;
	answered(&f, 0, 0, 0);
	f.now_us += ZRTT_ONEWAY_KEEP_US / 2;
	f.tag = TAG + 1;
	assert_false(answered(&f, 0, 0, 0));
	assert_int_equal(f.oneway.tag, TAG);
	f.now_us += ZRTT_ONEWAY_KEEP_US;
	assert_false(answered(&f, 0, 0, 0));
	assert_int_equal(f.oneway.tag, TAG + 1);
	f.now_us += 1000;
	assert_true(answered(&f, 0, 0, 0));
	assert_int_equal(f.excess.there_us + f.excess.back_us, 0);
}

/* Whatever the age of the last answer looks like when the clock has wrapped. */
static void test_place_of_the_silent_is_free(void **state)
{
	static const u64 ages_s[] = { 3, 36 * 60, 60 * 60, 71 * 60, 80 * 60, 110 * 60 };
	struct far f;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ages_s); i++) {
		f = new_far();
		answered(&f, 0, 0, 0);
		f.now_us += ages_s[i] * 1000000;
		f.tag = TAG + 1;
		assert_false(answered(&f, 0, 0, 0));
		assert_int_equal(f.oneway.tag, TAG + 1);
	}
}

/* Answers come to two queues in turn, and the clock of one is 10 ms behind. */
static void test_clock_that_lags_is_no_silence(void **state)
{
	struct far f = new_far();
	u32 step;

	(void)state;
	f.now_us = 1000000;
	answered(&f, 0, 0, 0);
	for (step = 0; step < 20000; step++) {
		f.now_us += step % 2 ? 10000 : -10000;
		assert_true(answered(&f, 50000, 0, 0));
		assert_near(f.excess.there_us, 50000, 2 * TICK_US);
	}
	f.now_us -= 10000;
	f.tag = TAG + 1;
	assert_false(answered(&f, 0, 0, 0));
	assert_int_equal(f.oneway.tag, TAG);
}

static void test_connections_take_20_bytes(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct zrtt_oneway), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_way_has_its_own_queue),
		cmocka_unit_test(test_least_is_learnt_late),
		cmocka_unit_test(test_clock_with_another_tick_is_found_out),
		cmocka_unit_test(test_clock_that_is_set_stays_of_use),
		cmocka_unit_test(test_drift_is_no_queue),
		cmocka_unit_test(test_queue_at_the_start_is_no_path),
		cmocka_unit_test(test_place_is_kept_while_it_is_used),
		cmocka_unit_test(test_place_of_the_silent_is_free),
		cmocka_unit_test(test_clock_that_lags_is_no_silence),
		cmocka_unit_test(test_connections_take_20_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
