/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_ONLINK_H
#define _AGENT_ONLINK_H

#include "scope.h"

/* Add the prefixes of a device's addresses to a scope. 0 or -errno. */
int onlink_add(struct scope *scope, unsigned int ifindex);

#endif
