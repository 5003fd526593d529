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
 * struct host - who is to have one share, be it a host or a subscriber
 * @rate: of its flows, bytes per second
 * @due: its due share, bytes per second, 0 = not known
 * @number: that it has while it is live, 0 = there is none
 * @mark: that it is known by, with @has_mark
 * @flows: live ones
 * @penalty: what P_i of its flows is multiplied by, Q16
 * @prefix6: bits of an IPv6 address that are its own; the others are 0
 * @address_len: bytes of @address, 0 = not known
 * @is_source: that is the source of its flows, not their destination
 */
struct host {
	__u64 rate;
	__u64 due;
	__u32 number;
	__u32 mark;
	__u32 flows;
	__u32 penalty;
	__u32 prefix6;
	__u8 address[ADDRESS_BYTES];
	__u8 address_len;
	bool has_mark;
	bool is_source;
};

/**
 * struct flow - a live flow, which is a class of its qdisc
 * @host: whose it is
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
	struct host host;
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
 * @has_hosts: the same of hosts
 * @flows_unknown: live flows without an RTT
 * @target_us: sojourn aimed at
 * @bandwidth: its own shaper's, bytes per second, 0 = none
 * @capacity: its rate limit, bytes per second, 0 = not known
 * @prefix6: bits of an IPv6 address that are a host's
 * @nat: hosts have addresses that flows do not show
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
	bool has_hosts;
	__u32 flows_unknown;
	__u32 target_us;
	__u64 bandwidth;
	__u64 capacity;
	__u32 prefix6;
	__u8 nat;
	struct flow *flows;
	size_t flow_count;
	struct host *hosts;
	size_t host_count;
};

#endif
