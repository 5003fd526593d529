/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of the shaper: one that the user changes, and with `bandwidth auto` what
 * zrtt/line.h finds out of the line.
 */
#ifndef _ZRTT_QDISC_LINE_H
#define _ZRTT_QDISC_LINE_H

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <net/netns/generic.h>
#include <net/sch_generic.h>

#include "sched.h"
#include "hosts.h"
#include "timing.h"

/* The head of the queue may leave sooner than the watchdog wakes the device. */
static void zrtt_change_shaper(struct zrtt_sched_data *q,
			       const struct zrtt_shaper_params *to)
{
	zrtt_shaper_change(&q->shaper, &q->link, to, ktime_get_ns());
	q->link = *to;
	qdisc_watchdog_schedule_ns(&q->watchdog, q->shaper.next_ns);
}

/* How many bytes a packet of @segs is on the link. */
static __always_inline u32 zrtt_link_bytes(const struct zrtt_sched_data *q,
					   const struct sk_buff *skb, u32 segs)
{
	return zrtt_shaper_bytes(&q->link, qdisc_pkt_len(skb), max(skb_network_offset(skb), 0),
				 segs);
}

static bool zrtt_finds_rate(const struct zrtt_sched_data *q)
{
	return q->params.line.kind != ZRTT_LINE_NONE;
}

/* What is watched of the packet's flow, NULL if another one has its place. */
static struct zrtt_resent_flow *zrtt_loss_of(struct zrtt_sched_data *q, const struct sk_buff *skb,
					     const struct zrtt_dissected *seen, u32 seq,
					     u32 bytes, bool ahead, u32 now_us)
{
	struct zrtt_resent_flow *flow = zrtt_resent_flow(&q->hidden.loss.resent, seen->pkt.tag,
							 bytes, now_us);
	/* the host beyond the line is the receiver, or if that is before us, the sender */
	u32 far = !ahead, seed = q->net->seed, len;
	struct zrtt_ends ends;

	if (!flow || flow->tag)
		return flow;
	zrtt_read_ends(seen, &ends);
	zrtt_undo_nat(skb, &ends);
	len = ends.count * sizeof(u32);
	zrtt_loss_begin(flow, seen->pkt.tag, jhash(ends.words[far], zrtt_owner_bytes(len), seed),
			jhash(ends.words[!far], len, seed), seq,
			seen->p.tcp_flags & ZRTT_TCP_SYN, now_us);
	return flow;
}

/* A TCP packet passes. Return: what it carries; @next is set to the number that follows that. */
static enum zrtt_data zrtt_watch_loss(struct zrtt_sched_data *q, const struct sk_buff *skb,
				      const struct zrtt_dissected *seen, bool ahead, u32 came_us,
				      u32 now_us, u32 *next)
{
	u32 off = seen->p.l4_off + zrtt_tcp_header_bytes(&seen->p, seen->data);
	u32 end = min(skb->len, zrtt_packet_end(&seen->p, seen->data));
	bool syn = seen->p.tcp_flags & ZRTT_TCP_SYN;
	u32 seq = zrtt_tcp_seq(&seen->p, seen->data) + syn, bytes = end > off ? end - off : 0;
	struct zrtt_resent_flow *flow;

	if (!bytes && !syn)
		return ZRTT_DATA_NONE;
	flow = zrtt_loss_of(q, skb, seen, seq, bytes, ahead, now_us);
	*next = seq + bytes;
	if (!bytes)
		return ZRTT_DATA_NONE;
	return flow ? zrtt_loss_pass(&q->hidden.loss, flow, seq, bytes, ahead, came_us, now_us) :
		      ZRTT_DATA_UNKNOWN;
}

/* A packet leaves for the line. What was dropped here never comes that far. */
static noinline void zrtt_to_line(struct zrtt_sched_data *q, const struct sk_buff *skb,
				  u32 bytes, u64 now_ns)
{
	const struct zrtt_bytes head = { .data = skb->data, .len = skb_headlen(skb) };
	const struct zrtt_wanted wanted = { .timestamps = true };
	struct zrtt_dissected seen = { .data = skb->data };
	enum zrtt_data data;
	u32 next;

	q->hidden.bytes += bytes;
	/* as zrtt_dissect_any() does: a tag in the frame follows the addresses */
	zrtt_packet_parse(&seen.p, &head, ntohs(skb->protocol),
			  eth_type_vlan(skb->protocol) ? ETH_HLEN : max(skb_network_offset(skb), 0),
			  &wanted);
	if (!seen.p.tcp_flags)
		return;
	seen.pkt.tag = zrtt_hash_flow(&q->key, &seen.p, seen.data);
	data = zrtt_watch_loss(q, skb, &seen, false, zrtt_us(zrtt_cb(skb)->enqueue_ns),
			       zrtt_us(now_ns), &next);
	if (data != ZRTT_DATA_NONE)
		zrtt_time_data(q, &seen, skb, data, next, now_ns);
}

/* So many bytes leave for the line, if it is behind. */
static void zrtt_count_to_line(struct zrtt_sched_data *q, const struct sk_buff *skb, u32 bytes,
			       u64 now_ns)
{
	if (q->params.line.kind == ZRTT_LINE_BEHIND)
		zrtt_to_line(q, skb, bytes, now_ns);
}

/* The packet in @q->seen comes from the line. */
static noinline void zrtt_count_from_line(struct zrtt_sched_data *q, const struct sk_buff *skb,
					  u32 segs)
{
	u32 now_us = zrtt_us(q->clock.ns), next;

	q->hidden.bytes += zrtt_link_bytes(q, skb, segs);
	if (q->seen.p.tcp_flags)
		zrtt_watch_loss(q, skb, &q->seen, true, now_us, now_us, &next);
}

static void zrtt_line_stop(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	zrtt_net_unask(net_generic(dev_net(qdisc_dev(sch)), zrtt_net_id), q->hidden.asker);
	q->hidden.asker = 0;
	q->hidden.line.state = ZRTT_LINE_OFF;
	q->hidden.line.used_q8 = 0;
}

/* What is known of a line stays while the user goes on to say where it is. A queue that is to ask,
 * and gets no number, sees no delay: he is told so.
 */
static void zrtt_derive_line(struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_line_params *params = &q->params.line;
	struct zrtt_hidden *hidden = &q->hidden;

	if (params->kind != hidden->kind) {
		zrtt_line_stop(sch);
		hidden->kind = params->kind;
		hidden->answers.from = 0;
		if (zrtt_finds_rate(q)) {
			u32 now_us = zrtt_us(ktime_get_ns());

			zrtt_line_begin(&hidden->line, params, hidden->bytes, now_us);
			zrtt_loss_init(&hidden->loss, hidden->bytes, now_us);
		}
	}
	if (!zrtt_finds_rate(q))
		return;
	/* there may have been no number left, and be one now */
	if (params->kind == ZRTT_LINE_BEHIND && !hidden->asker) {
		hidden->asker = zrtt_net_ask(q->net);
		if (!hidden->asker)
			NL_SET_ERR_MSG_MOD(extack, "31 queues have bandwidth auto already: this one sees loss alone");
	}
	zrtt_line_allow(&hidden->line, params, hidden->max);
	hidden->max = params->max;
	q->link.rate = hidden->line.rate;
	zrtt_shaper_derive(&q->link);
}

/* The rate of the line may be another. */
static noinline void zrtt_run_line(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	struct zrtt_hidden *hidden = &q->hidden;
	struct zrtt_shaper_params link = q->link;
	u32 now_us = zrtt_us(now_ns);
	struct zrtt_inbox *inbox;
	bool changes;

	if (hidden->asker) {
		inbox = &q->net->inboxes[hidden->asker];
		spin_lock(&inbox->lock);
		changes = zrtt_line_update(&hidden->line, &q->params.line, &inbox->answers,
					   &hidden->loss, hidden->bytes, now_us);
		inbox->used_q8 = hidden->line.used_q8;
		spin_unlock(&inbox->lock);
	} else {
		changes = zrtt_line_update(&hidden->line, &q->params.line, &hidden->answers,
					   &hidden->loss, hidden->bytes, now_us);
	}
	if (!changes)
		return;
	link.rate = hidden->line.rate;
	zrtt_shaper_derive(&link);
	zrtt_shaper_change(&q->shaper, &q->link, &link, now_ns);
	q->link = link;
}

#endif
