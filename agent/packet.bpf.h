/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsing of a packet before it is changed.
 */
#ifndef _AGENT_PACKET_BPF_H
#define _AGENT_PACKET_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <zrtt/hint.h>

#include "state.bpf.h"
#include "zrtt_agent.h"

/* Not in UAPI headers. */
#define AGENT_SOCK_STREAM	1
#define AGENT_IP_FRAGMENT	0x3fff	/* more fragments, or an offset */

#define IPV4_LEN	sizeof(struct iphdr)
#define IPV6_LEN	sizeof(struct ipv6hdr)
#define HOP_BY_HOP_LEN	8

/* The headers of a packet with a hint: the fixed header, then the option. */
struct packet4 {
	struct iphdr ip;
	__u8 option[ZRTT_HINT_IPV4_LEN];
};

struct packet6 {
	struct ipv6hdr ip;
	__u8 option[HOP_BY_HOP_LEN];
};

union packet {
	struct packet4 v4;
	struct packet6 v6;
};

static __always_inline bool in_scope(const struct __sk_buff *skb,
				     const union packet *packet)
{
	const __be32 *to;

	if (skb->protocol == bpf_htons(ETH_P_IP))
		return in_scope4(packet->v4.ip.daddr);
	to = packet->v6.ip.daddr.s6_addr32;
	return in_scope6(to[0], to[1], to[2], to[3]);
}

static __always_inline enum zrtt_agent_fate read_ipv4(struct __sk_buff *skb,
						      struct iphdr *ip)
{
	if (bpf_skb_load_bytes_relative(skb, 0, ip, IPV4_LEN, BPF_HDR_START_NET))
		return ZRTT_AGENT_ERROR;
	if (ip->protocol != IPPROTO_TCP)
		return ZRTT_AGENT_NOT_TCP;
	if (ip->frag_off & bpf_htons(AGENT_IP_FRAGMENT))
		return ZRTT_AGENT_FRAGMENT;
	if (ip->ihl != IPV4_LEN / 4)
		return ZRTT_AGENT_OPTIONS;
	return ZRTT_AGENT_STAMPED;
}

static __always_inline enum zrtt_agent_fate read_ipv6(struct __sk_buff *skb,
						      struct ipv6hdr *ip)
{
	__u8 next;

	if (bpf_skb_load_bytes_relative(skb, 0, ip, IPV6_LEN, BPF_HDR_START_NET))
		return ZRTT_AGENT_ERROR;
	switch (ip->nexthdr) {
	case IPPROTO_TCP:
		return ZRTT_AGENT_STAMPED;
	case IPPROTO_HOPOPTS:
	case IPPROTO_DSTOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_FRAGMENT:
		break;
	default:
		return ZRTT_AGENT_NOT_TCP;
	}
	/* All four begin with the next header. */
	if (bpf_skb_load_bytes_relative(skb, IPV6_LEN, &next, sizeof(next),
					BPF_HDR_START_NET))
		return ZRTT_AGENT_ERROR;
	if (next != IPPROTO_TCP)
		return ZRTT_AGENT_NOT_TCP;
	return ip->nexthdr == IPPROTO_FRAGMENT ? ZRTT_AGENT_FRAGMENT :
						 ZRTT_AGENT_OPTIONS;
}

/* Read the fixed IP header; the fate if no hint can follow it. */
static __always_inline enum zrtt_agent_fate read_packet(struct __sk_buff *skb,
							union packet *packet)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return read_ipv4(skb, &packet->v4.ip);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return read_ipv6(skb, &packet->v6.ip);
	return ZRTT_AGENT_NOT_TCP;
}

/*
 * The socket that sends the packet, if it is a connection. Resets and late
 * acknowledgments come from a raw socket of the kernel, which older kernels
 * report as TCP, too.
 */
static __always_inline struct bpf_sock *connection(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	if (!sk)
		return NULL;
	sk = bpf_sk_fullsock(sk);
	if (!sk || sk->protocol != IPPROTO_TCP || sk->type != AGENT_SOCK_STREAM)
		return NULL;
	return sk;
}

#endif
