/* SPDX-License-Identifier: GPL-2.0 */
/* Packets in a flow's name. */
#ifndef _LAB_SPOOF_H
#define _LAB_SPOOF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool spoof_parse(const char *line);
int64_t spoof_tend(int64_t now);
void spoof_dispatch(uint32_t index);
void spoof_print(FILE *out);

#endif
