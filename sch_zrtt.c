// SPDX-License-Identifier: GPL-2.0
/*
 * sch_zrtt: RTT-fair active queue management in a single FIFO
 *
 * Zhang and Ye, "An adaptive mechanism to guarantee the bandwidth fairness of
 * TCP flows", 2004, and what it takes to make it work on the Linux stack.
 *
 * This file is plumbing: packets, netlink, clock, random numbers, statistics.
 * The algorithm is in include/zrtt/, the contract with tc in include/uapi/.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/ppp_defs.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/tcp.h>

#include <linux/pkt_sched_zrtt.h>
#include <zrtt/zrtt.h>

#define ZRTT_VLAN_TAGS_MAX	2	/* tags walked in the frame itself */
#define ZRTT_IPV6_HEADERS_MAX	6	/* extension headers walked */
#define ZRTT_IPV6_EXT_MIN	8	/* bytes of the shortest extension header */
#define ZRTT_LATE_BATCH		64	/* late packets dropped per dequeue */

static unsigned int ipv4_option = ZRTT_HINT_IPV4_TYPE;

static int zrtt_set_ipv4_option(const char *val, const struct kernel_param *kp)
{
	/* 0 and 1 end and pad the option list */
	return param_set_uint_minmax(val, kp, 2, 255);
}

static const struct kernel_param_ops zrtt_ipv4_option_ops = {
	.set = zrtt_set_ipv4_option,
	.get = param_get_uint,
};
module_param_cb(ipv4_option, &zrtt_ipv4_option_ops, &ipv4_option, 0644);
MODULE_PARM_DESC(ipv4_option, "IPv4 option type of the RTT hint, 2..255 (158)");

/**
 * struct zrtt_sched_data - private data of a qdisc
 * @params: what the user set
 * @vars: what the algorithm learnt
 * @stats: what it counted
 * @seed: of the flow hash
 * @rnd: state of the random number generator, never 0
 * @backlog_pkts: packets queued, segments of GSO packets counted
 * @dq_epoch: epoch in which @dq_bytes were counted
 * @dq_bytes: bytes dequeued in it
 * @dq_rate: bytes dequeued in the epoch before
 */
struct zrtt_sched_data {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_stats stats;
	u32 seed;
	u32 rnd;
	u32 backlog_pkts;
	u32 dq_epoch;
	u64 dq_bytes;
	u64 dq_rate;
};

/**
 * struct zrtt_skb_cb - what a queued packet carries
 * @enqueue_ns: when it came
 * @syn_tag: its flow if it is a TCP SYN or SYN-ACK, else 0
 * @segs: packets it counts for
 */
struct zrtt_skb_cb {
	u64 enqueue_ns;
	u32 syn_tag;
	u32 segs;
};

static struct zrtt_skb_cb *zrtt_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct zrtt_skb_cb));
	return (struct zrtt_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* xorshift32 (Marsaglia 2003): spacing marks needs speed, not secrecy. */
static u32 zrtt_random(struct zrtt_sched_data *q)
{
	q->rnd ^= q->rnd << 13;
	q->rnd ^= q->rnd >> 17;
	q->rnd ^= q->rnd << 5;
	return q->rnd;
}

/* Headers: one pass finds the flow, the hint and where to mark */

/**
 * struct zrtt_headers - where things stand in a packet, from skb->data
 * @ip_off: IP header
 * @hint_off: option that carries the hint
 * @tcp_off: TCP header if the hint is a TCP option, else 0
 * @ext_off: IPv6 extension header that may hold nothing but the hint, else 0
 * @nexthdr_off: byte that announces the extension header of the hint
 * @version: 4, 6, or 0 for anything else
 * @hint_len: length of the option, 0 = no hint
 * @pppoe: a PPPoE header stands before the IP header
 * @sealed: AH may cover the header of the hint, which thus must not change
 */
struct zrtt_headers {
	u32 ip_off;
	u32 hint_off;
	u32 tcp_off;
	u32 ext_off;
	u32 nexthdr_off;
	u8 version;
	u8 hint_len;
	bool pppoe;
	bool sealed;
};

/* PPPoE session header (RFC 2516) and the PPP protocol behind it. */
struct zrtt_pppoe {
	u8 version_type;
	u8 code;
	__be16 session;
	__be16 length;
	__be16 proto;
};

/* The flow's key: addresses hash to @addr, then what tells flows apart. */
struct zrtt_key {
	u32 addr;
	u32 ports;
	u32 proto;
};

/* The first hint of a packet counts; to strip it, it must be found, too. */
static bool zrtt_wants_hint(const struct zrtt_sched_data *q,
			    const struct zrtt_headers *hdr)
{
	return !hdr->hint_len &&
	       (q->params.hint != ZRTT_HINT_IGNORE || q->params.strip);
}

/* Remember a hint found at @area_off + hint->off, or count a bad one. */
static void zrtt_take_hint(struct zrtt_sched_data *q, enum zrtt_hint_status status,
			   const struct zrtt_hint *hint, u32 area_off,
			   struct zrtt_headers *hdr, struct zrtt_arrival *pkt)
{
	if (status == ZRTT_HINT_BAD)
		q->stats.hint_bad++;
	if (status != ZRTT_HINT_OK)
		return;
	q->stats.hint_ok++;
	if (q->params.hint != ZRTT_HINT_IGNORE)
		pkt->rtt_us = zrtt_hint_to_us(hint->units);
	hdr->hint_off = area_off + hint->off;
	hdr->hint_len = hint->len;
}

static void zrtt_dissect_tcp(const struct sk_buff *skb, struct zrtt_sched_data *q,
			     u32 off, struct zrtt_headers *hdr,
			     struct zrtt_arrival *pkt)
{
	u8 area_buf[MAX_TCP_OPTION_SPACE];
	enum zrtt_hint_status status;
	const struct tcphdr *th;
	struct zrtt_hint hint;
	struct tcphdr th_buf;
	const u8 *area;
	u32 len;

	th = skb_header_pointer(skb, off, sizeof(th_buf), &th_buf);
	if (!th)
		return;
	pkt->handshake = th->syn;
	if (!zrtt_wants_hint(q, hdr) || th->doff * 4 <= sizeof(*th))
		return;

	len = th->doff * 4 - sizeof(*th);
	area = skb_header_pointer(skb, off + sizeof(*th), len, area_buf);
	status = area ? zrtt_hint_tcp(area, len, &hint) : ZRTT_HINT_BAD;
	zrtt_take_hint(q, status, &hint, off + sizeof(*th), hdr, pkt);
	if (status == ZRTT_HINT_OK)
		hdr->tcp_off = off;
}

static void zrtt_dissect_l4(const struct sk_buff *skb, struct zrtt_sched_data *q,
			    u32 off, u8 proto, struct zrtt_headers *hdr,
			    struct zrtt_arrival *pkt, struct zrtt_key *key)
{
	const __be32 *ports;
	__be32 buf;

	key->proto = proto;
	switch (proto) {
	case IPPROTO_TCP:
		zrtt_dissect_tcp(skb, q, off, hdr, pkt);
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_DCCP:
	case IPPROTO_SCTP:
	case IPPROTO_ESP:	/* the SPI tells flows apart as ports do */
		break;
	default:
		return;
	}
	ports = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (ports)
		key->ports = (__force u32)*ports;
}

static bool zrtt_dissect_ipv4(const struct sk_buff *skb, struct zrtt_sched_data *q,
			      u32 off, struct zrtt_headers *hdr,
			      struct zrtt_arrival *pkt, struct zrtt_key *key)
{
	u8 area_buf[MAX_IPOPTLEN];
	enum zrtt_hint_status status;
	const struct iphdr *iph;
	struct zrtt_hint hint;
	struct iphdr buf;
	const u8 *area;
	u32 len;

	iph = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!iph || iph->version != 4 || iph->ihl < 5)
		return false;

	hdr->ip_off = off;
	hdr->version = 4;
	hdr->sealed = iph->protocol == IPPROTO_AH;
	pkt->ect = !INET_ECN_is_not_ect(iph->tos);
	key->addr = jhash_2words((__force u32)iph->saddr,
				 (__force u32)iph->daddr, q->seed);
	key->proto = iph->protocol;

	if (iph->ihl > 5 && zrtt_wants_hint(q, hdr)) {
		len = iph->ihl * 4 - sizeof(*iph);
		area = skb_header_pointer(skb, off + sizeof(*iph), len, area_buf);
		status = area ? zrtt_hint_ipv4(area, len, READ_ONCE(ipv4_option),
					       &hint) : ZRTT_HINT_BAD;
		zrtt_take_hint(q, status, &hint, off + sizeof(*iph), hdr,
			       pkt);
	}
	/* only the first fragment has ports: keep all of them together */
	if (!(iph->frag_off & htons(IP_MF | IP_OFFSET)))
		zrtt_dissect_l4(skb, q, off + iph->ihl * 4, iph->protocol, hdr,
				pkt, key);
	return true;
}

/* A hop-by-hop or destination options header of @len bytes at @off. */
static void zrtt_dissect_ipv6_options(const struct sk_buff *skb,
				      struct zrtt_sched_data *q, u32 off, u32 len,
				      struct zrtt_headers *hdr,
				      struct zrtt_arrival *pkt)
{
	u32 area_off = off + sizeof(struct ipv6_opt_hdr);
	u32 total = len - sizeof(struct ipv6_opt_hdr);
	u32 have = min_t(u32, total, ZRTT_HINT_SCAN_BYTES);
	u8 area_buf[ZRTT_HINT_SCAN_BYTES];
	enum zrtt_hint_status status;
	struct zrtt_hint hint;
	const u8 *area;

	if (!zrtt_wants_hint(q, hdr))
		return;
	area = skb_header_pointer(skb, area_off, have, area_buf);
	status = area ? zrtt_hint_ipv6(area, have, total, &hint) : ZRTT_HINT_BAD;
	zrtt_take_hint(q, status, &hint, area_off, hdr, pkt);
	if (hdr->hint_len && len == ZRTT_IPV6_EXT_MIN)
		hdr->ext_off = off;
}

/* May AH follow, whose checksum covers all headers before it? */
static bool zrtt_ipv6_sealed(const struct sk_buff *skb, u32 off, u8 nexthdr)
{
	const struct frag_hdr *frag;
	struct frag_hdr buf;

	if (nexthdr == NEXTHDR_FRAGMENT) {
		frag = skb_header_pointer(skb, off, sizeof(buf), &buf);
		nexthdr = frag ? frag->nexthdr : NEXTHDR_AUTH;
	}
	return nexthdr != NEXTHDR_NONE && ipv6_ext_hdr(nexthdr);
}

static bool zrtt_dissect_ipv6(const struct sk_buff *skb, struct zrtt_sched_data *q,
			      u32 off, struct zrtt_headers *hdr,
			      struct zrtt_arrival *pkt, struct zrtt_key *key)
{
	const struct ipv6_opt_hdr *ext;
	const struct ipv6hdr *ip6h;
	struct ipv6_opt_hdr ext_buf;
	struct ipv6hdr buf;
	u8 nexthdr;
	u32 i, len;

	ip6h = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!ip6h || ip6h->version != 6)
		return false;

	hdr->ip_off = off;
	hdr->version = 6;
	pkt->ect = !INET_ECN_is_not_ect(ipv6_get_dsfield(ip6h));
	key->addr = jhash2((const u32 *)&ip6h->saddr, 8, q->seed);
	nexthdr = ip6h->nexthdr;
	key->proto = nexthdr;
	hdr->nexthdr_off = off + offsetof(struct ipv6hdr, nexthdr);
	off += sizeof(*ip6h);

	for (i = 0; i < ZRTT_IPV6_HEADERS_MAX; i++) {
		if (nexthdr != NEXTHDR_HOP && nexthdr != NEXTHDR_DEST &&
		    nexthdr != NEXTHDR_ROUTING)
			break;
		ext = skb_header_pointer(skb, off, sizeof(ext_buf), &ext_buf);
		if (!ext)
			break;
		len = ipv6_optlen(ext);
		if (nexthdr != NEXTHDR_ROUTING)
			zrtt_dissect_ipv6_options(skb, q, off, len, hdr, pkt);
		if (!hdr->hint_len)
			hdr->nexthdr_off = off;
		nexthdr = ext->nexthdr;
		off += len;
	}
	hdr->sealed = hdr->hint_len && zrtt_ipv6_sealed(skb, off, nexthdr);
	zrtt_dissect_l4(skb, q, off, nexthdr, hdr, pkt, key);
	return true;
}

/* Network protocol and offset of the packet behind VLAN tags and PPPoE. */
static __be16 zrtt_network(const struct sk_buff *skb, u32 *off,
			   struct zrtt_headers *hdr)
{
	struct zrtt_pppoe pppoe_buf, *pppoe;
	__be16 proto = skb->protocol;
	struct vlan_hdr vlan_buf, *vlan;
	u32 i;

	if (skb_network_offset(skb) < 0)
		return 0;

	/* a tag in the frame follows the addresses, whatever the network
	 * header points to; tags carried beside it are already out of the way
	 */
	*off = eth_type_vlan(proto) ? ETH_HLEN : skb_network_offset(skb);
	for (i = 0; i < ZRTT_VLAN_TAGS_MAX && eth_type_vlan(proto); i++) {
		vlan = skb_header_pointer(skb, *off, sizeof(vlan_buf), &vlan_buf);
		if (!vlan)
			return 0;
		proto = vlan->h_vlan_encapsulated_proto;
		*off += sizeof(*vlan);
	}
	if (proto != htons(ETH_P_PPP_SES))
		return proto;

	pppoe = skb_header_pointer(skb, *off, sizeof(pppoe_buf), &pppoe_buf);
	if (!pppoe)
		return 0;
	*off += sizeof(*pppoe);
	hdr->pppoe = true;
	if (pppoe->proto == htons(PPP_IP))
		return htons(ETH_P_IP);
	if (pppoe->proto == htons(PPP_IPV6))
		return htons(ETH_P_IPV6);
	return 0;
}

static void zrtt_dissect(struct sk_buff *skb, struct zrtt_sched_data *q,
			 struct zrtt_headers *hdr, struct zrtt_arrival *pkt)
{
	struct zrtt_key key = {};
	bool known = false;
	u32 off;

	switch (zrtt_network(skb, &off, hdr)) {
	case htons(ETH_P_IP):
		known = zrtt_dissect_ipv4(skb, q, off, hdr, pkt, &key);
		break;
	case htons(ETH_P_IPV6):
		known = zrtt_dissect_ipv6(skb, q, off, hdr, pkt, &key);
		break;
	}
	/* Our own hash, not the socket's: that one changes on retransmission.
	 * What we do not parse is left to the kernel's dissector.
	 */
	pkt->tag = known ? jhash_3words(key.addr, key.ports, key.proto, q->seed) :
			   skb_get_hash(skb);
	pkt->tag += !pkt->tag;
}

/* Changes to packets */

/* Set CE. Return: false if the packet must be dropped instead. */
static bool zrtt_mark(struct sk_buff *skb, const struct zrtt_headers *hdr)
{
	bool v4 = hdr->version == 4;
	u32 len = v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);

	if (skb_ensure_writable(skb, hdr->ip_off + len))
		return false;
	if (v4)
		return IP_ECN_set_ce((struct iphdr *)(skb->data + hdr->ip_off));
	return IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + hdr->ip_off));
}

/* Take @len bytes out at @off: what stands before them moves up. The length that
 * the qdisc layer noted stays: parents subtract what they added.
 */
static void zrtt_cut(struct sk_buff *skb, const struct zrtt_headers *hdr, u32 off,
		     u32 len)
{
	u32 end = skb_headroom(skb) + off + len;
	struct zrtt_pppoe *pppoe;

	memmove(skb->data + len, skb->data, off);
	__skb_pull(skb, len);
	skb->mac_header += len;
	skb->network_header += len;
	/* a router has it at the first extension header, a host behind the last */
	if (skb->transport_header < end)
		skb->transport_header += len;
	if (hdr->pppoe) {
		pppoe = (struct zrtt_pppoe *)(skb->data + hdr->ip_off) - 1;
		be16_add_cpu(&pppoe->length, -len);
	}
}

/* @len bytes of the IP header reach up to the end of the hint's last word. */
static void zrtt_strip_ipv4(struct sk_buff *skb, const struct zrtt_headers *hdr,
			    u32 len)
{
	struct iphdr *iph = (struct iphdr *)(skb->data + hdr->ip_off);
	__wsum before = csum_partial(iph, len, 0);

	if (ntohs(iph->tot_len) < iph->ihl * 4) {
		/* no length to mend: 0 stands for more than 64 KB */
		memset(skb->data + hdr->hint_off, IPOPT_NOP, hdr->hint_len);
	} else {
		iph->ihl -= hdr->hint_len / 4;
		be16_add_cpu(&iph->tot_len, -hdr->hint_len);
		zrtt_cut(skb, hdr, hdr->hint_off, hdr->hint_len);
		iph = (struct iphdr *)(skb->data + hdr->ip_off);
		len -= hdr->hint_len;
	}
	csum_replace_by_diff(&iph->check, csum_sub(csum_partial(iph, len, 0), before));
}

/* Are the two bytes beside the hint, in the 8 of hdr->ext_off, padding? */
static bool zrtt_ipv6_hint_alone(const struct sk_buff *skb,
				 const struct zrtt_headers *hdr)
{
	const u8 *area = skb->data + hdr->ext_off + sizeof(struct ipv6_opt_hdr);
	u32 at = skb->data + hdr->hint_off - area;
	u8 first = area[at > 0 ? 0 : ZRTT_HINT_IPV6_LEN];
	u8 second = area[at > 1 ? 1 : ZRTT_HINT_IPV6_LEN + 1];

	return (first == IPV6_TLV_PAD1 || first == IPV6_TLV_PADN) && !second;
}

static void zrtt_strip_ipv6(struct sk_buff *skb, const struct zrtt_headers *hdr)
{
	struct ipv6hdr *ip6h = (struct ipv6hdr *)(skb->data + hdr->ip_off);
	u8 *option = skb->data + hdr->hint_off;

	/* a jumbogram has a length of 0, and the real one in an option */
	if (hdr->ext_off && zrtt_ipv6_hint_alone(skb, hdr) &&
	    ntohs(ip6h->payload_len) >= ZRTT_IPV6_EXT_MIN) {
		be16_add_cpu(&ip6h->payload_len, -ZRTT_IPV6_EXT_MIN);
		skb->data[hdr->nexthdr_off] = skb->data[hdr->ext_off];
		zrtt_cut(skb, hdr, hdr->ext_off, ZRTT_IPV6_EXT_MIN);
	} else {
		memset(option, 0, hdr->hint_len);
		option[0] = IPV6_TLV_PADN;
		option[1] = hdr->hint_len - 2;
	}
}

/* No-operations do no harm in TCP, whose pseudo-header would change as well. */
static void zrtt_strip_tcp(struct sk_buff *skb, const struct zrtt_headers *hdr,
			   u32 len)
{
	struct tcphdr *th = (struct tcphdr *)(skb->data + hdr->tcp_off);
	__wsum before = csum_partial(th, len, 0);

	memset(skb->data + hdr->hint_off, TCPOPT_NOP, hdr->hint_len);
	/* a partial checksum does not cover the options yet */
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		csum_replace_by_diff(&th->check,
				     csum_sub(csum_partial(th, len, 0), before));
}

/* Remove the hint; where that cannot be done, the packet is forwarded with it. */
static void zrtt_strip(struct sk_buff *skb, struct zrtt_sched_data *q,
		       const struct zrtt_headers *hdr)
{
	/* sums run over whole words: an option may start at an odd offset */
	u32 base = hdr->tcp_off ?: hdr->ip_off;
	u32 len = ALIGN(hdr->hint_off + hdr->hint_len - base, 4);

	if (hdr->sealed || skb_ensure_writable(skb, base + len))
		return;
	if (hdr->tcp_off)
		zrtt_strip_tcp(skb, hdr, len);
	else if (hdr->version == 4)
		zrtt_strip_ipv4(skb, hdr, len);
	else
		zrtt_strip_ipv6(skb, hdr);
	q->stats.hint_stripped++;
	/* the sum of the packet as it came, of one redirected to ifb, is void */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
}

/* The queue */

static void zrtt_run_tick(struct zrtt_sched_data *q, const struct sk_buff *head,
			  u64 now_ns)
{
	u64 age_us = 0;

	if (!zrtt_tick_due(&q->params, &q->vars, now_ns))
		return;
	if (head)
		age_us = div_u64(now_ns - zrtt_cb(head)->enqueue_ns, NSEC_PER_USEC);
	zrtt_tick(&q->params, &q->vars, min_t(u64, age_us, U32_MAX), now_ns);
}

static u32 zrtt_segs(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? max_t(u32, skb_shinfo(skb)->gso_segs, 1) : 1;
}

static int zrtt_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_arrival pkt = {
		.bytes = qdisc_pkt_len(skb),
		.segs = zrtt_segs(skb),
	};
	struct zrtt_headers hdr = {};
	enum zrtt_verdict verdict;
	struct zrtt_flow *flow;

	q->stats.packets_in += pkt.segs;
	if (unlikely(q->backlog_pkts >= q->params.limit)) {
		zrtt_overflow(&q->params, &q->vars, &q->stats, now_ns);
		q->stats.drop_limit += pkt.segs;
		return qdisc_drop(skb, sch, to_free);
	}
	if (q->backlog_pkts > q->params.ctl.threshold)
		zrtt_overflow(&q->params, &q->vars, &q->stats, now_ns);

	zrtt_dissect(skb, q, &hdr, &pkt);
	pkt.mark_us = zrtt_mark_to_us(&q->params, skb->mark);
	if (!q->params.handshake)
		pkt.handshake = false;
	flow = zrtt_arrive(&q->params, &q->vars, &q->stats, &pkt, zrtt_random(q),
			   now_ns);
	verdict = zrtt_judge(&q->params, &q->vars, flow, &pkt, zrtt_random(q));
	if (verdict == ZRTT_MARK && zrtt_mark(skb, &hdr)) {
		q->stats.ecn_mark += pkt.segs;
	} else if (verdict != ZRTT_PASS) {
		q->stats.drop_mark += pkt.segs;
		return qdisc_drop(skb, sch, to_free);
	}
	if (q->params.strip && hdr.hint_len)
		zrtt_strip(skb, q, &hdr);

	zrtt_cb(skb)->enqueue_ns = now_ns;
	zrtt_cb(skb)->syn_tag = pkt.handshake ? pkt.tag : 0;
	zrtt_cb(skb)->segs = pkt.segs;
	zrtt_idle_end(&q->vars);
	q->backlog_pkts += pkt.segs;
	if (q->backlog_pkts > q->stats.maxq)
		q->stats.maxq = q->backlog_pkts;
	return qdisc_enqueue_tail(skb, sch);
}

/*
 * Queue the segments of a GSO packet one by one, so that each has its own
 * verdict and none waits behind 64 KB of its own flow. What cannot be split
 * is queued whole.
 */
static int zrtt_enqueue_split(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free, u64 now_ns)
{
	netdev_features_t features = netif_skb_features(skb);
	u32 whole_len = qdisc_pkt_len(skb), len = 0, queued = 0;
	struct sk_buff *segs, *next;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return zrtt_enqueue_one(skb, sch, to_free, now_ns);

	skb_list_walk_safe(segs, segs, next) {
		u32 seg_len = segs->len;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		qdisc_set_pkt_segs(segs, 1);
		if (zrtt_enqueue_one(segs, sch, to_free, now_ns) ==
		    NET_XMIT_SUCCESS) {
			queued++;
			len += seg_len;
		}
	}
	if (!queued) {
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	qdisc_tree_reduce_backlog(sch, 1 - queued, whole_len - len);
	consume_skb(skb);
	return NET_XMIT_SUCCESS;
}

static int zrtt_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *head = qdisc_peek_head(sch);
	u64 now_ns = ktime_get_ns();

	if (!head)
		zrtt_idle_go_on(&q->params, &q->vars, now_ns);
	zrtt_run_tick(q, head, now_ns);
	if (q->params.split_gso && skb_is_gso(skb))
		return zrtt_enqueue_split(skb, sch, to_free, now_ns);
	return zrtt_enqueue_one(skb, sch, to_free, now_ns);
}

/* Take the head of the queue, which is not empty. */
static struct sk_buff *zrtt_pull(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	qdisc_qstats_backlog_dec(sch, skb);
	q->backlog_pkts -= zrtt_cb(skb)->segs;
	return skb;
}

/* Drop packets that are too old, but never the last one. */
static void zrtt_drop_late(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 age_ns;
	u32 i;

	for (i = 0; i < ZRTT_LATE_BATCH && qdisc_qlen(sch) > 1; i++) {
		age_ns = now_ns - zrtt_cb(qdisc_peek_head(sch))->enqueue_ns;
		if (!zrtt_ctl_late(&q->params.ctl, age_ns, q->backlog_pkts))
			return;
		skb = zrtt_pull(sch);
		q->stats.drop_late += zrtt_cb(skb)->segs;
		qdisc_qstats_drop(sch);
		qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
		kfree_skb(skb);
	}
}

static struct sk_buff *zrtt_dequeue(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_peek_head(sch);
	struct zrtt_flow *flow, *victim;
	u64 now_ns;
	u32 epoch;

	if (!skb)
		return NULL;
	now_ns = ktime_get_ns();
	epoch = zrtt_epoch(now_ns);
	zrtt_run_tick(q, skb, now_ns);

	zrtt_drop_late(sch, now_ns);
	skb = zrtt_pull(sch);
	qdisc_bstats_update(sch, skb);
	if (q->dq_epoch != epoch) {
		q->dq_rate = q->dq_bytes;
		q->dq_bytes = 0;
		q->dq_epoch = epoch;
	}
	q->dq_bytes += qdisc_pkt_len(skb);

	if (zrtt_cb(skb)->syn_tag) {
		flow = zrtt_flow_find(&q->vars.table, zrtt_cb(skb)->syn_tag,
				      epoch, &victim);
		if (flow)
			zrtt_flow_syn_left(flow, zrtt_us(now_ns));
	}
	if (!qdisc_qlen(sch))
		zrtt_idle_begin(&q->params, &q->vars, &q->stats, now_ns);
	return skb;
}

/* Set-up and netlink */

/* A table too large is an error to report, not a reason to kill a process. */
static struct zrtt_flow *zrtt_alloc_flows(u32 flows)
{
	return kvcalloc(flows, sizeof(struct zrtt_flow),
			GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

#define ZRTT_RANGE(name, lo, hi)						\
	static struct netlink_range_validation zrtt_range_##name = {		\
		.min = (lo), .max = (hi),					\
	}

ZRTT_RANGE(mode, 0, __TC_ZRTT_MODE_MAX - 1);
ZRTT_RANGE(limit, TC_ZRTT_LIMIT_MIN, TC_ZRTT_LIMIT_MAX);
ZRTT_RANGE(controller, 0, __TC_ZRTT_CTL_MAX - 1);
ZRTT_RANGE(target, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX);
ZRTT_RANGE(tupdate, TC_ZRTT_TUPDATE_MIN, TC_ZRTT_TUPDATE_MAX);
ZRTT_RANGE(threshold, TC_ZRTT_THRESHOLD_MIN, TC_ZRTT_THRESHOLD_MAX);
ZRTT_RANGE(freeze, TC_ZRTT_FREEZE_MIN, TC_ZRTT_FREEZE_MAX);
ZRTT_RANGE(step, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX);
ZRTT_RANGE(alpha_law, 0, __TC_ZRTT_ALPHA_MAX - 1);
ZRTT_RANGE(alpha, 0, TC_ZRTT_ALPHA_LIMIT);
ZRTT_RANGE(pth, TC_ZRTT_PTH_MIN, TC_ZRTT_PTH_MAX);
ZRTT_RANGE(feedback, 0, TC_ZRTT_FEEDBACK_MAX);
ZRTT_RANGE(probability, 0, TC_ZRTT_P_ONE);
ZRTT_RANGE(flows, TC_ZRTT_FLOWS_MIN, TC_ZRTT_FLOWS_MAX);
ZRTT_RANGE(hint, 0, __TC_ZRTT_HINT_MAX - 1);

#define ZRTT_U32(name)	NLA_POLICY_FULL_RANGE(NLA_U32, &zrtt_range_##name)
#define ZRTT_FLAG	NLA_POLICY_MAX(NLA_U8, 1)

static const struct nla_policy zrtt_policy[TCA_ZRTT_MAX + 1] = {
	[TCA_ZRTT_MODE]		= ZRTT_U32(mode),
	[TCA_ZRTT_LIMIT]	= ZRTT_U32(limit),
	[TCA_ZRTT_CONTROLLER]	= ZRTT_U32(controller),
	[TCA_ZRTT_TARGET]	= ZRTT_U32(target),
	[TCA_ZRTT_TUPDATE]	= ZRTT_U32(tupdate),
	[TCA_ZRTT_THRESHOLD]	= ZRTT_U32(threshold),
	[TCA_ZRTT_FREEZE]	= ZRTT_U32(freeze),
	[TCA_ZRTT_INCREMENT]	= ZRTT_U32(step),
	[TCA_ZRTT_DECREMENT]	= ZRTT_U32(step),
	[TCA_ZRTT_ALPHA_LAW]	= ZRTT_U32(alpha_law),
	[TCA_ZRTT_ALPHA]	= ZRTT_U32(alpha),
	[TCA_ZRTT_ALPHA_MAX]	= ZRTT_U32(alpha),
	[TCA_ZRTT_PTH]		= ZRTT_U32(pth),
	[TCA_ZRTT_FEEDBACK]	= ZRTT_U32(feedback),
	[TCA_ZRTT_MARK_MAX]	= ZRTT_U32(probability),
	[TCA_ZRTT_FLOWS]	= ZRTT_U32(flows),
	[TCA_ZRTT_HINT]		= ZRTT_U32(hint),
	[TCA_ZRTT_STRIP]	= ZRTT_FLAG,
	[TCA_ZRTT_HANDSHAKE]	= ZRTT_FLAG,
	[TCA_ZRTT_ECN]		= ZRTT_FLAG,
	[TCA_ZRTT_SPLIT_GSO]	= ZRTT_FLAG,
	[TCA_ZRTT_MARK_RTT]	= { .type = NLA_U32 },
};

/* What to tell the user whose value the policy refused. */
static const char * const zrtt_refusals[TCA_ZRTT_MAX + 1] = {
	[TCA_ZRTT_MODE]		= "sch_zrtt: mode must be zrtt, paper, mrtt, prto or blue",
	[TCA_ZRTT_LIMIT]	= "sch_zrtt: limit must be 1 to 1000000 packets",
	[TCA_ZRTT_CONTROLLER]	= "sch_zrtt: controller must be blue, pblue or pi2",
	[TCA_ZRTT_TARGET]	= "sch_zrtt: target must be 100us to 1s",
	[TCA_ZRTT_TUPDATE]	= "sch_zrtt: tupdate must be 1ms to 1s",
	[TCA_ZRTT_THRESHOLD]	= "sch_zrtt: threshold must be 1 to 1000000 packets",
	[TCA_ZRTT_FREEZE]	= "sch_zrtt: freeze must be 1ms to 10s",
	[TCA_ZRTT_INCREMENT]	= "sch_zrtt: increment must be above 0 and at most 100%",
	[TCA_ZRTT_DECREMENT]	= "sch_zrtt: decrement must be above 0 and at most 100%",
	[TCA_ZRTT_ALPHA_LAW]	= "sch_zrtt: alpha must be capped, auto, paper or 0 to 4",
	[TCA_ZRTT_ALPHA]	= "sch_zrtt: alpha must be capped, auto, paper or 0 to 4",
	[TCA_ZRTT_ALPHA_MAX]	= "sch_zrtt: alpha_max must be 0 to 4",
	[TCA_ZRTT_PTH]		= "sch_zrtt: pth must be 0.01% to 100%",
	[TCA_ZRTT_FEEDBACK]	= "sch_zrtt: feedback must be 0 to 3",
	[TCA_ZRTT_MARK_MAX]	= "sch_zrtt: mark_max must be 0% to 100%",
	[TCA_ZRTT_FLOWS]	= "sch_zrtt: flows must be a power of two, 64 to 4194304",
	[TCA_ZRTT_HINT]		= "sch_zrtt: hint must be clamp, trust or ignore",
	[TCA_ZRTT_STRIP]	= "sch_zrtt: strip must be 0 or 1",
	[TCA_ZRTT_HANDSHAKE]	= "sch_zrtt: handshake must be 0 or 1",
	[TCA_ZRTT_ECN]		= "sch_zrtt: ecn must be 0 or 1",
	[TCA_ZRTT_SPLIT_GSO]	= "sch_zrtt: split_gso must be 0 or 1",
	[TCA_ZRTT_MARK_RTT]	= "sch_zrtt: mark_rtt must be 0 to 16 adjacent bits",
};

static void zrtt_explain(struct netlink_ext_ack *extack, u32 attr)
{
	if (extack && attr <= TCA_ZRTT_MAX && zrtt_refusals[attr])
		extack->_msg = zrtt_refusals[attr];
}

static void zrtt_get_u32(struct nlattr **tb, u32 attr, u32 *value)
{
	if (tb[attr])
		*value = nla_get_u32(tb[attr]);
}

static void zrtt_get_flag(struct nlattr **tb, u32 attr, bool *value)
{
	if (tb[attr])
		*value = nla_get_u8(tb[attr]);
}

/* The parameters that @opt asks for, on top of what is in @params. */
static int zrtt_parse(struct zrtt_params *params, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ZRTT_MAX + 1];
	int err;

	err = nla_parse(tb, TCA_ZRTT_MAX, nla_data(opt), nla_len(opt),
			zrtt_policy, extack);
	if (err) {
		if (extack && extack->bad_attr)
			zrtt_explain(extack, nla_type(extack->bad_attr));
		return err;
	}

	if (tb[TCA_ZRTT_MODE])
		zrtt_params_preset(params, nla_get_u32(tb[TCA_ZRTT_MODE]));
	zrtt_get_u32(tb, TCA_ZRTT_LIMIT, &params->limit);
	zrtt_get_u32(tb, TCA_ZRTT_CONTROLLER, &params->ctl.kind);
	zrtt_get_u32(tb, TCA_ZRTT_TARGET, &params->ctl.target_us);
	zrtt_get_u32(tb, TCA_ZRTT_TUPDATE, &params->ctl.tupdate_us);
	zrtt_get_u32(tb, TCA_ZRTT_THRESHOLD, &params->ctl.threshold);
	zrtt_get_u32(tb, TCA_ZRTT_FREEZE, &params->ctl.freeze_us);
	zrtt_get_u32(tb, TCA_ZRTT_INCREMENT, &params->ctl.increment_q30);
	zrtt_get_u32(tb, TCA_ZRTT_DECREMENT, &params->ctl.decrement_q30);
	zrtt_get_u32(tb, TCA_ZRTT_ALPHA_LAW, &params->law.alpha_kind);
	zrtt_get_u32(tb, TCA_ZRTT_ALPHA, &params->law.alpha_q16);
	zrtt_get_u32(tb, TCA_ZRTT_ALPHA_MAX, &params->law.alpha_max_q16);
	zrtt_get_u32(tb, TCA_ZRTT_PTH, &params->law.pth_q30);
	zrtt_get_u32(tb, TCA_ZRTT_FEEDBACK, &params->law.feedback);
	zrtt_get_u32(tb, TCA_ZRTT_MARK_MAX, &params->law.mark_max_q30);
	zrtt_get_u32(tb, TCA_ZRTT_FLOWS, &params->flows);
	zrtt_get_u32(tb, TCA_ZRTT_HINT, &params->hint);
	zrtt_get_u32(tb, TCA_ZRTT_MARK_RTT, &params->mark_mask);
	zrtt_get_flag(tb, TCA_ZRTT_STRIP, &params->strip);
	zrtt_get_flag(tb, TCA_ZRTT_HANDSHAKE, &params->handshake);
	zrtt_get_flag(tb, TCA_ZRTT_ECN, &params->ecn);
	zrtt_get_flag(tb, TCA_ZRTT_SPLIT_GSO, &params->split_gso);

	if (!is_power_of_2(params->flows)) {
		zrtt_explain(extack, TCA_ZRTT_FLOWS);
		return -EINVAL;
	}
	if (!zrtt_mark_mask_valid(params->mark_mask)) {
		zrtt_explain(extack, TCA_ZRTT_MARK_RTT);
		return -EINVAL;
	}
	zrtt_params_derive(params);
	return 0;
}

/* Live: packets stay queued, and what was learnt is carried over. */
static int zrtt_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_params params = q->params;
	struct zrtt_flow *slots = NULL;
	struct zrtt_table table;
	int err;

	err = zrtt_parse(&params, opt, extack);
	if (err)
		return err;
	if (params.flows != q->params.flows) {
		slots = zrtt_alloc_flows(params.flows);
		if (!slots)
			return -ENOMEM;
		zrtt_table_init(&table, slots, params.flows);
	}

	sch_tree_lock(sch);
	q->params = params;
	sch->limit = params.limit;
	if (slots) {
		zrtt_table_move(&table, &q->vars.table,
				zrtt_epoch(ktime_get_ns()));
		slots = q->vars.table.slots;
		q->vars.table = table;
	}
	sch_tree_unlock(sch);
	kvfree(slots);
	return 0;
}

static int zrtt_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_flow *slots;
	int err;

	zrtt_params_init(&q->params);
	if (opt) {
		err = zrtt_parse(&q->params, opt, extack);
		if (err)
			return err;
	}
	sch->limit = q->params.limit;
	q->seed = get_random_u32();
	q->rnd = get_random_u32() | 1;
	slots = zrtt_alloc_flows(q->params.flows);
	if (!slots)
		return -ENOMEM;
	zrtt_table_init(&q->vars.table, slots, q->params.flows);
	return 0;
}

static void zrtt_reset(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_flow *slots = q->vars.table.slots;

	q->stats.purged += q->backlog_pkts;
	q->backlog_pkts = 0;
	qdisc_reset_queue(sch);
	memset(&q->vars, 0, sizeof(q->vars));
	if (!slots)
		return;
	memset(slots, 0, array_size(q->params.flows, sizeof(*slots)));
	zrtt_table_init(&q->vars.table, slots, q->params.flows);
}

/* The core calls this after a failed init, too. */
static void zrtt_destroy(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	kvfree(q->vars.table.slots);
}

static int zrtt_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_params *params = &q->params;
	const struct { u16 attr; u32 value; } words[] = {
		{ TCA_ZRTT_MODE, params->mode },
		{ TCA_ZRTT_LIMIT, params->limit },
		{ TCA_ZRTT_CONTROLLER, params->ctl.kind },
		{ TCA_ZRTT_TARGET, params->ctl.target_us },
		{ TCA_ZRTT_TUPDATE, params->ctl.tupdate_us },
		{ TCA_ZRTT_THRESHOLD, params->ctl.threshold },
		{ TCA_ZRTT_FREEZE, params->ctl.freeze_us },
		{ TCA_ZRTT_INCREMENT, params->ctl.increment_q30 },
		{ TCA_ZRTT_DECREMENT, params->ctl.decrement_q30 },
		{ TCA_ZRTT_ALPHA_LAW, params->law.alpha_kind },
		{ TCA_ZRTT_ALPHA, params->law.alpha_q16 },
		{ TCA_ZRTT_ALPHA_MAX, params->law.alpha_max_q16 },
		{ TCA_ZRTT_PTH, params->law.pth_q30 },
		{ TCA_ZRTT_FEEDBACK, params->law.feedback },
		{ TCA_ZRTT_MARK_MAX, params->law.mark_max_q30 },
		{ TCA_ZRTT_FLOWS, params->flows },
		{ TCA_ZRTT_HINT, params->hint },
		{ TCA_ZRTT_MARK_RTT, params->mark_mask },
	};
	struct nlattr *opts;
	u32 i;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (nla_put_u32(skb, words[i].attr, words[i].value))
			goto cancel;
	if (nla_put_u8(skb, TCA_ZRTT_STRIP, params->strip) ||
	    nla_put_u8(skb, TCA_ZRTT_HANDSHAKE, params->handshake) ||
	    nla_put_u8(skb, TCA_ZRTT_ECN, params->ecn) ||
	    nla_put_u8(skb, TCA_ZRTT_SPLIT_GSO, params->split_gso))
		goto cancel;
	return nla_nest_end(skb, opts);

cancel:
	nla_nest_cancel(skb, opts);
	return -EMSGSIZE;
}

static int zrtt_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_table *table = &q->vars.table;
	const struct zrtt_stats *stats = &q->stats;
	struct tc_zrtt_xstats st;
	u32 with_rtt;

	sch_tree_lock(sch);
	with_rtt = table->live - table->by_source[ZRTT_RTT_NONE];
	st = (struct tc_zrtt_xstats) {
		.packets_in = stats->packets_in,
		.ecn_mark = stats->ecn_mark,
		.drop_mark = stats->drop_mark,
		.drop_limit = stats->drop_limit,
		.purged = stats->purged,
		.hint_ok = stats->hint_ok,
		.hint_bad = stats->hint_bad,
		.hint_clamped = stats->hint_clamped,
		.hint_stripped = stats->hint_stripped,
		.idle_events = stats->idle_events,
		.overflow_events = stats->overflow_events,
		.evicted = table->evicted,
		.prob = q->vars.ctl.p_q30,
		.alpha = q->vars.law.alpha_q16,
		.delay_us = q->vars.delay_q8 >> ZRTT_DELAY_FRAC,
		.rtt_avg_us = with_rtt ? div_u64(table->sum_rtt_us, with_rtt) : 0,
		.flows = table->live,
		.flows_hinted = table->by_source[ZRTT_RTT_HINT],
		.flows_handshake = table->by_source[ZRTT_RTT_HANDSHAKE],
		.backlog_packets = q->backlog_pkts,
		.maxq = stats->maxq,
		.dq_rate = min_t(u64, q->dq_rate * NSEC_PER_SEC >> ZRTT_EPOCH_SHIFT,
				 U32_MAX),
		.drop_late = stats->drop_late,
		.flows_marked = table->by_source[ZRTT_RTT_MARK],
	};
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops zrtt_qdisc_ops __read_mostly = {
	.id		= "zrtt",
	.priv_size	= sizeof(struct zrtt_sched_data),
	.enqueue	= zrtt_enqueue,
	.dequeue	= zrtt_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= zrtt_init,
	.change		= zrtt_change,
	.reset		= zrtt_reset,
	.destroy	= zrtt_destroy,
	.dump		= zrtt_dump,
	.dump_stats	= zrtt_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("zrtt");

static int __init zrtt_module_init(void)
{
	BUILD_BUG_ON(sizeof(struct zrtt_flow) != 64);
	BUILD_BUG_ON(ZRTT_P_ONE != TC_ZRTT_P_ONE);
	BUILD_BUG_ON(ZRTT_Q16_ONE != TC_ZRTT_ALPHA_ONE);
	BUILD_BUG_ON(ZRTT_MARK_MAX != (1U << TC_ZRTT_MARK_BITS_MAX) - 1);
	BUILD_BUG_ON((int)ZRTT_MODE_BLUE != (int)TC_ZRTT_MODE_BLUE);
	BUILD_BUG_ON((int)ZRTT_CTL_PI2 != (int)TC_ZRTT_CTL_PI2);
	BUILD_BUG_ON((int)ZRTT_ALPHA_FIXED != (int)TC_ZRTT_ALPHA_FIXED);
	BUILD_BUG_ON((int)ZRTT_HINT_IGNORE != (int)TC_ZRTT_HINT_IGNORE);

	return register_qdisc(&zrtt_qdisc_ops);
}

static void __exit zrtt_module_exit(void)
{
	unregister_qdisc(&zrtt_qdisc_ops);
}

module_init(zrtt_module_init)
module_exit(zrtt_module_exit)

MODULE_DESCRIPTION("RTT-fair active queue management in a single FIFO");
MODULE_LICENSE("GPL");
