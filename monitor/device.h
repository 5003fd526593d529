/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_DEVICE_H
#define _MONITOR_DEVICE_H

#include <stdbool.h>
#include <net/if.h>

#include <linux/types.h>

#define DEVICE_TEXT_MAX	(4 * IF_NAMESIZE)

/**
 * device_name() - the name of a device
 * @ifindex: the device
 * @name: of DEVICE_TEXT_MAX bytes; all but printable ASCII becomes \xNN, as a name
 *	may have any bytes and goes to terminals, JSON and Prometheus
 *
 * Return: whether there is such a device (still)
 */
bool device_name(int ifindex, char *name);

/* Return: the index of a device, 0 = there is none of that name. */
int device_index(const char *name);

/* Return: speed of the link, bytes per second, 0 = not known. */
__u64 device_speed(int ifindex);

#endif
