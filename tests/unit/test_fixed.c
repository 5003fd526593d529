// SPDX-License-Identifier: GPL-2.0
/* fixed.h against libm and against arithmetic in wider types. */
#include "unit.h"
#include <zrtt/fixed.h>

#define Q16		65536.0
#define STEP		(1 / Q16)	/* one unit of Q16 */

/* Chords over 1/32 of an octave miss the curve by h^2/8 f'' at most; input,
 * knot and result are each cut or rounded to Q16.
 */
#define LOG2_BOUND	(1.0 / (32 * 32 * 8 * M_LN2) + 3 * STEP)
#define EXP2_BOUND	(M_LN2 * M_LN2 / (32 * 32 * 8) + STEP)	/* relative */

static void check_log2(u64 x)
{
	/* long double holds all 64 bits */
	assert_near(zrtt_log2(x) / Q16, (double)log2l((long double)x), LOG2_BOUND);
}

static void log2_is_close_everywhere(void **state)
{
	u64 seed = 1, x;
	u32 i;

	(void)state;
	for (x = 1; x < 1 << 20; x++)
		check_log2(x);
	for (i = 0; i < 1000000; i++)
		check_log2(unit_random(&seed) >> (i % 64) | 1);
	check_log2(~0ULL);
}

static void log2_is_exact_at_powers_of_two(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(zrtt_log2(0), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(zrtt_log2(1ULL << i), i << ZRTT_Q16);
}

static void log2_is_monotone(void **state)
{
	s32 before = 0, now;
	u32 i;
	u64 x;

	(void)state;
	for (x = 1; x < 1 << 22; x++) {
		now = zrtt_log2(x);
		assert_true(now >= before);
		before = now;
	}
	/* the same mantissas at the other end, and the steps between octaves */
	for (x = 1 << 21; x < 1 << 22; x++) {
		now = zrtt_log2(x << 42);
		assert_true(x == 1 << 21 || now >= before);
		before = now;
	}
	for (i = 1; i < 64; i++)
		assert_true(zrtt_log2((1ULL << i) - 1) <= zrtt_log2(1ULL << i));
}

static void exp2_is_close_everywhere(void **state)
{
	s32 x;

	(void)state;
	for (x = -(20 << ZRTT_Q16); x < 16 << ZRTT_Q16; x++) {
		double want = exp2(x / Q16) * Q16;

		/* below 1 the result has fewer bits: one unit more */
		assert_near(zrtt_exp2(x), want, want * EXP2_BOUND + 1);
	}
}

static void exp2_is_monotone(void **state)
{
	u32 before = 0, now;
	s32 x;

	(void)state;
	for (x = -(20 << ZRTT_Q16); x < 17 << ZRTT_Q16; x++) {
		now = zrtt_exp2(x);
		assert_true(now >= before);
		before = now;
	}
}

static void exp2_saturates(void **state)
{
	s32 i;

	(void)state;
	for (i = -16; i < 16; i++)
		assert_int_equal(zrtt_exp2(i * (1 << ZRTT_Q16)),
				 i < 0 ? ZRTT_Q16_ONE >> -i : ZRTT_Q16_ONE << i);
	assert_int_equal(zrtt_exp2(16 << ZRTT_Q16), UINT32_MAX);
	assert_int_equal(zrtt_exp2(INT32_MAX), UINT32_MAX);
	assert_int_equal(zrtt_exp2(-(17 << ZRTT_Q16) - 1), 0);
	assert_int_equal(zrtt_exp2(INT32_MIN), 0);
}

static void exp2_undoes_log2(void **state)
{
	u32 x;

	(void)state;
	for (x = 1; x < 1 << 16; x++)
		assert_near(zrtt_exp2(zrtt_log2(x)) / Q16, x,
			    x * (LOG2_BOUND * M_LN2 + EXP2_BOUND) + STEP);
}

static void products_saturate(void **state)
{
	u64 seed = 2;
	u32 i;

	(void)state;
	for (i = 0; i < 1000000; i++) {
		u32 x = (u32)unit_random(&seed) >> (i % 32);
		u32 w = (u32)unit_random(&seed) >> (i / 32 % 32);
		u64 want = (u64)((unsigned __int128)x * w / ZRTT_Q16_ONE);

		assert_int_equal(zrtt_mul_q16(x, w),
				 want < UINT32_MAX ? want : UINT32_MAX);
	}
	assert_int_equal(zrtt_mul_q16(ZRTT_P_ONE, ZRTT_Q16_ONE), ZRTT_P_ONE);
}

static void sums_saturate(void **state)
{
	const s64 far[] = { 0, 1, ZRTT_P_ONE, UINT32_MAX, 1LL << 62 };
	u64 seed = 3;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(far); i++) {
		assert_int_equal(zrtt_p_add(0, -far[i]), 0);
		assert_int_equal(zrtt_p_add(ZRTT_P_ONE, far[i]), ZRTT_P_ONE);
	}
	for (i = 0; i < 1000000; i++) {
		u32 p = unit_between(&seed, 0, ZRTT_P_ONE);
		s64 delta = (s64)unit_random(&seed) >> unit_between(&seed, 2, 63);
		s64 want = p + delta;

		if (want > ZRTT_P_ONE)
			want = ZRTT_P_ONE;
		assert_int_equal(zrtt_p_add(p, delta), want < 0 ? 0 : want);
	}
}

static void ewma_is_between_average_and_sample(void **state)
{
	u64 seed = 4;
	u32 i;

	(void)state;
	for (i = 0; i < 1000000; i++) {
		u32 avg = (u32)unit_random(&seed) >> (i % 32);
		u32 x = (u32)unit_random(&seed) >> (i / 32 % 32);
		u32 w = unit_between(&seed, 0, ZRTT_Q16_ONE);
		u32 got = zrtt_ewma(avg, x, w);

		assert_near(got, avg + ((double)x - avg) * w / Q16, 1);
		assert_in_range(got, avg < x ? avg : x, avg < x ? x : avg);
		assert_int_equal(zrtt_ewma(avg, x, 0), avg);
		assert_int_equal(zrtt_ewma(avg, x, ZRTT_Q16_ONE), x);
	}
}

static void ewma_arrives(void **state)
{
	u32 w, i, up, down;

	(void)state;
	for (w = 512; w <= ZRTT_Q16_ONE; w *= 2) {
		up = 0;
		down = 2000000;
		for (i = 0; i < 20 * ZRTT_Q16_ONE / w; i++) {
			up = zrtt_ewma(up, 1000000, w);
			down = zrtt_ewma(down, 1000000, w);
		}
		/* "it sticks 1/w away" */
		assert_in_range(up, 1000000 - ZRTT_Q16_ONE / w, 1000000);
		assert_in_range(down, 1000000, 1000000 + ZRTT_Q16_ONE / w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log2_is_close_everywhere),
		cmocka_unit_test(log2_is_exact_at_powers_of_two),
		cmocka_unit_test(log2_is_monotone),
		cmocka_unit_test(exp2_is_close_everywhere),
		cmocka_unit_test(exp2_is_monotone),
		cmocka_unit_test(exp2_saturates),
		cmocka_unit_test(exp2_undoes_log2),
		cmocka_unit_test(products_saturate),
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test(ewma_is_between_average_and_sample),
		cmocka_unit_test(ewma_arrives),
	};

	return cmocka_run_group_tests_name("fixed", tests, NULL, NULL);
}
