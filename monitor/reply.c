// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <netlink/msg.h>

#include <linux/rtnetlink.h>

#include "memory.h"
#include "reply.h"

#define FIRST_SIZE	4096	/* bytes */

void reply_append(struct reply *reply, const void *bytes, size_t len)
{
	size_t size = reply->size ?: FIRST_SIZE;

	while (size - reply->len < len)
		size *= 2;
	if (size > reply->size) {
		reply->bytes = grow(reply->bytes, size, 1);
		reply->size = size;
	}
	memcpy(reply->bytes + reply->len, bytes, len);
	reply->len += len;
}

void reply_free(struct reply *reply)
{
	free(reply->bytes);
	*reply = (struct reply){ };
}

struct nlmsghdr *reply_next(const struct reply *reply, size_t *at)
{
	while (*at < reply->len) {
		struct nlmsghdr *header = (void *)(reply->bytes + *at);

		if (!nlmsg_ok(header, reply->len - *at))
			return NULL;
		*at += NLMSG_ALIGN(header->nlmsg_len);
		if (nlmsg_valid_hdr(header, sizeof(struct tcmsg)))
			return header;
	}
	return NULL;
}
