/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes to packets: CE is set, hints are removed; and what else few queues do to them.
 */
#ifndef _ZRTT_EDIT_H
#define _ZRTT_EDIT_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "sched.h"
#include "dissect.h"

/* Set CE. Return: false if the packet must be dropped instead. */
static bool zrtt_mark(struct sk_buff *skb, const struct zrtt_packet *p)
{
	bool v4 = p->version == 4;
	u32 len = v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);

	if (skb_ensure_writable(skb, p->ip_off + len))
		return false;
	if (v4)
		return IP_ECN_set_ce((struct iphdr *)(skb->data + p->ip_off));
	return IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + p->ip_off));
}

/* Remove @len bytes at @off: what stands before them moves up. The length that
 * the qdisc layer noted stays: parents subtract what they added.
 */
static void zrtt_remove_bytes(struct sk_buff *skb, const struct zrtt_packet *p, u32 off,
		     u32 len)
{
	u32 end = skb_headroom(skb) + off + len;

	memmove(skb->data + len, skb->data, off);
	__skb_pull(skb, len);
	skb->mac_header += len;
	skb->network_header += len;
	/* a router has it at the first extension header, a host behind the last */
	if (skb->transport_header < end)
		skb->transport_header += len;
	if (p->pppoe)
		be16_add_cpu((__be16 *)(skb->data + p->ip_off - ZRTT_PPPOE_BYTES +
					ZRTT_PPPOE_LENGTH), -len);
}

/* @len bytes of the IP header reach up to the end of the hint's last word. */
static void zrtt_strip_ipv4(struct sk_buff *skb, const struct zrtt_packet *p, u32 len)
{
	struct iphdr *iph = (struct iphdr *)(skb->data + p->ip_off);
	__wsum before = csum_partial(iph, len, 0);

	if (ntohs(iph->tot_len) < iph->ihl * 4) {
		/* no length to mend: 0 stands for more than 64 KB */
		memset(skb->data + p->hint_off, IPOPT_NOP, p->hint_len);
	} else {
		iph->ihl -= p->hint_len / 4;
		be16_add_cpu(&iph->tot_len, -p->hint_len);
		zrtt_remove_bytes(skb, p, p->hint_off, p->hint_len);
		iph = (struct iphdr *)(skb->data + p->ip_off);
		len -= p->hint_len;
	}
	csum_replace_by_diff(&iph->check, csum_sub(csum_partial(iph, len, 0), before));
}

/* Are the two bytes beside the hint, in the 8 of p->ext_off, padding? */
static bool zrtt_ipv6_hint_alone(const struct sk_buff *skb,
				 const struct zrtt_packet *p)
{
	const u8 *area = skb->data + p->ext_off + ZRTT_IPV6_OPT_BYTES;
	u32 at = skb->data + p->hint_off - area;
	u8 first = area[at > 0 ? 0 : ZRTT_HINT_IPV6_LEN];
	u8 second = area[at > 1 ? 1 : ZRTT_HINT_IPV6_LEN + 1];

	return (first == IPV6_TLV_PAD1 || first == IPV6_TLV_PADN) && !second;
}

static void zrtt_strip_ipv6(struct sk_buff *skb, const struct zrtt_packet *p)
{
	struct ipv6hdr *ip6h = (struct ipv6hdr *)(skb->data + p->ip_off);
	u8 *option = skb->data + p->hint_off;

	/* a jumbogram has a length of 0, and the real one in an option */
	if (p->ext_off && zrtt_ipv6_hint_alone(skb, p) &&
	    ntohs(ip6h->payload_len) >= ZRTT_IPV6_EXT_MIN) {
		be16_add_cpu(&ip6h->payload_len, -ZRTT_IPV6_EXT_MIN);
		skb->data[p->nexthdr_off] = skb->data[p->ext_off];
		zrtt_remove_bytes(skb, p, p->ext_off, ZRTT_IPV6_EXT_MIN);
	} else {
		memset(option, 0, p->hint_len);
		option[0] = IPV6_TLV_PADN;
		option[1] = p->hint_len - 2;
	}
}

/* No-operations do no harm in TCP, whose pseudo-header would change as well. */
static void zrtt_strip_tcp(struct sk_buff *skb, const struct zrtt_packet *p, u32 len)
{
	struct tcphdr *th = (struct tcphdr *)(skb->data + p->l4_off);
	__wsum before = csum_partial(th, len, 0);

	memset(skb->data + p->hint_off, TCPOPT_NOP, p->hint_len);
	/* a partial checksum does not cover the options yet */
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		csum_replace_by_diff(&th->check,
				     csum_sub(csum_partial(th, len, 0), before));
}

/* Remove the hint; where that cannot be done, the packet is forwarded with it. */
static void zrtt_strip(struct sk_buff *skb, struct zrtt_sched_data *q,
		       const struct zrtt_packet *p)
{
	/* sums run over whole words: an option may start at an odd offset */
	u32 base = p->hint_in_tcp ? p->l4_off : p->ip_off;
	u32 len = ALIGN(p->hint_off + p->hint_len - base, 4);

	if (p->sealed || skb_ensure_writable(skb, base + len))
		return;
	if (p->hint_in_tcp)
		zrtt_strip_tcp(skb, p, len);
	else if (p->version == 4)
		zrtt_strip_ipv4(skb, p, len);
	else
		zrtt_strip_ipv6(skb, p);
	q->stats.hint_stripped++;
	/* the sum of the packet as it came, of one redirected to ifb, is void */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
}

/* Options that few queues use. */
static noinline void zrtt_names_or_strip(struct zrtt_sched_data *q, struct sk_buff *skb,
					 const struct zrtt_flow *flow)
{
	if (q->names)
		zrtt_note_name(q, skb, flow);
	if (q->params.strip && q->seen.p.hint_units)
		zrtt_strip(skb, q, &q->seen.p);
}

#endif
