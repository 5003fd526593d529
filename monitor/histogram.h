/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_HISTOGRAM_H
#define _MONITOR_HISTOGRAM_H

#include "instance.h"

#define HISTOGRAM_FIRST_US	250	/* the bound of the first bucket */
#define HISTOGRAM_BUCKETS	15	/* the last one has no bound */

/**
 * struct histogram - distribution of the RTTs of live flows
 * @flows: by bucket: RTTs up to its bound and above that of the one before
 * @known: flows in all buckets
 * @sum_us: of their RTTs
 */
struct histogram {
	size_t flows[HISTOGRAM_BUCKETS];
	size_t known;
	__u64 sum_us;
};

void histogram_make(const struct instance *instance, struct histogram *histogram);

/* Return: the bound of a bucket but the last: 250 us, 500 us, 1 ms ... 2.048 s. */
__u32 histogram_bound_us(int bucket);

#endif
