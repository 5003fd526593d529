// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attachment.h"
#include "cgroup.h"
#include "hook.h"
#include "netns.h"
#include "onlink.h"
#include "report.h"
#include "zrtt_agent.h"
#include "zrtt_agent.skel.h"

static void detach(const struct pins *pins)
{
	hook_detach(pins);
	cgroup_detach(pins);
	pins_remove(pins);
}

static int pin_map(const struct pins *pins, const char *name, struct bpf_map *map)
{
	char path[PIN_PATH_MAX];

	pins_path(pins, name, path);
	return bpf_obj_pin(bpf_map__fd(map), path);
}

static int pin_maps(const struct pins *pins, struct zrtt_agent_bpf *programs)
{
	return pin_map(pins, PIN_CONFIG, programs->maps.rodata) ?:
	       pin_map(pins, PIN_COUNTERS, programs->maps.counters) ?:
	       pin_map(pins, PIN_SCOPE4, programs->maps.scope4) ?:
	       pin_map(pins, PIN_SCOPE6, programs->maps.scope6);
}

static int size_map(struct bpf_map *map, size_t entries)
{
	return bpf_map__set_max_entries(map, entries ?: 1);
}

static int load(struct zrtt_agent_bpf *programs,
		const struct zrtt_agent_config *config, const struct scope *scope)
{
	bool tcp = config->encoding == ZRTT_AGENT_TCP;

	programs->rodata->config = *config;
	return bpf_program__set_autoload(programs->progs.zrtt_agent_ip, !tcp) ?:
	       bpf_program__set_autoload(programs->progs.zrtt_agent_tcp, tcp) ?:
	       bpf_program__set_autoload(programs->progs.zrtt_agent_ops, tcp) ?:
	       size_map(programs->maps.scope4, scope_count(scope, AF_INET)) ?:
	       size_map(programs->maps.scope6, scope_count(scope, AF_INET6)) ?:
	       zrtt_agent_bpf__load(programs) ?:
	       scope_store(scope, bpf_map__fd(programs->maps.scope4),
			   bpf_map__fd(programs->maps.scope6));
}

/* The cgroup comes first: no connection may be counted before its program runs. */
static int attach_programs(const struct pins *pins,
			   const struct zrtt_agent_bpf *programs, int cgroup_fd)
{
	int err;

	if (cgroup_fd < 0)
		return hook_attach(pins, programs->progs.zrtt_agent_ip);
	err = cgroup_attach(pins, cgroup_fd,
			    bpf_program__fd(programs->progs.zrtt_agent_ops));
	return err ?: hook_attach(pins, programs->progs.zrtt_agent_tcp);
}

static int attach(const struct pins *pins, const struct options *options,
		  const struct scope *scope, int cgroup_fd)
{
	struct zrtt_agent_bpf *programs = zrtt_agent_bpf__open();
	int err;

	if (!programs)
		return -errno;
	err = load(programs, &options->config, scope) ?: pins_create(pins);
	if (!err) {
		err = pin_maps(pins, programs) ?:
		      attach_programs(pins, programs, cgroup_fd);
		if (err)
			detach(pins);
	}
	zrtt_agent_bpf__destroy(programs);
	return err;
}

static struct pins pins_of(unsigned int ifindex)
{
	return (struct pins){ .netns = netns_id(), .ifindex = ifindex };
}

static int default_scope(struct scope *scope, unsigned int ifindex)
{
	scope_add_private(scope);
	return onlink_add(scope, ifindex);
}

int attach_device(const struct options *options, const char *dev)
{
	struct pins pins = pins_of(if_nametoindex(dev));
	struct scope scope = { };
	int cgroup_fd = -1, err;

	if (!pins.ifindex)
		return refuse(dev, "no such device");
	if (pins_have(&pins, ""))
		return refuse(dev, "already attached, detach first");
	if (options->config.encoding == ZRTT_AGENT_TCP) {
		cgroup_fd = cgroup_open(options->cgroup);
		if (cgroup_fd < 0)
			return -1;
	}
	if (options->scope.count)
		err = attach(&pins, options, &options->scope, cgroup_fd);
	else
		err = default_scope(&scope, pins.ifindex) ?:
		      attach(&pins, options, &scope, cgroup_fd);
	if (cgroup_fd >= 0)
		close(cgroup_fd);
	scope_free(&scope);
	return err ? refuse(dev, "cannot attach: %s", strerror(-err)) : 0;
}

int attach_all(const struct options *options)
{
	struct if_nameindex *devices = if_nameindex(), *at;
	int attached = 0, err = 0;

	if (!devices)
		return refuse(options->netns, "%s", strerror(errno));
	for (at = devices; at->if_index; at++) {
		if (!strcmp(at->if_name, "lo"))
			continue;
		err |= attach_device(options, at->if_name);
		attached++;
	}
	if_freenameindex(devices);
	return attached ? err : refuse(options->netns, "no device but lo");
}

int find_attachment(const char *dev, struct pins *pins)
{
	*pins = pins_of(if_nametoindex(dev));
	if (!pins->ifindex)
		return refuse(dev, "no such device");
	return pins_have(pins, "") ? 0 : refuse(dev, "not attached");
}

int detach_device(const char *dev)
{
	struct pins pins;

	if (find_attachment(dev, &pins))
		return -1;
	detach(&pins);
	return 0;
}

/* Detach all devices of a namespace, or of all namespaces (0). Returns their number. */
static size_t detach_those_of(ino_t netns)
{
	struct pins *list;
	size_t i, count = pins_list(&list), detached = 0;

	for (i = 0; i < count; i++) {
		if (netns && list[i].netns != netns)
			continue;
		detach(&list[i]);
		detached++;
	}
	free(list);
	return detached;
}

int detach_namespace(const char *name)
{
	return detach_those_of(netns_id()) ? 0 : refuse(name, "not attached");
}

int detach_all(void)
{
	detach_those_of(0);
	return 0;
}

int forget_stale(void)
{
	struct pins *list;
	size_t i, count = pins_list(&list);

	for (i = 0; i < count; i++) {
		if (!hook_is_alive(&list[i]))
			detach(&list[i]);
	}
	free(list);
	return netns_return();
}
