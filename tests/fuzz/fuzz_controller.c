// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: controllers from any state, under any parameters, through any
 * events, and how soon P_b is gone once its cause is.
 */
#include <math.h>

#include "draw.h"
#include "draw_params.h"
#include "expect.h"

#define ONE_HOUR_NS	3600000000000ULL
#define ONE		((double)ZRTT_P_ONE)

/* PI2: updates of an empty queue that take P_b from 1 to below 0.1 %: 8 until it
 * counts as empty, then p' falls by 1/16 in each.
 */
#define PI2_RECOVERS_TICKS	62

/* PI2 and pblue: an idle link has forgotten all after 31 half-lives of p'. */
#define HALF_LIFE_NS		(1U << 29)
#define FORGOTTEN_NS		(31ULL * HALF_LIFE_NS)

struct run {
	struct zrtt_params all;
	struct zrtt_ctl ctl;
	u64 now_ns;
};

static u32 steps(u64 time_ns, const struct zrtt_ctl_params *params)
{
	u64 n = time_ns / (params->freeze_us * 1000ULL);

	return n < ZRTT_P_ONE ? (u32)n : ZRTT_P_ONE;
}

static bool same(const struct zrtt_ctl *a, const struct zrtt_ctl *b)
{
	return a->p_q30 == b->p_q30 && a->root_q30 == b->root_q30;
}

static void check_state(const struct zrtt_ctl *ctl)
{
	expect(ctl->p_q30 <= ZRTT_P_ONE, "P_b above 1");
	expect(ctl->root_q30 <= ZRTT_P_ONE, "p' above 1");
	expect(ctl->p_avg_q30 <= ZRTT_P_ONE, "P_b_avg above 1");
	expect(fabs(ctl->root_q30 / ONE - sqrt(ctl->p_q30 / ONE)) <= 0.0002,
	       "p' is not the root of P_b");
}

/* Of two sojourns the longer one never gives the lower P_b. */
static void tick(struct run *r, struct draw *d)
{
	const struct zrtt_ctl before = r->ctl;
	u32 sojourn_us = draw_between(d, 0, ZRTT_SOJOURN_MAX_US);
	struct zrtt_ctl longer = r->ctl;

	zrtt_ctl_tick(&r->all.ctl, &longer,
		      draw_between(d, sojourn_us, ZRTT_SOJOURN_MAX_US));
	zrtt_ctl_tick(&r->all.ctl, &r->ctl, sojourn_us);
	check_state(&longer);
	expect(longer.p_q30 >= r->ctl.p_q30, "P_b falls as the sojourn grows");
	expect(r->all.ctl.kind != ZRTT_CTL_BLUE || same(&before, &r->ctl),
	       "BLUE listens to the sojourn");
	expect(r->all.ctl.kind != ZRTT_CTL_PBLUE || r->ctl.p_q30 >= ZRTT_PBLUE_FLOOR,
	       "pblue below its floor");
	expect(r->ctl.p_avg_q30 <= fmax(before.p_avg_q30, r->ctl.p_q30) &&
	       r->ctl.p_avg_q30 >= fmin(before.p_avg_q30, r->ctl.p_q30),
	       "P_b_avg leaves P_b behind");
}

/* A queue of few packets is shortened, the more the fewer they are. */
static void check_sojourn(const struct run *r, struct draw *d)
{
	const struct zrtt_ctl_params *params = &r->all.ctl;
	u32 sojourn_us = draw_between(d, 0, ZRTT_SOJOURN_MAX_US);
	u32 backlog = draw_between(d, 0, ~0U);
	u32 seen_us = zrtt_ctl_sojourn(params, sojourn_us, backlog);

	expect(seen_us <= sojourn_us, "the sojourn grows");
	expect(seen_us == sojourn_us ||
	       (double)seen_us * ZRTT_TARGET_PKTS <= (double)params->target_us * backlog,
	       "few packets are many");
	expect(seen_us == sojourn_us || backlog < ZRTT_TARGET_PKTS ||
	       seen_us >= params->target_us, "many packets are few");
	expect(seen_us <= zrtt_ctl_sojourn(params, sojourn_us,
					   draw_between(d, backlog, ~0U)),
	       "more packets are fewer");
}

static void overflow(struct run *r)
{
	const struct zrtt_ctl_params *params = &r->all.ctl;
	const struct zrtt_ctl before = r->ctl;
	u64 since_ns = r->now_ns - before.changed_ns;
	u64 want = before.p_q30;

	if (params->kind == ZRTT_CTL_BLUE && since_ns > params->freeze_us * 1000ULL)
		want += params->increment_q30;
	zrtt_blue_overflow(params, &r->ctl, r->now_ns);
	expect(r->ctl.p_q30 == (want < ZRTT_P_ONE ? want : ZRTT_P_ONE),
	       "BLUE's increment");
}

/* Decrements owed for an idle time: one per freeze, or up to 3 % fewer, for its clock
 * counts 1024 ns; what is beyond an hour need not count.
 */
static void check_idle(const struct run *r, const struct zrtt_ctl *before,
		       u64 since_ns)
{
	const struct zrtt_ctl_params *params = &r->all.ctl;
	u64 first_ns = before->changed_ns + params->freeze_us * 1000ULL;
	u64 most = 0, least = 0, counted_ns;

	if (first_ns < since_ns)
		first_ns = since_ns;
	if (r->now_ns >= first_ns && params->kind == ZRTT_CTL_BLUE) {
		counted_ns = r->now_ns - first_ns;
		most = 1 + steps(counted_ns, params);
		if (counted_ns > ONE_HOUR_NS)
			counted_ns = ONE_HOUR_NS;
		least = (u64)ceil(0.97 * steps(counted_ns, params));
	}
	expect(r->ctl.p_q30 + most * params->decrement_q30 >= before->p_q30,
	       "more decrements than owed");
	expect(!r->ctl.p_q30 ||
	       r->ctl.p_q30 + least * params->decrement_q30 <= before->p_q30,
	       "fewer decrements than owed");
}

static void idle(struct run *r, u64 gap_ns)
{
	const struct zrtt_ctl before = r->ctl;
	u64 since_ns = r->now_ns;

	r->now_ns += gap_ns;
	zrtt_blue_idle(&r->all.ctl, &r->ctl, since_ns, r->now_ns);
	check_idle(r, &before, since_ns);
}

/* The longer the link was idle, the more is forgotten. */
static void forget(struct run *r, struct draw *d)
{
	const struct zrtt_ctl_params *params = &r->all.ctl;
	u64 idle_ns = draw_gap_ns(d), more_ns = draw_gap_ns(d);
	struct zrtt_ctl before = r->ctl, longer = r->ctl;
	double left;

	zrtt_ctl_forget(params, &r->ctl, idle_ns);
	zrtt_ctl_forget(params, &longer, idle_ns + more_ns);
	expect(r->ctl.p_q30 <= before.p_q30, "P_b rises on an idle link");
	expect(longer.p_q30 <= r->ctl.p_q30, "P_b rises as the link stays idle");
	if (params->kind == ZRTT_CTL_BLUE || idle_ns < 1 << ZRTT_IDLE_MIN_SHIFT) {
		expect(same(&before, &r->ctl), "forgets without an idle time");
		return;
	}
	expect(idle_ns < FORGOTTEN_NS || !r->ctl.p_q30, "P_b outlives 31 half-lives");
	left = before.root_q30 * exp2(-(double)idle_ns / HALF_LIFE_NS);
	expect(r->ctl.root_q30 <= left * 1.0001 + 1, "does not halve in 537 ms");
}

static void check_late(const struct run *r, struct draw *d)
{
	u64 age_ns = draw_u64(d), more_ns = draw_u64(d);
	u32 backlog = draw_between(d, 0, TC_ZRTT_LIMIT_MAX);
	bool is_late = zrtt_ctl_late(&r->all.ctl, age_ns, backlog);

	expect(!is_late || r->all.ctl.kind != ZRTT_CTL_BLUE, "late for BLUE");
	expect(!is_late || backlog > ZRTT_LATE_KEEP_PKTS, "a burst is late");
	expect(!is_late || age_ns + more_ns < age_ns ||
	       zrtt_ctl_late(&r->all.ctl, age_ns + more_ns, backlog),
	       "late no more as time goes by");
}

/* The cause of P_b is gone: the queue is empty at each tick, or the link idle. */
static void check_recovery(struct run *r)
{
	const struct zrtt_ctl_params *params = &r->all.ctl;
	u32 before, i;
	double most;

	for (i = 0; i < PI2_RECOVERS_TICKS; i++) {
		before = r->ctl.p_q30;
		if (params->kind == ZRTT_CTL_BLUE)
			idle(r, params->freeze_us * 1000ULL);
		else
			zrtt_ctl_tick(params, &r->ctl, 0);
		/* pblue: time constant 1 s, its step rounded down to Q16 */
		most = before * (1 - 0.98 * params->tupdate_us / 1e6);
		expect(params->kind != ZRTT_CTL_PBLUE ||
		       r->ctl.p_q30 <= fmax(most, ZRTT_PBLUE_FLOOR),
		       "pblue recovers too slowly");
	}
	expect(params->kind != ZRTT_CTL_PI2 || r->ctl.p_q30 < ZRTT_P_ONE / 1000,
	       "PI2 recovers too slowly");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct run r = { .now_ns = draw_start_ns(&d) };

	zrtt_params_init(&r.all);
	draw_changes(&d, &r.all);
	zrtt_ctl_set(&r.ctl, draw_between(&d, 0, ZRTT_P_ONE));
	r.ctl.p_avg_q30 = draw_between(&d, 0, ZRTT_P_ONE);
	r.ctl.sojourn_us = draw_between(&d, 0, ZRTT_SOJOURN_MAX_US);
	r.ctl.changed_ns = r.now_ns;
	while (d.left) {
		switch (draw_index(&d, 7)) {
		case 0:
			draw_changes(&d, &r.all);
			break;
		case 1:
			tick(&r, &d);
			break;
		case 2:
			r.now_ns += draw_gap_ns(&d);
			overflow(&r);
			break;
		case 3:
			idle(&r, draw_gap_ns(&d));
			break;
		case 4:
			forget(&r, &d);
			break;
		case 5:
			check_sojourn(&r, &d);
			break;
		default:
			check_late(&r, &d);
			break;
		}
		check_state(&r.ctl);
	}
	check_recovery(&r);
	return 0;
}
