/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_FILTERS_H
#define _AGENT_FILTERS_H

#include <stdbool.h>

/* Whether a filter is at the clsact of a device, or that cannot be told. */
bool filters_exist(unsigned int ifindex);

#endif
