// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <time.h>

#include "clock.h"

#define NS_PER_S	1000000000L

double clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

void clock_sleep_until(double at_s)
{
	struct timespec at = { .tv_sec = at_s };

	at.tv_nsec = (at_s - at.tv_sec) * NS_PER_S;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}
