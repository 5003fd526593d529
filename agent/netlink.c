// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rtnetlink.h>

#include "netlink.h"

#define REPLY_MAX	32768	/* bytes, as much as the kernel sends at once */

static int read_dump(int fd, void (*each)(const struct nlmsghdr *, void *),
		     void *data)
{
	static union {
		struct nlmsghdr first;
		char bytes[REPLY_MAX];
	} reply;

	for (;;) {
		const struct nlmsghdr *at = &reply.first;
		ssize_t len = recv(fd, &reply, sizeof(reply), 0);

		if (len <= 0)
			return len ? -errno : -EPROTO;
		for (; NLMSG_OK(at, len); at = NLMSG_NEXT(at, len)) {
			if (at->nlmsg_type == NLMSG_DONE)
				return 0;
			if (at->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(at))->error;
			each(at, data);
		}
	}
}

int netlink_dump(struct nlmsghdr *request,
		 void (*each)(const struct nlmsghdr *object, void *data),
		 void *data)
{
	int err, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (send(fd, request, request->nlmsg_len, 0) < 0)
		err = -errno;
	else
		err = read_dump(fd, each, data);
	close(fd);
	return err;
}
