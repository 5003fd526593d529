// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: fixed.h on any operands, against long doubles, which hold all 64
 * bits of them.
 */
#include <math.h>
#include <stdint.h>

#include <linux/types.h>
#include <zrtt/fixed.h>

#include "draw.h"
#include "expect.h"

#define Q16	65536.0L

/* Chords over 1/32 of an octave miss the curve by h^2/8 f'' at most; input, knot
 * and result are each cut or rounded to Q16.
 */
#define LOG2_BOUND	(1 / (32 * 32 * 8 * M_LN2) + 3 / Q16)
#define EXP2_BOUND	(M_LN2 * M_LN2 / (32 * 32 * 8) + 1 / Q16)	/* relative */

/* The most that p_add is given: 2^30 decrements of 1. */
#define DELTA_MAX	((s64)ZRTT_P_ONE << ZRTT_P_SHIFT)

static void check_log2(u64 x, u64 more)
{
	s32 log = zrtt_log2(x);

	expect(log >= 0 && log <= 64 << ZRTT_Q16, "log2 out of range");
	if (x)
		expect(fabsl(log / Q16 - log2l((long double)x)) <= LOG2_BOUND,
		       "log2 is off");
	expect(x + more < x || zrtt_log2(x + more) >= log, "log2 falls");
	if (x && x < ZRTT_Q16_ONE)
		expect(fabsl(zrtt_exp2(log) / Q16 - x) <=
		       x * (LOG2_BOUND * M_LN2 + EXP2_BOUND) + 1 / Q16,
		       "exp2 does not undo log2");
}

static void check_exp2(s32 x, u32 more)
{
	long double want = exp2l(x / Q16) * Q16;
	u32 got = zrtt_exp2(x);

	if (x >= 16 << ZRTT_Q16)
		expect(got == ~0U, "exp2 does not saturate");
	else
		expect(fabsl(got - want) <= want * EXP2_BOUND + 1, "exp2 is off");
	expect((s64)x + more > INT32_MAX || zrtt_exp2((s32)(x + more)) >= got,
	       "exp2 falls");
}

static void check_products(u32 x, u32 w_q16)
{
	long double want = floorl(x * (long double)w_q16 / Q16);

	expect(zrtt_mul_q16(x, w_q16) == fminl(want, ~0U), "wrong product");
}

static void check_sum(u32 p_q30, s64 delta)
{
	long double want = fminl(fmaxl((long double)delta + p_q30, 0), ZRTT_P_ONE);

	expect(zrtt_p_add(p_q30, delta) == want, "wrong sum");
}

static void check_ewma(u32 avg, u32 x, u32 w_q16)
{
	long double want = avg + ((long double)x - avg) * w_q16 / Q16;
	u32 got = zrtt_ewma(avg, x, w_q16);

	expect(fabsl(got - want) <= 1, "average is off");
	expect(got >= (avg < x ? avg : x) && got <= (avg < x ? x : avg),
	       "average beyond its samples");
	expect(w_q16 || got == avg, "average moves without weight");
	expect(w_q16 != ZRTT_Q16_ONE || got == x, "average ignores all the weight");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	u64 x = draw_u64(&d), y = draw_u64(&d);
	s64 delta = (s64)(y % (DELTA_MAX + 1));

	check_log2(x, y);
	check_exp2((s32)x, (u32)y);
	/* where it neither saturates nor vanishes */
	check_exp2((s32)(x % (33 << ZRTT_Q16)) - (17 << ZRTT_Q16),
		   (u32)(y % (1 << ZRTT_Q16)));
	check_products((u32)x, (u32)y);
	check_sum((u32)(x % (ZRTT_P_ONE + 1)), x % 2 ? delta : -delta);
	check_ewma((u32)x, (u32)y, draw_between(&d, 0, ZRTT_Q16_ONE));
	return 0;
}
