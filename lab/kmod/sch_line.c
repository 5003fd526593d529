// SPDX-License-Identifier: GPL-2.0
/*
 * sch_line: a second bottleneck with a FIFO of its own, behind its child or before it.
 *
 *	packets -> meter -> qdisc under test -> 1 Gbit/s -> FIFO -> the line
 *	packets -> FIFO -> the line -> meter -> qdisc under test -> 1 Gbit/s	(before)
 *
 * The child is drained as by a fast link, whether or not the line is busy: it does not
 * notice the line, but for what TCP makes of its delay and losses. Both are one qdisc,
 * so that the time that a packet takes through both is measured by one clock.
 *
 * The line has a rate, or follows a trace: a list of times in milliseconds, one per line
 * of a file, as mahimahi has them. At each of them a frame of 1514 bytes may leave, or
 * several smaller ones; what nobody uses is lost. The last time is also how long the trace
 * is, and it then begins anew.
 *
 * The child must be a meter, and keep its time stamps if the line is behind it.
 */
#include <linux/kernel_read_file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <net/pkt_sched.h>

#include "line.h"
#include "percentile.h"

#define LINE_LINK_NS_PER_BYTE	8U		/* of the link before it: 1 Gbit/s */
#define LINE_SLOT_BYTES		1514U		/* a frame of MTU 1500 */
#define LINE_BUCKET_US		100U		/* width of a histogram bucket */
#define LINE_RANGE_US		20000000U	/* longer delays fall in the last one */
#define LINE_BUCKETS		(LINE_RANGE_US / LINE_BUCKET_US)
#define LINE_PATH_LEN		256
#define LINE_MAX_FILE		(16 << 20)
#define LINE_MAX_MS		3600000U	/* of a trace */

/**
 * struct line_delay - how long packets took since the last reset
 * @histogram:	packets per LINE_BUCKET_US
 * @packets:	how many
 * @sum_ns:	of all of them
 * @max_us:	the longest
 */
struct line_delay {
	u32	*histogram;
	u64	packets;
	u64	sum_ns;
	u32	max_us;
};

/**
 * struct line_trace - times at which a frame may leave
 * @slots:	how many there are in a lap
 * @lap_ns:	after it, they begin anew
 * @ms:		the times, not falling
 */
struct line_trace {
	u32	slots;
	u64	lap_ns;
	u32	ms[];
};

/**
 * struct line_sched_data - private data of one line
 * @child:	a meter, with the qdisc under test
 * @before:	the line is before the child, not behind it
 * @came:	then, of each packet in the child, by its address: when it came to the line, us.
 *		Of one that the child dropped, too, until another packet has that address
 * @fifo:	what waits for the line
 * @fifo_bytes:	its length
 * @limit:	and the most that it may be
 * @rate_bps:	of the line; not used with a trace
 * @trace:	NULL: the line has a rate
 * @origin:	when the trace began
 * @link_free:	when the link to the FIFO is
 * @sending:	the first of the FIFO is on its way, at a rate
 * @due:	when it, or the one before it, has left
 * @slot:	of a trace: the next one, counted over all laps
 * @slot_at:	time of the one before, whose @budget bytes are left
 * @budget:	bytes
 * @head_sent:	bytes of the first of the FIFO that earlier slots took
 * @counted:	up to then, @capacity_bytes has what a rate allowed
 * @capacity_bytes: since the last reset
 * @slots_before: that had passed by the last reset
 * @since:	the last reset
 * @stats:	counters since then
 * @own:	delays in the FIFO
 * @whole:	delays from the arrival at the first of both to the end of the second
 * @watchdog:	wakes the qdisc for the link and for the line
 */
struct line_sched_data {
	struct Qdisc		*child;
	bool			before;
	struct xarray		came;
	struct sk_buff_head	fifo;
	u32			fifo_bytes;
	u32			limit;
	u64			rate_bps;
	struct line_trace	*trace;
	ktime_t			origin;
	ktime_t			link_free;
	bool			sending;
	ktime_t			due;
	u64			slot;
	ktime_t			slot_at;
	u32			budget;
	u32			head_sent;
	ktime_t			counted;
	u64			capacity_bytes;
	u64			slots_before;
	ktime_t			since;
	struct tc_line_xstats	stats;
	struct line_delay	own;
	struct line_delay	whole;
	struct qdisc_watchdog	watchdog;
};

struct line_skb_cb {
	ktime_t	came;	/* to the FIFO */
};

static const struct nla_policy line_policy[TCA_LINE_MAX + 1] = {
	[TCA_LINE_LIMIT] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_LINE_RATE] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_LINE_TRACE] = { .type = NLA_NUL_STRING, .len = LINE_PATH_LEN - 1 },
	[TCA_LINE_START] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
	[TCA_LINE_RESET] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
	[TCA_LINE_BEFORE] = NLA_POLICY_RANGE(NLA_U8, 1, 1),
};

static struct line_skb_cb *line_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct line_skb_cb));
	return (struct line_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* -- the trace ------------------------------------------------------------ */

static ktime_t line_slot_time(const struct line_sched_data *q, u64 slot)
{
	const struct line_trace *trace = q->trace;
	u32 in_lap;
	u64 lap = div_u64_rem(slot, trace->slots, &in_lap);

	return ktime_add_ns(q->origin, lap * trace->lap_ns +
			    (u64)trace->ms[in_lap] * NSEC_PER_MSEC);
}

/* How many slots there are before a time. */
static u64 line_slots_before(const struct line_sched_data *q, ktime_t time)
{
	const struct line_trace *trace = q->trace;
	s64 passed = ktime_to_ns(ktime_sub(time, q->origin));
	u32 low = 0, high = trace->slots;
	u64 lap, in_lap;

	if (passed <= 0)
		return 0;
	lap = div64_u64_rem(passed, trace->lap_ns, &in_lap);
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if ((u64)trace->ms[middle] * NSEC_PER_MSEC < in_lap)
			low = middle + 1;
		else
			high = middle;
	}
	return lap * trace->slots + low;
}

/* Reads "MS\n" again and again. */
static int line_parse_trace(struct line_trace *trace, const char *text, size_t len)
{
	u32 ms = 0, last = 0;
	bool digits = false;
	size_t i;

	for (i = 0; i <= len; i++) {
		if (i < len && text[i] >= '0' && text[i] <= '9') {
			ms = ms * 10 + (text[i] - '0');
			digits = true;
			if (ms > LINE_MAX_MS)
				return -ERANGE;
		} else if (i < len && text[i] != '\n') {
			return -EINVAL;
		} else if (digits) {
			if (ms < last)
				return -EINVAL;
			trace->ms[trace->slots++] = ms;
			last = ms;
			ms = 0;
			digits = false;
		}
	}
	trace->lap_ns = (u64)last * NSEC_PER_MSEC;
	return last ? 0 : -EINVAL;
}

static struct line_trace *line_read_trace(const char *path)
{
	struct line_trace *trace;
	void *text = NULL;
	ssize_t len;
	int err;

	/* security modules know what it is for from a list, of which firmware comes closest */
	len = kernel_read_file_from_path(path, 0, &text, LINE_MAX_FILE, NULL, READING_FIRMWARE);
	if (len < 0)
		return ERR_PTR(len);
	/* a time takes two bytes at least */
	trace = kvzalloc(struct_size(trace, ms, len / 2 + 1), GFP_KERNEL);
	err = trace ? line_parse_trace(trace, text, len) : -ENOMEM;
	vfree(text);
	if (err) {
		kvfree(trace);
		return ERR_PTR(err);
	}
	return trace;
}

/* -- figures -------------------------------------------------------------- */

static void line_count_delay(struct line_delay *delay, ktime_t now, ktime_t since)
{
	s64 ns = max_t(s64, ktime_sub(now, since), 0);
	u32 us = min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);

	delay->histogram[min(us / LINE_BUCKET_US, LINE_BUCKETS - 1)]++;
	delay->packets++;
	delay->sum_ns += ns;
	delay->max_us = max(delay->max_us, us);
}

static u32 line_percentile_us(const struct line_delay *delay, u32 per_mille)
{
	return percentile_us(delay->histogram, LINE_BUCKETS, LINE_BUCKET_US, delay->packets,
			     per_mille, delay->max_us);
}

static void line_fill_delay(const struct line_delay *delay, struct tc_line_delay *st)
{
	st->packets = delay->packets;
	if (delay->packets)
		st->mean_ns = div64_u64(delay->sum_ns, delay->packets);
	st->p50_us = line_percentile_us(delay, 500);
	st->p95_us = line_percentile_us(delay, 950);
	st->p99_us = line_percentile_us(delay, 990);
	st->max_us = delay->max_us;
}

/* Counts what the rate has allowed up to now. */
static void line_count_capacity(struct line_sched_data *q, ktime_t now)
{
	u64 us = ktime_to_us(ktime_sub(now, q->counted));

	if (!q->trace)
		q->capacity_bytes += div_u64(q->rate_bps * us, BITS_PER_BYTE * USEC_PER_SEC);
	q->counted = now;
}

static u64 line_capacity(struct line_sched_data *q, ktime_t now)
{
	line_count_capacity(q, now);
	if (q->trace)
		return (line_slots_before(q, now) - q->slots_before) * LINE_SLOT_BYTES;
	return q->capacity_bytes;
}

static void line_forget_delay(struct line_delay *delay)
{
	memset(delay->histogram, 0, LINE_BUCKETS * sizeof(*delay->histogram));
	delay->packets = 0;
	delay->sum_ns = 0;
	delay->max_us = 0;
}

static void line_forget(struct line_sched_data *q, ktime_t now)
{
	memset(&q->stats, 0, sizeof(q->stats));
	line_forget_delay(&q->own);
	line_forget_delay(&q->whole);
	q->capacity_bytes = 0;
	q->slots_before = q->trace ? line_slots_before(q, now) : 0;
	q->counted = now;
	q->since = now;
}

/* -- packets -------------------------------------------------------------- */

/* Return: whether the FIFO had room. */
static bool line_join(struct line_sched_data *q, struct sk_buff *skb, ktime_t now)
{
	q->stats.packets_in++;
	if (q->fifo_bytes + qdisc_pkt_len(skb) > q->limit) {
		q->stats.drops++;
		return false;
	}
	line_cb(skb)->came = now;
	q->fifo_bytes += qdisc_pkt_len(skb);
	__skb_queue_tail(&q->fifo, skb);
	return true;
}

static int line_to_child(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free)
{
	struct line_sched_data *q = qdisc_priv(sch);
	int ret = qdisc_enqueue(skb, q->child, to_free);

	if (ret != NET_XMIT_SUCCESS && net_xmit_drop_count(ret))
		qdisc_qstats_drop(sch);
	return ret;
}

static int line_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct line_sched_data *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	int ret;

	if (q->before) {
		if (!line_join(q, skb, ktime_get()))
			return qdisc_drop(skb, sch, to_free);
	} else {
		ret = line_to_child(sch, skb, to_free);
		if (ret != NET_XMIT_SUCCESS)
			return ret;
	}
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static void line_forget_packet(struct Qdisc *sch, unsigned int len)
{
	sch->qstats.backlog -= len;
	sch->q.qlen--;
}

/* When the first of the FIFO will have left, at a rate. */
static ktime_t line_due_by_rate(struct line_sched_data *q, const struct sk_buff *head)
{
	u64 bits = (u64)qdisc_pkt_len(head) * BITS_PER_BYTE;
	ktime_t came = line_cb(head)->came;

	if (!q->sending) {
		if (ktime_before(q->due, came))
			q->due = came;
		q->due = ktime_add_ns(q->due, div64_u64(bits * NSEC_PER_SEC, q->rate_bps));
		q->sending = true;
	}
	return q->due;
}

/* When its last byte finds room in a slot: now, if the slots that have passed had it. */
static ktime_t line_due_by_trace(struct line_sched_data *q, const struct sk_buff *head,
				 ktime_t now)
{
	ktime_t came = line_cb(head)->came;

	if (ktime_before(q->slot_at, came))
		q->budget = 0;
	while (q->head_sent < qdisc_pkt_len(head)) {
		u32 bytes;

		if (!q->budget) {
			q->slot = max(q->slot, line_slots_before(q, came));
			q->slot_at = line_slot_time(q, q->slot);
			if (ktime_after(q->slot_at, now))
				return q->slot_at;
			q->slot++;
			q->budget = LINE_SLOT_BYTES;
		}
		bytes = min(q->budget, qdisc_pkt_len(head) - q->head_sent);
		q->budget -= bytes;
		q->head_sent += bytes;
	}
	return now;
}

/* What the line has sent by now, or NULL; @next is then when to look again at the latest. */
static struct sk_buff *line_send(struct line_sched_data *q, ktime_t now, ktime_t *next)
{
	struct sk_buff *skb = skb_peek(&q->fifo);
	ktime_t due;

	if (!skb)
		return NULL;
	due = q->trace ? line_due_by_trace(q, skb, now) : line_due_by_rate(q, skb);
	if (ktime_after(due, now)) {
		*next = min(*next, due);
		return NULL;
	}
	__skb_unlink(skb, &q->fifo);
	q->fifo_bytes -= qdisc_pkt_len(skb);
	q->sending = false;
	q->head_sent = 0;
	q->stats.packets_out++;
	q->stats.bytes_out += qdisc_pkt_len(skb);
	line_count_delay(&q->own, now, line_cb(skb)->came);
	return skb;
}

/* What the child lets go, as fast as the link is; or NULL, as above. */
static struct sk_buff *line_from_child(struct line_sched_data *q, ktime_t now, ktime_t *next)
{
	struct sk_buff *skb;

	if (ktime_after(q->link_free, now)) {
		if (q->child->q.qlen)
			*next = min(*next, q->link_free);
		return NULL;
	}
	skb = q->child->dequeue(q->child);
	if (skb)
		q->link_free = ktime_add_ns(now, qdisc_pkt_len(skb) * LINE_LINK_NS_PER_BYTE);
	return skb;
}

/* What the line has sent comes to the child behind it, which may drop it. */
static void line_pass_on(struct Qdisc *sch, struct sk_buff *skb)
{
	struct line_sched_data *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	struct sk_buff *to_free = NULL;

	xa_store(&q->came, (unsigned long)skb / sizeof(void *),
		 xa_mk_value(ktime_to_us(line_cb(skb)->came)), GFP_ATOMIC);
	if (line_to_child(sch, skb, &to_free) != NET_XMIT_SUCCESS)
		line_forget_packet(sch, len);
	kfree_skb_list(to_free);
}

static ktime_t line_came_to_child(struct line_sched_data *q, const struct sk_buff *skb)
{
	void *us = xa_load(&q->came, (unsigned long)skb / sizeof(void *));

	return us_to_ktime(xa_to_value(us));
}

static struct sk_buff *line_dequeue(struct Qdisc *sch)
{
	struct line_sched_data *q = qdisc_priv(sch);
	ktime_t now = ktime_get(), next = KTIME_MAX;
	struct sk_buff *skb;

	if (q->before) {
		while ((skb = line_send(q, now, &next)))
			line_pass_on(sch, skb);
		skb = line_from_child(q, now, &next);
	} else {
		while ((skb = line_from_child(q, now, &next))) {
			if (!line_join(q, skb, now)) {
				qdisc_qstats_drop(sch);
				line_forget_packet(sch, qdisc_pkt_len(skb));
				kfree_skb(skb);
			}
		}
		skb = line_send(q, now, &next);
	}
	if (!skb) {
		if (next != KTIME_MAX)
			qdisc_watchdog_schedule_ns(&q->watchdog, ktime_to_ns(next));
		return NULL;
	}

	line_count_delay(&q->whole, now, q->before ? line_came_to_child(q, skb) : skb->tstamp);
	skb_clear_tstamp(skb);
	line_forget_packet(sch, qdisc_pkt_len(skb));
	qdisc_bstats_update(sch, skb);
	return skb;
}

/* -- the qdisc ------------------------------------------------------------ */

static int line_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct line_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_LINE_MAX + 1];
	struct line_trace *trace = NULL;
	ktime_t now;
	int err;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_LINE_MAX, opt, line_policy, extack);
	if (err)
		return err;
	if (tb[TCA_LINE_RATE] && q->trace) {
		NL_SET_ERR_MSG(extack, "a line with a trace has no rate");
		return -EINVAL;
	}
	if (tb[TCA_LINE_BEFORE] && sch->q.qlen) {
		NL_SET_ERR_MSG(extack, "a line with packets stays where it is");
		return -EBUSY;
	}
	if (tb[TCA_LINE_TRACE]) {
		if (q->trace || q->rate_bps) {
			NL_SET_ERR_MSG(extack, "a trace is given once, and in place of a rate");
			return -EINVAL;
		}
		trace = line_read_trace(nla_data(tb[TCA_LINE_TRACE]));
		if (IS_ERR(trace)) {
			NL_SET_ERR_MSG(extack, "no trace: a time in ms per line, not falling");
			return PTR_ERR(trace);
		}
	}

	sch_tree_lock(sch);
	now = ktime_get();
	if (tb[TCA_LINE_BEFORE])
		q->before = true;
	if (tb[TCA_LINE_LIMIT])
		q->limit = nla_get_u32(tb[TCA_LINE_LIMIT]);
	if (tb[TCA_LINE_RATE]) {
		line_count_capacity(q, now);
		q->rate_bps = nla_get_u32(tb[TCA_LINE_RATE]);
	}
	if (trace) {
		q->trace = trace;
		q->origin = now;
	}
	if (tb[TCA_LINE_START]) {
		q->origin = now;
		q->slot = 0;
		q->budget = 0;
	}
	if (tb[TCA_LINE_RESET])
		line_forget(q, now);
	sch_tree_unlock(sch);
	return 0;
}

static int line_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct line_sched_data *q = qdisc_priv(sch);
	int err;

	q->child = &noop_qdisc;
	__skb_queue_head_init(&q->fifo);
	xa_init(&q->came);
	qdisc_watchdog_init(&q->watchdog, sch);
	q->own.histogram = kvcalloc(LINE_BUCKETS, sizeof(*q->own.histogram), GFP_KERNEL);
	q->whole.histogram = kvcalloc(LINE_BUCKETS, sizeof(*q->whole.histogram), GFP_KERNEL);
	if (!q->own.histogram || !q->whole.histogram)
		return -ENOMEM;	/* the core calls destroy() */
	err = line_change(sch, opt, extack);
	if (err)
		return err;
	if (!q->limit || (!q->rate_bps && !q->trace)) {
		NL_SET_ERR_MSG(extack, "a line needs a limit, and a rate or a trace");
		return -EINVAL;
	}
	line_forget(q, ktime_get());
	return 0;
}

static void line_reset(struct Qdisc *sch)
{
	struct line_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	qdisc_reset(q->child);
	__skb_queue_purge(&q->fifo);
	xa_destroy(&q->came);
	q->fifo_bytes = 0;
	q->sending = false;
	q->head_sent = 0;
}

static void line_destroy(struct Qdisc *sch)
{
	struct line_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	qdisc_put(q->child);
	__skb_queue_purge(&q->fifo);
	xa_destroy(&q->came);
	kvfree(q->trace);
	kvfree(q->own.histogram);
	kvfree(q->whole.histogram);
}

static int line_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	return nest ? nla_nest_end(skb, nest) : -EMSGSIZE;
}

static int line_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct line_sched_data *q = qdisc_priv(sch);
	struct tc_line_xstats st;
	ktime_t now;

	sch_tree_lock(sch);
	now = ktime_get();
	st = q->stats;
	st.capacity_bytes = line_capacity(q, now);
	st.elapsed_ns = ktime_to_ns(ktime_sub(now, q->since));
	line_fill_delay(&q->own, &st.own);
	line_fill_delay(&q->whole, &st.whole);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static int line_dump_class(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct line_sched_data *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static int line_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct line_sched_data *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *line_leaf(struct Qdisc *sch, unsigned long cl)
{
	struct line_sched_data *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long line_find(struct Qdisc *sch, u32 classid)
{
	return TC_H_MIN(classid) == 1;
}

static void line_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static const struct Qdisc_class_ops line_class_ops = {
	.graft	= line_graft,
	.leaf	= line_leaf,
	.find	= line_find,
	.walk	= line_walk,
	.dump	= line_dump_class,
};

static struct Qdisc_ops line_qdisc_ops __read_mostly = {
	.cl_ops		= &line_class_ops,
	.id		= "line",
	.priv_size	= sizeof(struct line_sched_data),
	.enqueue	= line_enqueue,
	.dequeue	= line_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= line_init,
	.reset		= line_reset,
	.destroy	= line_destroy,
	.change		= line_change,
	.dump		= line_dump,
	.dump_stats	= line_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init line_module_init(void)
{
	return register_qdisc(&line_qdisc_ops);
}

static void __exit line_module_exit(void)
{
	unregister_qdisc(&line_qdisc_ops);
}

module_init(line_module_init);
module_exit(line_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A bottleneck with a FIFO of its own behind the qdisc under test, or before it");
