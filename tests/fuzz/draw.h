/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers out of the fuzzer's input; behind its end all are 0. */
#ifndef _FUZZ_DRAW_H
#define _FUZZ_DRAW_H

#include <linux/types.h>

struct draw {
	const u8 *at;
	size_t left;
};

static inline u64 draw_bytes(struct draw *d, u32 bytes)
{
	u64 x = 0;

	for (; bytes && d->left; bytes--, d->left--)
		x = x << 8 | *d->at++;
	return x;
}

/* 0 .. @n - 1, @n up to 256 */
static inline u32 draw_index(struct draw *d, u32 n)
{
	return (u32)draw_bytes(d, 1) % n;
}

/* Any 64 bits, of any magnitude. */
static inline u64 draw_u64(struct draw *d)
{
	u32 shift = draw_index(d, 64);

	return draw_bytes(d, 8) >> shift;
}

/* @low .. @high, of any magnitude above @low, and often the ends. */
static inline u32 draw_between(struct draw *d, u32 low, u32 high)
{
	u32 how = draw_index(d, 64);
	u64 x;

	if (how >= 32)
		return how % 2 ? high : low;
	x = draw_bytes(d, 4) >> how;
	return low + (u32)(x % ((u64)high - low + 1));
}

/* Up to 104 days. */
static inline u64 draw_gap_ns(struct draw *d)
{
	u32 shift = draw_index(d, 38);

	return draw_bytes(d, 2) << shift;
}

/* A clock that is near 0 or soon wraps, as epochs do (32 bits, 18 years). */
static inline u64 draw_start_ns(struct draw *d)
{
	u64 wraps = draw_index(d, 16);
	u64 gap_ns = draw_gap_ns(d);

	return wraps ? (wraps << 59) - gap_ns : gap_ns;
}

#endif
