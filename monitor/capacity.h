/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_CAPACITY_H
#define _MONITOR_CAPACITY_H

#include "instance.h"
#include "reply.h"

/**
 * struct shapers - where capacity_of() looks for them
 * @qdiscs: all qdiscs
 * @classes: those of the qdisc asked last, as there may be a zrtt in each of many
 * @ifindex: of that qdisc
 * @handle: of that qdisc, 0 = none was asked yet
 */
struct shapers {
	const struct reply *qdiscs;
	struct reply classes;
	int ifindex;
	__u32 handle;
};

/**
 * capacity_of() - what a qdisc may send at most
 * @instance: the qdisc
 * @shapers: of all qdiscs; its classes are the caller's to free
 *
 * Its own bandwidth, or that of the nearest shaper above it, or the link's.
 *
 * Return: bytes per second, 0 = not known
 */
__u64 capacity_of(const struct instance *instance, struct shapers *shapers);

#endif
