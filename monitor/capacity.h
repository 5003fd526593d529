/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_CAPACITY_H
#define _MONITOR_CAPACITY_H

#include "instance.h"
#include "reply.h"

/**
 * capacity_of() - what a qdisc may send at most
 * @instance: the qdisc
 * @qdiscs: all qdiscs
 *
 * Its own bandwidth, or that of the nearest shaper above it, or the link's.
 *
 * Return: bytes per second, 0 = not known
 */
__u64 capacity_of(const struct instance *instance, const struct reply *qdiscs);

#endif
