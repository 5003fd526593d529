/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pins: a folder in the BPF file system per device, named after namespace
 * and interface index, with the device's links and maps.
 */
#ifndef _AGENT_PINS_H
#define _AGENT_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PIN_PATH_MAX	320	/* bytes of a path in there */

/* Names in a device's folder. */
#define PIN_CONFIG	"config"
#define PIN_COUNTERS	"counters"
#define PIN_SCOPE4	"scope4"
#define PIN_SCOPE6	"scope6"
#define PIN_LINK	"link"		/* tcx */
#define PIN_FILTER	"filter"	/* program of the filter at clsact */
#define PIN_CGROUP	"cgroup"	/* link */
#define PIN_CLSACT	"clsact"	/* a folder: the agent added the qdisc */

struct pins {
	ino_t netns;
	unsigned int ifindex;
};

/* All attachments, sorted by namespace and interface; the caller frees the list. */
size_t pins_list(struct pins **list);

void pins_path(const struct pins *pins, const char *name, char path[PIN_PATH_MAX]);
bool pins_have(const struct pins *pins, const char *name);

/* Open a pinned map, program or link: a file descriptor or -errno. */
int pins_get(const struct pins *pins, const char *name);

/* Create and remove a device's folder with its contents. 0 or -errno. */
int pins_create(const struct pins *pins);
int pins_mark(const struct pins *pins, const char *name);
int pins_remove(const struct pins *pins);

#endif
