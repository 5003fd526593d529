/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixed-point arithmetic of sch_zrtt: log2, exp2, probabilities, EWMA; ages by clocks that wrap.
 *
 * Q formats:
 *   Q30  probability, 1 << 30 is 1; two bits of headroom for accumulators
 *   Q16  exponents, weights and logarithms, 1 << 16 is 1
 */
#ifndef _ZRTT_FIXED_H
#define _ZRTT_FIXED_H

#include <linux/types.h>
#include <linux/math64.h>

#define ZRTT_P_SHIFT	30
#define ZRTT_P_ONE	(1U << ZRTT_P_SHIFT)
#define ZRTT_Q16	16
#define ZRTT_Q16_ONE	(1U << ZRTT_Q16)

/* Knots of both tables: 32 per octave. Linear interpolation between them is
 * within 0.00018 (log2) and 0.006 % (exp2) of the true value.
 */
#define ZRTT_KNOT_SHIFT	5
#define ZRTT_KNOT_FRAC	(ZRTT_Q16 - ZRTT_KNOT_SHIFT)

/* log2(1 + i/32), Q16 */
static const u32 zrtt_log2_knots[(1 << ZRTT_KNOT_SHIFT) + 1] = {
	0, 2909, 5732, 8473, 11136, 13727, 16248, 18704,
	21098, 23433, 25711, 27936, 30109, 32234, 34312, 36346,
	38336, 40286, 42196, 44068, 45904, 47705, 49472, 51207,
	52911, 54584, 56229, 57845, 59434, 60997, 62534, 64047,
	65536,
};

/* 2^(i/32), Q16 */
static const u32 zrtt_exp2_knots[(1 << ZRTT_KNOT_SHIFT) + 1] = {
	65536, 66971, 68438, 69936, 71468, 73032, 74632, 76266,
	77936, 79642, 81386, 83169, 84990, 86851, 88752, 90696,
	92682, 94711, 96785, 98905, 101070, 103283, 105545, 107856,
	110218, 112631, 115098, 117618, 120194, 122825, 125515, 128263,
	131072,
};

/* Value at @frac (Q16, below 1) between the knots of @table. */
static inline u32 zrtt_interpolate(const u32 *table, u32 frac)
{
	u32 i = frac >> ZRTT_KNOT_FRAC;
	u32 rest = frac & ((1U << ZRTT_KNOT_FRAC) - 1);

	return table[i] + (((table[i + 1] - table[i]) * rest) >> ZRTT_KNOT_FRAC);
}

/**
 * zrtt_log2() - binary logarithm
 * @x: any value; 0 is read as 1
 *
 * Return: log2(x), Q16, 0 .. 64.
 */
static inline s32 zrtt_log2(u64 x)
{
	u32 exponent, frac;

	if (!x)
		return 0;
	exponent = 63 ^ __builtin_clzll(x);
	frac = (u32)((x << (63 - exponent)) >> (63 - ZRTT_Q16)) &
	       (ZRTT_Q16_ONE - 1);
	return (s32)((exponent << ZRTT_Q16) +
		     zrtt_interpolate(zrtt_log2_knots, frac));
}

/**
 * zrtt_exp2() - power of two
 * @x: exponent, Q16
 *
 * Return: 2^x, Q16, saturated to U32_MAX for x >= 16; 0 below 2^-17.
 */
static inline u32 zrtt_exp2(s32 x)
{
	s32 exponent = x >> ZRTT_Q16;
	u64 mantissa = zrtt_interpolate(zrtt_exp2_knots, x & (ZRTT_Q16_ONE - 1));

	if (exponent >= 16)
		return ~0U;
	if (exponent < 0)
		return exponent < -17 ? 0 : (u32)(mantissa >> -exponent);
	mantissa <<= exponent;
	return mantissa > ~0U ? ~0U : (u32)mantissa;
}

/* x * w, w in Q16, saturated to U32_MAX. */
static inline u32 zrtt_mul_q16(u32 x, u32 w_q16)
{
	u64 product = ((u64)x * w_q16) >> ZRTT_Q16;

	return product > ~0U ? ~0U : (u32)product;
}

/* p + @delta, saturated to 0 .. 1. */
static inline u32 zrtt_p_add(u32 p_q30, s64 delta)
{
	s64 sum = (s64)p_q30 + delta;

	if (sum < 0)
		return 0;
	return sum > ZRTT_P_ONE ? ZRTT_P_ONE : (u32)sum;
}

/**
 * zrtt_ewma() - exponentially weighted moving average
 * @avg: average so far; give it fraction bits, else it sticks 1/@w away
 * @x: new sample, in the same format
 * @w_q16: weight of the sample, Q16, 0 .. 1
 */
static inline u32 zrtt_ewma(u32 avg, u32 x, u32 w_q16)
{
	return (u32)(avg + ((((s64)x - avg) * w_q16) >> ZRTT_Q16));
}

/**
 * zrtt_age_us() - how long ago something was, by a clock that wraps
 * @since_us: when it was
 * @now_us: another queue's clock, which may lag
 * @lag_us: by so much, at most: what seems to lag by more is a long age
 *
 * Return: microseconds, 0 if the clock lags
 */
static inline u32 zrtt_age_us(u32 since_us, u32 now_us, u32 lag_us)
{
	return since_us - now_us <= lag_us ? 0 : now_us - since_us;
}

#endif
