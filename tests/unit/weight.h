/* SPDX-License-Identifier: GPL-2.0 */
/* Weights, P_i / P_b, as numbers. */
#ifndef _WEIGHT_H
#define _WEIGHT_H

#include <math.h>

#include <zrtt/flow.h>

static inline double weight_value(u32 weight)
{
	return ldexp(weight >> ZRTT_WEIGHT_SHIFT_BITS, -(int)(weight & ZRTT_WEIGHT_SHIFT_MASK));
}

/* As zrtt_weight() has it, 2^-15 .. 2^22 */
static inline bool weight_in_range(u32 weight)
{
	return zrtt_weight_times(1 << 15, weight) && zrtt_weight_times(1, weight) <= 1 << 22;
}

#endif
