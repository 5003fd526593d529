/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What few packets take between their headers and their lane.
 */
#ifndef _ZRTT_QDISC_ARRIVE_H
#define _ZRTT_QDISC_ARRIVE_H

#include <linux/skbuff.h>

#include "sched.h"
#include "dissect.h"
#include "hosts.h"
#include "line.h"

/* What zrtt_dissect() leaves out, as few parameters ask for it. */
static noinline void zrtt_look_closer(struct zrtt_sched_data *q, const struct sk_buff *skb,
				      u32 segs)
{
	if (q->params.line.kind == ZRTT_LINE_AHEAD)
		zrtt_count_from_line(q, skb, segs);
	if (q->params.mark_mask)
		zrtt_note_mark(q, skb);
	if (q->vars.table.members)
		zrtt_dissect_host(q, skb);
}

#endif
