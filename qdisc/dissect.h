/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a packet to what the algorithm needs to know of it: struct zrtt_dissected.
 */
#ifndef _ZRTT_DISSECT_H
#define _ZRTT_DISSECT_H

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "sched.h"
#include "timing.h"

/* Those of the first bytes of a packet that are in one piece. */
static inline struct zrtt_bytes zrtt_linear(const struct sk_buff *skb)
{
	return (struct zrtt_bytes) { .data = skb->data, .len = skb_headlen(skb) };
}

/* A packet that none of the quick parsers knows, or a copy of its first bytes if its headers
 * are not in one piece.
 */
static noinline void zrtt_dissect_any(struct zrtt_sched_data *q, struct sk_buff *skb)
{
	u32 most = min_t(u32, skb->len, ZRTT_PACKET_BYTES);
	struct zrtt_bytes head = zrtt_linear(skb);
	struct zrtt_packet *p = &q->seen.p;
	int off = skb_network_offset(skb);
	u16 type = ntohs(skb->protocol);

	if (unlikely(off < 0))
		type = 0;
	/* a tag in the frame follows the addresses, whatever the network
	 * header points to; tags carried beside it are already out of the way
	 */
	else if (eth_type_vlan(skb->protocol))
		off = ETH_HLEN;
	if (!zrtt_packet_parse(p, &head, type, off, &q->wanted) && head.len < most &&
	    !skb_copy_bits(skb, 0, q->head, most)) {
		head = (struct zrtt_bytes) { .data = q->head, .len = most };
		zrtt_packet_parse(p, &head, type, off, &q->wanted);
		q->seen.data = head.data;
	}
	q->stats.hint_bad += p->hint_bad;

	/* Our own hash. A socket's changes on retransmission, and a NIC's may be
	 * of other fields where there are options: the hint would be another
	 * flow's. What we do not parse is left to the kernel's dissector.
	 */
	q->seen.pkt.tag = p->version ? zrtt_hash_flow(&q->key, p, q->seen.data) :
				       skb_get_hash(skb) | ZRTT_TAG;
	if (q->wanted.timestamps && p->tcp_flags && !(p->tcp_flags & q->handshake_flag))
		zrtt_time_connection(q, skb);
	if (q->wanted.quic && p->proto == ZRTT_PROTO_UDP)
		zrtt_note_quic(q, skb);
}

/* The packet may have an RTT: what zrtt_arrive() reads then is cleared. */
static void zrtt_clear_rtt_info(struct zrtt_arrival *pkt)
{
	if (pkt->rtt_info)
		return;
	pkt->rtt_us = 0;
	pkt->mark_us = 0;
	pkt->timed_us = 0;
	pkt->handshake = false;
	pkt->quic = ZRTT_QUIC_NOTHING;
	pkt->rtt_info = true;
}

/* Any packet but a plain one of IPv4: one with a hint, plain IPv6, or any other. */
static noinline void zrtt_dissect_other(struct zrtt_sched_data *q, struct sk_buff *skb)
{
	struct zrtt_bytes head = zrtt_linear(skb);
	struct zrtt_arrival *pkt = &q->seen.pkt;
	struct zrtt_packet *p = &q->seen.p;
	u32 off = skb_network_offset(skb);
	u16 type = ntohs(skb->protocol);

	zrtt_clear_rtt_info(pkt);
	if (zrtt_packet_hinted(p, &head, type, off, &q->wanted) ||
	    zrtt_packet_plain6(p, &head, type, off, &q->wanted))
		pkt->tag = zrtt_hash_flow(&q->key, p, head.data);
	else
		zrtt_dissect_any(q, skb);
	if (p->hint_units) {
		q->stats.hint_ok++;
		if (q->params.hint != ZRTT_HINT_IGNORE)
			pkt->rtt_us = zrtt_hint_to_us(p->hint_units);
	}
}

/* A SYN or SYN-ACK, whose way is to be timed. */
static void zrtt_note_syn(struct zrtt_sched_data *q, struct zrtt_skb_cb *cb)
{
	zrtt_clear_rtt_info(&q->seen.pkt);
	zrtt_note_seq(q);
	q->seen.pkt.handshake = true;
	cb->tag = q->seen.pkt.tag;
	cb->times = ZRTT_TIMES_HANDSHAKE;
}

/* Fill in @q->seen, and in the packet's control block what is timed. */
static __always_inline void zrtt_dissect(struct zrtt_sched_data *q, struct sk_buff *skb,
					 u32 segs)
{
	struct zrtt_bytes head = zrtt_linear(skb);
	struct zrtt_arrival *pkt = &q->seen.pkt;
	struct zrtt_skb_cb *cb = zrtt_cb(skb);
	struct zrtt_packet *p = &q->seen.p;

	cb->times = ZRTT_TIMES_NOTHING;
	q->seen.data = head.data;
	pkt->bytes = qdisc_pkt_len(skb);
	pkt->segs = segs;
	pkt->rtt_info = false;
	if (likely(zrtt_packet_plain(p, &head, ntohs(skb->protocol),
				     skb_network_offset(skb), &q->wanted)))
		pkt->tag = zrtt_hash_ipv4(&q->key, p, head.data);
	else
		zrtt_dissect_other(q, skb);
	pkt->ecn = p->ecn;
	pkt->seq_high = zrtt_tcp_seq_high(p, q->seen.data);
	if (unlikely(p->tcp_flags & q->handshake_flag))
		zrtt_note_syn(q, cb);
}

/* The packet's mark is an RTT. */
static void zrtt_note_mark(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	zrtt_clear_rtt_info(&q->seen.pkt);
	q->seen.pkt.mark_us = zrtt_mark_to_us(&q->params, skb->mark);
}

/* Note the flow's addresses, unless they are known. */
static void zrtt_note_name(struct zrtt_sched_data *q, const struct sk_buff *skb,
			   const struct zrtt_flow *flow)
{
	struct zrtt_name *name = &q->names[flow - q->vars.table.slots];
	/* a mark may have given the packet other memory */
	const u8 *data = q->seen.data == q->head ? q->head : skb->data;

	if (name->tag != flow->tag)
		zrtt_name_set(name, flow->tag, &q->seen.p, data);
}

/* Packets that a GSO packet stands for. Of one from a virtual machine or a tun device
 * nobody has counted them: its headers are not to be trusted, and may be cut off.
 */
static u32 zrtt_gso_segs(const struct sk_buff *skb)
{
	const struct skb_shared_info *gso = skb_shinfo(skb);
	u32 headers = 0, segs = gso->gso_segs;
	const struct tcphdr *th;
	struct tcphdr copy;

	if (likely(segs))
		return segs;
	if (skb->encapsulation)
		headers = skb_inner_transport_offset(skb);
	else if (skb_transport_header_was_set(skb))
		headers = skb_transport_offset(skb);
	if (gso->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) {
		th = skb_header_pointer(skb, headers, sizeof(copy), &copy);
		headers += th ? __tcp_hdrlen(th) : 0;
	} else if (gso->gso_type & SKB_GSO_UDP_L4) {
		headers += sizeof(struct udphdr);
	}
	if (headers < skb->len)
		segs = DIV_ROUND_UP(skb->len - headers, gso->gso_size);
	return clamp_t(u32, segs, 1, U16_MAX);
}

#endif
