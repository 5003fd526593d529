/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_NETLINK_H
#define _AGENT_NETLINK_H

#include <linux/netlink.h>

/**
 * netlink_dump() - ask rtnetlink for all objects of a kind
 * @request: header and body of a request, its nlmsg_flags aside
 * @each: called with each object and @data
 *
 * Return: 0 or -errno
 */
int netlink_dump(struct nlmsghdr *request,
		 void (*each)(const struct nlmsghdr *object, void *data),
		 void *data);

#endif
