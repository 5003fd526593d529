/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_HOSTS_H
#define _MONITOR_HOSTS_H

#include <arpa/inet.h>

#include "instance.h"

#define HOST_TEXT_MAX	(INET6_ADDRSTRLEN + sizeof("from /128"))

/* Find the hosts of an instance from its flows, those of the highest rate first. */
void hosts_make(struct instance *instance);

/* Its address and prefix, if it is known by one; to HOST_TEXT_MAX bytes, returned. */
const char *host_address(const struct host *host, char *text);

/* Who it is: mark 0x2a, from 10.0.0.1, to fd00::/64, or host 17; likewise. */
const char *host_name(const struct host *host, char *text);

/* Return: its rate as part of its due share, negative = that is not known. */
double host_share(const struct host *host);

/* Return: what P_i of its flows is multiplied by. */
double host_penalty(const struct host *host);

#endif
