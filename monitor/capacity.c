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

/* Classes that cannot be read count as not shaping. */
static void read_classes(struct shapers *shapers, int ifindex, __u32 handle)
{
	const struct tcmsg which = { .tcm_ifindex = ifindex, .tcm_parent = handle };

	if (shapers->ifindex == ifindex && shapers->handle == handle)
		return;
	shapers->ifindex = ifindex;
	shapers->handle = handle;
	if (netlink_dump(&shapers->classes, RTM_GETTCLASS, &which))
		shapers->classes.len = 0;
}

static __u64 rate_of_class(struct shapers *shapers, int ifindex, __u32 handle)
{
	struct nlmsghdr *message;

	read_classes(shapers, ifindex, TC_H_MAJ(handle));
	message = find(&shapers->classes, ifindex, handle);
	return message ? decode_shaper(message) : 0;
}

__u64 capacity_of(const struct instance *instance, struct shapers *shapers)
{
	__u32 parent = instance->parent;
	__u64 rate = instance->bandwidth;
	int depth, ifindex = instance->ifindex;

	for (depth = 0; !rate && depth < DEPTH_MAX && TC_H_MAJ(parent); depth++) {
		struct nlmsghdr *message = find(shapers->qdiscs, ifindex, TC_H_MAJ(parent));

		if (!message)
			break;
		rate = decode_shaper(message) ?: rate_of_class(shapers, ifindex, parent);
		parent = ((struct tcmsg *)nlmsg_data(message))->tcm_parent;
	}
	return rate ?: device_speed(ifindex);
}
