/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_CAPACITY_H
#define _MONITOR_CAPACITY_H

#include "instance.h"
#include "reply.h"

/**
 * struct shapers - where capacity_of() looks for shapers
 * @qdiscs: all qdiscs
 * @classes: those of the qdisc read last, a cache for a qdisc with many zrtt below it
 * @ifindex: of that qdisc
 * @handle: of that qdisc, 0 = none was read yet
 */
struct shapers {
	const struct reply *qdiscs;
	struct reply classes;
	int ifindex;
	__u32 handle;
};

/**
 * capacity_of() - the rate limit of a qdisc
 * @instance: the qdisc
 * @shapers: of all qdiscs; the caller frees its classes
 *
 * Its own bandwidth, or that of the nearest shaper above it, or the link's.
 *
 * Return: bytes per second, 0 = not known
 */
__u64 capacity_of(const struct instance *instance, struct shapers *shapers);

#endif
