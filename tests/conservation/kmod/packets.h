/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of many kinds as the stack hands them to a qdisc. Each has a number where
 * TCP has its sequence number; segmentation gives each segment one of its own.
 */
#ifndef _QLEDGER_PACKETS_H
#define _QLEDGER_PACKETS_H

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>

#include <zrtt/hint.h>

#define PACKET_MSS		1400U
#define PACKET_SENDERS		0x0a000000	/* 10.0.0.0, the flow's number is added */
#define PACKET_RECEIVER		0xc6120001	/* 198.18.0.1 (RFC 2544) */
#define PACKET_SENDERS6		0xfd000000	/* fd00::, likewise */
#define PACKET_OTHER		0x88b5		/* EtherType for experiments: nothing to parse */
#define PACKET_ID_OFFSET	4U		/* of the number in the transport header */

enum packet_kind {
	PACKET_TCP4,
	PACKET_TCP6,
	PACKET_UDP4,
	PACKET_NO_IP,		/* the headers of UDP4, but an EtherType that says nothing */
	PACKET_KINDS,
};

/**
 * struct packet - what there is to choose of a packet
 * @kind:	enum packet_kind
 * @flow:	its number, below 2^24
 * @id:		its number; that of its first segment
 * @payload:	bytes behind the headers; more than PACKET_MSS make a GSO packet
 * @ecn:	of the IP header
 * @syn:	it opens a connection
 * @hinted:	it carries an RTT hint; of PACKET_TCP4 only
 */
struct packet {
	enum packet_kind kind;
	u32 flow;
	u32 id;
	u32 payload;
	u8 ecn;
	bool syn;
	bool hinted;
};

static inline u32 packet_segs(const struct packet *p)
{
	return DIV_ROUND_UP(p->payload, PACKET_MSS);
}

/* Bytes of the network header. */
static inline u32 packet_network_bytes(const struct packet *p)
{
	if (p->kind == PACKET_TCP6)
		return sizeof(struct ipv6hdr);
	return sizeof(struct iphdr) + (p->hinted ? ZRTT_HINT_IPV4_LEN : 0);
}

/* Bytes of all headers, which each segment has. */
static inline u32 packet_header_bytes(const struct packet *p)
{
	return ETH_HLEN + packet_network_bytes(p) + sizeof(struct tcphdr);
}

static inline u32 packet_id(const struct sk_buff *skb)
{
	return get_unaligned_be32(skb_transport_header(skb) + PACKET_ID_OFFSET);
}

static inline bool packet_marked(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return INET_ECN_is_ce(ip_hdr(skb)->tos);
	return skb->protocol == htons(ETH_P_IPV6) &&
	       INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
}

static inline void packet_write_ipv4(struct sk_buff *skb, const struct packet *p)
{
	struct iphdr *iph = ip_hdr(skb);

	*iph = (struct iphdr) {
		.version = 4,
		.ihl = packet_network_bytes(p) / 4,
		.tos = p->ecn,
		.tot_len = htons(skb->len - ETH_HLEN),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = p->kind == PACKET_TCP4 ? IPPROTO_TCP : IPPROTO_UDP,
		.saddr = htonl(PACKET_SENDERS + p->flow),
		.daddr = htonl(PACKET_RECEIVER),
	};
	if (p->hinted)
		zrtt_hint_build_ipv4((u8 *)(iph + 1), ZRTT_HINT_IPV4_TYPE,
				     zrtt_hint_from_us((10 + p->flow % 200) * 1000));
	ip_send_check(iph);
}

static inline void packet_write_ipv6(struct sk_buff *skb, const struct packet *p)
{
	struct ipv6hdr *ip6h = ipv6_hdr(skb);

	*ip6h = (struct ipv6hdr) {
		.version = 6,
		.payload_len = htons(skb->len - ETH_HLEN - sizeof(*ip6h)),
		.nexthdr = IPPROTO_TCP,
		.hop_limit = 64,
	};
	ip6h->saddr.s6_addr32[0] = htonl(PACKET_SENDERS6);
	ip6h->saddr.s6_addr32[3] = htonl(p->flow);
	ip6h->daddr.s6_addr32[0] = htonl(PACKET_SENDERS6);
	ipv6_change_dsfield(ip6h, 0, p->ecn);
}

static inline void packet_write_transport(struct sk_buff *skb, const struct packet *p)
{
	*tcp_hdr(skb) = (struct tcphdr) {
		.source = htons(1024 + p->flow % 60000),
		.dest = htons(443),
		.seq = htonl(p->id),
		.doff = sizeof(struct tcphdr) / 4,
		.syn = p->syn,
		.ack = !p->syn,
		.window = htons(U16_MAX),
	};
}

/* What segmentation needs to know. */
static inline void packet_set_gso(struct sk_buff *skb, const struct packet *p)
{
	skb_shinfo(skb)->gso_size = PACKET_MSS;
	skb_shinfo(skb)->gso_segs = packet_segs(p);
	skb_shinfo(skb)->gso_type = p->kind == PACKET_TCP4 ? SKB_GSO_TCPV4 : SKB_GSO_TCPV6;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
}

/* Return: the packet, or NULL for lack of memory. */
static inline struct sk_buff *packet_make(struct net_device *dev, const struct packet *p)
{
	static const u16 types[PACKET_KINDS] = { ETH_P_IP, ETH_P_IPV6, ETH_P_IP, PACKET_OTHER };
	u32 header_bytes = packet_header_bytes(p), segs = packet_segs(p);
	struct sk_buff *skb = netdev_alloc_skb(dev, header_bytes + p->payload);

	if (!skb)
		return NULL;
	skb_put(skb, header_bytes + p->payload);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + packet_network_bytes(p));
	skb_reset_mac_len(skb);
	skb->protocol = htons(types[p->kind]);
	*eth_hdr(skb) = (struct ethhdr) { .h_proto = skb->protocol };
	if (p->kind == PACKET_TCP6)
		packet_write_ipv6(skb, p);
	else
		packet_write_ipv4(skb, p);
	packet_write_transport(skb, p);
	if (segs > 1)
		packet_set_gso(skb, p);
	qdisc_skb_cb(skb)->pkt_len = skb->len + (segs - 1) * header_bytes;
	qdisc_set_pkt_segs(skb, segs);
	return skb;
}

#endif
