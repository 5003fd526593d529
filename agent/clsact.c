// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stddef.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <bpf/libbpf.h>

#include "clsact.h"
#include "netlink.h"

/* Position of the agent's filter: after filters whose priority the kernel chose. */
#define FILTER_PRIORITY	0xfffe
#define FILTER_HANDLE	0x5a52

static struct bpf_tc_hook egress_of(unsigned int ifindex)
{
	return (struct bpf_tc_hook){
		.sz = sizeof(struct bpf_tc_hook),
		.ifindex = ifindex,
		.attach_point = BPF_TC_EGRESS,
	};
}

static struct bpf_tc_opts filter_opts(void)
{
	return (struct bpf_tc_opts){
		.sz = sizeof(struct bpf_tc_opts),
		.handle = FILTER_HANDLE,
		.priority = FILTER_PRIORITY,
	};
}

static void note(const struct nlmsghdr *object, void *found)
{
	*(bool *)found = object;
}

/* Whether there is a filter; true if that cannot be determined. */
static bool has_filters(unsigned int ifindex, __u32 side)
{
	struct {
		struct nlmsghdr header;
		struct tcmsg filter;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETTFILTER,
		},
		.filter = {
			.tcm_ifindex = ifindex,
			.tcm_parent = TC_H_MAKE(TC_H_CLSACT, side),
		},
	};
	bool found = false;

	return netlink_dump(&request.header, note, &found) || found;
}

static void remove_clsact(unsigned int ifindex)
{
	struct bpf_tc_hook hook = egress_of(ifindex);

	if (has_filters(ifindex, TC_H_MIN_INGRESS) ||
	    has_filters(ifindex, TC_H_MIN_EGRESS))
		return;
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	bpf_tc_hook_destroy(&hook);
}

int clsact_attach(unsigned int ifindex, int prog_fd, bool *added)
{
	struct bpf_tc_hook hook = egress_of(ifindex);
	struct bpf_tc_opts opts = filter_opts();
	int err;

	err = bpf_tc_hook_create(&hook);
	if (err && err != -EEXIST)
		return err;
	*added = !err;
	opts.prog_fd = prog_fd;
	err = bpf_tc_attach(&hook, &opts);
	if (err && *added)
		remove_clsact(ifindex);
	return err;
}

__u32 clsact_program(unsigned int ifindex)
{
	struct bpf_tc_hook hook = egress_of(ifindex);
	struct bpf_tc_opts opts = filter_opts();

	return bpf_tc_query(&hook, &opts) ? 0 : opts.prog_id;
}

void clsact_detach(unsigned int ifindex, bool added)
{
	struct bpf_tc_hook hook = egress_of(ifindex);
	struct bpf_tc_opts opts = filter_opts();

	bpf_tc_detach(&hook, &opts);
	if (added)
		remove_clsact(ifindex);
}
