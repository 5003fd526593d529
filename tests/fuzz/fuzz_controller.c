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

/* PI2: updates of an empty queue that take P_b from 1 to below 0.1 %: the second one finds
 * it empty, and p' falls by 1/8 in each from then on.
 */
#define PI2_RECOVERS_TICKS	27

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
	expect(ctl->at < ZRTT_STANDING_TICKS, "no place for a sojourn");
	expect(fabs(ctl->root_q30 / ONE - sqrt(ctl->p_q30 / ONE)) <= 0.0002,
	       "p' is not the root of P_b");
}

/* What is aimed at is between half the target and 24 targets, or what fills it, and grows
 * with P_b and with what fills it.
 */
static void follow(struct run *r, struct draw *d)
{
	const struct zrtt_ctl_params *params = &r->all.ctl;
	u32 fill_us = draw_between(d, 0, ZRTT_SOJOURN_MAX_US);
	u32 least_us = params->target_us / 2;
	struct zrtt_ctl more = r->ctl;

	zrtt_ctl_follow(params, &r->ctl, fill_us);
	expect(r->ctl.aim_us >= least_us, "aims at less than half the target");
	expect(r->ctl.aim_us <= least_us || r->ctl.aim_us <= fill_us,
	       "aims at more than it takes");
	expect(r->ctl.aim_us <= ZRTT_FOLLOW_TARGETS * params->target_us,
	       "aims at more than 24 targets");
	expect(r->ctl.p_avg_q30 || r->ctl.aim_us == least_us, "follows without a P_b");
	more.p_avg_q30 = draw_between(d, more.p_avg_q30, ZRTT_P_ONE);
	zrtt_ctl_follow(params, &more, draw_between(d, fill_us, ZRTT_SOJOURN_MAX_US));
	expect(more.aim_us >= r->ctl.aim_us, "aims at less for more flows");
}

/* What young flows have counts up to a half, and the more the more they have. */
static void heed(struct run *r, struct draw *d)
{
	u32 young_q16 = draw_between(d, 0, ZRTT_Q16_ONE), before_q16 = r->ctl.young_q16;
	struct zrtt_ctl more = r->ctl;

	zrtt_ctl_heed_young(&more, draw_between(d, young_q16, ZRTT_Q16_ONE));
	zrtt_ctl_heed_young(&r->ctl, young_q16);
	expect(r->ctl.young_q16 <= ZRTT_YOUNG_MAX_Q16, "young flows take more than half of the gains");
	expect(more.young_q16 >= r->ctl.young_q16, "more of young flows counts less");
	expect(r->ctl.young_q16 <= (before_q16 > young_q16 ? before_q16 : young_q16),
	       "young flows count for more than they have");
}

/* What stands is no more than any of the last 5 sojourns, and one of them. */
static void check_standing(const struct zrtt_ctl *ctl, u32 sojourn_us)
{
	u32 i, seen = 0;

	expect(ctl->sojourn_us <= sojourn_us, "more stands than is there");
	for (i = 0; i < ZRTT_STANDING_TICKS; i++) {
		expect(ctl->sojourn_us <= ctl->recent_us[i], "more stands than was there");
		seen += ctl->sojourn_us == ctl->recent_us[i];
	}
	expect(seen, "stands though it was never there");
}

/* A queue counts as no longer than it is, and a burst as one more aim at the most. */
static void check_error(const struct run *r, struct draw *d)
{
	u32 standing_us = draw_between(d, 0, ZRTT_SOJOURN_MAX_US);
	s64 above_us = (s64)standing_us - r->ctl.aim_us;
	s64 error = zrtt_pi2_error(&r->ctl, standing_us);

	expect(error <= above_us, "the queue counts as longer than it is");
	expect(error == above_us || above_us > 0, "what is below the aim counts otherwise");
	expect(above_us <= 0 || error > 0 || !r->ctl.aim_us, "what is above the aim does not count");
	expect(error <= r->ctl.aim_us, "a burst counts");
	expect(error <= zrtt_pi2_error(&r->ctl,
				       draw_between(d, standing_us, ZRTT_SOJOURN_MAX_US)),
	       "a longer queue counts less");
}

/* Of two sojourns the longer one never gives the lower P_b. */
static void tick(struct run *r, struct draw *d)
{
	const struct zrtt_ctl before = r->ctl;
	u32 sojourn_us = draw_between(d, 0, ZRTT_SOJOURN_MAX_US);
	struct zrtt_ctl longer = r->ctl;
	u32 period_us = zrtt_ctl_period_us(&r->all.ctl);
	u32 elapsed_us = draw_between(d, period_us,
				      period_us * (1 + ZRTT_TICK_PERIODS_MAX));

	zrtt_ctl_tick(&r->all.ctl, &longer,
		      draw_between(d, sojourn_us, ZRTT_SOJOURN_MAX_US), elapsed_us);
	zrtt_ctl_tick(&r->all.ctl, &r->ctl, sojourn_us, elapsed_us);
	check_state(&longer);
	if (r->all.ctl.kind == ZRTT_CTL_PI2)
		check_standing(&r->ctl, sojourn_us);
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
	u32 seen_us = zrtt_ctl_sojourn(params, &r->ctl, sojourn_us, backlog);
	double most_us = fmax(params->target_us, r->ctl.aim_us);

	expect(seen_us <= sojourn_us, "the sojourn grows");
	expect(seen_us == sojourn_us ||
	       seen_us * (double)ZRTT_TARGET_PKTS <= most_us * backlog,
	       "few packets are many");
	expect(seen_us == sojourn_us || backlog < ZRTT_TARGET_PKTS ||
	       seen_us >= most_us, "many packets are few");
	expect(seen_us <= zrtt_ctl_sojourn(params, &r->ctl, sojourn_us,
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
	u32 left[ZRTT_LATE_PARTS], most_sent = (u32)draw_u64(d), kept, i;
	bool is_late;

	for (i = 0; i < ZRTT_LATE_PARTS; i++)
		left[i] = (u32)draw_u64(d);
	kept = zrtt_ctl_kept(&r->all.ctl, left, most_sent);
	expect(kept >= ZRTT_LATE_KEEP_PKTS, "less than a burst is kept");
	is_late = zrtt_ctl_late(&r->all.ctl, &r->ctl, age_ns, backlog, kept);

	expect(!is_late || r->all.ctl.kind != ZRTT_CTL_BLUE, "late for BLUE");
	expect(!is_late || backlog > ZRTT_LATE_KEEP_PKTS, "a burst is late");
	expect(!is_late || backlog > kept, "what is kept is late");
	expect(!is_late || age_ns + more_ns < age_ns ||
	       zrtt_ctl_late(&r->all.ctl, &r->ctl, age_ns + more_ns, backlog, kept),
	       "late no more as time goes by");
	expect(!is_late || age_ns > r->ctl.aim_us * 1000ULL, "what is aimed at is late");
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
			zrtt_ctl_tick(params, &r->ctl, 0, params->tupdate_us);
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
	zrtt_ctl_follow(&r.all.ctl, &r.ctl, 0);
	r.ctl.young_q16 = draw_between(&d, 0, ZRTT_YOUNG_MAX_Q16);
	while (d.left) {
		switch (draw_index(&d, 10)) {
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
		case 6:
			follow(&r, &d);
			break;
		case 7:
			check_error(&r, &d);
			break;
		case 8:
			heed(&r, &d);
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
