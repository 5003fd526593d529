// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/socket.h>

#include <linux/rtnetlink.h>

#include "netlink.h"
#include "onlink.h"

struct search {
	struct scope *scope;
	unsigned int ifindex;
};

static void add_prefix_of(const struct nlmsghdr *object, void *data)
{
	const struct ifaddrmsg *address = NLMSG_DATA(object);
	const struct rtattr *at = IFA_RTA(address);
	size_t len = IFA_PAYLOAD(object);
	const struct search *search = data;
	struct prefix prefix = {
		.family = address->ifa_family, .bits = address->ifa_prefixlen,
	};

	if (address->ifa_index != search->ifindex || !prefix.bits ||
	    (prefix.family != AF_INET && prefix.family != AF_INET6))
		return;
	for (; RTA_OK(at, len); at = RTA_NEXT(at, len)) {
		/* On a point-to-point link this is the peer's address, as intended. */
		if (at->rta_type != IFA_ADDRESS ||
		    RTA_PAYLOAD(at) > sizeof(prefix.address))
			continue;
		memcpy(prefix.address, RTA_DATA(at), RTA_PAYLOAD(at));
		scope_add(search->scope, prefix);
	}
}

int onlink_add(struct scope *scope, unsigned int ifindex)
{
	struct {
		struct nlmsghdr header;
		struct ifaddrmsg address;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETADDR,
		},
	};
	struct search search = { .scope = scope, .ifindex = ifindex };

	return netlink_dump(&request.header, add_prefix_of, &search);
}
