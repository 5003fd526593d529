// SPDX-License-Identifier: GPL-2.0
/*
 * qbench: what a packet costs in a qdisc.
 *
 *	ip link add q0 type dummy
 *	tc qdisc add dev q0 root fq_codel
 *	insmod qbench.ko dev=q0 flows=10000
 *	cat /sys/module/qbench/parameters/result
 *	rmmod qbench
 *
 * Synthetic TCP packets pass through the root qdisc of a device, which is kept
 * at a set backlog. Each call of enqueue() and of dequeue() is timed on its own,
 * under the qdisc's lock and with interrupts off; making packets, choosing flows
 * and freeing what was dropped on arrival are not. The device may be down, and
 * better is, so that nobody else sends.
 *
 * The time is that of the x86 time stamp counter: cycles of a reference clock,
 * or instructions in a machine that QEMU emulates with -icount shift=0.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>

#include <zrtt/hint.h>

#define QBENCH_BYTES		1514U		/* of a packet, Ethernet header included */
#define QBENCH_FLOWS_MAX	0x1000000U	/* addresses of 10.0.0.0/8 */
#define QBENCH_BACKLOG_MAX	100000U
#define QBENCH_SLICES_MAX	40U		/* their lines fill a page of sysfs */
#define QBENCH_EMPTY_PAIRS	1000
#define QBENCH_CLOCK_MS		2	/* to compare the clocks */
#define QBENCH_PACE_NS		NSEC_PER_MSEC	/* shorter sleeps would take too much time */
#define QBENCH_LEAD_NS		(1200 * NSEC_PER_MSEC)	/* nine of zrtt's epochs: books close after eight */
#define QBENCH_STALL_NS		(2 * NSEC_PER_MSEC)	/* below any AQM's target */
#define QBENCH_SENDERS		0x0a000000	/* 10.0.0.0, the flow's number is added */
#define QBENCH_RECEIVERS	0xc6120000	/* 198.18.0.0/15 (RFC 2544), so is its rest */
#define QBENCH_RECEIVERS_MAX	0x20000U
#define QBENCH_PORT		443
#define QBENCH_RTTS		200U		/* flow 0 hints 10 ms, flow 1 11 ms ... */

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device whose root qdisc is measured");

static unsigned int flows = 1;
module_param(flows, uint, 0444);
MODULE_PARM_DESC(flows, "number of flows, 1..2^24 (1)");

static unsigned int backlog = 50;
module_param(backlog, uint, 0444);
MODULE_PARM_DESC(backlog, "packets kept in the queue, 0..100000 (50)");

static unsigned int packets = 100000;
module_param(packets, uint, 0444);
MODULE_PARM_DESC(packets, "packets timed, of random flows (100000)");

static unsigned int slices = 1;
module_param(slices, uint, 0444);
MODULE_PARM_DESC(slices, "parts of them, each with a result of its own, 1..40 (1)");

static unsigned int passes = 2;
module_param(passes, uint, 0444);
MODULE_PARM_DESC(passes, "passes over all flows before packets are timed (2)");

static unsigned int settle_ms;
module_param(settle_ms, uint, 0444);
MODULE_PARM_DESC(settle_ms, "idle time after the first pass, ms (0)");

static unsigned int gap_ns;
module_param(gap_ns, uint, 0444);
MODULE_PARM_DESC(gap_ns, "mean time between packets, ns; 0 = none to spare (0)");

static unsigned int fresh;
module_param(fresh, uint, 0444);
MODULE_PARM_DESC(fresh, "packets in 100 that are of a flow never seen before, 0..100 (0)");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the order of flows (1)");

static bool ect = true;
module_param(ect, bool, 0444);
MODULE_PARM_DESC(ect, "packets are ECT(0) (1)");

static bool hint;
module_param(hint, bool, 0444);
MODULE_PARM_DESC(hint, "packets carry an RTT hint as an IPv4 option (0)");

static bool hash;
module_param(hash, bool, 0444);
MODULE_PARM_DESC(hash, "packets come with a hash, as from a NIC (0)");

/* Its first line: ticks of an empty timing, ticks per ms. Then one per slice, sums:
 * packets enqueued and dequeued, ticks of both, packets with CE, packets dropped.
 */
static char result[PAGE_SIZE - 2];
module_param_string(result, result, sizeof(result), 0444);
MODULE_PARM_DESC(result, "what was measured; to be read");

/**
 * struct qbench_sums - what happened in a slice
 * @enqueued:		packets offered
 * @dequeued:		packets taken
 * @enqueue_ticks:	time in enqueue()
 * @dequeue_ticks:	time in dequeue()
 * @marked:		packets that left with CE
 */
struct qbench_sums {
	u32	enqueued;
	u32	dequeued;
	u64	enqueue_ticks;
	u64	dequeue_ticks;
	u32	marked;
};

/**
 * struct qbench - a run
 * @dev:	the device, kept by the RTNL
 * @sch:	its root qdisc
 * @spare:	packets that are not queued
 * @sums:	of the present slice
 * @due_ns:	when the last packet was due
 * @rnd:	state of the random number generator, never 0
 * @strangers:	flows seen beyond those that were asked for
 */
struct qbench {
	struct net_device	*dev;
	struct Qdisc		*sch;
	struct sk_buff_head	spare;
	struct qbench_sums	sums;
	u64			due_ns;
	u32			rnd;
	u32			strangers;
};

/* The fences keep the processor from moving work across. */
static __always_inline u64 qbench_ticks(void)
{
	u32 low, high;

	asm volatile("lfence\n\trdtsc\n\tlfence" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}

/* xorshift32 (Marsaglia 2003) */
static u32 qbench_random_flow(struct qbench *b)
{
	b->rnd ^= b->rnd << 13;
	b->rnd ^= b->rnd >> 17;
	b->rnd ^= b->rnd << 5;
	/* by its low bits, as the high ones choose a flow */
	if ((b->rnd & U16_MAX) * 100 < fresh << 16)
		return (flows + b->strangers++) % QBENCH_FLOWS_MAX;
	return reciprocal_scale(b->rnd, flows);
}

static struct sk_buff *qbench_alloc(const struct qbench *b)
{
	struct sk_buff *skb = netdev_alloc_skb(b->dev, QBENCH_BYTES);

	if (!skb)
		return NULL;
	skb_put_zero(skb, QBENCH_BYTES);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(ETH_P_IP);
	return skb;
}

/* Headers of a packet of @flow, whatever was there before. */
static void qbench_write_headers(struct sk_buff *skb, u32 flow)
{
	u32 option_len = hint ? ZRTT_HINT_IPV4_LEN : 0;
	struct iphdr *iph = ip_hdr(skb);
	struct tcphdr *th;

	*iph = (struct iphdr) {
		.version = 4,
		.ihl = (sizeof(*iph) + option_len) / 4,
		.tos = ect ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT,
		.tot_len = htons(QBENCH_BYTES - ETH_HLEN),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = IPPROTO_TCP,
		.saddr = htonl(QBENCH_SENDERS + flow),
		.daddr = htonl(QBENCH_RECEIVERS + flow % QBENCH_RECEIVERS_MAX),
	};
	if (hint)
		zrtt_hint_build_ipv4((u8 *)(iph + 1), ZRTT_HINT_IPV4_TYPE,
				     zrtt_hint_from_us((10 + flow % QBENCH_RTTS) * 1000));
	ip_send_check(iph);

	skb_set_transport_header(skb, ETH_HLEN + iph->ihl * 4);
	th = tcp_hdr(skb);
	*th = (struct tcphdr) {
		.source = htons(1024 + flow % 60000),
		.dest = htons(QBENCH_PORT),
		.doff = sizeof(*th) / 4,
		.ack = 1,
		.window = htons(U16_MAX),
	};
}

/* A packet of @flow as the stack hands it to a qdisc, or NULL. */
static struct sk_buff *qbench_packet(struct qbench *b, u32 flow)
{
	struct sk_buff *skb = __skb_dequeue(&b->spare) ?: qbench_alloc(b);

	if (!skb)
		return NULL;
	memset(skb->cb, 0, sizeof(skb->cb));
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	qdisc_set_pkt_segs(skb, 1);
	skb->tstamp = 0;
	qbench_write_headers(skb, flow);
	if (hash)
		skb_set_hash(skb, hash_32(flow + 1, 32), PKT_HASH_TYPE_L4);
	else
		skb_clear_hash(skb);
	return skb;
}

/* Take a packet out. Return: false if the queue gave none. */
static bool qbench_dequeue(struct qbench *b)
{
	struct Qdisc *sch = b->sch;
	struct sk_buff *skb;
	u64 begin;

	begin = qbench_ticks();
	skb = sch->dequeue(sch);
	b->sums.dequeue_ticks += qbench_ticks() - begin;
	if (!skb)
		return false;
	b->sums.dequeued++;
	b->sums.marked += INET_ECN_is_ce(ip_hdr(skb)->tos);
	__skb_queue_tail(&b->spare, skb);
	return true;
}

/* Put a packet of @flow in, and take out what exceeds the backlog. */
static int qbench_pass_one(struct qbench *b, u32 flow)
{
	struct sk_buff *skb = qbench_packet(b, flow), *to_free = NULL;
	struct Qdisc *sch = b->sch;
	unsigned long flags;
	u64 begin;

	if (!skb)
		return -ENOMEM;
	spin_lock_bh(qdisc_lock(sch));
	local_irq_save(flags);
	begin = qbench_ticks();
	sch->enqueue(skb, sch, &to_free);
	b->sums.enqueue_ticks += qbench_ticks() - begin;
	b->sums.enqueued++;
	while (qdisc_qlen_sum(sch) > backlog && qbench_dequeue(b))
		;
	local_irq_restore(flags);
	spin_unlock_bh(qdisc_lock(sch));
	kfree_skb_list(to_free);
	return 0;
}

static void qbench_drain(struct qbench *b)
{
	bool more;

	do {
		spin_lock_bh(qdisc_lock(b->sch));
		more = qbench_dequeue(b);
		spin_unlock_bh(qdisc_lock(b->sch));
		cond_resched();
	} while (more);
	__skb_queue_purge(&b->spare);
}

/*
 * Sleep until the next packet is due. Without a gap, all come at once, and one that
 * comes late tells that the machine was busy elsewhere: what was queued meanwhile
 * must go, as an AQM would take its age for congestion.
 */
static void qbench_pace(struct qbench *b)
{
	s64 early_ns;

	cond_resched();
	early_ns = b->due_ns + gap_ns - ktime_get_ns();
	if (!gap_ns && -early_ns > QBENCH_STALL_NS)
		qbench_drain(b);
	else if (early_ns > QBENCH_PACE_NS)
		fsleep(early_ns / NSEC_PER_USEC);
	b->due_ns = gap_ns ? b->due_ns + gap_ns : ktime_get_ns();
}

/* Pass a packet of @flow when it is due. */
static int qbench_pass_next(struct qbench *b, u32 flow)
{
	qbench_pace(b);
	return qbench_pass_one(b, flow);
}

/*
 * All flows in their order, with a pause in which those already known age; then
 * packets of random flows, untimed, so that all rates are those of the timed part.
 */
static int qbench_warm_up(struct qbench *b)
{
	u64 begin_ns;
	u32 pass, i;
	int err = 0;

	for (pass = 0; pass < passes; pass++) {
		b->due_ns = ktime_get_ns();
		for (i = 0; !err && i < flows; i++)
			err = qbench_pass_next(b, i);
		if (pass)
			continue;
		/* a packet that waited through the pause would look like congestion */
		qbench_drain(b);
		msleep(settle_ms);
	}
	begin_ns = ktime_get_ns();
	b->due_ns = begin_ns;
	for (i = 0; !err && (i < backlog || ktime_get_ns() - begin_ns < QBENCH_LEAD_NS); i++)
		err = qbench_pass_next(b, qbench_random_flow(b));
	return err;
}

/* Time a slice and add its line to the result. */
static int qbench_slice(struct qbench *b)
{
	u32 queued = qdisc_qlen_sum(b->sch), dropped, i;
	size_t used = strlen(result);
	int err;

	b->sums = (struct qbench_sums) {};
	for (i = 0; i < packets / slices; i++) {
		err = qbench_pass_next(b, qbench_random_flow(b));
		if (err)
			return err;
	}
	dropped = queued + b->sums.enqueued - b->sums.dequeued - qdisc_qlen_sum(b->sch);
	scnprintf(result + used, sizeof(result) - used, "%u %u %llu %llu %u %u\n",
		  b->sums.enqueued, b->sums.dequeued, b->sums.enqueue_ticks,
		  b->sums.dequeue_ticks, b->sums.marked, dropped);
	return 0;
}

/* What timing nothing takes: the least, as the others were interrupted. */
static u64 qbench_empty_ticks(void)
{
	u64 least = U64_MAX, begin;
	u32 i;

	for (i = 0; i < QBENCH_EMPTY_PAIRS; i++) {
		begin = qbench_ticks();
		least = min(least, qbench_ticks() - begin);
	}
	return least;
}

static u64 qbench_ticks_per_ms(void)
{
	u64 begin_ns = ktime_get_ns(), begin = qbench_ticks();

	mdelay(QBENCH_CLOCK_MS);
	return div64_u64((qbench_ticks() - begin) * NSEC_PER_MSEC, ktime_get_ns() - begin_ns);
}

static int qbench_run(struct qbench *b)
{
	int err;
	u32 i;

	__skb_queue_head_init(&b->spare);
	err = qbench_warm_up(b);
	for (i = 0; !err && i < slices; i++)
		err = qbench_slice(b);
	qbench_drain(b);
	return err;
}

static int qbench_check(void)
{
	if (!flows || flows > QBENCH_FLOWS_MAX) {
		pr_err("qbench: flows must be 1 to %u\n", QBENCH_FLOWS_MAX);
		return -EINVAL;
	}
	if (backlog > QBENCH_BACKLOG_MAX) {
		pr_err("qbench: backlog must be 0 to %u\n", QBENCH_BACKLOG_MAX);
		return -EINVAL;
	}
	if (!slices || slices > QBENCH_SLICES_MAX || packets < slices) {
		pr_err("qbench: slices must be 1 to %u, packets at least as many\n",
		       QBENCH_SLICES_MAX);
		return -EINVAL;
	}
	if (fresh > 100) {
		pr_err("qbench: fresh must be 0 to 100\n");
		return -EINVAL;
	}
	if (!seed) {
		pr_err("qbench: seed must not be 0\n");
		return -EINVAL;
	}
	return 0;
}

static int __init qbench_init(void)
{
	struct qbench b = { .rnd = seed };
	int err = qbench_check();

	if (err)
		return err;
	snprintf(result, sizeof(result), "%llu %llu\n", qbench_empty_ticks(),
		 qbench_ticks_per_ms());

	rtnl_lock();
	b.dev = __dev_get_by_name(current->nsproxy->net_ns, dev);
	b.sch = b.dev ? rtnl_dereference(b.dev->qdisc) : NULL;
	if (!b.dev) {
		pr_err("qbench: no device %s\n", dev);
		err = -ENODEV;
	} else if (!b.sch->enqueue) {
		pr_err("qbench: the root qdisc of %s takes no packets\n", dev);
		err = -EOPNOTSUPP;
	} else {
		err = qbench_run(&b);
	}
	rtnl_unlock();
	return err;
}
module_init(qbench_init);

/* All is done; without this it could not be unloaded. */
static void __exit qbench_exit(void)
{
}
module_exit(qbench_exit);

MODULE_DESCRIPTION("Cost of a packet in a qdisc");
MODULE_LICENSE("GPL");
