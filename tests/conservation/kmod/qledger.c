// SPDX-License-Identifier: GPL-2.0
/*
 * qledger: keeps the books of all that passes a qdisc, without asking it.
 *
 *	insmod qledger.ko dev=q0
 *	echo 10000 >/sys/module/qledger/parameters/run
 *	cat /sys/module/qledger/parameters/ledger
 *
 * Packets of many kinds pass through the root qdisc of a device, which is not up.
 * Each has a number, and GSO packets a number for each of their segments, so that
 * whatever comes out, or is handed back to be freed, is known again. At the end of a
 * run the lists of zrtt, which is the child of the root's first band, are looked through:
 * what is not there was dropped at a head. Bytes are those on the wire: a GSO packet
 * counts as many as its segments will have, as in the qdisc layer.
 *
 * What cannot be, such as a packet that comes out twice, or before one of its flow that
 * came sooner, ends the run with an error.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>

#include "../../../qdisc/sched.h"
#include "packets.h"

#define QLEDGER_SEGS_MAX	16U		/* of a GSO packet */
#define QLEDGER_ROOM		0x20000U	/* entries, one per segment; a power of two */
#define QLEDGER_NUMBERS		0x200000U	/* of segments, until they begin anew; likewise */
#define QLEDGER_FLOWS_MAX	0x1000000U	/* addresses of 10.0.0.0/8 */
#define QLEDGER_BUSY		16U		/* flows that send much, the others are sparse */

/* One packet in so many: */
#define QLEDGER_PER_BUSY	2U		/* is of one of QLEDGER_BUSY flows */
#define QLEDGER_PER_GSO		8U		/* is a GSO packet, if TCP */
#define QLEDGER_PER_SYN		16U		/* opens a connection, if TCP */
#define QLEDGER_PER_HINT	4U		/* carries a hint, if IPv4 */
#define QLEDGER_PER_EMPTY	4096U		/* is followed by all that is queued */
#define QLEDGER_PER_PAUSE	2048U		/* comes late, and with it what is queued */
#define QLEDGER_PAUSE_US	2000U

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device whose root qdisc it is");

static unsigned int flows = 100000;
module_param(flows, uint, 0444);
MODULE_PARM_DESC(flows, "number of flows, 1..2^24 (100000)");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of all that is random, not 0 (1)");

static unsigned int backlog = 100;
module_param(backlog, uint, 0644);
MODULE_PARM_DESC(backlog, "packets left in the queue, if they fit (100)");

static bool split = true;
module_param(split, bool, 0644);
MODULE_PARM_DESC(split, "the qdisc splits GSO packets (1)");

/**
 * struct qledger_entry - what is expected to come out, or be dropped, in one piece
 * @id:		of its first segment, as in the packet
 * @flow:	its flow, PACKET_KINDS of each number
 * @bytes:	on the wire
 * @number:	of its first segment, counted on
 * @segs:	segments in it
 * @queued:	it is expected
 * @seen:	it was seen in a list
 */
struct qledger_entry {
	u32	id;
	u32	flow;
	u32	bytes;
	u64	number;
	u16	segs;
	bool	queued;
	bool	seen;
};

/**
 * struct qledger_sum - a side of the books
 * @pieces:	socket buffers
 * @segs:	packets on the wire
 * @bytes:	on the wire
 */
struct qledger_sum {
	u64	pieces;
	u64	segs;
	u64	bytes;
};

static struct {
	struct qledger_sum in;		/* in the pieces that it is queued in */
	struct qledger_sum out;
	struct qledger_sum refused;	/* handed back when they came */
	struct qledger_sum room;	/* handed back when another came */
	struct qledger_sum at_head;	/* dropped there */
	struct qledger_sum queued;
	struct qledger_sum sparse;	/* of them, in the lanes of sparse flows */
	struct qledger_sum l4s;		/* and in the low-latency lane */
	u64 marked;			/* segments that came out with CE */
	struct qledger_entry *entries;
	u64 *last;			/* that came out, by flow: its number + 1 */
	u64 head;			/* number of the oldest segment that may be queued */
	u64 tail;
	u32 rnd;
} books;

/* xorshift32 (Marsaglia 2003) */
static u32 qledger_random(u32 below)
{
	books.rnd ^= books.rnd << 13;
	books.rnd ^= books.rnd >> 17;
	books.rnd ^= books.rnd << 5;
	return reciprocal_scale(books.rnd, below);
}

static bool qledger_one_in(u32 n)
{
	return !qledger_random(n);
}

static struct qledger_entry *qledger_entry(u64 number)
{
	return &books.entries[number & (QLEDGER_ROOM - 1)];
}

static void qledger_add(struct qledger_sum *sum, const struct qledger_entry *entry)
{
	sum->pieces++;
	sum->segs += entry->segs;
	sum->bytes += entry->bytes;
}

static void qledger_subtract(struct qledger_sum *sum, const struct qledger_entry *entry)
{
	sum->pieces--;
	sum->segs -= entry->segs;
	sum->bytes -= entry->bytes;
}

/* The books */

/* Write down what is to come out of a packet. */
static void qledger_expect(const struct packet *p)
{
	u32 segs = packet_segs(p), pieces = split ? segs : 1;
	u32 left = p->payload, i, payload;

	for (i = 0; i < pieces; i++) {
		struct qledger_entry *entry = qledger_entry(books.tail + i);

		payload = split ? min(left, PACKET_MSS) : left;
		left -= payload;
		*entry = (struct qledger_entry) {
			.id = p->id + i * PACKET_MSS,
			.flow = p->flow * PACKET_KINDS + p->kind,
			.number = books.tail + i,
			.segs = segs / pieces,
			.bytes = payload + segs / pieces * packet_header_bytes(p),
			.queued = true,
		};
		qledger_add(&books.in, entry);
		qledger_add(&books.queued, entry);
	}
	/* segments that are queued in one piece have no entries of their own */
	for (; i < segs; i++)
		qledger_entry(books.tail + i)->queued = false;
	books.tail += segs;
}

/* The entry of a packet that is queued, or NULL. */
static struct qledger_entry *qledger_find(const struct sk_buff *skb)
{
	struct qledger_entry *entry = qledger_entry(packet_id(skb) / PACKET_MSS);
	u32 segs = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;

	if (entry->queued && packet_id(skb) == entry->id && segs == entry->segs &&
	    qdisc_pkt_len(skb) == entry->bytes && (segs > 1 || skb->len == entry->bytes))
		return entry;
	pr_err("qledger: packet %u is not queued\n", packet_id(skb));
	return NULL;
}

/* Cross off what is not queued any more. */
static void qledger_gone(struct qledger_sum *sum, struct qledger_entry *entry)
{
	entry->queued = false;
	qledger_add(sum, entry);
	qledger_subtract(&books.queued, entry);
}

/* Cross off what was handed back when the packet came whose first segment is @first: it, or
 * packets at a head that made room for it.
 */
static int qledger_refuse(struct sk_buff *list, u64 first)
{
	struct qledger_entry *entry;

	for (; list; list = list->next) {
		entry = qledger_find(list);
		if (!entry)
			return -EBADMSG;
		qledger_gone(entry->number < first ? &books.room : &books.refused, entry);
	}
	return 0;
}

/* Look through a list. */
static int qledger_see(const struct sk_buff *skb, struct qledger_sum *sum)
{
	struct qledger_entry *entry;

	for (; skb; skb = skb->next) {
		entry = qledger_find(skb);
		if (!entry || entry->seen)
			return -EBADMSG;
		entry->seen = true;
		if (sum)
			qledger_add(sum, entry);
	}
	return 0;
}

/* Cross off what is in no list of @zrtt: it was dropped at a head. */
static int qledger_reconcile(const struct Qdisc *zrtt)
{
	const struct zrtt_sched_data *q = qdisc_priv(zrtt);
	int err = qledger_see(zrtt->q.head, NULL);
	u32 lane;

	books.sparse = (struct qledger_sum) {};
	books.l4s = (struct qledger_sum) {};
	for (lane = 0; !err && lane < ZRTT_LANE_BULK; lane++)
		err = qledger_see(q->sparse.lanes[lane].head, lane == ZRTT_LANE_L4S ?
				  &books.l4s : &books.sparse);
	if (err)
		return err;
	for (; books.head != books.tail && !qledger_entry(books.head)->seen; books.head++)
		if (qledger_entry(books.head)->queued)
			qledger_gone(&books.at_head, qledger_entry(books.head));
	for (u64 i = books.head; i != books.tail; i++) {
		struct qledger_entry *entry = qledger_entry(i);

		if (entry->queued && !entry->seen)
			qledger_gone(&books.at_head, entry);
		entry->seen = false;
	}
	return 0;
}

/* The queue */

static struct packet qledger_choose(void)
{
	struct packet p = {
		.kind = qledger_random(PACKET_KINDS),
		.flow = qledger_random(qledger_one_in(QLEDGER_PER_BUSY) ?
				       min(flows, QLEDGER_BUSY) : flows),
		.id = (books.tail & (QLEDGER_NUMBERS - 1)) * PACKET_MSS,
		.payload = qledger_random(PACKET_MSS) + 1,
		.ecn = qledger_random(INET_ECN_CE),
	};

	if (p.kind == PACKET_TCP4)
		p.hinted = qledger_one_in(QLEDGER_PER_HINT);
	if (p.kind == PACKET_TCP4 || p.kind == PACKET_TCP6) {
		p.syn = qledger_one_in(QLEDGER_PER_SYN);
		if (!p.syn && qledger_one_in(QLEDGER_PER_GSO))
			p.payload = qledger_random(QLEDGER_SEGS_MAX * PACKET_MSS) + 1;
	}
	return p;
}

static int qledger_enqueue(struct Qdisc *sch)
{
	struct sk_buff *skb, *to_free = NULL;
	struct packet p = qledger_choose();
	u64 first = books.tail;
	int err;

	if (books.tail - books.head > QLEDGER_ROOM - QLEDGER_SEGS_MAX) {
		pr_err("qledger: more is queued than there is room to write down\n");
		return -ENOSPC;
	}
	skb = packet_make(qdisc_dev(sch), &p);
	if (!skb)
		return -ENOMEM;
	qledger_expect(&p);
	spin_lock_bh(qdisc_lock(sch));
	sch->enqueue(skb, sch, &to_free);
	spin_unlock_bh(qdisc_lock(sch));
	err = qledger_refuse(to_free, first);
	kfree_skb_list(to_free);
	return err;
}

/* A packet comes out, if there is any. */
static int qledger_dequeue(struct Qdisc *sch)
{
	struct qledger_entry *entry;
	struct sk_buff *skb;

	spin_lock_bh(qdisc_lock(sch));
	skb = sch->dequeue(sch);
	spin_unlock_bh(qdisc_lock(sch));
	if (!skb && qdisc_qlen_sum(sch)) {
		pr_err("qledger: %u packets are said to be queued, but none comes out\n",
		       qdisc_qlen_sum(sch));
		return -ENODATA;
	}
	if (!skb)
		return 0;
	entry = qledger_find(skb);
	if (entry && entry->number < books.last[entry->flow]) {
		pr_err("qledger: packets of a flow changed places\n");
		entry = NULL;
	}
	if (entry) {
		books.last[entry->flow] = entry->number + 1;
		books.marked += packet_marked(skb) ? entry->segs : 0;
		qledger_gone(&books.out, entry);
	}
	consume_skb(skb);
	return entry ? 0 : -EBADMSG;
}

/* Pass packets through, so that @backlog of them stay; now and then one comes out anyway,
 * else a full queue would refuse all.
 */
static int qledger_pass(struct Qdisc *sch, u32 packets)
{
	u32 i, left;
	int err;

	for (i = 0; i < packets; i++) {
		left = qledger_one_in(QLEDGER_PER_EMPTY) ? 0 : backlog;
		if (qledger_one_in(QLEDGER_PER_PAUSE))
			fsleep(QLEDGER_PAUSE_US);
		err = qledger_enqueue(sch);
		if (!err && qledger_one_in(2))
			err = qledger_dequeue(sch);
		while (!err && qdisc_qlen_sum(sch) > left)
			err = qledger_dequeue(sch);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static int qledger_run(const char *val, const struct kernel_param *kp)
{
	struct Qdisc *sch, *zrtt;
	struct net_device *of;
	u32 packets;
	int err;

	err = kstrtou32(val, 0, &packets);
	if (err)
		return err;
	rtnl_lock();
	of = __dev_get_by_name(current->nsproxy->net_ns, dev);
	sch = of ? rtnl_dereference(of->qdisc) : NULL;
	zrtt = sch && sch->ops->cl_ops ? sch->ops->cl_ops->leaf(sch, 1) : NULL;
	err = zrtt ? qledger_pass(sch, packets) : -ENODEV;
	if (!err)
		err = qledger_reconcile(zrtt);
	rtnl_unlock();
	return err;
}

static const struct kernel_param_ops qledger_run_ops = { .set = qledger_run };
module_param_cb(run, &qledger_run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "pass so many packets through, GSO packets counted as one");

/* A line for each side: pieces, segments, bytes. */
static int qledger_get(char *buffer, const struct kernel_param *kp)
{
	static const struct { const char *name; const struct qledger_sum *sum; } sides[] = {
		{ "in", &books.in }, { "out", &books.out }, { "refused", &books.refused },
		{ "at_head", &books.at_head }, { "room", &books.room }, { "queued", &books.queued },
		{ "sparse", &books.sparse },
		{ "l4s", &books.l4s },
	};
	int used = sysfs_emit(buffer, "marked 0 %llu 0\n", books.marked);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sides); i++)
		used += sysfs_emit_at(buffer, used, "%s %llu %llu %llu\n", sides[i].name,
				      sides[i].sum->pieces, sides[i].sum->segs,
				      sides[i].sum->bytes);
	return used;
}

static const struct kernel_param_ops qledger_ledger_ops = { .get = qledger_get };
module_param_cb(ledger, &qledger_ledger_ops, NULL, 0444);
MODULE_PARM_DESC(ledger, "the books: pieces, segments and bytes of each side");

static void qledger_exit(void)
{
	kvfree(books.last);
	kvfree(books.entries);
}
static int __init qledger_init(void)
{
	if (!flows || flows > QLEDGER_FLOWS_MAX || !seed) {
		pr_err("qledger: flows must be 1 to %u, seed not 0\n", QLEDGER_FLOWS_MAX);
		return -EINVAL;
	}
	books.rnd = seed;
	books.entries = kvcalloc(QLEDGER_ROOM, sizeof(*books.entries), GFP_KERNEL);
	books.last = kvcalloc(flows * PACKET_KINDS, sizeof(*books.last), GFP_KERNEL);
	if (books.entries && books.last)
		return 0;
	qledger_exit();
	return -ENOMEM;
}
module_init(qledger_init);

module_exit(qledger_exit);

MODULE_DESCRIPTION("The books of what passes a qdisc");
MODULE_LICENSE("GPL");
