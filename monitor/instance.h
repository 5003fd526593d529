/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_INSTANCE_H
#define _MONITOR_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/gen_stats.h>
#include <linux/pkt_sched_zrtt.h>

#include "device.h"

#define ADDRESS_BYTES	16	/* the longest, IPv6 */

/**
 * struct flow - a live flow, which is a class of its qdisc
 * @handle: of the class
 * @rtt_us: RTT_i, 0 = none known
 * @source: its source, enum tc_zrtt_source
 * @rate: of its arrivals, bytes per second
 * @prob: P_i, Q30
 * @address_len: bytes of each address, 0 = the qdisc remembers none
 * @has_ports: whether the protocol has ports
 * @protocol: of IP
 * @sport: in host order, as @dport
 */
struct flow {
	__u32 handle;
	__u32 rtt_us;
	__u32 source;
	__u32 prob;
	__u64 rate;
	__u8 src[ADDRESS_BYTES];
	__u8 dst[ADDRESS_BYTES];
	__u16 sport;
	__u16 dport;
	__u8 protocol;
	__u8 address_len;
	bool has_ports;
};

/**
 * struct instance - a zrtt qdisc, as the kernel describes it
 * @dev: name of the device, printable
 * @packets: sent, as @bytes
 * @queue: statistics of the qdisc core: drops, backlog
 * @xstats: of zrtt itself
 * @has_lanes: whether they have those of lanes, as those of older kernels do not
 * @flows_unknown: live flows without an RTT
 * @target_us: sojourn aimed at
 * @bandwidth: its own shaper's, bytes per second, 0 = none
 * @capacity: its rate limit, bytes per second, 0 = not known
 */
struct instance {
	int ifindex;
	char dev[DEVICE_TEXT_MAX];
	__u32 handle;
	__u32 parent;
	__u64 bytes;
	__u64 packets;
	struct gnet_stats_queue queue;
	struct tc_zrtt_xstats xstats;
	bool has_lanes;
	__u32 flows_unknown;
	__u32 target_us;
	__u64 bandwidth;
	__u64 capacity;
	struct flow *flows;
	size_t flow_count;
};

#endif
