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
 * TCP packets, made as the stack makes them (shape=...), pass through the root qdisc
 * of a device, which is kept at a set backlog. Each call of enqueue() and of
 * dequeue() is timed on its own, under the qdisc's lock and with interrupts off;
 * making packets, choosing flows and freeing what was dropped on arrival are not.
 * The device may be down, and better is, so that nobody else sends.
 *
 * The time is that of the x86 time stamp counter: cycles of a reference clock,
 * or instructions in a machine that QEMU emulates with -icount shift=0.
 *
 * With slow=FUNCTION, more packets follow and a probe counts how many of them get
 * there. They are not timed, as the probe takes time itself.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/tcp.h>

#include <zrtt/hint.h>

#define QBENCH_BYTES		1514U		/* of a full packet, Ethernet header included */
#define QBENCH_FLOWS_MAX	0x1000000U	/* addresses of 10.0.0.0/8 */
#define QBENCH_BACKLOG_MAX	100000U
#define QBENCH_SLICES_MAX	40U		/* their lines fill a page of sysfs */
#define QBENCH_EMPTY_PAIRS	1000
#define QBENCH_CLOCK_MS		2	/* to compare the clocks */
#define QBENCH_PACE_NS		NSEC_PER_MSEC	/* shorter sleeps would take too much time */
#define QBENCH_LEAD_NS		(1200 * NSEC_PER_MSEC)	/* nine epochs of zrtt, which closes them after eight */
#define QBENCH_STALL_NS		(2 * NSEC_PER_MSEC)	/* below any AQM's target */
#define QBENCH_SENDERS		0x0a000000	/* 10.0.0.0, the flow's number is added */
#define QBENCH_RECEIVERS	0xc6120000	/* 198.18.0.0/15 (RFC 2544), so is its rest */
#define QBENCH_RECEIVERS_MAX	0x20000U
#define QBENCH_SENDERS6		0xfd000000	/* fd00:: and the flow's number */
#define QBENCH_RECEIVERS6	0x20010db8	/* 2001:db8:: (RFC 3849), so is its rest */
#define QBENCH_LABEL_BITS	20
#define QBENCH_PORT		443
#define QBENCH_VLAN		100
#define QBENCH_TIMESTAMPS	(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 | \
				 TCPOPT_TIMESTAMP << 8 | TCPOLEN_TIMESTAMP)
#define QBENCH_PROBED		10000U		/* packets that the probe sees */
#define QBENCH_RTTS		200U		/* flow 0 hints 10 ms, flow 1 11 ms ... */

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device whose root qdisc is measured");

static char *shape = "frag";
module_param(shape, charp, 0444);
MODULE_PARM_DESC(shape, "of packets: frag, linear, timestamps, ack, ack-plain, vlan, frag6, ack6 (frag)");

static char *slow = "";
module_param(slow, charp, 0444);
MODULE_PARM_DESC(slow, "function of the qdisc whose calls are counted");

static unsigned int flows = 1;
module_param(flows, uint, 0444);
MODULE_PARM_DESC(flows, "number of flows, 1..2^24 (1)");

static unsigned int receivers = QBENCH_RECEIVERS_MAX;
module_param(receivers, uint, 0444);
MODULE_PARM_DESC(receivers, "addresses that the flows go to in turn, and marks of their packets, 1..2^17 (2^17)");

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
MODULE_PARM_DESC(hint, "packets carry an RTT hint as an IPv4 option; not IPv6 (0)");

static bool hash;
module_param(hash, bool, 0444);
MODULE_PARM_DESC(hash, "packets come with a hash, as from a NIC (0)");

/* Its first line: ticks of an empty timing, ticks per ms. Then one per slice, sums:
 * packets enqueued and dequeued, ticks of both, packets with CE, packets dropped.
 * Last, if they were counted: "probed", packets, calls of the slow function.
 */
static char result[PAGE_SIZE - 2];
module_param_string(result, result, sizeof(result), 0444);
MODULE_PARM_DESC(result, "what was measured; to be read");

/**
 * struct qbench_shape - a kind of packet
 * @name:	as the user has it
 * @bytes:	of the packet; 0 = headers and nothing else, a pure ACK
 * @ipv6:	else IPv4
 * @timestamps:	the TCP header has them
 * @paged:	the payload is in a page, and only the headers are in the linear part
 * @tagged:	a VLAN tag is beside the packet
 */
struct qbench_shape {
	const char	*name;
	u32		bytes;
	bool		ipv6;
	bool		timestamps;
	bool		paged;
	bool		tagged;
};

/* Segments of a GSO packet are like "frag": skb_segment() copies the headers only. */
static const struct qbench_shape qbench_shapes[] = {
	{ .name = "frag", .bytes = QBENCH_BYTES, .timestamps = true, .paged = true },
	{ .name = "linear", .bytes = QBENCH_BYTES },
	{ .name = "timestamps", .bytes = QBENCH_BYTES, .timestamps = true },
	{ .name = "ack", .timestamps = true },
	{ .name = "ack-plain" },
	{ .name = "vlan", .bytes = QBENCH_BYTES, .timestamps = true, .paged = true,
	  .tagged = true },
	{ .name = "frag6", .bytes = QBENCH_BYTES, .ipv6 = true, .timestamps = true,
	  .paged = true },
	{ .name = "ack6", .ipv6 = true, .timestamps = true },
};

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
 * @shape:	of all packets
 * @linear:	bytes in the linear part of each
 * @page:	that all payloads are in, as segments share those of their GSO packet
 * @spare:	packets that are not queued
 * @sums:	of the present slice
 * @due_ns:	when the last packet was due
 * @rnd:	state of the random number generator, never 0
 * @strangers:	flows seen beyond those that were asked for
 */
struct qbench {
	struct net_device	*dev;
	struct Qdisc		*sch;
	const struct qbench_shape *shape;
	u32			linear;
	struct page		*page;
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

static u32 qbench_ip_bytes(const struct qbench_shape *of)
{
	if (of->ipv6)
		return sizeof(struct ipv6hdr);
	return sizeof(struct iphdr) + (hint ? ZRTT_HINT_IPV4_LEN : 0);
}

static u32 qbench_tcp_bytes(const struct qbench_shape *of)
{
	return sizeof(struct tcphdr) + (of->timestamps ? TCPOLEN_TSTAMP_ALIGNED : 0);
}

static u32 qbench_linear(const struct qbench_shape *of)
{
	if (of->bytes && !of->paged)
		return of->bytes;
	return ETH_HLEN + qbench_ip_bytes(of) + qbench_tcp_bytes(of);
}

static struct sk_buff *qbench_alloc(const struct qbench *b)
{
	struct sk_buff *skb = netdev_alloc_skb(b->dev, b->linear);
	u32 paged = b->shape->paged ? b->shape->bytes - b->linear : 0;

	if (!skb)
		return NULL;
	skb->protocol = htons(b->shape->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_put_zero(skb, b->linear);
	skb_reset_mac_header(skb);
	eth_hdr(skb)->h_proto = skb->protocol;
	skb_set_network_header(skb, ETH_HLEN);
	if (paged) {
		get_page(b->page);
		skb_add_rx_frag(skb, 0, b->page, 0, paged, paged);
	}
	if (b->shape->tagged)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), QBENCH_VLAN);
	return skb;
}

static void qbench_write_ipv4(struct sk_buff *skb, u32 flow)
{
	u32 option_len = hint ? ZRTT_HINT_IPV4_LEN : 0;
	struct iphdr *iph = ip_hdr(skb);

	*iph = (struct iphdr) {
		.version = 4,
		.ihl = (sizeof(*iph) + option_len) / 4,
		.tos = ect ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT,
		.tot_len = htons(skb->len - ETH_HLEN),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = IPPROTO_TCP,
		.saddr = htonl(QBENCH_SENDERS + flow),
		.daddr = htonl(QBENCH_RECEIVERS + flow % receivers),
	};
	if (hint)
		zrtt_hint_build_ipv4((u8 *)(iph + 1), ZRTT_HINT_IPV4_TYPE,
				     zrtt_hint_from_us((10 + flow % QBENCH_RTTS) * 1000));
	ip_send_check(iph);
}

static void qbench_write_ipv6(struct sk_buff *skb, u32 flow)
{
	struct ipv6hdr *iph = ipv6_hdr(skb);

	/* Linux labels flows */
	ip6_flow_hdr(iph, ect ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT,
		     htonl(hash_32(flow + 1, QBENCH_LABEL_BITS)));
	iph->payload_len = htons(skb->len - ETH_HLEN - sizeof(*iph));
	iph->nexthdr = IPPROTO_TCP;
	iph->hop_limit = 64;
	ipv6_addr_set(&iph->saddr, htonl(QBENCH_SENDERS6), 0, 0, htonl(flow));
	ipv6_addr_set(&iph->daddr, htonl(QBENCH_RECEIVERS6), 0, 0,
		      htonl(flow % receivers));
}

/* Headers of a packet of @flow, whatever was there before. */
static void qbench_write_headers(const struct qbench_shape *of, struct sk_buff *skb, u32 flow)
{
	struct tcphdr *th;
	__be32 *options;

	if (of->ipv6)
		qbench_write_ipv6(skb, flow);
	else
		qbench_write_ipv4(skb, flow);

	skb_set_transport_header(skb, ETH_HLEN + qbench_ip_bytes(of));
	th = tcp_hdr(skb);
	*th = (struct tcphdr) {
		.source = htons(1024 + flow % 60000),
		.dest = htons(QBENCH_PORT),
		.doff = qbench_tcp_bytes(of) / 4,
		.ack = 1,
		.window = htons(U16_MAX),
	};
	if (of->timestamps) {
		options = (__be32 *)(th + 1);
		options[0] = htonl(QBENCH_TIMESTAMPS);
		options[1] = htonl(jiffies_to_msecs(jiffies));
		options[2] = options[1];
	}
}

/* A packet of @flow as the stack hands it to a qdisc, or NULL. */
static struct sk_buff *qbench_packet(struct qbench *b, u32 flow)
{
	struct sk_buff *skb = __skb_dequeue(&b->spare);

	/* a qdisc may have pulled or removed bytes */
	if (skb && (skb_headlen(skb) != b->linear || skb->data != skb_mac_header(skb))) {
		kfree_skb(skb);
		skb = NULL;
	}
	if (!skb)
		skb = qbench_alloc(b);
	if (!skb)
		return NULL;
	memset(skb->cb, 0, sizeof(skb->cb));
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	qdisc_set_pkt_segs(skb, 1);
	skb->tstamp = 0;
	skb->mark = 1 + flow % receivers;
	qbench_write_headers(b->shape, skb, flow);
	if (hash)
		skb_set_hash(skb, hash_32(flow + 1, 32), PKT_HASH_TYPE_L4);
	else
		skb_clear_hash(skb);
	return skb;
}

static bool qbench_is_ce(const struct qbench *b, const struct sk_buff *skb)
{
	return INET_ECN_is_ce(b->shape->ipv6 ? ipv6_get_dsfield(ipv6_hdr(skb)) :
					       ip_hdr(skb)->tos);
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
	b->sums.marked += qbench_is_ce(b, skb);
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

static u32 qbench_slow_calls;

static int qbench_slow_called(struct kprobe *probe, struct pt_regs *regs)
{
	qbench_slow_calls++;
	return 0;
}

static struct kprobe qbench_probe = {
	.pre_handler = qbench_slow_called,
};

/* Count how many packets get to the slow function, and add a line to the result. */
static int qbench_count_slow(struct qbench *b)
{
	size_t used = strlen(result);
	int err;
	u32 i;

	qbench_probe.symbol_name = slow;
	err = register_kprobe(&qbench_probe);
	if (err == -EOPNOTSUPP)
		return 0;	/* a kernel without probes */
	if (err) {
		pr_err("qbench: no probe can be set at %s\n", slow);
		return err;
	}
	for (i = 0; !err && i < QBENCH_PROBED; i++)
		err = qbench_pass_next(b, qbench_random_flow(b));
	unregister_kprobe(&qbench_probe);
	scnprintf(result + used, sizeof(result) - used, "probed %u %lu\n", QBENCH_PROBED,
		  qbench_slow_calls + qbench_probe.nmissed);
	return err;
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
	if (!err && *slow)
		err = qbench_count_slow(b);
	qbench_drain(b);
	return err;
}

static const struct qbench_shape *qbench_find_shape(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(qbench_shapes); i++)
		if (!strcmp(qbench_shapes[i].name, name))
			return &qbench_shapes[i];
	return NULL;
}

static int qbench_check(const struct qbench_shape *of)
{
	if (!of) {
		pr_err("qbench: no shape %s\n", shape);
		return -EINVAL;
	}
	if (hint && of->ipv6) {
		pr_err("qbench: no hint in packets of IPv6\n");
		return -EINVAL;
	}
	if (!flows || flows > QBENCH_FLOWS_MAX) {
		pr_err("qbench: flows must be 1 to %u\n", QBENCH_FLOWS_MAX);
		return -EINVAL;
	}
	if (!receivers || receivers > QBENCH_RECEIVERS_MAX) {
		pr_err("qbench: receivers must be 1 to %u\n", QBENCH_RECEIVERS_MAX);
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
	struct qbench b = { .rnd = seed, .shape = qbench_find_shape(shape) };
	int err = qbench_check(b.shape);

	if (err)
		return err;
	b.linear = qbench_linear(b.shape);
	b.page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!b.page)
		return -ENOMEM;
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
	put_page(b.page);	/* packets that are still on their way keep it */
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
