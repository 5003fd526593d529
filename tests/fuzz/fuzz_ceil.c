// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the ceiling of hosts that come and go in one slot, with any rate, packets
 * of any length, any P_b, and other queues that have some of it.
 *
 * What passes is counted in a second way: no more than the longest virtual queue, and the ceiling
 * since it was empty.
 */
#include <linux/types.h>
#include <linux/pkt_sched_zrtt.h>
#include <zrtt/zrtt.h>

#include "draw.h"
#include "expect.h"

#define HOSTS		3
#define EVENTS		16
#define CHANGES		1	/* of these; the others are packets */

/* What one host passed in bulk since its virtual queue was empty. */
struct count {
	u64 since_ns;
	u64 passed_ns;		/* as the time that it takes at the ceiling */
	u64 longest_ns;		/* of one packet */
};

struct slot {
	struct zrtt_ceil_params params;
	struct zrtt_ceil ceil;
	struct count count;
};

static struct zrtt_ceil_params draw_ceil(struct draw *d)
{
	u64 rates = TC_ZRTT_CEIL_MAX - TC_ZRTT_BANDWIDTH_MIN + 1;
	struct zrtt_ceil_params params = { .rate = TC_ZRTT_BANDWIDTH_MIN + draw_u64(d) % rates };
	struct zrtt_params whole;

	zrtt_params_init(&whole);
	whole.ctl.tupdate_us = draw_between(d, TC_ZRTT_TUPDATE_MIN, TC_ZRTT_TUPDATE_MAX);
	zrtt_ctl_derive(&whole.ctl);
	zrtt_ceil_derive(&params, &whole.ctl);
	return params;
}

static void check_base(const struct zrtt_ceil *c, u32 p_q30)
{
	expect(c->p_q30 == p_q30, "by another P_b");
	expect(c->base_q30 >= c->ctl.p_q30, "less than P_c");
	expect(!c->held || c->base_q30 == c->ctl.p_q30, "held by something else");
	expect(c->held || c->base_q30 <= 4ULL * p_q30 || c->log_part > 2 << ZRTT_Q16,
	       "more than P_b");
}

static void check_tick(struct slot *s, struct draw *d, u64 now_ns)
{
	u32 p_q30 = draw_between(d, 0, ZRTT_P_ONE);
	s32 log_part = (s32)draw_between(d, 0, 80 << ZRTT_Q16) - (40 << ZRTT_Q16);
	const struct zrtt_ceil *c = &s->ceil;
	struct zrtt_law law = {};

	zrtt_ceil_tick(&s->params, &s->ceil, p_q30, log_part, draw_index(d, ZRTT_CEIL_ALL), now_ns);
	expect(!zrtt_ceil_tick_due(c, now_ns), "a tick is due at once");
	expect(c->ctl.p_q30 <= ZRTT_P_ONE, "P_c above 1");
	check_base(c, p_q30);
	zrtt_ceil_follow(&s->ceil, p_q30 / 2);
	check_base(c, p_q30 / 2);
	zrtt_ceil_law(c, &law);
	expect(law.log_norm == -c->log_part && law.p_q30 == c->base_q30, "another law");
	/* what a byte takes may have changed: count anew */
	s->count = (struct count) { .since_ns = now_ns };
}

static void check_packet(struct slot *s, struct draw *d, u64 now_ns)
{
	u32 tag = 1 + draw_index(d, HOSTS), bytes = draw_between(d, 1, ~0U);
	u64 ns = zrtt_ceil_cost_ns(&s->params, &s->ceil, bytes), before_ns;
	u64 target_ns = s->params.ctl.target_us * 1000ULL;
	bool stranger = tag != s->ceil.tag, sparse = draw_index(d, 2);

	zrtt_ceil_rescale(&s->params, &s->ceil, now_ns);
	before_ns = stranger ? 0 : zrtt_ceil_wait_ns(&s->ceil, now_ns);
	zrtt_ceil_join(&s->params, &s->ceil, tag, bytes, now_ns);
	expect(s->ceil.tag == tag, "another host's");
	expect(zrtt_ceil_wait_ns(&s->ceil, now_ns) >= before_ns, "shorter with a packet more");
	if (stranger)
		ns = zrtt_ceil_cost_ns(&s->params, &s->ceil, bytes);
	expect(!stranger || zrtt_ceil_wait_ns(&s->ceil, now_ns) == ns, "it owes for another");
	expect(zrtt_ceil_wait_ns(&s->ceil, now_ns) <= 2 * target_ns + ns ||
	       zrtt_ceil_wait_ns(&s->ceil, now_ns) == before_ns, "it has no end");
	if (stranger || !before_ns)
		s->count = (struct count) { .since_ns = now_ns };
	if (ns > s->count.longest_ns)
		s->count.longest_ns = ns;
	if (sparse)
		return;
	if (zrtt_ceil_exceeds(&s->params, &s->ceil, now_ns)) {
		zrtt_ceil_leave(&s->ceil);
		expect(zrtt_ceil_wait_ns(&s->ceil, now_ns) == before_ns, "what was dropped takes time");
		return;
	}
	s->count.passed_ns += ns;
	if (zrtt_ceil_tick_due(&s->ceil, now_ns))
		check_tick(s, d, now_ns);
	else
		expect(s->count.passed_ns <= now_ns - s->count.since_ns + target_ns +
		       s->count.longest_ns, "more than the ceiling");
}

/* The time that is left of the virtual queue does not grow, and shrinks as the ceiling grows. */
static void check_change(struct slot *s, struct draw *d, u64 now_ns)
{
	u64 before_ns = zrtt_ceil_wait_ns(&s->ceil, now_ns), after_ns;
	double ratio = s->ceil.epoch_bytes;

	s->params = draw_ceil(d);
	s->count = (struct count) { .since_ns = now_ns };
	ratio /= s->params.epoch_bytes;
	zrtt_ceil_rescale(&s->params, &s->ceil, now_ns);
	after_ns = zrtt_ceil_wait_ns(&s->ceil, now_ns);
	if (ratio >= 1)
		expect(after_ns == before_ns, "another wait");
	else
		expect(after_ns <= before_ns * ratio + 1 &&
		       after_ns >= before_ns * (ratio - 1.0 / 4096) - 1, "owes what it did not send");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct slot s = { .params = draw_ceil(&d) };
	u64 now_ns = draw_u64(&d) >> 2;

	while (d.left) {
		now_ns += draw_gap_ns(&d);
		if (draw_index(&d, EVENTS) < CHANGES) {
			check_change(&s, &d, now_ns);
			continue;
		}
		check_packet(&s, &d, now_ns);
	}
	return 0;
}
