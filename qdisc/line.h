/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of the shaper: one that the user changes, and with `bandwidth auto` what
 * zrtt/line.h finds out of the line.
 */
#ifndef _ZRTT_QDISC_LINE_H
#define _ZRTT_QDISC_LINE_H

#include <net/netns/generic.h>
#include <net/sch_generic.h>

#include "sched.h"
#include "timing.h"

/* The head of the queue may leave sooner than the watchdog wakes the device. */
static void zrtt_change_shaper(struct zrtt_sched_data *q,
			       const struct zrtt_shaper_params *to)
{
	zrtt_shaper_change(&q->shaper, &q->link, to, ktime_get_ns());
	qdisc_watchdog_schedule_ns(&q->watchdog, q->shaper.next_ns);
}

static bool zrtt_finds_rate(const struct zrtt_sched_data *q)
{
	return q->params.line.kind != ZRTT_LINE_NONE;
}

/* So many bytes leave for the line, if it is behind. */
static void zrtt_count_to_line(struct zrtt_sched_data *q, u32 bytes)
{
	if (q->params.line.kind == ZRTT_LINE_BEHIND)
		q->hidden.bytes += bytes;
}

/* A packet comes from the line. */
static noinline void zrtt_count_from_line(struct zrtt_sched_data *q, const struct sk_buff *skb,
					  u32 segs)
{
	q->hidden.bytes += zrtt_shaper_bytes(&q->link, qdisc_pkt_len(skb),
					     max(skb_network_offset(skb), 0), segs);
}

static void zrtt_line_stop(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);

	zrtt_net_unask(net_generic(dev_net(qdisc_dev(sch)), zrtt_net_id), q->hidden.asker);
	q->hidden.asker = 0;
	q->hidden.line.state = ZRTT_LINE_OFF;
	q->hidden.line.used_q8 = 0;
}

/* What is known of a line stays while the user goes on to say where it is. */
static void zrtt_derive_line(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	const struct zrtt_line_params *params = &q->params.line;
	struct zrtt_hidden *hidden = &q->hidden;

	if (params->kind != hidden->kind) {
		zrtt_line_stop(sch);
		hidden->kind = params->kind;
		hidden->answers.from = 0;
		if (params->kind == ZRTT_LINE_BEHIND)
			hidden->asker = zrtt_net_ask(q->net);
		if (zrtt_finds_rate(q))
			zrtt_line_begin(&hidden->line, params, hidden->bytes,
					zrtt_us(ktime_get_ns()));
	}
	if (!zrtt_finds_rate(q))
		return;
	zrtt_line_set(&hidden->line, params, hidden->line.rate);
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
					   hidden->bytes, now_us);
		inbox->used_q8 = hidden->line.used_q8;
		spin_unlock(&inbox->lock);
	} else {
		changes = zrtt_line_update(&hidden->line, &q->params.line, &hidden->answers,
					   hidden->bytes, now_us);
	}
	if (!changes)
		return;
	link.rate = hidden->line.rate;
	zrtt_shaper_derive(&link);
	zrtt_shaper_change(&q->shaper, &q->link, &link, now_ns);
	q->link = link;
}

#endif
