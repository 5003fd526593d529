/* SPDX-License-Identifier: GPL-2.0 */
/* Thin traffic: calls, games, single queries, pings. */
#ifndef _LAB_THIN_H
#define _LAB_THIN_H

#include <stdbool.h>
#include <stdint.h>

bool thin_parse(const char *line, const char *receiver);
void thin_open(void);
int64_t thin_tend(int64_t now);
void thin_dispatch(uint32_t index);

#endif
