/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_NETLINK_H
#define _MONITOR_NETLINK_H

#include <linux/rtnetlink.h>

#include "reply.h"

/**
 * netlink_dump() - read all qdiscs or classes from the kernel
 * @reply: the messages; previous contents are discarded
 * @type: RTM_GETQDISC or RTM_GETTCLASS
 * @which: the rest of the request
 *
 * An inconsistent dump is repeated.
 *
 * Return: NULL, or why there is no reply
 */
const char *netlink_dump(struct reply *reply, int type, const struct tcmsg *which);

#endif
