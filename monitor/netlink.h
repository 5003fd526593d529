/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_NETLINK_H
#define _MONITOR_NETLINK_H

#include <linux/rtnetlink.h>

#include "reply.h"

/**
 * netlink_dump() - ask the kernel for all qdiscs or classes
 * @reply: what it said; its former contents are lost
 * @type: RTM_GETQDISC or RTM_GETTCLASS
 * @which: the rest of the request
 *
 * What changed while it was read is read again.
 *
 * Return: NULL, or why there is no reply
 */
const char *netlink_dump(struct reply *reply, int type, const struct tcmsg *which);

#endif
