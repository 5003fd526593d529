/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_CLOCK_H
#define _MONITOR_CLOCK_H

/* Return: seconds on the monotonic clock. */
double clock_s(void);

/* Sleep until clock_s() is @at_s. */
void clock_sleep_until(double at_s);

#endif
