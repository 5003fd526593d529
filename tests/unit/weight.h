/* SPDX-License-Identifier: GPL-2.0 */
/* Weights, P_i / P_b, as numbers. */
#ifndef _WEIGHT_H
#define _WEIGHT_H

#include <math.h>

#include <zrtt/flow.h>

static inline double weight_value(u32 weight)
{
	return ldexp(weight >> ZRTT_WEIGHT_SHIFT_BITS, -(int)(weight & ZRTT_WEIGHT_SHIFT_MAX));
}

#endif
