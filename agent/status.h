/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_STATUS_H
#define _AGENT_STATUS_H

#include "options.h"

/* Print what is attached: to a device, in a namespace, or all. 0 or -1. */
int status_print(const struct options *options);

#endif
