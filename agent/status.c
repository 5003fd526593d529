// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attachment.h"
#include "netns.h"
#include "report.h"
#include "status.h"
#include "zrtt_agent.h"
#include "zrtt_agent.skel.h"

struct status {
	char netns[NETNS_TEXT_MAX];	/* empty = that of the caller */
	char dev[IF_NAMESIZE];
	struct zrtt_agent_config config;
	const char *attached;
	struct scope scope;
	__u64 packets;
	__u64 counters[ZRTT_AGENT_COUNTERS];
};

/* In the order of enum zrtt_agent_fate. */
static const char *const fates[] = {
	[ZRTT_AGENT_STAMPED]	 = "stamped",
	[ZRTT_AGENT_NOT_TCP]	 = "not_tcp",
	[ZRTT_AGENT_NO_SOCKET]	 = "no_socket",
	[ZRTT_AGENT_NO_RTT]	 = "no_rtt",
	[ZRTT_AGENT_SCOPE]	 = "scope",
	[ZRTT_AGENT_SAMPLED_OUT] = "sampled_out",
	[ZRTT_AGENT_OPTIONS]	 = "options",
	[ZRTT_AGENT_TOO_BIG]	 = "too_big",
	[ZRTT_AGENT_FRAGMENT]	 = "fragment",
	[ZRTT_AGENT_ERROR]	 = "error",
};

static const char *const encodings[] = {
	[ZRTT_AGENT_IP]	 = "ip",
	[ZRTT_AGENT_TCP] = "tcp",
};

static int read_config(const struct pins *pins, struct zrtt_agent_config *config)
{
	struct zrtt_agent_bpf__rodata rodata;
	struct bpf_map_info info = { };
	__u32 len = sizeof(info), key = 0;
	int err, fd = pins_get(pins, PIN_CONFIG);

	if (fd < 0)
		return fd;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	if (!err && info.value_size != sizeof(rodata))
		err = -EPROTO;
	if (!err)
		err = bpf_map_lookup_elem(fd, &key, &rodata);
	if (!err)
		*config = rodata.config;
	close(fd);
	return err;
}

static int read_counters(const struct pins *pins, __u64 *counters)
{
	int cpu, cpus = libbpf_num_possible_cpus();
	int err = 0, fd = pins_get(pins, PIN_COUNTERS);
	__u64 *values;
	__u32 i;

	if (fd < 0)
		return fd;
	values = calloc(cpus > 0 ? cpus : 1, sizeof(*values));
	if (!values)
		out_of_memory();
	for (i = 0; !err && i < ZRTT_AGENT_COUNTERS; i++) {
		err = bpf_map_lookup_elem(fd, &i, values);
		for (cpu = 0; !err && cpu < cpus; cpu++)
			counters[i] += values[cpu];
	}
	free(values);
	close(fd);
	return err;
}

static int read_scope(const struct pins *pins, struct scope *scope)
{
	int fd4 = pins_get(pins, PIN_SCOPE4);
	int fd6 = pins_get(pins, PIN_SCOPE6);
	int err = fd4 < 0 ? fd4 : fd6 < 0 ? fd6 : scope_load(scope, fd4, fd6);

	if (fd4 >= 0)
		close(fd4);
	if (fd6 >= 0)
		close(fd6);
	return err;
}

static void name_device(const struct pins *pins, struct status *status)
{
	if (pins->netns != netns_home())
		netns_name(pins->netns, status->netns);
	if (netns_enter_id(pins->netns) ||
	    !if_indextoname(pins->ifindex, status->dev))
		snprintf(status->dev, sizeof(status->dev), "if%u", pins->ifindex);
}

static int read_status(const struct pins *pins, struct status *status)
{
	int i, err;

	name_device(pins, status);
	err = read_config(pins, &status->config) ?:
	      read_counters(pins, status->counters) ?:
	      read_scope(pins, &status->scope);
	if (err)
		return err;
	for (i = 0; i < ZRTT_AGENT_FATES; i++)
		status->packets += status->counters[i];
	status->attached = pins_have(pins, PIN_CGROUP) ? "cgroup" :
			   pins_have(pins, PIN_LINK) ? "tcx" : "clsact";
	return 0;
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (!is_plain(*text))
			printf("\\\\x%02x", (unsigned char)*text);
		else
			printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	putchar('"');
}

static void print_prefixes(const struct scope *scope, const char *format,
			   const char *separator)
{
	char text[PREFIX_TEXT_MAX];
	size_t i;

	for (i = 0; i < scope->count; i++) {
		prefix_format(&scope->prefixes[i], text);
		fputs(i ? separator : "", stdout);
		printf(format, text);
	}
}

static void print_json(const struct status *status)
{
	int i;

	fputs("{\"netns\":", stdout);
	if (*status->netns)
		print_string(status->netns);
	else
		fputs("null", stdout);
	fputs(",\"dev\":", stdout);
	print_string(status->dev);
	printf(",\"encoding\":\"%s\",\"every_packet\":%s,\"ipv4_option\":%u,\"attached\":\"%s\",\"to\":[",
	       encodings[status->config.encoding],
	       status->config.every_packet ? "true" : "false",
	       status->config.ipv4_option, status->attached);
	print_prefixes(&status->scope, "\"%s\"", ",");
	printf("],\"packets\":%llu,\"stamped\":%llu,\"skipped\":{",
	       status->packets, status->counters[ZRTT_AGENT_STAMPED]);
	for (i = ZRTT_AGENT_STAMPED + 1; i < ZRTT_AGENT_FATES; i++)
		printf("%s\"%s\":%llu", i == ZRTT_AGENT_STAMPED + 1 ? "" : ",",
		       fates[i], status->counters[i]);
	printf("},\"connections\":%llu}", status->counters[ZRTT_AGENT_CONNECTIONS]);
}

static void print_text(const struct status *status)
{
	int i;

	print_name(stdout, status->dev);
	if (*status->netns) {
		fputs(" netns ", stdout);
		print_name(stdout, status->netns);
	}
	printf(": encoding %s %s attached %s\n  to ",
	       encodings[status->config.encoding],
	       status->config.every_packet ? "every-packet" : "sampled",
	       status->attached);
	print_prefixes(&status->scope, "%s", " ");
	printf("\n  packets %llu stamped %llu connections %llu\n  skipped",
	       status->packets, status->counters[ZRTT_AGENT_STAMPED],
	       status->counters[ZRTT_AGENT_CONNECTIONS]);
	for (i = ZRTT_AGENT_STAMPED + 1; i < ZRTT_AGENT_FATES; i++)
		printf(" %s %llu", fates[i], status->counters[i]);
	putchar('\n');
}

/* What cannot be read is no element of a list: it takes no comma. */
static int print_one(const struct pins *pins, bool json, bool *first)
{
	struct status status = { };
	int err = read_status(pins, &status);

	if (!err && json) {
		fputs(*first ? "" : ",", stdout);
		print_json(&status);
		*first = false;
	} else if (!err) {
		print_text(&status);
	}
	scope_free(&status.scope);
	if (err == -EPROTO)
		return refuse(status.dev, "attached by another version");
	return err ? refuse(status.dev, "%s", strerror(-err)) : 0;
}

int status_print(const struct options *options)
{
	ino_t netns = netns_id();
	struct pins wanted, *list;
	size_t i, count;
	bool first = true;
	int err = 0;

	if (options->dev && find_attachment(options->dev, &wanted))
		return -1;
	count = pins_list(&list);
	fputs(options->json ? "[" : "", stdout);
	for (i = 0; i < count; i++) {
		if (options->dev && (list[i].netns != wanted.netns ||
				     list[i].ifindex != wanted.ifindex))
			continue;
		if (options->netns && list[i].netns != netns)
			continue;
		err |= print_one(&list[i], options->json, &first);
	}
	fputs(options->json ? "]\n" : "", stdout);
	free(list);
	return err;
}
