// SPDX-License-Identifier: GPL-2.0
/* An XDP program that lets all pass: zrtt-check is to see that there is one. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int pass(struct xdp_md *packet)
{
	return XDP_PASS;
}

char gpl[] SEC("license") = "GPL";
