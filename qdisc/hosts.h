/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose packet is it, and what does it weigh? Hosts by address or mark, weights by mark or
 * DSCP.
 */
#ifndef _ZRTT_QDISC_HOSTS_H
#define _ZRTT_QDISC_HOSTS_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/netfilter/nf_conntrack_tuple.h>

#include "sched.h"

#define ZRTT_IPV6_WORDS		4

/**
 * struct zrtt_ends - addresses of a packet, of a tunnel the outer ones, as they lie in it
 * @words: of the source and of the destination
 * @count: words of an address
 */
struct zrtt_ends {
	u32 words[ZRTT_HOST_ENDS][ZRTT_IPV6_WORDS];
	u32 count;
};

/* Clear what is not the host's: all bits of an IPv6 address after @prefix. */
static void zrtt_cut_prefix(u32 *words, u32 prefix)
{
	u32 i;

	for (i = 0; i < ZRTT_IPV6_WORDS; i++, prefix -= min_t(u32, prefix, 32))
		if (prefix < 32)
			words[i] &= prefix ? (__force u32)htonl(~0U << (32 - prefix)) : 0;
}

static void zrtt_read_ends(const struct zrtt_dissected *seen, struct zrtt_ends *ends)
{
	const u8 *ip = seen->data + zrtt_packet_hosts(&seen->p);
	u32 end, i;

	ends->count = seen->p.version == 4 ? 1 : ZRTT_IPV6_WORDS;
	for (end = 0; end < ZRTT_HOST_ENDS; end++)
		for (i = 0; i < ends->count; i++, ip += sizeof(u32))
			ends->words[end][i] = zrtt_hash_load(ip);
}

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
/* Addresses as they are behind the translation. A packet whose connection is known is past
 * it: its source was translated. Another, as on an ifb, is before it, and its destination will
 * be: then the tuple is that of the answer. Return: whether there is a connection.
 */
static bool zrtt_undo_nat(const struct sk_buff *skb, struct zrtt_ends *ends)
{
	struct nf_conntrack_tuple tuple;
	u32 *words = ends->words[skb_nfct(skb) ? 0 : 1];
	u32 i;

	if (!nf_ct_get_tuple_skb(&tuple, skb) ||
	    tuple.src.l3num != (ends->count == 1 ? NFPROTO_IPV4 : NFPROTO_IPV6))
		return false;
	for (i = 0; i < ends->count; i++)
		words[i] = (__force u32)tuple.src.u3.all[i];
	return true;
}
#else
static bool zrtt_undo_nat(const struct sk_buff *skb, struct zrtt_ends *ends)
{
	return false;
}
#endif

/* Tag of the host that the address at @end says, which is cut to the host's part. */
static u32 zrtt_hash_end_host(const struct zrtt_sched_data *q, struct zrtt_ends *ends, u32 end)
{
	if (ends->count == ZRTT_IPV6_WORDS)
		zrtt_cut_prefix(ends->words[end], q->params.prefix6);
	return zrtt_hash_host(&q->host_key, end, ends->words[end], ends->count);
}

/* Tags of the hosts that the packet's addresses say. If they are @known, and the connection is not,
 * they stay.
 */
static noinline void zrtt_hash_hosts(struct zrtt_sched_data *q, const struct sk_buff *skb,
				     bool known)
{
	struct zrtt_arrival *pkt = &q->seen.pkt;
	u32 fair = q->params.fair;
	struct zrtt_ends ends;

	if (!q->seen.p.version) {
		pkt->hosts[0] = pkt->tag;
		return;
	}
	zrtt_read_ends(&q->seen, &ends);
	if (q->params.nat && !zrtt_undo_nat(skb, &ends) && known)
		return;
	pkt->hosts[0] = zrtt_hash_end_host(q, &ends, fair == ZRTT_FAIR_DSTHOST);
	if (fair == ZRTT_FAIR_DUALHOST)
		pkt->hosts[1] = zrtt_hash_end_host(q, &ends, 1);
}

/* The weight of the packet's DSCP; what is not IP has that of 0. */
static u32 zrtt_dscp_weight(const struct zrtt_sched_data *q)
{
	const u8 *ip = q->seen.data + q->seen.p.ip_off;
	u32 dscp = 0;

	if (q->seen.p.version == 4)
		dscp = ip[1] >> 2;
	else if (q->seen.p.version)
		dscp = (ip[0] & 0xf) << 2 | ip[1] >> 6;
	return q->params.weight_q8[dscp];
}

/* The mark's weight is the host's and the flow's, that of the DSCP, which hosts set
 * themselves, the flow's alone.
 */
static void zrtt_weigh(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	const struct zrtt_params *params = &q->params;
	struct zrtt_arrival *pkt = &q->seen.pkt;
	u32 marked = (skb->mark & params->weight_mask) >> params->weight_shift;

	/* 0 is a packet that nobody marked */
	marked = max_t(u32, marked, 1);
	pkt->length = pkt->bytes;
	pkt->host_weight = marked;
	pkt->host_bytes = zrtt_weighed(pkt->bytes, marked * ZRTT_WEIGHT_ONE);
	pkt->weight_q8 = min_t(u32, marked * zrtt_dscp_weight(q), U16_MAX);
	pkt->bytes = zrtt_weighed(pkt->bytes, pkt->weight_q8);
}

/* What hosts and weights need to know of the packet that zrtt_dissect() read, but addresses. */
static void zrtt_dissect_member(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	const struct zrtt_params *params = &q->params;
	struct zrtt_arrival *pkt = &q->seen.pkt;

	pkt->host_bytes = pkt->bytes;
	pkt->weight_q8 = ZRTT_WEIGHT_ONE;
	pkt->host_weight = 1;
	pkt->hosts[0] = 0;
	pkt->hosts[1] = 0;
	if (params->weighted)
		zrtt_weigh(q, skb);
	if (params->fair == ZRTT_FAIR_MARK)
		pkt->hosts[0] = zrtt_hash_mark((skb->mark & params->fair_mask) >>
					       params->fair_shift);
}

/* The hosts of its addresses; @flow: NULL if it is not known. A mark may change while the flow goes
 * on, addresses do not: those of a flow that is known are not looked at again. What is behind them
 * may: a connection is not known before its first packet has passed, and an address and port serve
 * one host after the other.
 */
static void zrtt_dissect_hosts(struct zrtt_sched_data *q, const struct sk_buff *skb,
			       const struct zrtt_flow *flow)
{
	const struct zrtt_table *table = &q->vars.table;
	u32 fair = q->params.fair;
	bool known;

	if (fair == ZRTT_FAIR_MARK || fair == ZRTT_FAIR_FLOW)
		return;
	known = zrtt_member_known(table, flow);
	if (!known || (q->params.nat && zrtt_member_look(table, flow, zrtt_epoch(q->clock.ns))))
		zrtt_hash_hosts(q, skb, known);
}

#endif
