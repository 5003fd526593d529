/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixed-point arithmetic of the congestion controls: log2, exp2, and increments
 * of a fraction of a segment.
 *
 * Q formats:
 *   Q16  logarithms, windows and factors, 1 << 16 is 1
 *   Q32  increases of the window, 1 << 32 is one segment per round trip
 */
#ifndef _CC_FIXED_H
#define _CC_FIXED_H

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define CC_Q16		16
#define CC_Q16_ONE	0x10000U
#define CC_Q32_ONE	0x100000000ULL

#define CC_Q30		30
#define CC_Q30_ONE	0x40000000U
#define CC_LN2_Q30	744261118U	/* ln 2 */
/* The first omitted term is (ln 2)^8 / 8!, 1.3e-6. */
#define CC_EXP2_TERMS	7

#define CC_MIN_WINDOW	2U		/* segments after a loss, as New Reno's */
#define CC_MILLI	1000U		/* unit of parameters that are fractions */
#define CC_US_PER_MS	1000U
#define CC_US_PER_S	1000000U

/**
 * cc_log2() - binary logarithm
 * @x: any value; 0 is read as 1
 *
 * One bit of the result for each squaring of the mantissa, so no table.
 *
 * Return: log2(x), Q16, rounded down; 0 .. 32.
 */
static inline s32 cc_log2(u32 x)
{
	u64 mantissa;
	u32 result, bit;

	if (!x)
		return 0;
	result = 31 - __builtin_clz(x);
	mantissa = (u64)x << (31 - result);	/* Q31, 1 .. 2 */
	for (bit = 0; bit < CC_Q16; bit++) {
		u32 carry;

		mantissa = mantissa * mantissa >> 31;
		carry = mantissa >> 32;
		mantissa >>= carry;
		result = result << 1 | carry;
	}
	return (s32)result;
}

/**
 * cc_exp2() - power of two
 * @x: exponent, Q16
 *
 * Return: 2^x, Q32, saturated to U64_MAX for x >= 32; 0 below 2^-32.
 */
static inline u64 cc_exp2(s32 x)
{
	s32 exponent = x >> CC_Q16;
	u64 rest = ((u64)(x & (CC_Q16_ONE - 1)) * CC_LN2_Q30) >> CC_Q16;
	u64 mantissa = CC_Q30_ONE;
	u32 n;

	/* Taylor's series of e^rest, from its end */
	for (n = CC_EXP2_TERMS; n; n--)
		mantissa = CC_Q30_ONE + div_u64(mantissa * rest >> CC_Q30, n);

	if (exponent >= 32)
		return U64_MAX;
	if (exponent < -32)
		return 0;
	exponent += 32 - CC_Q30;
	return exponent < 0 ? mantissa >> -exponent : mantissa << exponent;
}

/**
 * cc_credit() - whole segments of an increase of the window
 * @part:	fraction of a segment left over from earlier increases, Q32
 * @acked:	segments acknowledged
 * @increase:	of the window per round trip, in segments, Q32
 *
 * For tcp_cong_avoid_ai(), which adds a segment for each window of credit: with
 * an increase of one, credit is what was acknowledged, as in Reno. @part
 * carries the rounding error over.
 *
 * Return: acked * increase, at most S32_MAX so that a sum of two fits.
 */
static inline u32 cc_credit(u32 *part, u32 acked, u64 increase)
{
	u64 rest = (u64)acked * (u32)increase + *part;
	u64 whole = acked * (increase >> 32) + (rest >> 32);

	*part = (u32)rest;
	return whole < S32_MAX ? (u32)whole : S32_MAX;
}

#endif
