/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tc(8) exports to read values with, beyond what q_zrtt.c uses.
 */
#ifndef _LAB_TC_VALUES_H
#define _LAB_TC_VALUES_H

#include <linux/types.h>

int get_rate64(__u64 *bytes_per_s, const char *text);
int get_time(unsigned int *us, const char *text);

#endif
