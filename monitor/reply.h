/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_REPLY_H
#define _MONITOR_REPLY_H

#include <stddef.h>

#include <linux/netlink.h>

/**
 * struct reply - messages of netlink, one after the other
 * @bytes: NULL, or to be freed by reply_free()
 * @len: bytes of messages
 * @size: bytes allocated
 */
struct reply {
	char *bytes;
	size_t len;
	size_t size;
};

void reply_append(struct reply *reply, const void *bytes, size_t len);

void reply_free(struct reply *reply);

/**
 * reply_next() - iterate over the messages about qdiscs or classes
 * @reply: the messages
 * @at: where the next message begins, at first 0
 *
 * Return: the next message that holds a struct tcmsg, or NULL
 */
struct nlmsghdr *reply_next(const struct reply *reply, size_t *at);

#endif
