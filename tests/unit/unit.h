/* SPDX-License-Identifier: GPL-2.0 */
/* What all unit tests share: cmocka, closeness of doubles, random numbers. */
#ifndef _UNIT_H
#define _UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/types.h>

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* cmocka's own assert_float_equal() works in single precision. */
#define assert_near(got, want, tolerance)				\
	do {								\
		double got_ = (got), want_ = (want), tol_ = (tolerance); \
									\
		if (!(fabs(got_ - want_) <= tol_))			\
			fail_msg("%s is %.9g, not %.9g +- %.3g",	\
				 #got, got_, want_, tol_);		\
	} while (0)

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers in each run. */
static inline u64 unit_random(u64 *state)
{
	u64 z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform in @low .. @high, both ends included. */
static inline u32 unit_between(u64 *state, u32 low, u32 high)
{
	return low + (u32)(unit_random(state) % ((u64)high - low + 1));
}

/* Log-uniform in @low .. @high: every order of magnitude is as likely. */
static inline u32 unit_spread(u64 *state, u32 low, u32 high)
{
	double share = (double)(unit_random(state) >> 11) / (1ULL << 53);
	double x = exp(log(low + 1.0) + share * log((high + 1.0) / (low + 1.0)));

	return x >= high + 1.0 ? high : (u32)(x - 1 < low ? low : x - 1);
}

#endif
