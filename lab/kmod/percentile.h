/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Percentiles from histograms of the laboratory's qdiscs.
 */
#ifndef _LAB_PERCENTILE_H
#define _LAB_PERCENTILE_H

#include <linux/math64.h>

/* The first bucket at whose upper edge per_mille of all packets are in; 0 if there are none. */
static inline u32 percentile_bucket(const u32 *histogram, u32 buckets, u64 packets, u32 per_mille)
{
	u64 wanted = DIV_ROUND_UP_ULL(packets * per_mille, 1000);
	u64 seen = 0;
	u32 i;

	for (i = 0; i < buckets; i++) {
		seen += histogram[i];
		if (seen && seen >= wanted)
			return i + 1;
	}
	return 0;
}

/* Its upper edge; the last bucket has none, and stands for the longest of all. */
static inline u32 percentile_us(const u32 *histogram, u32 buckets, u32 bucket_us, u64 packets,
				u32 per_mille, u32 max_us)
{
	u32 bucket = percentile_bucket(histogram, buckets, packets, per_mille);

	return bucket == buckets ? max_us : bucket * bucket_us;
}

#endif
