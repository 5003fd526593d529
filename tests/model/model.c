// SPDX-License-Identifier: GPL-2.0
/* The algorithm's headers as a shared library: what the tests here call. There is one
 * controller, and one table of flows.
 */
#include <linux/pkt_sched_zrtt.h>
#include <linux/types.h>
#include <zrtt/zrtt.h>

#define FLOWS	64	/* the most that is drawn */

/* What netlink lets in. */
#define RANGE(name, range) \
	const u32 range_##name[] = { TC_ZRTT_##range##_MIN, TC_ZRTT_##range##_MAX }

RANGE(target_us, TARGET);
RANGE(tupdate_us, TUPDATE);
RANGE(freeze_us, FREEZE);
RANGE(step_q30, STEP);
RANGE(pth_q30, PTH);

/* Fixed point */

s32 model_log2(u64 x)
{
	return zrtt_log2(x);
}

u32 model_exp2(s32 x)
{
	return zrtt_exp2(x);
}

u32 model_mul_q16(u32 x, u32 w_q16)
{
	return zrtt_mul_q16(x, w_q16);
}

u32 model_p_add(u32 p_q30, s64 delta)
{
	return zrtt_p_add(p_q30, delta);
}

u32 model_ewma(u32 avg, u32 x, u32 w_q16)
{
	return zrtt_ewma(avg, x, w_q16);
}

/* A controller */

static struct zrtt_ctl_params ctl_params;
static struct zrtt_ctl ctl;

void model_controller(u32 kind, u32 p_q30, u32 sojourn_us)
{
	ctl_params = (struct zrtt_ctl_params) { .kind = kind };
	ctl = (struct zrtt_ctl) { .sojourn_us = sojourn_us };
	zrtt_ctl_set(&ctl, p_q30);
}

/* What PI2 aims at from now on. */
u32 model_follow(u32 p_avg_q30, u32 fill_us)
{
	struct zrtt_ctl copy = { .p_avg_q30 = p_avg_q30 };

	zrtt_ctl_follow(&ctl_params, &copy, fill_us);
	ctl.aim_us = copy.aim_us;
	return ctl.aim_us;
}

/* What part of the rates young flows have from now on, as PI2 heeds it. */
void model_young(u32 young_q16)
{
	ctl.young_q16 = young_q16;
}

s64 model_pi2_error(u32 aim_us, u32 standing_us)
{
	const struct zrtt_ctl copy = { .aim_us = aim_us };

	return zrtt_pi2_error(&copy, standing_us);
}

u32 model_late(u64 age_ns, u32 backlog_pkts, u32 kept)
{
	return zrtt_ctl_late(&ctl_params, &ctl, age_ns, backlog_pkts, kept);
}

u32 model_kept(u32 left, u32 before, u32 most_sent)
{
	const u32 parts[ZRTT_LATE_PARTS] = { before, left };

	return zrtt_ctl_kept(&ctl_params, parts, most_sent);
}

u32 model_standing(void)
{
	return ctl.sojourn_us;
}

u32 model_fill(u32 due, u32 packet, u32 rtt_avg_us)
{
	return zrtt_fill_us(due, packet, rtt_avg_us);
}

/* What PI2 and pblue go by. */
void model_periods(u32 target_us, u32 tupdate_us)
{
	ctl_params.target_us = target_us;
	ctl_params.tupdate_us = tupdate_us;
	ctl_params.freeze_us = TC_ZRTT_FREEZE_MAX;
	zrtt_ctl_derive(&ctl_params);
}

/* What BLUE goes by. */
void model_steps(u32 freeze_us, u32 increment_q30, u32 decrement_q30)
{
	ctl_params.target_us = TC_ZRTT_TARGET_MAX;
	ctl_params.freeze_us = freeze_us;
	ctl_params.increment_q30 = increment_q30;
	ctl_params.decrement_q30 = decrement_q30;
	zrtt_ctl_derive(&ctl_params);
}

void model_overflow(u64 now_ns)
{
	zrtt_blue_overflow(&ctl_params, &ctl, now_ns);
}

void model_idle(u64 since_ns, u64 now_ns)
{
	zrtt_blue_idle(&ctl_params, &ctl, since_ns, now_ns);
}

void model_tick(u32 sojourn_us)
{
	zrtt_ctl_tick(&ctl_params, &ctl, sojourn_us, ctl_params.tupdate_us);
}

void model_forget(u64 idle_ns)
{
	zrtt_ctl_forget(&ctl_params, &ctl, idle_ns);
}

u32 model_p(void)
{
	return ctl.p_q30;
}

u32 model_root(void)
{
	return ctl.root_q30;
}

u32 model_p_avg(void)
{
	return ctl.p_avg_q30;
}

/* Flows that are old enough to count, of these RTTs and rates */

static struct zrtt_flow slots[FLOWS];
static struct zrtt_table table;
static struct zrtt_law_params law_params;
static struct zrtt_law law;

void model_flows(const u32 *rtt_us, const u32 *rate, u32 n)
{
	u32 i;

	law_params = (struct zrtt_law_params) {};
	law = (struct zrtt_law) {};
	zrtt_table_init(&table, slots, FLOWS);
	for (i = 0; i < n; i++) {
		slots[i] = (struct zrtt_flow) {
			.age = ZRTT_LIVE_EPOCHS, .source = ZRTT_RTT_HINT,
			.rtt_us = rtt_us[i], .rate = rate[i], .counts = 1,
			.threshold_q30 = ZRTT_P_ONE,
		};
		zrtt_flow_enlist(&table, &slots[i], zrtt_log2(rate[i]));
	}
}

void model_power(u32 alpha_q16, u32 feedback, u32 clamp)
{
	law_params.alpha_kind = ZRTT_ALPHA_FIXED;
	law_params.alpha_q16 = alpha_q16;
	law_params.feedback = feedback;
	law_params.clamp = clamp;
}

void model_padhye(void)
{
	law_params.padhye = true;
}

void model_law_tick(u32 p_q30, u32 queue_us)
{
	struct zrtt_sums sums = zrtt_table_sums(&table);

	zrtt_law_tick(&law_params, &law, &sums, p_q30, p_q30, queue_us);
}

u32 model_alpha(u32 kind, u32 alpha_max_q16, u32 pth_q30, u32 p_avg_q30)
{
	law_params.alpha_kind = kind;
	law_params.alpha_max_q16 = alpha_max_q16;
	law_params.pth_q30 = pth_q30;
	model_law_tick(p_avg_q30, 0);
	return law.alpha_q16;
}

/* P_i of the @i-th flow */
u64 model_probability(u32 i)
{
	const struct zrtt_vars vars = { .ctl = { .p_q30 = law.p_q30 } };

	slots[i].weight = zrtt_weight(&law_params, &law, &slots[i]);
	return zrtt_probability(&vars, &slots[i]);
}

u32 model_due(void)
{
	return law.due;
}

/* Does a flow in bulk of this age, rate and hit count beside a due share of @due? */
u32 model_counts(u32 age, u32 updates, u32 rate, u32 hit, u32 due)
{
	const struct zrtt_table t = { .due = due, .update_epochs = 1 };
	const struct zrtt_flow f = {
		.age = age, .updates = (u8)updates, .rate = rate, .hit = hit,
		.lane = ZRTT_LANE_BULK,
	};

	return zrtt_flow_counts(&t, &f);
}

/* Penalty of the first flow after updates of @epochs in which it had a rate of @rate. */
s32 model_penalty(u32 rate, u32 epochs)
{
	slots[0].rate = rate;
	slots[0].hit = 1;
	zrtt_penalise(&law, &slots[0], epochs);
	return slots[0].penalty_q16;
}

/* P_i of the first flow if it had this penalty, at its rate of now. */
u64 model_penalised(s32 penalty_q16)
{
	law_params.tuned = true;
	slots[0].penalty_q16 = penalty_q16;
	return model_probability(0);
}

/* The factor's logarithm after a tick with packets of these weights, P_b being 2^-14, @ticks before. */
s32 model_normalise(s32 log_norm, u32 ticks, const u32 *weight_q16, u32 n)
{
	u32 i;

	law_params = (struct zrtt_law_params) { .tuned = true };
	law = (struct zrtt_law) {
		.log_norm = log_norm, .norm_ticks = ticks, .p_q30 = ZRTT_Q16_ONE,
	};
	for (i = 0; i < n; i++)
		zrtt_count_weight(&law, weight_q16[i], true);
	zrtt_law_normalise(&law);
	return law.log_norm;
}

/* Verdicts */

u32 model_drop_odds(u64 p_q30)
{
	return zrtt_drop_odds(p_q30);
}

/* Of a packet of the first flow that can be marked; @spaced, or at random. */
u32 model_verdict(u32 spaced, u32 p_q30, u32 rnd)
{
	const struct zrtt_law_params params = {
		.tuned = spaced, .mark_max_q30 = ZRTT_P_ONE,
	};

	return zrtt_verdict(&params, &slots[0], p_q30, true, 1, true, rnd);
}

/* Rate of a flow that is updated @gaps epochs apart. */
u32 model_rate(const u32 *bytes, const u32 *gaps, u32 n)
{
	u32 i, epoch = 0;

	model_flows(NULL, NULL, 0);
	slots[0] = (struct zrtt_flow) {};
	for (i = 0; i < n; i++) {
		epoch += gaps[i];
		slots[0].bytes = bytes[i];
		zrtt_flow_update(&table, &slots[0], epoch);
	}
	return slots[0].rate;
}
