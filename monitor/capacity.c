// SPDX-License-Identifier: GPL-2.0
#include <netlink/msg.h>

#include <linux/pkt_sched.h>

#include "capacity.h"
#include "decode.h"
#include "netlink.h"

#define DEPTH_MAX	8	/* the kernel allows 7 qdiscs below one another */

static struct nlmsghdr *find(const struct reply *reply, int ifindex, __u32 handle)
{
	struct nlmsghdr *message;
	size_t at = 0;

	while ((message = reply_next(reply, &at))) {
		const struct tcmsg *tcm = nlmsg_data(message);

		if (tcm->tcm_ifindex == ifindex && tcm->tcm_handle == handle)
			return message;
	}
	return NULL;
}

/* Classes that cannot be read shape nothing, as far as is known. */
static __u64 rate_of_class(int ifindex, __u32 handle)
{
	const struct tcmsg which = {
		.tcm_ifindex = ifindex,
		.tcm_parent = TC_H_MAJ(handle),
	};
	struct nlmsghdr *message = NULL;
	struct reply classes = { };
	__u64 rate;

	if (!netlink_dump(&classes, RTM_GETTCLASS, &which))
		message = find(&classes, ifindex, handle);
	rate = message ? decode_shaper(message) : 0;
	reply_free(&classes);
	return rate;
}

__u64 capacity_of(const struct instance *instance, const struct reply *qdiscs)
{
	__u32 parent = instance->parent;
	__u64 rate = instance->bandwidth;
	int depth;

	for (depth = 0; !rate && depth < DEPTH_MAX && TC_H_MAJ(parent); depth++) {
		struct nlmsghdr *message = find(qdiscs, instance->ifindex, TC_H_MAJ(parent));

		if (!message)
			break;
		rate = decode_shaper(message) ?: rate_of_class(instance->ifindex, parent);
		parent = ((struct tcmsg *)nlmsg_data(message))->tcm_parent;
	}
	return rate ?: device_speed(instance->ifindex);
}
