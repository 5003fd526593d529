/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What may answer no mark is held near its due share at once.
 *
 * P_i finds what holds a flow at its share, at the pace at which TCP answers. For a flood that
 * takes seconds, in which P_b rises for it, and TCP, which backs off, needs as long again to come
 * back. So while there is a queue, what is neither TCP nor QUIC has a token bucket beside P_i. Its
 * rate is one and a half times the due share: a tunnel, whose senders answer, is held by P_i. The
 * penalty of what the bucket drops rises until P_i holds it, too.
 */
#ifndef _ZRTT_POLICE_H
#define _ZRTT_POLICE_H

#include <linux/types.h>
#include "fixed.h"
#include "flow.h"
#include "table.h"
#include "update.h"
#include "law.h"

/* The due share is that of flows that are held back once P_b was above 0 for 125 updates, 2 s. On a
 * fast link it seldom stays so for 2 s: an update in which it is 0 takes back a quarter of one in
 * which it is not, and after 8 s of these the due share is not believed any more.
 */
#define ZRTT_POLICE_TICK	4
#define ZRTT_POLICE_BELIEVE	(125 * ZRTT_POLICE_TICK)
#define ZRTT_POLICE_TICKS	(2 * ZRTT_POLICE_BELIEVE)

#define ZRTT_POLICE_BURST	(3 * ZRTT_FULL_PACKET) /* the least bucket; else it has an epoch */

/**
 * struct zrtt_police - whether there is anything to be held back
 * @ticks: updates with a P_b above 0, less those without; see above
 * @on: that is believed, and there is a queue
 */
struct zrtt_police {
	u32 ticks;
	bool on;
};

/**
 * zrtt_police_tick() - is anything to be held back until the next tick?
 * @police: state
 * @law: of this tick
 * @target_us: sojourn aimed at; half of it is a queue
 */
static inline void zrtt_police_tick(struct zrtt_police *police, const struct zrtt_law *law,
				    u32 target_us)
{
	if (law->p_q30)
		police->ticks += ZRTT_POLICE_TICK;
	else if (police->ticks)
		police->ticks--;
	if (police->ticks > ZRTT_POLICE_TICKS)
		police->ticks = ZRTT_POLICE_TICKS;
	police->on = police->ticks >= ZRTT_POLICE_BELIEVE && law->counted && law->p_q30 &&
		     law->queue_us >= target_us / 2;
}

/* The rate of @f's bucket, bytes per epoch, 0 = it has none, as there is nobody else. A flow that
 * is new is one more: due shares will be smaller. Those of a host's flows are what its flows have,
 * and say so already.
 */
static inline u64 zrtt_police_rate(const struct zrtt_law *law, const struct zrtt_table *t,
				   const struct zrtt_flow *f)
{
	u64 due = zrtt_flow_due(t, f);

	if (law->counted == f->counts)
		return 0;
	if (!zrtt_flow_mature(f) && !t->groups)
		due = div_u64(due * law->counted, law->counted + 1);
	return due + due / 2;
}

/**
 * zrtt_police_exceeds() - is a packet of bulk more than its flow's bucket has?
 * @law: of the last tick
 * @t: flow table
 * @f: its flow
 * @bytes: of the packet, which the flow has already
 * @now_ns: clock
 *
 * The bucket is filled at the begin of each update. A flow that has less than its rate may have an
 * epoch's more: pictures of a call come in bursts. A packet as large as GSO makes them passes if
 * there is anything left.
 */
static noinline __maybe_unused bool
zrtt_police_exceeds(const struct zrtt_law *law, const struct zrtt_table *t,
		    const struct zrtt_flow *f, u32 bytes, u64 now_ns)
{
	u32 epochs_q16 = zrtt_flow_elapsed(f, now_ns);
	u64 rate;

	if (f->l4s || f->syn == ZRTT_SYN_QUIC)
		return false;
	rate = zrtt_police_rate(law, t, f);
	if (!rate)
		return false;
	if (f->rate < rate)
		epochs_q16 += ZRTT_Q16_ONE;
	return f->bytes > bytes + ZRTT_POLICE_BURST + ((rate * epochs_q16) >> ZRTT_Q16);
}

/* A packet of @f is dropped as its bucket has no room for it; zrtt_penalty_step() goes by that. */
static inline void zrtt_flow_was_policed(struct zrtt_flow *f)
{
	zrtt_flow_was_hit(f);
	f->policed = 1;
}

#endif
