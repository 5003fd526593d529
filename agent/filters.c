// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "filters.h"

#define REPLY_MAX	32768	/* bytes, more than the kernel sends at once */

struct request {
	struct nlmsghdr header;
	struct tcmsg filter;
};

/* Read a dump to its end: 1 if it has a filter, 0 if not, -1 if refused. */
static int read_dump(int fd)
{
	static union {
		struct nlmsghdr first;
		char bytes[REPLY_MAX];
	} reply;
	int found = 0;

	for (;;) {
		struct nlmsghdr *header = &reply.first;
		ssize_t len = recv(fd, &reply, sizeof(reply), 0);

		if (len <= 0)
			return -1;
		for (; NLMSG_OK(header, len); header = NLMSG_NEXT(header, len)) {
			if (header->nlmsg_type == NLMSG_DONE)
				return found;
			if (header->nlmsg_type == NLMSG_ERROR)
				return -1;
			found = 1;
		}
	}
}

static int filters_at(unsigned int ifindex, __u32 parent)
{
	struct request request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETTFILTER,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.filter = { .tcm_ifindex = ifindex, .tcm_parent = parent },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int found = -1;

	if (fd < 0)
		return -1;
	if (send(fd, &request, sizeof(request), 0) == sizeof(request))
		found = read_dump(fd);
	close(fd);
	return found;
}

bool filters_exist(unsigned int ifindex)
{
	return filters_at(ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)) ||
	       filters_at(ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS));
}
