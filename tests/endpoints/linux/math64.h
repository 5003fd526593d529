/* SPDX-License-Identifier: GPL-2.0 */
/* What the shim of tests/unit lacks. */
#ifndef _CC_LINUX_MATH64_H
#define _CC_LINUX_MATH64_H

#include_next <linux/math64.h>

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 divisor)
{
	return (u64)((unsigned __int128)a * mul / divisor);
}

#endif
