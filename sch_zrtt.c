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
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif
#include <net/netns/generic.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/tcp.h>

#include <linux/pkt_sched_zrtt.h>
#include <zrtt/hash.h>
#include <zrtt/names.h>
#include <zrtt/zrtt.h>

#define ZRTT_CONN_LOCKS		64	/* for the sets of connections */

/* Arrivals share a reading of the clock, 131 us of them at the rate of the last epoch
 * and no more than 16: 2^21 bytes per epoch are a full-sized packet in 131 us.
 */
#define ZRTT_CLOCK_SHIFT	21
#define ZRTT_CLOCK_MAX		15

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
 * struct zrtt_net - what the qdiscs of a network namespace share
 * @conns: connections timed by timestamps, ZRTT_CONNS of them; NULL without users
 * @users: qdiscs with timestamps; changed under RTNL, as @conns is
 * @seed: of the connections' hash
 * @locks: of the sets of @conns, taken inside the qdisc's lock
 */
struct zrtt_net {
	struct zrtt_conn *conns;
	u32 users;
	u32 seed;
	spinlock_t locks[ZRTT_CONN_LOCKS];
};

static unsigned int zrtt_net_id;

/**
 * struct zrtt_seen - what there is to know of a packet
 * @p: its headers
 * @pkt: for the algorithm
 * @echo: its timestamps and connection, if it is timed by them
 */
struct zrtt_seen {
	struct zrtt_packet p;
	struct zrtt_arrival pkt;
	struct zrtt_echo echo;
};

/**
 * struct zrtt_sched_data - private data of a qdisc
 * @params: what the user set
 * @vars: what the algorithm learnt
 * @stats: what it counted
 * @net: connections to take RTTs from, NULL = timestamps are off
 * @names: of the flows, one per slot, NULL = nobody asked for them
 * @key: of the flow hash
 * @rnd: state of the random number generator
 * @backlog_pkts: packets queued, segments of GSO packets counted
 * @now_ns: the clock as arrivals read it last
 * @now_jiffies: the jiffy in which they did
 * @now_left: arrivals that may still go by it
 * @dq_jiffies: when dequeue looked at the clock last, or not now: it is to look again
 * @dq_epoch: epoch of the last look at the clock
 * @dq_bytes: bytes dequeued before it
 * @dq_rate: bytes dequeued in the epoch before it
 * @wanted: what @params make us look for in packets
 * @names_or_strip: there is more to do than to queue a packet
 * @handshake_flag: TCP flag of the packets that begin a handshake's timing
 * @shaper: where the link behind is
 * @watchdog: wakes the device when the shaper lets a packet leave
 * @seen: the packet that is being enqueued; here, as kernels clear their stack
 * @head: copy of its first bytes if they are not in one piece
 */
struct zrtt_sched_data {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_stats stats;
	struct zrtt_net *net;
	struct zrtt_name *names;
	struct zrtt_hash_key key;
	u32 rnd;
	u32 backlog_pkts;
	u64 now_ns;
	u32 now_jiffies;
	u32 now_left;
	u32 dq_jiffies;
	u32 dq_epoch;
	u64 dq_bytes;
	u64 dq_rate;
	struct zrtt_wanted wanted;
	bool names_or_strip;
	u8 handshake_flag;
	struct zrtt_shaper shaper;
	struct qdisc_watchdog watchdog;
	struct zrtt_seen seen;
	u8 head[ZRTT_PACKET_BYTES];
};

/* What begins when a packet leaves the queue. */
enum zrtt_timing {
	ZRTT_TIMES_NOTHING,
	ZRTT_TIMES_HANDSHAKE,
	ZRTT_TIMES_HALF,		/* by timestamps, of direction 0 ... */
	ZRTT_TIMES_OTHER_HALF,		/* ... or 1 */
};

/**
 * struct zrtt_skb_cb - what a queued packet carries
 * @enqueue_ns: when it came
 * @tag: flow of a handshake, connection of half an RTT
 * @segs: packets it counts for
 * @times: enum zrtt_timing
 */
struct zrtt_skb_cb {
	u64 enqueue_ns;
	u32 tag;
	u16 segs;
	u8 times;
};

static struct zrtt_skb_cb *zrtt_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct zrtt_skb_cb));
	return (struct zrtt_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* A linear congruential generator (Knuth, Lewis): spacing marks needs speed, not
 * secrecy. Its high bits are the random ones, and the ones that are used.
 */
static u32 zrtt_random(struct zrtt_sched_data *q)
{
	q->rnd = q->rnd * 1664525 + 1013904223;
	return q->rnd;
}

/* Headers */

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
/* Where addresses are translated, directions agree on the first packet's only. */
static bool zrtt_hash_conntrack(const struct sk_buff *skb, u32 seed,
				struct zrtt_echo *echo)
{
	const struct nf_conntrack_tuple *first;
	enum ip_conntrack_info info;
	const struct nf_conn *ct;

	ct = nf_ct_get(skb, &info);
	if (!ct)
		return false;
	first = &ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple;
	echo->way = CTINFO2DIR(info);
	echo->tag = jhash2(first->src.u3.all, ARRAY_SIZE(first->src.u3.all), seed);
	echo->tag = jhash2(first->dst.u3.all, ARRAY_SIZE(first->dst.u3.all), echo->tag);
	echo->tag = jhash_2words((__force u32)first->src.u.all,
				 (__force u32)first->dst.u.all, echo->tag);
	return true;
}
#else
static bool zrtt_hash_conntrack(const struct sk_buff *skb, u32 seed,
				struct zrtt_echo *echo)
{
	return false;
}
#endif

/* The connection of a TCP packet, the same for both directions. */
static void zrtt_hash_conn(const struct zrtt_packet *p, const u8 *data,
			   const struct sk_buff *skb, u32 seed,
			   struct zrtt_echo *echo)
{
	bool v4 = p->version == 4;
	u32 len = v4 ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	const u8 *addr = data + p->ip_off +
			 (v4 ? ZRTT_IPV4_ADDRESSES : ZRTT_IPV6_ADDRESSES);
	const u8 *port = data + p->l4_off;
	u32 source = jhash(addr, len, seed + zrtt_hint_get16(port));
	u32 dest = jhash(addr + len, len, seed + zrtt_hint_get16(port + 2));

	if (!zrtt_hash_conntrack(skb, seed, echo)) {
		echo->way = source > dest;
		echo->tag = jhash_2words(min(source, dest), max(source, dest), seed);
	}
	echo->tag += !echo->tag;
	echo->tsval = p->tsval;
	echo->tsecr = p->tsecr;
	echo->ack = p->tcp_flags & ZRTT_TCP_ACK;
}

/* The first bytes of a packet; a copy of them if they are not in one piece. */
static struct zrtt_bytes zrtt_head(struct zrtt_sched_data *q,
				   const struct sk_buff *skb)
{
	struct zrtt_bytes head = { .data = skb->data, .len = skb_headlen(skb) };

	if (unlikely(head.len < skb->len && head.len < ZRTT_PACKET_BYTES)) {
		head.data = q->head;
		head.len = min_t(u32, skb->len, ZRTT_PACKET_BYTES);
		if (skb_copy_bits(skb, 0, q->head, head.len))
			head.len = 0;
	}
	return head;
}

/* Time the connection of @q->seen by timestamps, and note in @cb what begins. */
static void zrtt_time(struct zrtt_sched_data *q, struct zrtt_skb_cb *cb)
{
	const struct zrtt_echo *echo = &q->seen.echo;
	u32 set = zrtt_conn_set(echo->tag);
	struct zrtt_net *net = q->net;

	spin_lock(&net->locks[set % ZRTT_CONN_LOCKS]);
	if (zrtt_conn_arrive(&net->conns[set * ZRTT_CONN_WAYS], echo,
			     zrtt_us(q->now_ns), zrtt_epoch(q->now_ns),
			     &q->seen.pkt.timed_us)) {
		cb->tag = echo->tag;
		cb->times = ZRTT_TIMES_HALF + echo->way;
	}
	spin_unlock(&net->locks[set % ZRTT_CONN_LOCKS]);
}

/* Any packet but a plain one: fill in @q->seen.p. Return: its flow. */
static noinline u32 zrtt_dissect_any(struct zrtt_sched_data *q, struct sk_buff *skb)
{
	struct zrtt_bytes head = zrtt_head(q, skb);
	struct zrtt_packet *p = &q->seen.p;
	u16 type = ntohs(skb->protocol);
	int off = skb_network_offset(skb);

	if (unlikely(off < 0))
		type = 0;
	/* a tag in the frame follows the addresses, whatever the network
	 * header points to; tags carried beside it are already out of the way
	 */
	else if (eth_type_vlan(skb->protocol))
		off = ETH_HLEN;
	zrtt_packet_parse(p, &head, type, off, &q->wanted);
	q->stats.hint_bad += p->hint_bad;
	if (p->timed && !(p->tcp_flags & q->handshake_flag)) {
		zrtt_hash_conn(p, head.data, skb, q->net->seed, &q->seen.echo);
		zrtt_time(q, zrtt_cb(skb));
	}

	/* Our own hash. A socket's changes on retransmission, and a NIC's may be
	 * of other fields where there are options: the hint would be another
	 * flow's. What we do not parse is left to the kernel's dissector.
	 */
	return p->version ? zrtt_hash_flow(&q->key, p, head.data) :
			    skb_get_hash(skb) | ZRTT_TAG;
}

/* Fill in @q->seen, and what is timed in the packet's control block. */
static void zrtt_dissect(struct zrtt_sched_data *q, struct sk_buff *skb, u32 segs)
{
	struct zrtt_bytes head = { .data = skb->data, .len = skb_headlen(skb) };
	struct zrtt_arrival *pkt = &q->seen.pkt;
	struct zrtt_skb_cb *cb = zrtt_cb(skb);
	struct zrtt_packet *p = &q->seen.p;

	cb->times = ZRTT_TIMES_NOTHING;
	*pkt = (struct zrtt_arrival) { .bytes = qdisc_pkt_len(skb), .segs = segs };
	if (likely(zrtt_packet_plain(p, &head, ntohs(skb->protocol),
				     skb_network_offset(skb), &q->wanted)))
		pkt->tag = zrtt_hash_flow(&q->key, p, head.data);
	else
		pkt->tag = zrtt_dissect_any(q, skb);
	pkt->ect = p->ect;
	if (unlikely(p->tcp_flags & q->handshake_flag)) {
		pkt->handshake = true;
		cb->tag = pkt->tag;
		cb->times = ZRTT_TIMES_HANDSHAKE;
	}
	if (unlikely(p->hint_units)) {
		q->stats.hint_ok++;
		if (q->params.hint != ZRTT_HINT_IGNORE)
			pkt->rtt_us = zrtt_hint_to_us(p->hint_units);
	}
	if (unlikely(q->params.mark_mask))
		pkt->mark_us = zrtt_mark_to_us(&q->params, skb->mark);
}

/* Note whose flow it is, unless that is known. */
static void zrtt_note_name(struct zrtt_sched_data *q, const struct sk_buff *skb,
			   const struct zrtt_flow *flow)
{
	struct zrtt_name *name = &q->names[flow - q->vars.table.slots];

	if (name->tag != flow->tag)
		zrtt_name_set(name, flow->tag, &q->seen.p, zrtt_head(q, skb).data);
}

/* Changes to packets */

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

/* Take @len bytes out at @off: what stands before them moves up. The length that
 * the qdisc layer noted stays: parents subtract what they added.
 */
static void zrtt_cut(struct sk_buff *skb, const struct zrtt_packet *p, u32 off,
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
		zrtt_cut(skb, p, p->hint_off, p->hint_len);
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
		zrtt_cut(skb, p, p->ext_off, ZRTT_IPV6_EXT_MIN);
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

/* What few ask for. */
static noinline void zrtt_names_or_strip(struct zrtt_sched_data *q, struct sk_buff *skb,
					 const struct zrtt_flow *flow)
{
	if (q->names)
		zrtt_note_name(q, skb, flow);
	if (q->params.strip && q->seen.p.hint_units)
		zrtt_strip(skb, q, &q->seen.p);
}

/* The queue */

/* Look at the clock, and do what is done by it. */
static u64 zrtt_look_at_clock(struct Qdisc *sch)
{
	const struct sk_buff *head = qdisc_peek_head(sch);
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u64 sent = u64_stats_read(&sch->bstats.bytes);
	u64 now_ns = ktime_get_ns(), age_us = 0;
	u32 epoch = zrtt_epoch(now_ns);

	q->wanted.ipv4_option = READ_ONCE(ipv4_option);
	if (zrtt_tick_due(&q->vars, now_ns)) {
		if (head)
			age_us = div_u64(now_ns - zrtt_cb(head)->enqueue_ns,
					 NSEC_PER_USEC);
		zrtt_tick(&q->params, &q->vars, min_t(u64, age_us, U32_MAX),
			  q->backlog_pkts, now_ns);
	}
	if (q->dq_epoch != epoch) {
		q->dq_rate = sent - q->dq_bytes;
		q->dq_bytes = sent;
		q->dq_epoch = epoch;
	}
	return now_ns;
}

/* A packet leaves that something begins with. */
static noinline void zrtt_begin_timing(struct zrtt_sched_data *q,
				       const struct zrtt_skb_cb *cb, u64 now_ns)
{
	u32 set = zrtt_conn_set(cb->tag), epoch = zrtt_epoch(now_ns);
	struct zrtt_flow *flow;
	struct zrtt_net *net = q->net;

	if (cb->times == ZRTT_TIMES_HANDSHAKE) {
		flow = zrtt_flow_find(&q->vars.table, cb->tag);
		if (flow)
			zrtt_flow_syn_left(flow, zrtt_us(now_ns));
	} else if (net) {
		spin_lock(&net->locks[set % ZRTT_CONN_LOCKS]);
		zrtt_conn_left(&net->conns[set * ZRTT_CONN_WAYS], cb->tag,
			       cb->times - ZRTT_TIMES_HALF, zrtt_us(now_ns), epoch);
		spin_unlock(&net->locks[set % ZRTT_CONN_LOCKS]);
	}
}

/* An arrival needs a new reading of the clock. */
static noinline void zrtt_enqueue_clock(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	q->now_ns = zrtt_look_at_clock(sch);
	q->now_jiffies = (u32)jiffies;
	if (qdisc_qlen(sch))
		q->now_left = min_t(u64, q->dq_rate >> ZRTT_CLOCK_SHIFT,
				    ZRTT_CLOCK_MAX);
	else
		zrtt_idle_go_on(&q->params, &q->vars, q->now_ns);
}

/* Queue a packet that stands for @segs of them. */
static int zrtt_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free, u32 segs)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_skb_cb *cb = zrtt_cb(skb);
	const struct zrtt_arrival *pkt = &q->seen.pkt;
	u32 rnd = zrtt_random(q);
	enum zrtt_verdict verdict;
	struct zrtt_flow *flow;

	/* an empty queue has none left */
	if (!q->now_left || q->now_jiffies != (u32)jiffies)
		zrtt_enqueue_clock(sch);
	else
		q->now_left--;

	q->stats.packets_in += segs;
	if (unlikely(q->backlog_pkts >= q->params.limit)) {
		zrtt_overflow(&q->params, &q->vars, &q->stats, q->now_ns);
		q->stats.drop_limit += segs;
		return qdisc_drop(skb, sch, to_free);
	}
	if (q->backlog_pkts > q->params.ctl.threshold)
		zrtt_overflow(&q->params, &q->vars, &q->stats, q->now_ns);

	zrtt_dissect(q, skb, segs);
	flow = zrtt_arrive(&q->params, &q->vars, &q->stats, pkt, rnd, q->now_ns);
	verdict = zrtt_judge(&q->params, &q->vars, flow, pkt, rnd);
	if (unlikely(verdict != ZRTT_PASS)) {
		if (verdict == ZRTT_DROP || !zrtt_mark(skb, &q->seen.p)) {
			q->stats.drop_mark += segs;
			return qdisc_drop(skb, sch, to_free);
		}
		q->stats.ecn_mark += segs;
	}
	if (unlikely(q->names_or_strip))
		zrtt_names_or_strip(q, skb, flow);

	cb->enqueue_ns = q->now_ns;
	cb->segs = segs;
	zrtt_idle_end(&q->vars);
	q->backlog_pkts += segs;
	if (q->backlog_pkts > q->stats.maxq)
		q->stats.maxq = q->backlog_pkts;
	return qdisc_enqueue_tail(skb, sch);
}

/*
 * Queue the segments of a GSO packet one by one, so that each has its own
 * verdict and none waits behind 64 KB of its own flow. What cannot be split
 * is queued whole.
 */
static noinline int zrtt_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
				     struct sk_buff **to_free)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);
	netdev_features_t features = netif_skb_features(skb);
	u32 whole_len = qdisc_pkt_len(skb), len = 0, queued = 0;
	struct sk_buff *segs, *next;

	segs = q->params.split_gso ?
	       skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK) : NULL;
	if (IS_ERR_OR_NULL(segs))
		return zrtt_enqueue_one(skb, sch, to_free,
					max_t(u32, skb_shinfo(skb)->gso_segs, 1));

	skb_list_walk_safe(segs, segs, next) {
		u32 seg_len = segs->len;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		qdisc_set_pkt_segs(segs, 1);
		if (zrtt_enqueue_one(segs, sch, to_free, 1) == NET_XMIT_SUCCESS) {
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
	if (skb_is_gso(skb))
		return zrtt_enqueue_gso(skb, sch, to_free);
	return zrtt_enqueue_one(skb, sch, to_free, 1);
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

/* Drop some of the packets that are too old, but never the last one.
 *
 * Return: whether no more are.
 */
static bool zrtt_drop_late(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 age_ns;
	u32 i;

	for (i = 0; i < ZRTT_LATE_BATCH && qdisc_qlen(sch) > 1; i++) {
		age_ns = now_ns - zrtt_cb(qdisc_peek_head(sch))->enqueue_ns;
		if (!zrtt_ctl_late(&q->params.ctl, age_ns, q->backlog_pkts))
			return true;
		skb = zrtt_pull(sch);
		q->stats.drop_late += zrtt_cb(skb)->segs;
		qdisc_qstats_drop(sch);
		qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
		kfree_skb(skb);
	}
	return i < ZRTT_LATE_BATCH;
}

/* May the packet at the head leave? If not, the device asks again in time; if so, the
 * link behind is busy with it from now on.
 */
static bool zrtt_shape(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct sk_buff *skb = qdisc_peek_head(sch);
	const struct zrtt_skb_cb *cb = zrtt_cb(skb);
	u32 bytes;

	if (!zrtt_shaper_ready(&q->shaper, now_ns)) {
		qdisc_qstats_overlimit(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog, q->shaper.next_ns);
		return false;
	}
	bytes = zrtt_shaper_bytes(&q->params.shaper, qdisc_pkt_len(skb),
				  max(skb_network_offset(skb), 0), cb->segs);
	zrtt_shaper_leave(&q->params.shaper, &q->shaper, bytes, cb->enqueue_ns, now_ns);
	return true;
}

/*
 * What dequeue does by the clock, once per jiffy: arrivals read it anyway, and
 * departures need it in finer steps for the few packets that begin a timing, and for
 * each packet if they are shaped.
 *
 * Return: whether a packet may leave.
 */
static noinline bool zrtt_dequeue_clock(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u64 now_ns = zrtt_look_at_clock(sch);
	bool done = zrtt_drop_late(sch, now_ns);

	q->dq_jiffies = (u32)jiffies;
	if (!done || q->params.shaper.rate)
		q->dq_jiffies--;
	return !q->params.shaper.rate || zrtt_shape(sch, now_ns);
}

static struct sk_buff *zrtt_dequeue(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (!qdisc_qlen(sch))
		return NULL;
	if (q->dq_jiffies != (u32)jiffies && !zrtt_dequeue_clock(sch))
		return NULL;

	skb = zrtt_pull(sch);
	_bstats_update(&sch->bstats, qdisc_pkt_len(skb), zrtt_cb(skb)->segs);
	if (zrtt_cb(skb)->times)
		zrtt_begin_timing(q, zrtt_cb(skb), ktime_get_ns());
	if (!qdisc_qlen(sch)) {
		q->now_left = 0;
		zrtt_idle_begin(&q->params, &q->vars, &q->stats, ktime_get_ns());
	}
	return skb;
}

/* Set-up and netlink */

/*
 * A table too large is an error to report, not a reason to kill a process: the
 * pages that vmalloc() maps it with are taken whatever the flags say.
 */
static void *zrtt_alloc_table(u32 slots, size_t size)
{
	long pages = DIV_ROUND_UP_ULL((u64)slots * size, PAGE_SIZE);

	if (pages > si_mem_available())
		return NULL;
	return kvcalloc(slots, size,
			GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

/* The connections of a namespace, made for the first qdisc that asks for them. */
static struct zrtt_net *zrtt_net_get(struct Qdisc *sch)
{
	struct zrtt_net *net = net_generic(dev_net(qdisc_dev(sch)), zrtt_net_id);

	ASSERT_RTNL();
	if (!net->users)
		net->conns = zrtt_alloc_table(ZRTT_CONNS, sizeof(*net->conns));
	if (!net->conns)
		return NULL;
	net->users++;
	return net;
}

static void zrtt_net_put(struct zrtt_net *net)
{
	ASSERT_RTNL();
	if (!net || --net->users)
		return;
	kvfree(net->conns);
	net->conns = NULL;
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
ZRTT_RANGE(bandwidth, 0, TC_ZRTT_BANDWIDTH_MAX);
ZRTT_RANGE(mpu, 0, TC_ZRTT_MPU_MAX);
ZRTT_RANGE(atm, 0, __TC_ZRTT_ATM_MAX - 1);

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
	[TCA_ZRTT_TIMESTAMPS]	= ZRTT_FLAG,
	[TCA_ZRTT_NAMES]	= ZRTT_FLAG,
	[TCA_ZRTT_BANDWIDTH]	= NLA_POLICY_FULL_RANGE(NLA_U64, &zrtt_range_bandwidth),
	[TCA_ZRTT_OVERHEAD]	= { .type = NLA_S32 },
	[TCA_ZRTT_MPU]		= ZRTT_U32(mpu),
	[TCA_ZRTT_ATM]		= ZRTT_U32(atm),
	[TCA_ZRTT_PAD]		= { .type = NLA_REJECT },
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
	[TCA_ZRTT_TIMESTAMPS]	= "sch_zrtt: timestamps must be 0 or 1",
	[TCA_ZRTT_NAMES]	= "sch_zrtt: names must be 0 or 1",
	[TCA_ZRTT_BANDWIDTH]	= "sch_zrtt: bandwidth must be 8kbit to 1tbit, or 0",
	[TCA_ZRTT_OVERHEAD]	= "sch_zrtt: overhead must be raw or -64 to 256 bytes",
	[TCA_ZRTT_MPU]		= "sch_zrtt: mpu must be 0 to 256 bytes",
	[TCA_ZRTT_ATM]		= "sch_zrtt: atm must be none, atm or ptm",
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

/* What a policy cannot say. Return: the attribute at fault, or 0. */
static u32 zrtt_find_fault(const struct zrtt_params *params)
{
	const struct zrtt_shaper_params *shaper = &params->shaper;

	if (!is_power_of_2(params->flows))
		return TCA_ZRTT_FLOWS;
	if (!zrtt_mark_mask_valid(params->mark_mask))
		return TCA_ZRTT_MARK_RTT;
	if (shaper->rate && shaper->rate < TC_ZRTT_BANDWIDTH_MIN)
		return TCA_ZRTT_BANDWIDTH;
	if (shaper->overhead < TC_ZRTT_OVERHEAD_MIN ||
	    shaper->overhead > TC_ZRTT_OVERHEAD_MAX)
		return TCA_ZRTT_OVERHEAD;
	return 0;
}

static void zrtt_get_shaper(struct nlattr **tb, struct zrtt_shaper_params *shaper)
{
	if (tb[TCA_ZRTT_BANDWIDTH])
		shaper->rate = nla_get_u64(tb[TCA_ZRTT_BANDWIDTH]);
	if (tb[TCA_ZRTT_OVERHEAD]) {
		shaper->overhead = nla_get_s32(tb[TCA_ZRTT_OVERHEAD]);
		shaper->raw = shaper->overhead == TC_ZRTT_OVERHEAD_RAW;
		if (shaper->raw)
			shaper->overhead = 0;
	}
	zrtt_get_u32(tb, TCA_ZRTT_MPU, &shaper->mpu);
	zrtt_get_u32(tb, TCA_ZRTT_ATM, &shaper->atm);
}

/* The parameters that @opt asks for, on top of what is in @params. */
static int zrtt_parse(struct zrtt_params *params, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ZRTT_MAX + 1];
	u32 fault;
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
	zrtt_get_flag(tb, TCA_ZRTT_TIMESTAMPS, &params->timestamps);
	zrtt_get_flag(tb, TCA_ZRTT_ECN, &params->ecn);
	zrtt_get_flag(tb, TCA_ZRTT_SPLIT_GSO, &params->split_gso);
	zrtt_get_flag(tb, TCA_ZRTT_NAMES, &params->names);
	zrtt_get_shaper(tb, &params->shaper);

	fault = zrtt_find_fault(params);
	if (fault) {
		zrtt_explain(extack, fault);
		return -EINVAL;
	}
	zrtt_params_derive(params);
	return 0;
}

static void zrtt_derive_wanted(struct zrtt_sched_data *q)
{
	q->wanted.hint = q->params.hint != ZRTT_HINT_IGNORE || q->params.strip;
	q->wanted.timestamps = q->net;
	q->handshake_flag = q->params.handshake ? ZRTT_TCP_SYN : 0;
	q->names_or_strip = q->params.names || q->params.strip;
}

/* The head of the queue may leave sooner than the device was told. */
static void zrtt_change_shaper(struct zrtt_sched_data *q,
			       const struct zrtt_shaper_params *to)
{
	q->dq_jiffies = (u32)jiffies - 1;
	zrtt_shaper_change(&q->shaper, &q->params.shaper, to, ktime_get_ns());
	qdisc_watchdog_schedule_ns(&q->watchdog, q->shaper.next_ns);
}

/* Live: packets stay queued, and what was learnt is carried over. */
static int zrtt_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_params params = q->params;
	struct zrtt_name *names = NULL;
	struct zrtt_net *net = NULL;
	struct zrtt_flow *slots = NULL;
	struct zrtt_table table;
	bool resized, renamed;
	int err;

	err = zrtt_parse(&params, opt, extack);
	if (err)
		return err;
	resized = params.flows != q->params.flows;
	renamed = resized || params.names != q->params.names;
	err = -ENOMEM;
	if (params.timestamps) {
		net = zrtt_net_get(sch);
		if (!net)
			goto out;
	}
	if (resized) {
		slots = zrtt_alloc_table(params.flows, sizeof(*slots));
		if (!slots)
			goto out;
		zrtt_table_init(&table, slots, params.flows);
	}
	if (renamed && params.names) {
		names = zrtt_alloc_table(params.flows, sizeof(*names));
		if (!names)
			goto out;
	}

	sch_tree_lock(sch);
	if (params.shaper.rate != q->params.shaper.rate)
		zrtt_change_shaper(q, &params.shaper);
	swap(q->net, net);
	q->params = params;
	zrtt_derive_wanted(q);
	sch->limit = params.limit;
	if (resized) {
		zrtt_table_move(&table, &q->vars.table,
				zrtt_epoch(ktime_get_ns()));
		slots = q->vars.table.slots;
		q->vars.table = table;
	}
	if (renamed)
		swap(q->names, names);
	sch_tree_unlock(sch);
	err = 0;
out:
	zrtt_net_put(net);
	kvfree(slots);
	kvfree(names);
	return err;
}

static int zrtt_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_flow *slots;
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	zrtt_params_init(&q->params);
	if (opt) {
		err = zrtt_parse(&q->params, opt, extack);
		if (err)
			return err;
	}
	sch->limit = q->params.limit;
	get_random_bytes(&q->key, sizeof(q->key));
	zrtt_hash_init(&q->key);
	q->rnd = get_random_u32();
	slots = zrtt_alloc_table(q->params.flows, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	zrtt_table_init(&q->vars.table, slots, q->params.flows);
	if (q->params.names) {
		q->names = zrtt_alloc_table(q->params.flows, sizeof(*q->names));
		if (!q->names)
			return -ENOMEM;
	}
	if (q->params.timestamps) {
		q->net = zrtt_net_get(sch);
		if (!q->net)
			return -ENOMEM;
	}
	zrtt_derive_wanted(q);
	return 0;
}

static void zrtt_reset(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_flow *slots = q->vars.table.slots;

	q->stats.purged += q->backlog_pkts;
	q->backlog_pkts = 0;
	q->now_left = 0;
	q->shaper = (struct zrtt_shaper) {};
	qdisc_watchdog_cancel(&q->watchdog);
	qdisc_reset_queue(sch);
	memset(&q->vars, 0, sizeof(q->vars));
	if (!slots)
		return;
	memset(slots, 0, array_size(q->params.flows, sizeof(*slots)));
	zrtt_table_init(&q->vars.table, slots, q->params.flows);
	if (q->names)
		memset(q->names, 0, array_size(q->params.flows, sizeof(*q->names)));
}

/* The core calls this after a failed init, too. */
static void zrtt_destroy(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	zrtt_net_put(q->net);
	kvfree(q->names);
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
		{ TCA_ZRTT_MPU, params->shaper.mpu },
		{ TCA_ZRTT_ATM, params->shaper.atm },
	};
	s32 overhead = params->shaper.overhead;
	struct nlattr *opts;
	u32 i;

	if (params->shaper.raw)
		overhead = TC_ZRTT_OVERHEAD_RAW;
	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (nla_put_u32(skb, words[i].attr, words[i].value))
			goto cancel;
	if (nla_put_u8(skb, TCA_ZRTT_STRIP, params->strip) ||
	    nla_put_u8(skb, TCA_ZRTT_HANDSHAKE, params->handshake) ||
	    nla_put_u8(skb, TCA_ZRTT_TIMESTAMPS, params->timestamps) ||
	    nla_put_u8(skb, TCA_ZRTT_ECN, params->ecn) ||
	    nla_put_u8(skb, TCA_ZRTT_SPLIT_GSO, params->split_gso) ||
	    nla_put_u8(skb, TCA_ZRTT_NAMES, params->names) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_BANDWIDTH, params->shaper.rate,
			      TCA_ZRTT_PAD) ||
	    nla_put_s32(skb, TCA_ZRTT_OVERHEAD, overhead))
		goto cancel;
	return nla_nest_end(skb, opts);

cancel:
	nla_nest_cancel(skb, opts);
	return -EMSGSIZE;
}

/* What is reckoned per epoch, as it is shown. */
static u64 zrtt_per_second(u64 per_epoch)
{
	return per_epoch * NSEC_PER_SEC >> ZRTT_EPOCH_SHIFT;
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
		.dq_rate = min_t(u64, zrtt_per_second(q->dq_rate), U32_MAX),
		.drop_late = stats->drop_late,
		.flows_marked = table->by_source[ZRTT_RTT_MARK],
		.flows_timestamps = table->by_source[ZRTT_RTT_TIMESTAMPS],
	};
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/* Live flows as classes */

static struct zrtt_flow *zrtt_class_flow(struct Qdisc *sch, unsigned long cl)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	return &q->vars.table.slots[cl - 1];
}

static u32 zrtt_classes(struct Qdisc *sch)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	return min_t(u32, q->params.flows, TC_ZRTT_CLASSES_MAX);
}

static unsigned long zrtt_class_find(struct Qdisc *sch, u32 classid)
{
	unsigned long cl = TC_H_MIN(classid);

	return cl && cl <= zrtt_classes(sch) && zrtt_class_flow(sch, cl)->live ? cl : 0;
}

static struct Qdisc *zrtt_class_leaf(struct Qdisc *sch, unsigned long cl)
{
	return NULL;
}

/* Flows come and go meanwhile: no lock is held from one to the next. */
static void zrtt_class_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	u32 i, classes = zrtt_classes(sch);

	for (i = arg->skip; i < classes && !arg->stop; i++) {
		if (zrtt_class_flow(sch, i + 1)->live &&
		    arg->fn(sch, i + 1, arg) < 0) {
			arg->stop = 1;
			break;
		}
	}
	arg->count = i;
}

static int zrtt_class_dump_name(struct sk_buff *skb, const struct zrtt_name *name)
{
	u32 len = zrtt_name_addr_bytes(name);

	if (nla_put_u8(skb, TCA_ZRTT_FLOW_PROTOCOL, name->proto) ||
	    nla_put(skb, TCA_ZRTT_FLOW_SRC, len, name->source) ||
	    nla_put(skb, TCA_ZRTT_FLOW_DST, len, name->dest))
		return -EMSGSIZE;
	if (!name->has_ports)
		return 0;
	return nla_put(skb, TCA_ZRTT_FLOW_SPORT, 2, name->ports) ?:
	       nla_put(skb, TCA_ZRTT_FLOW_DPORT, 2, name->ports + 2);
}

static int zrtt_class_dump(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_name name = {};
	struct zrtt_flow flow;
	struct nlattr *opts;
	u64 p_q30;

	sch_tree_lock(sch);
	flow = *zrtt_class_flow(sch, cl);
	p_q30 = zrtt_probability(&q->vars, &flow);
	if (q->names && q->names[cl - 1].tag == flow.tag)
		name = q->names[cl - 1];
	sch_tree_unlock(sch);

	tcm->tcm_handle |= TC_H_MIN(cl);
	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_ZRTT_FLOW_RTT, flow.rtt_us) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_SOURCE, flow.source) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_FLOW_RATE, zrtt_per_second(flow.rate),
			      TCA_ZRTT_FLOW_PAD) ||
	    nla_put_u32(skb, TCA_ZRTT_FLOW_PROB, min_t(u64, p_q30, ZRTT_P_ONE)) ||
	    (name.version && zrtt_class_dump_name(skb, &name))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static const struct Qdisc_class_ops zrtt_class_ops = {
	.leaf	= zrtt_class_leaf,
	.find	= zrtt_class_find,
	.walk	= zrtt_class_walk,
	.dump	= zrtt_class_dump,
};

static struct Qdisc_ops zrtt_qdisc_ops __read_mostly = {
	.id		= "zrtt",
	.cl_ops		= &zrtt_class_ops,
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

static int __net_init zrtt_net_init(struct net *netns)
{
	struct zrtt_net *net = net_generic(netns, zrtt_net_id);
	u32 i;

	net->seed = get_random_u32();
	for (i = 0; i < ZRTT_CONN_LOCKS; i++)
		spin_lock_init(&net->locks[i]);
	return 0;
}

static struct pernet_operations zrtt_net_ops = {
	.init	= zrtt_net_init,
	.id	= &zrtt_net_id,
	.size	= sizeof(struct zrtt_net),
};

static int __init zrtt_module_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct zrtt_flow) != 64);
	BUILD_BUG_ON(ZRTT_P_ONE != TC_ZRTT_P_ONE);
	BUILD_BUG_ON(ZRTT_Q16_ONE != TC_ZRTT_ALPHA_ONE);
	BUILD_BUG_ON(ZRTT_MARK_MAX != (1U << TC_ZRTT_MARK_BITS_MAX) - 1);
	BUILD_BUG_ON((int)ZRTT_MODE_BLUE != (int)TC_ZRTT_MODE_BLUE);
	BUILD_BUG_ON((int)ZRTT_CTL_PI2 != (int)TC_ZRTT_CTL_PI2);
	BUILD_BUG_ON((int)ZRTT_ALPHA_FIXED != (int)TC_ZRTT_ALPHA_FIXED);
	BUILD_BUG_ON((int)ZRTT_HINT_IGNORE != (int)TC_ZRTT_HINT_IGNORE);
	BUILD_BUG_ON((int)ZRTT_ATM_PTM != (int)TC_ZRTT_ATM_PTM);
	BUILD_BUG_ON((int)ZRTT_RTT_HANDSHAKE != (int)TC_ZRTT_SOURCE_HANDSHAKE);

	err = register_pernet_subsys(&zrtt_net_ops);
	if (err)
		return err;
	err = register_qdisc(&zrtt_qdisc_ops);
	if (err)
		unregister_pernet_subsys(&zrtt_net_ops);
	return err;
}

static void __exit zrtt_module_exit(void)
{
	unregister_qdisc(&zrtt_qdisc_ops);
	unregister_pernet_subsys(&zrtt_net_ops);
}

module_init(zrtt_module_init)
module_exit(zrtt_module_exit)

MODULE_DESCRIPTION("RTT-fair active queue management in a single FIFO");
MODULE_LICENSE("GPL");
