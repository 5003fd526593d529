/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTTs that the queue measures itself: from handshakes (zrtt/handshake.h), from QUIC
 * (zrtt/spin.h), and from the TCP timestamps of both directions (zrtt/halves.h), for which
 * the qdiscs of a network namespace share a table of connections. The way over a line beyond
 * the router is timed by acknowledgments, too (zrtt/acks.h).
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
 * struct zrtt_inbox - answers to probes that passed one queue, and came to another
 * @lock: taken inside the qdisc's lock
 * @used_q8: of the rate of that queue, as in struct zrtt_line
 * @answers: since that queue looked
 */
struct zrtt_inbox {
	spinlock_t lock;
	u32 used_q8;
	struct zrtt_line_answers answers;
};

/**
 * struct zrtt_net - what the qdiscs of a network namespace share
 * @conns: connections timed by timestamps, ZRTT_CONNS of them; NULL without users
 * @users: qdiscs with timestamps; changed under RTNL, as @conns is
 * @seed: of the connections' hash
 * @askers: which of @inboxes are somebody's, a bit for each; the first is nobody's; RTNL
 * @inboxes: as many as @conns can tell apart, with it
 * @oneway: both ways of connections, each of two for a set of @conns; NULL until somebody asks
 * @shared: what zrtts below each mq share; RTNL
 * @locks: of the sets of @conns, taken inside the qdisc's lock
 */
struct zrtt_net {
	struct zrtt_conn *conns;
	u32 users;
	u32 seed;
	u32 askers;
	struct zrtt_inbox *inboxes;
	struct zrtt_oneway *oneway;
	struct list_head shared;
	spinlock_t locks[ZRTT_CONN_LOCKS];
};

static unsigned int zrtt_net_id;

static_assert(ZRTT_ASKERS == BITS_PER_TYPE(u32));

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

/* Return: whether there is enough memory. */
static bool zrtt_net_alloc(struct zrtt_net *net)
{
	u32 i;

	net->conns = zrtt_alloc_table(ZRTT_CONNS, sizeof(*net->conns));
	net->inboxes = zrtt_alloc_table(ZRTT_ASKERS, sizeof(*net->inboxes));
	if (!net->conns || !net->inboxes) {
		kvfree(net->conns);
		kvfree(net->inboxes);
		net->conns = NULL;
		net->inboxes = NULL;
		return false;
	}
	for (i = 0; i < ZRTT_ASKERS; i++)
		spin_lock_init(&net->inboxes[i].lock);
	return true;
}

/* The connections of a namespace, allocated for the first qdisc that asks for them. */
static struct zrtt_net *zrtt_net_get(struct Qdisc *sch)
{
	struct zrtt_net *net = net_generic(dev_net(qdisc_dev(sch)), zrtt_net_id);

	ASSERT_RTNL();
	if (!net->users && !zrtt_net_alloc(net))
		return NULL;
	net->users++;
	return net;
}

/* Both ways of each, for the first that wants them. Return: whether there is enough memory. */
static bool zrtt_net_alloc_oneway(struct zrtt_net *net)
{
	struct zrtt_oneway *oneway;

	ASSERT_RTNL();
	if (net->oneway)
		return true;
	oneway = zrtt_alloc_table(2 * ZRTT_CONN_SETS, sizeof(*oneway));
	/* packets of other qdiscs look at it already */
	smp_store_release(&net->oneway, oneway);
	return oneway;
}

static void zrtt_net_put(struct zrtt_net *net)
{
	ASSERT_RTNL();
	if (!net || --net->users)
		return;
	kvfree(net->conns);
	kvfree(net->inboxes);
	kvfree(net->oneway);
	net->conns = NULL;
	net->inboxes = NULL;
	net->oneway = NULL;
}

/* A number for who asks for answers; 0 if there is none left. */
static u8 zrtt_net_ask(struct zrtt_net *net)
{
	u32 asker = fls(~(net->askers | 1));

	ASSERT_RTNL();
	if (!asker--)
		return 0;
	net->askers |= BIT(asker);
	/* packets that answer an earlier asker of this number may still come */
	spin_lock_bh(&net->inboxes[asker].lock);
	net->inboxes[asker].answers.from = 0;
	spin_unlock_bh(&net->inboxes[asker].lock);
	return asker;
}

static void zrtt_net_unask(struct zrtt_net *net, u8 asker)
{
	ASSERT_RTNL();
	if (asker)
		net->askers &= ~BIT(asker);
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

/* Bytes of an address. */
static u32 zrtt_address_bytes(u32 version)
{
	return version == 4 ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

/* Addresses of a packet's hosts, the source's first, and the bytes of each. */
static const u8 *zrtt_hosts_of(const struct zrtt_dissected *seen, u32 *len)
{
	*len = zrtt_address_bytes(seen->p.version);
	return seen->data + zrtt_packet_hosts(&seen->p);
}

/* How many bytes of an address of @len say whose it is: a host may have a whole prefix of IPv6. */
static u32 zrtt_owner_bytes(u32 len)
{
	return min_t(u32, len, sizeof(u64));
}

/* One end of a connection. */
static u32 zrtt_hash_end(const void *addr, u32 len, u32 port, u32 seed)
{
	return jhash(addr, len, seed + port);
}

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
/* Where addresses are translated, both ends as they are outside: an ifb device gets packets
 * before conntrack does.
 */
static bool zrtt_hash_conntrack(const struct sk_buff *skb, u32 seed, u32 *source, u32 *dest)
{
	enum ip_conntrack_dir outside = IP_CT_DIR_ORIGINAL;
	const struct nf_conntrack_tuple *tuple;
	enum ip_conntrack_info info;
	const struct nf_conn *ct;
	u32 len;

	ct = nf_ct_get(skb, &info);
	if (!ct)
		return false;
	if (ct->status & IPS_SRC_NAT)
		outside = IP_CT_DIR_REPLY;
	tuple = &ct->tuplehash[outside].tuple;
	len = tuple->src.l3num == NFPROTO_IPV6 ? sizeof(struct in6_addr) :
						 sizeof(struct in_addr);
	*source = zrtt_hash_end(tuple->src.u3.all, len, ntohs(tuple->src.u.all), seed);
	*dest = zrtt_hash_end(tuple->dst.u3.all, len, ntohs(tuple->dst.u.all), seed);
	if (CTINFO2DIR(info) != outside)
		swap(*source, *dest);
	return true;
}
#else
static bool zrtt_hash_conntrack(const struct sk_buff *skb, u32 seed, u32 *source, u32 *dest)
{
	return false;
}
#endif

/* The connection of a TCP packet, the same for both directions. */
static void zrtt_hash_conn(const struct zrtt_dissected *seen, const struct sk_buff *skb,
			   u32 seed, struct zrtt_echo *echo)
{
	const u8 *port = seen->data + seen->p.l4_off;
	u32 source, dest, len;
	const u8 *addr;

	/* conntrack knows a tunnel, not what is in it */
	if (seen->p.inner_off || !zrtt_hash_conntrack(skb, seed, &source, &dest)) {
		addr = seen->data + zrtt_packet_addresses(&seen->p);
		len = zrtt_address_bytes(zrtt_packet_version(&seen->p));
		source = zrtt_hash_end(addr, len, zrtt_hint_get16(port), seed);
		dest = zrtt_hash_end(addr + len, len, zrtt_hint_get16(port + 2), seed);
	}
	echo->way = source > dest;
	echo->tag = jhash_2words(min(source, dest), max(source, dest), seed);
	echo->tag += !echo->tag;
}

/* Does somebody want to know of an answer, and what does it say? The lock of its set is held. If who
 * answers has a timestamp, both ways are told apart.
 */
static bool zrtt_read_answer(struct zrtt_sched_data *q, const struct zrtt_echo *echo,
			     struct zrtt_excess *excess)
{
	struct zrtt_oneway *oneway;

	if (!echo->answers || (!echo->answered && q->params.line.kind != ZRTT_LINE_AHEAD))
		return false;
	*excess = (struct zrtt_excess) { echo->answer.excess_us, echo->answer.excess_us, false };
	if (!q->seen.p.timed)
		return true;
	/* pairs with zrtt_net_alloc_oneway() */
	oneway = smp_load_acquire(&q->net->oneway);
	return oneway &&
	       zrtt_oneway_answer(&oneway[2 * zrtt_conn_set(echo->tag) + echo->way],
				  echo->tag, echo->tsval, &echo->answer, excess);
}

/* The least of all connections of two hosts is their path's. */
static void zrtt_compare_pair(struct zrtt_sched_data *q, u32 pair, const struct zrtt_echo *echo,
			      struct zrtt_excess *excess)
{
	spinlock_t *lock = zrtt_net_lock(q->net, pair);
	u32 pair_us;

	spin_lock(lock);
	pair_us = zrtt_pair_excess(zrtt_net_set(q->net, pair), pair, echo,
				   zrtt_epoch(q->clock.ns));
	spin_unlock(lock);
	zrtt_oneway_begun_late(excess, echo->answer.excess_us, pair_us);
}

/* The packet in @q->seen answers a probe: tell who wants to know. */
static void zrtt_pass_answer(struct zrtt_sched_data *q, struct zrtt_echo *echo,
			     struct zrtt_excess *excess)
{
	struct zrtt_inbox *inbox = &q->net->inboxes[echo->answered];
	u32 pair, len, other_q8 = 0;
	const u8 *addr;

	addr = zrtt_hosts_of(&q->seen, &len);
	echo->answer.host = jhash(addr, zrtt_owner_bytes(len), q->net->seed);
	pair = jhash(addr + len, len, echo->answer.host);
	pair += !pair;
	/* the first inbox is nobody's: all queues would wait for each other there */
	if (echo->answered) {
		bool both;

		/* the way back is left: a line before this queue is not used better with it */
		zrtt_compare_pair(q, pair, echo, excess);
		both = !excess->apart;
		echo->answer.excess_us = excess->there_us;
		echo->answer.other_q8 = both ? q->hidden.line.used_q8 : 0;
		spin_lock(&inbox->lock);
		zrtt_line_answer(&inbox->answers, pair, &echo->answer);
		other_q8 = both ? inbox->used_q8 : 0;
		spin_unlock(&inbox->lock);
	}
	if (q->params.line.kind == ZRTT_LINE_AHEAD) {
		echo->answer.excess_us = excess->back_us;
		echo->answer.other_q8 = other_q8;
		zrtt_line_answer(&q->hidden.answers, pair, &echo->answer);
	}
}

/* Is the packet in @q->seen spoofed in the name of a flow that is known? In other modes it is the
 * flow's, whose number would be that of the others for good.
 */
static bool zrtt_is_spoofed(const struct zrtt_sched_data *q)
{
	const struct zrtt_flow *flow = zrtt_flow_known(&q->vars.table, q->seen.pkt.tag);

	return q->params.law.tuned && flow &&
	       zrtt_flow_spoofs(flow, zrtt_tcp_seq_high(&q->seen.p, q->seen.data),
				zrtt_epoch(q->clock.ns));
}

/* Look up the RTT of a connection by its timestamps, and note in the packet's control block if
 * half of another measurement starts with it.
 */
static void zrtt_time_stamps(struct zrtt_sched_data *q, struct zrtt_skb_cb *cb,
			     struct zrtt_echo echo)
{
	struct zrtt_excess excess;
	spinlock_t *lock;
	bool told;

	echo.tsecr = q->seen.p.tsecr;
	lock = zrtt_net_lock(q->net, echo.tag);
	spin_lock(lock);
	if (zrtt_conn_arrive(zrtt_net_set(q->net, echo.tag), &echo, zrtt_us(q->clock.ns),
			     zrtt_epoch(q->clock.ns), &q->seen.pkt.timed_us)) {
		cb->tag = echo.tag;
		cb->times = ZRTT_TIMES_HALF + echo.way;
	}
	told = zrtt_read_answer(q, &echo, &excess);
	spin_unlock(lock);
	if (unlikely(told))
		zrtt_pass_answer(q, &echo, &excess);
}

/* A packet may acknowledge data that somebody asks about. */
static void zrtt_time_ack(struct zrtt_sched_data *q, struct zrtt_echo echo)
{
	struct zrtt_excess excess;
	spinlock_t *lock;
	bool told;

	echo.tag = zrtt_acks_tag(echo.tag);
	echo.tsecr = zrtt_tcp_ack(&q->seen.p, q->seen.data);
	lock = zrtt_net_lock(q->net, echo.tag);
	spin_lock(lock);
	zrtt_acks_arrive(zrtt_net_set(q->net, echo.tag), &echo, zrtt_us(q->clock.ns));
	told = zrtt_read_answer(q, &echo, &excess);
	spin_unlock(lock);
	if (told)
		zrtt_pass_answer(q, &echo, &excess);
}

/* The TCP packet in @q->seen may end the measurement of a half, or start one. */
static noinline void zrtt_time_connection(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	struct zrtt_echo echo = {
		.tsval = q->seen.p.tsval,
		.ack = q->seen.p.tcp_flags & ZRTT_TCP_ACK,
	};
	/* pairs with zrtt_net_alloc_oneway() */
	bool asked = smp_load_acquire(&q->net->oneway);

	if ((!q->seen.p.timed && !asked) || unlikely(zrtt_is_spoofed(q)))
		return;
	zrtt_hash_conn(&q->seen, skb, q->net->seed, &echo);
	if (q->seen.p.timed)
		zrtt_time_stamps(q, zrtt_cb(skb), echo);
	if (asked && echo.ack)
		zrtt_time_ack(q, echo);
}

/* Sequence numbers of the packet in @q->seen, for the timing of handshakes. */
static void zrtt_note_seq(struct zrtt_sched_data *q)
{
	const struct zrtt_packet *p = &q->seen.p;

	q->seen.pkt.seq = zrtt_tcp_seq(p, q->seen.data);
	q->seen.pkt.ack = p->tcp_flags & ZRTT_TCP_ACK ? zrtt_tcp_ack(p, q->seen.data) : 0;
}

/* UDP's header and @have bytes with it, of which @wanted are behind the header if the packet
 * has them; NULL if there is none.
 */
static const u8 *zrtt_quic_bytes(struct zrtt_sched_data *q, const struct sk_buff *skb,
				 u32 wanted, u32 *have)
{
	u32 most = min_t(u32, skb->len, ZRTT_PACKET_BYTES);
	u32 len = q->seen.data == q->head ? most : skb_headlen(skb);
	u32 off = q->seen.p.l4_off;
	const u8 *data = q->seen.data;

	if (q->seen.p.proto != ZRTT_PROTO_UDP || !off)
		return NULL;
	most = min(most, off + ZRTT_UDP_BYTES + wanted);
	if (len < most && !skb_copy_bits(skb, 0, q->head, most)) {
		data = q->head;
		len = most;
	}
	if (len <= off + ZRTT_UDP_BYTES)
		return NULL;
	*have = len - off;
	return data + off;
}

/* What a UDP packet holds, enum zrtt_quic_kind, if it has a long header. */
static enum zrtt_quic_kind zrtt_quic_look(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	u32 have;
	const u8 *udp = zrtt_quic_bytes(q, skb, ZRTT_PACKET_BYTES, &have);

	return udp ? zrtt_quic_kind(udp + ZRTT_UDP_BYTES, have - ZRTT_UDP_BYTES,
				    zrtt_udp_payload(udp)) : ZRTT_QUIC_NOTHING;
}

/* Note it, if QUIC begins with the packet. */
static void zrtt_note_quic(struct zrtt_sched_data *q, const struct sk_buff *skb)
{
	u32 have;
	const u8 *udp = zrtt_quic_bytes(q, skb, ZRTT_QUIC_VERSION_END, &have);

	if (udp && have >= ZRTT_UDP_BYTES + ZRTT_QUIC_VERSION_END &&
	    zrtt_quic_begins(udp + ZRTT_UDP_BYTES))
		q->seen.pkt.quic = zrtt_quic_look(q, skb);
}

/* A packet of a flow that is QUIC. */
static void zrtt_time_quic(struct zrtt_sched_data *q, struct sk_buff *skb,
			   struct zrtt_flow *flow)
{
	enum zrtt_quic_kind kind = ZRTT_QUIC_SHORT;
	bool shakes = zrtt_quic_shakes(flow);
	const u8 *udp;
	u32 have;

	udp = zrtt_quic_bytes(q, skb, 1, &have);
	if (!q->params.quic || !udp)
		return;
	if (shakes) {
		zrtt_cb(skb)->tag = flow->tag;
		zrtt_cb(skb)->times = ZRTT_TIMES_QUIC;
	}
	if (udp[ZRTT_UDP_BYTES] & ZRTT_QUIC_LONG)
		kind = shakes ? zrtt_quic_look(q, skb) : ZRTT_QUIC_OTHER;
	zrtt_answer_quic(&q->params, &q->vars, flow, kind,
			 udp[ZRTT_UDP_BYTES] & ZRTT_QUIC_SPIN_BIT, q->clock.ns,
			 shakes ? ktime_get_ns() : q->clock.ns);
}

/* The packet is its flow's SYN, or may answer it, which is worth an exact clock; or its flow
 * is QUIC.
 */
static noinline void zrtt_time_handshake(struct zrtt_sched_data *q, struct sk_buff *skb,
					 struct zrtt_flow *flow)
{
	u8 flags = q->seen.p.tcp_flags & (ZRTT_TCP_SYN | ZRTT_TCP_ACK);
	struct zrtt_skb_cb *cb = zrtt_cb(skb);

	if (flow->syn == ZRTT_SYN_QUIC) {
		zrtt_time_quic(q, skb, flow);
		return;
	}
	if (cb->times == ZRTT_TIMES_HANDSHAKE)
		cb->tag = flow->tag;
	if (flow->syn != ZRTT_SYN_LEFT || flags != ZRTT_TCP_ACK)
		return;
	zrtt_note_seq(q);
	zrtt_answer(&q->params, &q->vars, flow, &q->seen.pkt, q->clock.ns,
		    ktime_get_ns());
}

/* A packet that was to start a measurement by timestamps is dropped. */
static noinline void zrtt_stop_timing(struct zrtt_sched_data *q, const struct zrtt_skb_cb *cb)
{
	spinlock_t *lock;

	if (!q->net || (cb->times != ZRTT_TIMES_HALF && cb->times != ZRTT_TIMES_OTHER_HALF))
		return;
	lock = zrtt_net_lock(q->net, cb->tag);
	spin_lock(lock);
	zrtt_conn_dropped(zrtt_net_set(q->net, cb->tag), cb->tag, cb->times - ZRTT_TIMES_HALF);
	spin_unlock(lock);
}

/* Data leave for the line, and @next is the sequence number that follows them: they are timed by
 * that if it is for the first time, else by their timestamp.
 */
static void zrtt_time_data(struct zrtt_sched_data *q, const struct zrtt_dissected *seen,
			   const struct sk_buff *skb, enum zrtt_data data, u32 next, u64 now_ns)
{
	struct zrtt_echo echo = { .tsval = next, .asker = q->hidden.asker };
	struct zrtt_conn *set;
	spinlock_t *lock;
	u32 conn;

	zrtt_hash_conn(seen, skb, q->net->seed, &echo);
	conn = echo.tag;
	echo.tag = zrtt_acks_tag(conn);
	set = zrtt_net_set(q->net, echo.tag);
	lock = zrtt_net_lock(q->net, echo.tag);
	spin_lock(lock);
	if (data == ZRTT_DATA_FIRST)
		zrtt_acks_send(set, &echo, zrtt_us(now_ns), zrtt_epoch(now_ns));
	else
		zrtt_acks_give_up(set, echo.tag, echo.way);
	spin_unlock(lock);
	if (data != ZRTT_DATA_AGAIN || !seen->p.timed)
		return;
	echo.tag = conn;
	echo.tsval = seen->p.tsval;
	lock = zrtt_net_lock(q->net, conn);
	spin_lock(lock);
	zrtt_conn_again(zrtt_net_set(q->net, conn), &echo, zrtt_us(now_ns));
	spin_unlock(lock);
}

/* Start the RTT measurement that the packet of @cb starts by leaving the queue. */
static noinline void zrtt_start_timing(struct zrtt_sched_data *q,
				       const struct zrtt_skb_cb *cb, u64 now_ns)
{
	struct zrtt_flow *flow;
	spinlock_t *lock;

	if (cb->times == ZRTT_TIMES_HANDSHAKE || cb->times == ZRTT_TIMES_QUIC) {
		flow = zrtt_flow_lookup(&q->vars.table, cb->tag);
		if (flow && cb->times == ZRTT_TIMES_QUIC)
			zrtt_quic_left(flow, now_ns);
		else if (flow)
			zrtt_syn_left(flow, zrtt_us(now_ns));
	} else if (q->net) {
		lock = zrtt_net_lock(q->net, cb->tag);
		spin_lock(lock);
		zrtt_conn_left(zrtt_net_set(q->net, cb->tag), cb->tag,
			       cb->times - ZRTT_TIMES_HALF, zrtt_us(now_ns));
		spin_unlock(lock);
	}
}

#endif
