/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTTs that the queue measures itself: from handshakes (zrtt/handshake.h), and from the
 * TCP timestamps of both directions (zrtt/halves.h), for which the qdiscs of a network
 * namespace share a table of connections.
 */
#ifndef _ZRTT_TIMING_H
#define _ZRTT_TIMING_H

#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif
#include <net/netns/generic.h>

#include "sched.h"

#define ZRTT_CONN_LOCKS		64	/* for the sets of connections */

/**
 * struct zrtt_net - what the qdiscs of a network namespace share
 * @conns: connections timed by timestamps, ZRTT_CONNS of them; NULL without users
 * @users: qdiscs with timestamps; changed under RTNL, as @conns is
 * @seed: of the connections' hash
 * @shared: what zrtts below each mq share; RTNL
 * @locks: of the sets of @conns, taken inside the qdisc's lock
 */
struct zrtt_net {
	struct zrtt_conn *conns;
	u32 users;
	u32 seed;
	struct list_head shared;
	spinlock_t locks[ZRTT_CONN_LOCKS];
};

static unsigned int zrtt_net_id;

/*
 * A table too large is an error to report, not a reason to kill a process: the
 * pages that vmalloc() maps it with are taken whatever the flags say. Who asks for
 * it pays, and what its memory cgroup does not let in is such an error, too.
 */
static void *zrtt_alloc_table(u32 slots, size_t size)
{
	long pages = DIV_ROUND_UP_ULL((u64)slots * size, PAGE_SIZE);

	if (pages > si_mem_available())
		return NULL;
	return kvcalloc(slots, size,
			GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

/* The connections of a namespace, allocated for the first qdisc that asks for them. */
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

static int __net_init zrtt_net_init(struct net *netns)
{
	struct zrtt_net *net = net_generic(netns, zrtt_net_id);
	u32 i;

	net->seed = get_random_u32();
	INIT_LIST_HEAD(&net->shared);
	for (i = 0; i < ZRTT_CONN_LOCKS; i++)
		spin_lock_init(&net->locks[i]);
	return 0;
}

static struct pernet_operations zrtt_net_ops = {
	.init	= zrtt_net_init,
	.id	= &zrtt_net_id,
	.size	= sizeof(struct zrtt_net),
};

/* The set of a connection ... */
static struct zrtt_conn *zrtt_net_set(struct zrtt_net *net, u32 tag)
{
	return &net->conns[zrtt_conn_set(tag) * ZRTT_CONN_WAYS];
}

/* ... and its lock. */
static spinlock_t *zrtt_net_lock(struct zrtt_net *net, u32 tag)
{
	return &net->locks[zrtt_conn_set(tag) % ZRTT_CONN_LOCKS];
}

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
static void zrtt_hash_conn(const struct zrtt_dissected *seen, const struct sk_buff *skb,
			   u32 seed, struct zrtt_echo *echo)
{
	const struct zrtt_packet *p = &seen->p;
	bool v4 = p->version == 4;
	u32 len = v4 ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	const u8 *addr = seen->data + p->ip_off +
			 (v4 ? ZRTT_IPV4_ADDRESSES : ZRTT_IPV6_ADDRESSES);
	const u8 *port = seen->data + p->l4_off;
	u32 source = jhash(addr, len, seed + zrtt_hint_get16(port));
	u32 dest = jhash(addr + len, len, seed + zrtt_hint_get16(port + 2));

	if (!zrtt_hash_conntrack(skb, seed, echo)) {
		echo->way = source > dest;
		echo->tag = jhash_2words(min(source, dest), max(source, dest), seed);
	}
	echo->tag += !echo->tag;
}

/* Look up the RTT of @q->seen's connection, and note in its control block if half of
 * another measurement starts with it.
 */
static noinline void zrtt_time_connection(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	struct zrtt_skb_cb *cb = zrtt_cb(skb);
	struct zrtt_echo echo = {
		.tsval = q->seen.p.tsval,
		.tsecr = q->seen.p.tsecr,
		.ack = q->seen.p.tcp_flags & ZRTT_TCP_ACK,
	};
	spinlock_t *lock;

	zrtt_hash_conn(&q->seen, skb, q->net->seed, &echo);
	lock = zrtt_net_lock(q->net, echo.tag);
	spin_lock(lock);
	if (zrtt_conn_arrive(zrtt_net_set(q->net, echo.tag), &echo, zrtt_us(q->clock.ns),
			     zrtt_epoch(q->clock.ns), &q->seen.pkt.timed_us)) {
		cb->tag = echo.tag;
		cb->times = ZRTT_TIMES_HALF + echo.way;
	}
	spin_unlock(lock);
}

/* Sequence numbers of the packet in @q->seen, for the timing of handshakes. */
static void zrtt_note_seq(struct zrtt_sched_data *q)
{
	const struct zrtt_packet *p = &q->seen.p;

	q->seen.pkt.seq = zrtt_tcp_seq(p, q->seen.data);
	q->seen.pkt.ack = p->tcp_flags & ZRTT_TCP_ACK ? zrtt_tcp_ack(p, q->seen.data) : 0;
}

/* The packet is its flow's SYN, or may answer it. That is worth an exact clock. */
static noinline void zrtt_time_handshake(struct zrtt_sched_data *q, struct zrtt_skb_cb *cb,
					 struct zrtt_flow *flow)
{
	u8 flags = q->seen.p.tcp_flags & (ZRTT_TCP_SYN | ZRTT_TCP_ACK);

	if (cb->times == ZRTT_TIMES_HANDSHAKE)
		cb->tag = flow->tag;
	if (flow->syn != ZRTT_SYN_LEFT || flags != ZRTT_TCP_ACK)
		return;
	zrtt_note_seq(q);
	zrtt_answer(&q->params, &q->vars, flow, &q->seen.pkt, q->clock.ns,
		    ktime_get_ns());
}

/* Start the RTT measurement that the packet of @cb starts by leaving the queue. */
static noinline void zrtt_start_timing(struct zrtt_sched_data *q,
				       const struct zrtt_skb_cb *cb, u64 now_ns)
{
	struct zrtt_flow *flow;
	spinlock_t *lock;

	if (cb->times == ZRTT_TIMES_HANDSHAKE) {
		flow = zrtt_flow_lookup(&q->vars.table, cb->tag);
		if (flow)
			zrtt_syn_left(flow, zrtt_us(now_ns));
	} else if (q->net) {
		lock = zrtt_net_lock(q->net, cb->tag);
		spin_lock(lock);
		zrtt_conn_left(zrtt_net_set(q->net, cb->tag), cb->tag,
			       cb->times - ZRTT_TIMES_HALF, zrtt_us(now_ns),
			       zrtt_epoch(now_ns));
		spin_unlock(lock);
	}
}

#endif
