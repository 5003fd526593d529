// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include <linux/pkt_sched.h>

#include "capacity.h"
#include "clock.h"
#include "decode.h"
#include "hosts.h"
#include "memory.h"
#include "netlink.h"
#include "snapshot.h"

static bool is_wanted(int ifindex, const struct devices *devices)
{
	size_t i;

	for (i = 0; i < devices->count; i++) {
		if (device_index(devices->names[i]) == ifindex)
			return true;
	}
	return !devices->count;
}

static void read_flows(const struct reply *classes, struct instance *instance)
{
	struct nlmsghdr *message;
	size_t at = 0, size = 0;
	struct flow flow;

	while ((message = reply_next(classes, &at))) {
		if (!decode_class(message, instance, &flow))
			continue;
		if (instance->flow_count == size) {
			size = 2 * size ?: 64;
			instance->flows = grow(instance->flows, size, sizeof(flow));
		}
		instance->flows[instance->flow_count++] = flow;
	}
}

/* Below mq all default queues have the handle 0: the owner of a class is unknown. */
static bool can_have_flows(const struct instance *instance)
{
	return instance->handle || instance->parent == TC_H_ROOT;
}

static const char *take_flows(struct instance *instance)
{
	const struct tcmsg which = {
		.tcm_ifindex = instance->ifindex,
		.tcm_parent = instance->handle,
	};
	struct reply classes = { };
	const char *why = netlink_dump(&classes, RTM_GETTCLASS, &which);

	if (!why) {
		read_flows(&classes, instance);
		hosts_make(instance);
	}
	reply_free(&classes);
	return why;
}

static const char *take_instances(struct snapshot *snapshot, const struct reply *qdiscs,
				  const struct devices *devices, bool flows)
{
	struct shapers shapers = { .qdiscs = qdiscs };
	struct nlmsghdr *message;
	struct instance instance;
	const char *why = NULL;
	size_t at = 0;

	while (!why && (message = reply_next(qdiscs, &at))) {
		if (!decode_qdisc(message, &instance) ||
		    !is_wanted(instance.ifindex, devices) ||
		    !device_name(instance.ifindex, instance.dev))
			continue;
		/* twice, where others came or went between the parts of a dump */
		if (snapshot_find(snapshot, &instance))
			continue;
		instance.capacity = capacity_of(&instance, &shapers);
		if (flows && can_have_flows(&instance))
			why = take_flows(&instance);
		snapshot->instances = grow(snapshot->instances, snapshot->count + 1,
					   sizeof(instance));
		snapshot->instances[snapshot->count++] = instance;
	}
	reply_free(&shapers.classes);
	return why;
}

const char *snapshot_take(struct snapshot *snapshot, const struct devices *devices,
			  bool flows)
{
	const struct tcmsg all = { };
	struct reply qdiscs = { };
	const char *why;

	*snapshot = (struct snapshot){ };
	clock_gettime(CLOCK_REALTIME, &snapshot->when);
	snapshot->at_s = clock_s();
	why = netlink_dump(&qdiscs, RTM_GETQDISC, &all) ?:
	      take_instances(snapshot, &qdiscs, devices, flows);
	reply_free(&qdiscs);
	return why;
}

void snapshot_free(struct snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->count; i++) {
		free(snapshot->instances[i].flows);
		free(snapshot->instances[i].hosts);
	}
	free(snapshot->instances);
	*snapshot = (struct snapshot){ };
}

const struct instance *snapshot_find(const struct snapshot *snapshot,
				     const struct instance *instance)
{
	size_t i;

	for (i = 0; i < snapshot->count; i++) {
		const struct instance *other = &snapshot->instances[i];

		if (other->ifindex == instance->ifindex &&
		    other->handle == instance->handle &&
		    other->parent == instance->parent)
			return other;
	}
	return NULL;
}
