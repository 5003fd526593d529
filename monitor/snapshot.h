/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_SNAPSHOT_H
#define _MONITOR_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "instance.h"

/**
 * struct snapshot - all instances at one time
 * @when: since the epoch
 * @at_s: seconds on the monotonic clock
 * @instances: by snapshot_take()
 */
struct snapshot {
	struct timespec when;
	double at_s;
	struct instance *instances;
	size_t count;
};

/**
 * struct devices - the devices to show
 * @names: NULL if all are
 */
struct devices {
	char *const *names;
	size_t count;
};

/**
 * snapshot_take() - read all instances on some devices
 * @snapshot: to be freed by snapshot_free()
 * @devices: devices to read
 * @flows: read their flows and hosts, too
 *
 * Return: NULL, or why reading failed
 */
const char *snapshot_take(struct snapshot *snapshot, const struct devices *devices,
			  bool flows);

void snapshot_free(struct snapshot *snapshot);

/* Return: the same qdisc in another snapshot, NULL = it was not there. */
const struct instance *snapshot_find(const struct snapshot *snapshot,
				     const struct instance *instance);

#endif
