// SPDX-License-Identifier: GPL-2.0
#include "histogram.h"

__u32 histogram_bound_us(int bucket)
{
	return (__u32)HISTOGRAM_FIRST_US << bucket;
}

static int bucket_of(__u32 rtt_us)
{
	int bucket = 0;

	while (bucket < HISTOGRAM_BUCKETS - 1 && rtt_us > histogram_bound_us(bucket))
		bucket++;
	return bucket;
}

void histogram_make(const struct instance *instance, struct histogram *histogram)
{
	size_t i;

	*histogram = (struct histogram){ };
	for (i = 0; i < instance->flow_count; i++) {
		__u32 rtt_us = instance->flows[i].rtt_us;

		if (!rtt_us)
			continue;
		histogram->flows[bucket_of(rtt_us)]++;
		histogram->known++;
		histogram->sum_us += rtt_us;
	}
}
