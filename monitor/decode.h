/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_DECODE_H
#define _MONITOR_DECODE_H

#include <stdbool.h>

#include <linux/netlink.h>

#include "instance.h"

/**
 * decode_qdisc() - read a message of RTM_GETQDISC
 * @message: at least a struct tcmsg
 * @instance: set, but for its device's name, its capacity, its flows and its hosts
 *
 * Attributes that are missing, malformed or too short leave zeros.
 *
 * Return: whether it is about a zrtt
 */
bool decode_qdisc(struct nlmsghdr *message, struct instance *instance);

/**
 * decode_class() - read a message of RTM_GETTCLASS
 * @message: at least a struct tcmsg
 * @qdisc: whose class it should be
 * @flow: set, likewise
 *
 * Return: whether it is about a flow of that qdisc
 */
bool decode_class(struct nlmsghdr *message, const struct instance *qdisc,
		  struct flow *flow);

/* Return: ceil of an htb class, rate of a tbf qdisc: bytes per second, 0 = neither. */
__u64 decode_shaper(struct nlmsghdr *message);

#endif
