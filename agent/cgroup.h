/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_CGROUP_H
#define _AGENT_CGROUP_H

#include "pins.h"

/**
 * cgroup_open() - find the sockets that the TCP option is for
 * @path: a cgroup of version 2, NULL = the root of their hierarchy
 *
 * Return: a file descriptor, or -1 after a message
 */
int cgroup_open(const char *path);

/* Attach to the sockets of a cgroup and pin. 0 or -errno. */
int cgroup_attach(const struct pins *pins, int cgroup_fd, int prog_fd);

void cgroup_detach(const struct pins *pins);

#endif
