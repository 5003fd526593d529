/* SPDX-License-Identifier: GPL-2.0 */
/* Long TCP flows. */
#ifndef _LAB_FLOW_H
#define _LAB_FLOW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "net.h"

bool flow_parse(const char *line, const char *receiver);
bool flow_parse_idle(const char *line);
int flow_count(void);
void flow_open(void);
int64_t flow_tend(int64_t now);
void flow_dispatch(enum role role, uint32_t index);
void flow_read(bool at_end);
void flow_print_bytes(FILE *out);
void flow_print(FILE *out);
bool flow_ends(int port, struct sockaddr_in *from, struct sockaddr_in *to);

#endif
