/* SPDX-License-Identifier: GPL-2.0 */
/* TCP flows that come and go. */
#ifndef _LAB_SHORT_H
#define _LAB_SHORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "net.h"

bool short_parse(const char *line, const char *receiver);
void short_open(void);
int64_t short_tend(int64_t now);
void short_dispatch(enum role role, uint32_t index, int64_t now);
void short_print_bytes(FILE *out);
void short_print_bytes_of_hosts(FILE *out);
void short_print(FILE *out);

#endif
