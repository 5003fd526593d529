// SPDX-License-Identifier: GPL-2.0
/* shaper.h: lengths as CAKE's man page has them, times against doubles. */
#include "unit.h"
#include <zrtt/shaper.h>

#define S	1000000000ULL
#define START	(77 * S)

static struct zrtt_shaper_params link_of(u64 rate)
{
	struct zrtt_shaper_params params = { .rate = rate, .raw = true };

	zrtt_shaper_derive(&params);
	return params;
}

static void test_raw_length_is_the_kernels(void **state)
{
	struct zrtt_shaper_params params = link_of(1000);

	(void)state;
	assert_int_equal(zrtt_shaper_bytes(&params, 1514, 14, 1), 1514);
	assert_int_equal(zrtt_shaper_bytes(&params, 2 * 1514, 14, 2), 2 * 1514);
	params.mpu = 84;
	assert_int_equal(zrtt_shaper_bytes(&params, 60, 14, 1), 84);
}

static void test_overhead_replaces_the_link_header(void **state)
{
	struct zrtt_shaper_params params = link_of(1000);

	(void)state;
	params.raw = false;
	assert_int_equal(zrtt_shaper_bytes(&params, 1514, 14, 1), 1500);
	params.overhead = 18;
	assert_int_equal(zrtt_shaper_bytes(&params, 1514, 14, 1), 1518);
	assert_int_equal(zrtt_shaper_bytes(&params, 10 * 1514, 14, 10), 10 * 1518);
	params.overhead = -4;
	assert_int_equal(zrtt_shaper_bytes(&params, 1514, 14, 1), 1496);
	params.mpu = 64;
	assert_int_equal(zrtt_shaper_bytes(&params, 60, 14, 1), 64);
	/* less than nothing is nothing */
	params.mpu = 0;
	params.overhead = -64;
	assert_int_equal(zrtt_shaper_bytes(&params, 60, 14, 1), 0);
	assert_int_equal(zrtt_shaper_bytes(&params, 10, 14, 1), 0);
}

static void test_framing(void **state)
{
	struct zrtt_shaper_params params = link_of(1000);
	const u32 atm[][2] = { { 1, 53 }, { 48, 53 }, { 49, 106 }, { 1500, 1696 } };
	const u32 ptm[][2] = { { 1, 2 }, { 64, 65 }, { 65, 67 }, { 1500, 1524 } };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(atm); i++) {
		params.atm = ZRTT_ATM_ATM;
		assert_int_equal(zrtt_shaper_bytes(&params, atm[i][0], 0, 1), atm[i][1]);
		params.atm = ZRTT_ATM_PTM;
		assert_int_equal(zrtt_shaper_bytes(&params, ptm[i][0], 0, 1), ptm[i][1]);
	}
	/* on top of overhead and mpu */
	params.atm = ZRTT_ATM_ATM;
	params.raw = false;
	params.overhead = 40;
	params.mpu = 96;
	assert_int_equal(zrtt_shaper_bytes(&params, 22, 14, 1), 106);
	assert_int_equal(zrtt_shaper_bytes(&params, 71, 14, 1), 159);
}

/* Whatever a packet claims, nothing wraps. */
static void test_absurd_lengths_are_bounded(void **state)
{
	struct zrtt_shaper_params params = link_of(1000);
	u64 seed = 3;
	u32 i;

	(void)state;
	params.atm = ZRTT_ATM_ATM;
	params.overhead = 256;
	for (i = 0; i < 100000; i++) {
		u32 len = unit_spread(&seed, 0, 1U << 26), segs = unit_spread(&seed, 1, 65535);
		u32 bytes = zrtt_shaper_bytes(&params, len, unit_between(&seed, 0, 64), segs);
		double want = (double)len * 53 / 48 + 256 * 53.0 / 48 * segs;

		assert_true(bytes <= ZRTT_SHAPER_BYTES_MAX);
		assert_true(bytes >= fmin(want, ZRTT_SHAPER_BYTES_MAX) - 1);
		assert_true(bytes <= want + 106.0 * segs);
	}
	/* not by its overhead, either */
	params.atm = ZRTT_ATM_NONE;
	assert_int_equal(zrtt_shaper_bytes(&params, ~0U, 0, 1), ZRTT_SHAPER_BYTES_MAX);
}

/* A backlog leaves at the rate, to the nanosecond, however long. */
static void test_rate_is_kept(void **state)
{
	const u64 rates[] = { 1000, 125000, 2500000, 123456789, 1250000000, 125000000000ULL };
	u64 seed = 5;
	u32 r, i;

	(void)state;
	for (r = 0; r < ARRAY_LEN(rates); r++) {
		struct zrtt_shaper_params params = link_of(rates[r]);
		struct zrtt_shaper s = {};
		u64 now = START, sum = 0;
		double want;

		for (i = 0; i < 100000; i++) {
			u32 bytes = unit_between(&seed, 60, 1514);

			assert_true(zrtt_shaper_ready(&s, now));
			zrtt_shaper_leave(&params, &s, bytes, START, now);
			assert_false(zrtt_shaper_ready(&s, s.next_ns - 1));
			sum += bytes;
			now = s.next_ns;
		}
		want = (double)sum / rates[r] * S;
		assert_near((double)(now - START), want, 1 + want * 1.2e-4);
	}
}

static void test_idle_link_saves_nothing_up(void **state)
{
	struct zrtt_shaper_params params = link_of(1000000);
	struct zrtt_shaper s = {};

	(void)state;
	zrtt_shaper_leave(&params, &s, 1000, START, START);
	assert_int_equal(s.next_ns, START + S / 1000);
	zrtt_shaper_leave(&params, &s, 1000, START + S, START + S);
	assert_int_equal(s.next_ns, START + S + S / 1000);
}

static void test_late_timer_is_made_up_for(void **state)
{
	struct zrtt_shaper_params params = link_of(1000000);
	struct zrtt_shaper s = {};

	(void)state;
	zrtt_shaper_leave(&params, &s, 1000, START, START);
	/* 3 ms late, and the packet was there */
	zrtt_shaper_leave(&params, &s, 1000, START, START + 4 * S / 1000);
	assert_int_equal(s.next_ns, START + 2 * S / 1000);
	/* but not after a second of standing still */
	zrtt_shaper_leave(&params, &s, 1000, START, START + S);
	assert_int_equal(s.next_ns, START + S - ZRTT_SHAPER_LATE_NS + S / 1000);
}

static void test_change_of_rate_keeps_what_is_left(void **state)
{
	struct zrtt_shaper_params slow = link_of(1000), fast = link_of(1000000), none = link_of(0);
	struct zrtt_shaper s = {};

	(void)state;
	zrtt_shaper_leave(&slow, &s, 1000, START, START);
	/* 250 of 1000 bytes are sent */
	zrtt_shaper_change(&s, &slow, &fast, START + S / 4);
	assert_near((double)s.next_ns, START + S / 4 + 750e3, 2000);
	zrtt_shaper_change(&s, &fast, &slow, START + S / 4);
	assert_near((double)s.next_ns, START + S, 2e6);
	zrtt_shaper_change(&s, &slow, &none, START + S / 2);
	assert_int_equal(s.next_ns, START + S / 2);
	zrtt_shaper_change(&s, &none, &slow, START + 2 * S);
	assert_int_equal(s.next_ns, START + 2 * S);
}

/* As often as a script may change it: the rate is what it is on average. */
static void test_many_changes_add_nothing(void **state)
{
	struct zrtt_shaper_params params[] = { link_of(125000), link_of(126000) };
	struct zrtt_shaper s = {};
	u64 now = START, sum = 0;
	u32 i, at = 0;

	(void)state;
	for (i = 0; i < 100000; i++, now += 1000000) {
		if (zrtt_shaper_ready(&s, now)) {
			zrtt_shaper_leave(&params[at], &s, 1514, START, now);
			sum += 1514;
		}
		zrtt_shaper_change(&s, &params[at], &params[!at], now);
		at = !at;
	}
	assert_true((double)sum / (now - START) * S <= 126000 * 1.001);
	assert_true((double)sum / (now - START) * S >= 125000 * 0.9);
}

/* The slowest link with the largest packet, to the fastest and back. */
static void test_change_of_rate_does_not_wrap(void **state)
{
	struct zrtt_shaper_params slow = link_of(1000), fast = link_of(125000000000ULL);
	struct zrtt_shaper s = {};

	(void)state;
	zrtt_shaper_leave(&slow, &s, ZRTT_SHAPER_BYTES_MAX, START, START);
	zrtt_shaper_change(&s, &slow, &fast, START);
	assert_near((double)s.next_ns, START + 8e-12 * ZRTT_SHAPER_BYTES_MAX * S, 10);
	zrtt_shaper_change(&s, &fast, &slow, START);
	assert_near((double)s.next_ns, START + 1e-3 * ZRTT_SHAPER_BYTES_MAX * S, 2e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_length_is_the_kernels),
		cmocka_unit_test(test_overhead_replaces_the_link_header),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_absurd_lengths_are_bounded),
		cmocka_unit_test(test_rate_is_kept),
		cmocka_unit_test(test_idle_link_saves_nothing_up),
		cmocka_unit_test(test_late_timer_is_made_up_for),
		cmocka_unit_test(test_change_of_rate_keeps_what_is_left),
		cmocka_unit_test(test_many_changes_add_nothing),
		cmocka_unit_test(test_change_of_rate_does_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
