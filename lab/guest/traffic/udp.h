/* SPDX-License-Identifier: GPL-2.0 */
/* Unresponsive UDP at a constant rate. */
#ifndef _LAB_UDP_H
#define _LAB_UDP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool udp_parse(const char *line, const char *receiver);
void udp_open(void);
int64_t udp_tend(int64_t now);
void udp_dispatch(uint32_t index);
void udp_print_frames(FILE *out);

#endif
