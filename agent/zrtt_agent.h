/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the agent's BPF programs and the command that loads them share.
 */
#ifndef _ZRTT_AGENT_H
#define _ZRTT_AGENT_H

#include <linux/types.h>

enum zrtt_agent_encoding {
	ZRTT_AGENT_IP,		/* IPv4 option, IPv6 hop-by-hop option */
	ZRTT_AGENT_TCP,		/* TCP option */
};

/*
 * The outcome for a packet, in the order of the output. Every packet has exactly
 * one, so that their sum is the number of packets.
 */
enum zrtt_agent_fate {
	ZRTT_AGENT_STAMPED,
	ZRTT_AGENT_NOT_TCP,
	ZRTT_AGENT_NO_SOCKET,	/* forwarded, or crossed a namespace */
	ZRTT_AGENT_NO_RTT,	/* nothing acknowledged yet */
	ZRTT_AGENT_SCOPE,	/* destination not in scope */
	ZRTT_AGENT_SAMPLED_OUT,	/* last hint of the connection is recent */
	ZRTT_AGENT_OPTIONS,	/* no room among the options */
	ZRTT_AGENT_TOO_BIG,	/* would exceed the connection's longest packet */
	ZRTT_AGENT_FRAGMENT,
	ZRTT_AGENT_ERROR,	/* malformed, or out of memory */
	ZRTT_AGENT_FATES,
};

/* The counter after the fates: connections that sent a hint. */
#define ZRTT_AGENT_CONNECTIONS	ZRTT_AGENT_FATES
#define ZRTT_AGENT_COUNTERS	(ZRTT_AGENT_FATES + 1)

struct zrtt_agent_config {
	__u32 encoding;		/* enum zrtt_agent_encoding */
	__u32 every_packet;	/* 1: no sampling */
	__u32 ipv4_option;	/* type of the IPv4 option, 2 .. 255 */
};

/* Keys of the maps that hold the scope, longest prefix first. */
struct zrtt_agent_prefix4 {
	__u32 bits;		/* 0 .. 32 */
	__be32 address;
};

struct zrtt_agent_prefix6 {
	__u32 bits;		/* 0 .. 128 */
	__be32 address[4];
};

#endif
