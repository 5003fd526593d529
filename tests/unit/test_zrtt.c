// SPDX-License-Identifier: GPL-2.0
/* params.h, tick.h, arrive.h, judge.h: presets, and the parts working together as the qdisc drives them. */
#include "unit.h"
#include "weight.h"
#include "table_check.h"
#include <zrtt/zrtt.h>

#include <linux/pkt_sched_zrtt.h>

#define US	1000ULL		/* ns */
#define MS	1000000ULL	/* ns */
#define S	1000000000ULL	/* ns */

/* A qdisc without packets. */
struct queue {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_stats stats;
};

static struct queue *new_queue(u32 mode, u32 flows)
{
	struct queue *q = calloc(1, sizeof(*q));

	zrtt_params_init(&q->params);
	zrtt_params_preset(&q->params, mode);
	zrtt_params_derive(&q->params);
	q->params.flows = flows;
	zrtt_table_init(&q->vars.table, calloc(flows, sizeof(struct zrtt_flow)),
			flows);
	return q;
}

static void free_queue(struct queue *q)
{
	free(q->vars.table.slots);
	free(q->vars.table.members);
	free(q->vars.hosts.table.slots);
	free(q->vars.hosts.groups);
	free(q);
}

/* A qdisc with slots for 64 hosts. */
static struct queue *new_queue_of_hosts(u32 flows)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, flows);
	struct zrtt_hosts *hosts = &q->vars.hosts;

	q->vars.table.members = calloc(flows, sizeof(struct zrtt_member));
	zrtt_hosts_begin(hosts);
	zrtt_table_init(&hosts->table, calloc(64, sizeof(struct zrtt_flow)), 64);
	hosts->groups = calloc(64, sizeof(struct zrtt_group));
	q->vars.table.groups = hosts->groups;
	return q;
}

static struct zrtt_flow *arrive(struct queue *q, const struct zrtt_arrival *pkt,
				u64 now_ns)
{
	struct zrtt_arrival one = *pkt;

	one.rtt_info = pkt->rtt_us || pkt->mark_us || pkt->timed_us || pkt->handshake ||
		       pkt->quic;
	return zrtt_arrive(&q->params, &q->vars, &q->stats, &one, 0, now_ns);
}

/* As a packet that is queued: accounted and judged. */
static struct zrtt_flow *pass_through(struct queue *q, const struct zrtt_arrival *pkt,
				      u64 now_ns)
{
	struct zrtt_flow *f = arrive(q, pkt, now_ns);

	zrtt_mark_or_drop(&q->params, &q->vars, f, pkt, 0, now_ns);
	return f;
}

static void enumerations_match_the_netlink_contract(void **state)
{
	(void)state;
	assert_int_equal(ZRTT_MODES, __TC_ZRTT_MODE_MAX);
	assert_int_equal(ZRTT_MODE_ZRTT, TC_ZRTT_MODE_ZRTT);
	assert_int_equal(ZRTT_MODE_PAPER, TC_ZRTT_MODE_PAPER);
	assert_int_equal(ZRTT_MODE_MRTT, TC_ZRTT_MODE_MRTT);
	assert_int_equal(ZRTT_MODE_PRTO, TC_ZRTT_MODE_PRTO);
	assert_int_equal(ZRTT_MODE_BLUE, TC_ZRTT_MODE_BLUE);
	assert_int_equal(ZRTT_CTL_BLUE, TC_ZRTT_CTL_BLUE);
	assert_int_equal(ZRTT_CTL_PBLUE, TC_ZRTT_CTL_PBLUE);
	assert_int_equal(ZRTT_CTL_PI2, TC_ZRTT_CTL_PI2);
	assert_int_equal(ZRTT_ALPHA_CAPPED, TC_ZRTT_ALPHA_CAPPED);
	assert_int_equal(ZRTT_ALPHA_PAPER, TC_ZRTT_ALPHA_PAPER);
	assert_int_equal(ZRTT_ALPHA_FIXED, TC_ZRTT_ALPHA_FIXED);
	assert_int_equal(ZRTT_HINT_CLAMP, TC_ZRTT_HINT_CLAMP);
	assert_int_equal(ZRTT_HINT_TRUST, TC_ZRTT_HINT_TRUST);
	assert_int_equal(ZRTT_HINT_IGNORE, TC_ZRTT_HINT_IGNORE);
	assert_int_equal(ZRTT_P_ONE, TC_ZRTT_P_ONE);
	assert_int_equal(ZRTT_Q16_ONE, TC_ZRTT_ALPHA_ONE);
}

static void defaults_are_within_their_ranges(void **state)
{
	struct zrtt_params p;

	(void)state;
	zrtt_params_init(&p);
	assert_in_range(zrtt_params_limit(&p), TC_ZRTT_LIMIT_MIN, TC_ZRTT_LIMIT_MAX);
	assert_true(p.memory_limit);
	assert_in_range(p.flows, TC_ZRTT_FLOWS_MIN, TC_ZRTT_FLOWS_MAX);
	assert_int_equal(p.flows & (p.flows - 1), 0);
	assert_in_range(p.ctl.target_us, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX);
	assert_in_range(p.ctl.tupdate_us, TC_ZRTT_TUPDATE_MIN, TC_ZRTT_TUPDATE_MAX);
	assert_in_range(p.ctl.threshold, TC_ZRTT_THRESHOLD_MIN,
			TC_ZRTT_THRESHOLD_MAX);
	assert_in_range(p.ctl.freeze_us, TC_ZRTT_FREEZE_MIN, TC_ZRTT_FREEZE_MAX);
	assert_in_range(p.ctl.increment_q30, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX);
	assert_in_range(p.ctl.decrement_q30, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX);
	assert_in_range(p.law.alpha_max_q16, 0, TC_ZRTT_ALPHA_LIMIT);
	assert_in_range(p.law.pth_q30, TC_ZRTT_PTH_MIN, TC_ZRTT_PTH_MAX);
	assert_in_range(p.law.feedback, 0, TC_ZRTT_FEEDBACK_MAX);
	assert_in_range(p.law.mark_max_q30, 0, TC_ZRTT_P_ONE);
	assert_int_equal(p.mode, ZRTT_MODE_ZRTT);
	assert_int_equal(p.mark_mask, 0);
	assert_true(p.ecn && p.split_gso && !p.strip);
}

static void presets_are_what_the_design_says(void **state)
{
	struct zrtt_params p;
	u32 mode;

	(void)state;
	for (mode = 0; mode < ZRTT_MODES; mode++) {
		bool own = mode == ZRTT_MODE_ZRTT;

		zrtt_params_init(&p);
		zrtt_params_preset(&p, mode);
		zrtt_params_derive(&p);
		assert_int_equal(p.mode, mode);
		assert_int_equal(p.law.tuned, own);
		assert_int_equal(p.handshake, own);
		assert_int_equal(!p.law.feedback, !own);
		assert_int_equal(p.ctl.kind, own ? ZRTT_CTL_PI2 : ZRTT_CTL_BLUE);
		assert_int_equal(p.hint, own ? ZRTT_HINT_CLAMP : ZRTT_HINT_TRUST);
		assert_int_equal(p.law.clamp, own);
		assert_int_equal(p.law.padhye, mode == ZRTT_MODE_PRTO);
		assert_int_equal(p.law.mark_max_q30 == ZRTT_P_ONE, !own);
	}
	zrtt_params_preset(&p, ZRTT_MODE_ZRTT);
	assert_int_equal(p.law.alpha_kind, ZRTT_ALPHA_CAPPED);
	assert_int_equal(p.law.alpha_max_q16, 5 * ZRTT_Q16_ONE / 4);
	assert_near(p.law.pth_q30, 0.04 * ZRTT_P_ONE, 1);
	assert_int_equal(p.law.mark_max_q30, ZRTT_P_ONE / 4);
	assert_int_equal(p.law.feedback, 2);
	zrtt_params_preset(&p, ZRTT_MODE_PAPER);
	assert_int_equal(p.law.alpha_kind, ZRTT_ALPHA_PAPER);
	assert_near(p.law.pth_q30, 0.05 * ZRTT_P_ONE, 1);
	zrtt_params_preset(&p, ZRTT_MODE_MRTT);
	assert_int_equal(p.law.alpha_kind, ZRTT_ALPHA_FIXED);
	assert_int_equal(p.law.alpha_q16, 2 * ZRTT_Q16_ONE);
	zrtt_params_preset(&p, ZRTT_MODE_BLUE);
	assert_int_equal(p.law.alpha_kind, ZRTT_ALPHA_FIXED);
	assert_int_equal(p.law.alpha_q16, 0);
}

/* Zhang and Ye 2004: freeze 50 ms, 0.02, 0.002, q_lim 100 packets */
static void blue_has_the_papers_parameters(void **state)
{
	struct zrtt_params p;

	(void)state;
	zrtt_params_init(&p);
	assert_int_equal(p.ctl.freeze_us, 50000);
	assert_near(p.ctl.increment_q30, 0.02 * ZRTT_P_ONE, 1);
	assert_near(p.ctl.decrement_q30, 0.002 * ZRTT_P_ONE, 1);
	assert_int_equal(p.ctl.threshold, 100);
}

static void preset_leaves_what_is_not_its_own(void **state)
{
	struct zrtt_params p;
	u32 mode;

	(void)state;
	zrtt_params_init(&p);
	p.limit = 77;
	p.flows = 128;
	p.mark_mask = 0xff00;
	p.strip = true;
	p.ecn = false;
	p.split_gso = false;
	p.ctl.target_us = 5000;
	for (mode = 0; mode < ZRTT_MODES; mode++) {
		zrtt_params_preset(&p, mode);
		assert_int_equal(p.limit, 77);
		assert_int_equal(p.flows, 128);
		assert_int_equal(p.ctl.target_us, 5000);
		assert_int_equal(p.mark_mask, 0xff00);
		assert_true(p.strip && !p.ecn && !p.split_gso);
	}
}

static void ticks_keep_their_period(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u64 period_ns = q->params.ctl.tupdate_us * US;

	(void)state;
	zrtt_tick(&q->params, &q->vars, 0, UINT32_MAX, S);
	assert_false(zrtt_tick_due(&q->vars, S));
	assert_false(zrtt_tick_due(&q->vars, S + period_ns - 1));
	assert_true(zrtt_tick_due(&q->vars, S + period_ns));
	free_queue(q);
}

static void delay_is_smoothed_and_bounded(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		zrtt_tick(&q->params, &q->vars, 20000, UINT32_MAX, S + i * 16 * MS);
	assert_near(q->vars.delay_q8 >> ZRTT_DELAY_FRAC, 20000, 20);
	for (i = 0; i < 200; i++)
		zrtt_tick(&q->params, &q->vars, UINT32_MAX, UINT32_MAX, S + i * 16 * MS);
	assert_in_range(q->vars.delay_q8 >> ZRTT_DELAY_FRAC,
			ZRTT_SOJOURN_MAX_US * 0.99, ZRTT_SOJOURN_MAX_US);
	free_queue(q);
}

/* Flows with the RTTs and at equal rates, a packet each per millisecond. */
static void run_flows(struct queue *q, const u32 *rtts_us, u32 flows, u64 from_ns,
		      u64 to_ns)
{
	u64 now;
	u32 i;

	for (now = from_ns; now < to_ns; now += MS) {
		if (zrtt_tick_due(&q->vars, now))
			zrtt_tick(&q->params, &q->vars, 20000, UINT32_MAX, now);
		for (i = 0; i < flows; i++) {
			const struct zrtt_arrival pkt = {
				.tag = i + 1, .bytes = 1000, .segs = 1,
				.rtt_us = rtts_us[i],
			};

			arrive(q, &pkt, now);
		}
	}
}

static struct zrtt_flow *flow_of(struct queue *q, u32 tag)
{
	return zrtt_flow_find(&q->vars.table, tag);
}

static void weights_follow_from_the_packets_alone(void **state)
{
	const u32 rtts_us[] = { 20000, 40000, 80000, 160000, 0 };
	const double mean_us = 75000;
	struct queue *q = new_queue(ZRTT_MODE_MRTT, 64);
	u32 i;

	(void)state;
	run_flows(q, rtts_us, ARRAY_LEN(rtts_us), S, 6 * S);
	check_table(&q->vars.table);
	assert_int_equal(q->vars.table.live, ARRAY_LEN(rtts_us));
	assert_int_equal(q->vars.table.by_source[ZRTT_RTT_HINT],
			 ARRAY_LEN(rtts_us) - 1);
	for (i = 0; i < ARRAY_LEN(rtts_us); i++) {
		double want = rtts_us[i] ? pow(mean_us / rtts_us[i], 2) : 1;
		const struct zrtt_flow *f = flow_of(q, i + 1);

		assert_near(weight_value(f->weight), want, want * 0.01);
		/* 1 MB/s, coming up to speed for 5 s */
		assert_in_range(f->rate, 120000, 135000);
	}
	/* the one without an RTT counts like the others in the due share */
	assert_int_equal(q->vars.table.counted, ARRAY_LEN(rtts_us));
	assert_near(q->vars.law.due, 134218, 2000);
	assert_int_equal(q->vars.table.due, q->vars.law.due);
	/* the handshake was not asked for: no flow has a passive RTT */
	assert_int_equal(q->stats.hint_clamped, 0);
	free_queue(q);
}

static void silent_flows_leave_the_averages(void **state)
{
	const u32 rtts_us[] = { 20000, 180000 };
	struct queue *q = new_queue(ZRTT_MODE_MRTT, 64);

	(void)state;
	run_flows(q, rtts_us, 2, S, 4 * S);
	assert_near(q->vars.law.rtt_avg_us, 100000, 500);
	run_flows(q, rtts_us, 1, 4 * S, 8 * S);
	assert_near(q->vars.law.rtt_avg_us, 20000, 100);
	assert_near(weight_value(flow_of(q, 1)->weight), 1, 0.01);
	free_queue(q);
}

static void handshake_gives_the_rtt_without_our_own_queue(void **state)
{
	const struct zrtt_arrival syn = {
		.tag = 9, .bytes = 60, .segs = 1, .seq = 99, .handshake = true,
	};
	const struct zrtt_arrival ack = {
		.tag = 9, .bytes = 52, .segs = 1, .seq = 100, .ack = 1,
	};
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f = arrive(q, &syn, S);

	(void)state;
	assert_int_equal(f->source, ZRTT_RTT_NONE);
	/* 30 ms in our queue, 40 ms on the path and back */
	zrtt_syn_left(f, zrtt_us(S + 30 * MS));
	f = arrive(q, &ack, S + 70 * MS);
	zrtt_answer(&q->params, &q->vars, f, &ack, S + 70 * MS, S + 70 * MS);
	assert_int_equal(f->source, ZRTT_RTT_HANDSHAKE);
	assert_near(f->rtt_us, 40000, 32);
	assert_int_equal(q->vars.table.by_source[ZRTT_RTT_HANDSHAKE], 1);
	check_table(&q->vars.table);
	free_queue(q);
}

/* A client that sends for 10 s, and again after 10 s of silence. */
static void quic_has_a_source_of_its_own(void **state)
{
	const struct zrtt_arrival first = {
		.tag = 9, .bytes = 1200, .segs = 1, .quic = ZRTT_QUIC_HELLO,
	};
	const struct zrtt_arrival data = { .tag = 9, .bytes = 1200, .segs = 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f = arrive(q, &first, S);
	u64 ns;

	(void)state;
	assert_true(q->params.quic);
	zrtt_answer_quic(&q->params, &q->vars, f, ZRTT_QUIC_HELLO, false, S, S);
	zrtt_quic_left(f, S + 30 * MS);
	f = arrive(q, &data, S + 70 * MS);
	zrtt_answer_quic(&q->params, &q->vars, f, ZRTT_QUIC_HANDSHAKE, false, S + 70 * MS,
			 S + 70 * MS);
	assert_int_equal(f->source, ZRTT_RTT_QUIC);
	assert_near(f->rtt_us, 40000, 66);
	for (ns = 2 * S; ns < 12 * S; ns += 100 * MS)
		f = arrive(q, &data, ns);
	assert_int_equal(q->vars.table.by_source[ZRTT_RTT_QUIC], 1);
	check_table(&q->vars.table);
	f = arrive(q, &data, 22 * S);
	assert_int_equal(f->syn, ZRTT_SYN_QUIC);
	assert_int_equal(f->source, ZRTT_RTT_QUIC);
	assert_near(f->rtt_us, 40000, 66);
	/* and is forgotten as that of a handshake */
	for (ns = 23 * S; ns < 900 * S; ns += S)
		f = arrive(q, &data, ns);
	assert_int_equal(f->source, ZRTT_RTT_NONE);
	assert_int_equal(q->vars.table.by_source[ZRTT_RTT_QUIC], 0);
	check_table(&q->vars.table);
	free_queue(q);
}

static void repeated_syn_is_not_its_own_answer(void **state)
{
	const struct zrtt_arrival syn = {
		.tag = 9, .bytes = 60, .segs = 1, .seq = 99, .handshake = true,
	};
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f = arrive(q, &syn, S);

	(void)state;
	zrtt_syn_left(f, zrtt_us(S));
	assert_int_equal(f->syn, ZRTT_SYN_LEFT);
	f = arrive(q, &syn, 2 * S);
	assert_int_equal(f->source, ZRTT_RTT_NONE);
	assert_int_equal(f->syn, ZRTT_SYN_NONE);
	/* after a silence it is another connection's, with the same ports */
	f = arrive(q, &syn, 5 * S);
	assert_int_equal(f->syn, ZRTT_SYN_QUEUED);
	free_queue(q);
}

static void timestamps_give_the_rtt_of_a_flow_without_handshake(void **state)
{
	struct zrtt_arrival pkt = { .tag = 9, .bytes = 1500, .segs = 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	const u32 *by_source = q->vars.table.by_source;

	(void)state;
	assert_int_equal(arrive(q, &pkt, S)->source, ZRTT_RTT_NONE);
	pkt.timed_us = 40000;
	assert_int_equal(arrive(q, &pkt, S + US)->rtt_us, 40000);
	assert_int_equal(by_source[ZRTT_RTT_TIMESTAMPS], 1);
	/* nothing is known for a while, then a longer path: from the next epoch on */
	pkt.timed_us = 0;
	assert_int_equal(arrive(q, &pkt, 2 * S)->rtt_us, 40000);
	pkt.timed_us = 90000;
	arrive(q, &pkt, 2 * S + US);
	assert_int_equal(arrive(q, &pkt, 3 * S)->rtt_us, 90000);
	assert_int_equal(by_source[ZRTT_RTT_TIMESTAMPS], 1);
	assert_int_equal(by_source[ZRTT_RTT_NONE], 0);
	check_table(&q->vars.table);
	free_queue(q);
}

static void clamped_hints_are_counted(void **state)
{
	const struct zrtt_arrival syn = {
		.tag = 9, .bytes = 60, .segs = 1, .seq = 99, .handshake = true,
	};
	struct zrtt_arrival pkt = { .tag = 9, .bytes = 1500, .segs = 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f = arrive(q, &syn, S);

	(void)state;
	zrtt_syn_left(f, zrtt_us(S));
	pkt.seq = 100;
	zrtt_answer(&q->params, &q->vars, f, &pkt, S + 40 * MS, S + 40 * MS);
	pkt.rtt_us = 38000;
	arrive(q, &pkt, S + 40 * MS);
	assert_int_equal(q->stats.hint_clamped, 0);
	pkt.rtt_us = 400000;
	f = arrive(q, &pkt, S + 41 * MS);
	assert_int_equal(q->stats.hint_clamped, 1);
	assert_true(f->rtt_us <= 40000 * 5 / 4 + 2000);
	free_queue(q);
}

static void mark_mask_has_up_to_16_adjacent_bits(void **state)
{
	u32 bits, shift, i;
	u64 seed = 31;

	(void)state;
	assert_true(zrtt_mask_fits(0, ZRTT_MARK_BITS));
	for (bits = 1; bits <= 32; bits++)
		for (shift = 0; shift <= 32 - bits; shift++)
			assert_int_equal(zrtt_mask_fits((u32)(((1ULL << bits) - 1) << shift),
							ZRTT_MARK_BITS),
					 bits <= TC_ZRTT_MARK_BITS_MAX);
	/* anything with a hole in it */
	for (i = 0; i < 100000; i++) {
		u32 low = 1U << unit_between(&seed, 0, 29);
		u32 mask = low | low << 2 | ((u32)unit_random(&seed) & ~(2 * low - 1));

		assert_false(zrtt_mask_fits(mask & ~(2 * low), ZRTT_MARK_BITS));
	}
}

static void mark_has_the_unit_and_the_range_of_a_hint(void **state)
{
	struct zrtt_params p;
	u32 shift;

	(void)state;
	zrtt_params_init(&p);
	assert_int_equal(zrtt_mark_to_us(&p, UINT32_MAX), 0);
	for (shift = 0; shift <= 16; shift++) {
		u32 rest = ~(0xffffU << shift);

		p.mark_mask = 0xffffU << shift;
		zrtt_params_derive(&p);
		assert_int_equal(zrtt_mark_to_us(&p, rest), 0);
		assert_int_equal(zrtt_mark_to_us(&p, rest | 1U << shift), 32);
		assert_int_equal(zrtt_mark_to_us(&p, rest | 65534U << shift),
				 ZRTT_HINT_MAX_US);
		assert_int_equal(zrtt_mark_to_us(&p, UINT32_MAX), 0);
	}
	/* all bits of a narrower field are a value like any other */
	p.mark_mask = 0x3ff0;
	zrtt_params_derive(&p);
	assert_int_equal(zrtt_mark_to_us(&p, UINT32_MAX), 0x3ff * 32);
}

/* An unconfirmed hint weighs 4 at most under clamp, the operator's word does not. */
static void mark_is_not_clamped(void **state)
{
	struct zrtt_arrival far = { .tag = 1, .bytes = 1000, .segs = 1 };
	struct zrtt_arrival near = { .tag = 2, .bytes = 1000, .segs = 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u64 now;

	(void)state;
	q->params.law.alpha_kind = ZRTT_ALPHA_FIXED;
	q->params.law.alpha_q16 = 2 * ZRTT_Q16_ONE;
	q->params.law.feedback = 0;
	far.mark_us = 195000;
	near.mark_us = 5000;
	for (now = S; now < 2 * S; now += MS) {
		if (zrtt_tick_due(&q->vars, now))
			zrtt_tick(&q->params, &q->vars, 15000, UINT32_MAX, now);
		arrive(q, &far, now);
		arrive(q, &near, now);
	}
	assert_int_equal(q->vars.table.by_source[ZRTT_RTT_MARK], 2);
	assert_near(weight_value(flow_of(q, 2)->weight), 400, 10);
	near.rtt_us = 5000;
	arrive(q, &near, now);
	assert_int_equal(q->vars.table.by_source[ZRTT_RTT_HINT], 1);
	assert_near(weight_value(flow_of(q, 2)->weight), 4, 0.1);
	/* a mark behind a hint changes nothing */
	near.rtt_us = 0;
	near.mark_us = 195000;
	assert_int_equal(arrive(q, &near, now)->rtt_us, 5000);
	check_table(&q->vars.table);
	free_queue(q);
}

static void blue_is_paid_at_the_end_of_an_idle_time(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_BLUE, 64);
	u32 d1 = q->params.ctl.increment_q30, d2 = q->params.ctl.decrement_q30;

	(void)state;
	zrtt_overflow(&q->params, &q->vars, &q->stats, S);
	zrtt_overflow(&q->params, &q->vars, &q->stats, S + 100 * MS);
	assert_int_equal(q->vars.ctl.p_q30, 2 * d1);
	assert_int_equal(q->stats.overflow_events, 2);
	zrtt_idle(&q->params, &q->vars, S + 200 * MS);
	assert_int_equal(q->vars.ctl.p_q30, 2 * d1 - d2);
	zrtt_idle(&q->params, &q->vars, S + 200 * MS + 523 * MS);
	/* 10 more in 523 ms: one at 50, 100 .. 500 ms */
	assert_int_equal(q->vars.ctl.p_q30, 2 * d1 - 11 * d2);
	/* that packet was dropped: the idle time goes on, 1 decrement each 50 ms */
	zrtt_idle(&q->params, &q->vars, S + 200 * MS + 523 * MS + 60 * MS);
	assert_int_equal(q->vars.ctl.p_q30, 2 * d1 - 12 * d2);
	/* this one was queued, and left: nothing more is owed but for that */
	zrtt_idle_end(&q->vars);
	zrtt_idle(&q->params, &q->vars, 10 * S);
	assert_int_equal(q->vars.ctl.p_q30, 2 * d1 - 13 * d2);
	free_queue(q);
}

static void pi2_forgets_over_an_idle_time(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);

	(void)state;
	zrtt_ctl_set(&q->vars.ctl, ZRTT_P_ONE);
	zrtt_idle(&q->params, &q->vars, S);
	zrtt_idle(&q->params, &q->vars, S + MS);
	assert_in_range(q->vars.ctl.p_q30, ZRTT_P_ONE * 0.99, ZRTT_P_ONE);
	zrtt_idle_end(&q->vars);
	zrtt_idle(&q->params, &q->vars, 2 * S);
	zrtt_idle(&q->params, &q->vars, 12 * S);
	assert_in_range(q->vars.ctl.p_q30, 0, ZRTT_P_ONE / 1000);
	free_queue(q);
}

/* Flows 1 to @flows, of @packets[i] a ms, for @ms, at a P_b of @p_q30. Return: packets that were
 * marked or dropped.
 */
static u32 run_rates_at(struct queue *q, u32 p_q30, const u32 *packets, u32 flows, u32 ms, u64 *now)
{
	struct zrtt_arrival pkt = { .bytes = 1000, .segs = 1, .rtt_us = 50000, .ecn = ZRTT_ECT_0,
				    .seq_high = 1 };
	static u64 seed = 60;
	struct zrtt_flow *f;
	u32 i, hits = 0;

	for (; ms; ms--, *now += MS) {
		if (zrtt_tick_due(&q->vars, *now)) {
			zrtt_tick(&q->params, &q->vars, 15000, UINT32_MAX, *now);
			zrtt_ctl_set(&q->vars.ctl, p_q30);
		}
		for (pkt.tag = 1; pkt.tag <= flows; pkt.tag++)
			for (i = 0; i < packets[pkt.tag - 1]; i++) {
				f = arrive(q, &pkt, *now);
				f->lane = ZRTT_LANE_BULK;
				hits += zrtt_mark_or_drop(&q->params, &q->vars, f, &pkt,
							  (u32)unit_random(&seed), *now) !=
					ZRTT_PASS;
			}
	}
	check_table(&q->vars.table);
	return hits;
}

/* The same at 5 %. */
static void run_rates(struct queue *q, const u32 *packets, u32 flows, u32 ms, u64 *now)
{
	run_rates_at(q, ZRTT_P_ONE / 20, packets, flows, ms, now);
}

/* Floods get as much as flows that heed marks: what they send beyond that is dropped. */
static void floods_end_at_their_due_share(void **state)
{
	const u32 packets[] = { 4, 1, 1, 20, 1, 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	const u32 alone = 134218;	/* bytes per epoch of one packet a ms */
	u64 now = S;
	u32 i;

	(void)state;
	run_rates(q, packets, ARRAY_LEN(packets), 90000, &now);
	assert_int_equal(q->vars.table.counted, ARRAY_LEN(packets));
	assert_near(q->vars.law.due, alone, alone * 0.05);
	for (i = 0; i < ARRAY_LEN(packets); i++)
		assert_near(flow_of(q, i + 1)->rate, alone, alone * 0.15);
	assert_true(flow_of(q, 4)->penalty_q16 > flow_of(q, 1)->penalty_q16);
	assert_true(flow_of(q, 1)->penalty_q16 > flow_of(q, 2)->penalty_q16);
	/* 19 of 20 packets: odds of 19 */
	assert_near(zrtt_probability(&q->vars, flow_of(q, 4)) / (double)ZRTT_P_ONE, 19, 6);
	free_queue(q);
}

/* Where P_i would take minutes to mark anybody, and due shares are large. */
static void far_above_a_large_due_share_marks_come_soon(void **state)
{
	const u32 equal[] = { 2, 2, 2 }, twice[] = { 2, 2, 6 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u64 now = S;

	(void)state;
	assert_int_equal(run_rates_at(q, 4, equal, ARRAY_LEN(equal), 20000, &now), 0);
	/* 149 epochs, the first of them until the rate is above */
	assert_in_range(run_rates_at(q, 4, twice, ARRAY_LEN(twice), 20000, &now), 6, 9);
	assert_true(flow_of(q, 3)->hit && !flow_of(q, 1)->hit && !flow_of(q, 2)->hit);
	free_queue(q);
}

/* With nobody beside it, a flood has no penalty, however much it sends. */
static void flood_alone_is_its_own_due_share(void **state)
{
	const u32 packets[] = { 20 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f;
	u64 now = S;

	(void)state;
	run_rates(q, packets, 1, 30000, &now);
	f = flow_of(q, 1);
	assert_near(f->rate, 20 * 134218, 20 * 2000);
	assert_near(f->penalty_q16 / 65536.0, 0, 0.5);
	assert_near(weight_value(f->weight), 1, 0.1);
	free_queue(q);
}

static void penalty_is_forgotten_after_2_s_of_silence(void **state)
{
	const u32 flood[] = { 1, 8 }, none[] = { 1, 0 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u64 now = S;

	(void)state;
	run_rates(q, flood, 2, 30000, &now);
	assert_true(flow_of(q, 2)->penalty_q16 > (s32)ZRTT_Q16_ONE / 4);
	run_rates(q, none, 2, 1500, &now);
	run_rates(q, flood, 2, 1, &now);
	assert_true(flow_of(q, 2)->penalty_q16 > 0);
	run_rates(q, none, 2, 2300, &now);
	run_rates(q, flood, 2, 1, &now);
	assert_int_equal(flow_of(q, 2)->penalty_q16, 0);
	free_queue(q);
}

/* Those who ask for little are left out of the share, and have no penalty for it. */
static void thin_flow_is_no_part_of_the_due_share(void **state)
{
	const struct zrtt_arrival thin = { .tag = 9, .bytes = 60, .segs = 1, .rtt_us = 50000 };
	const u32 packets[] = { 2, 2, 2 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u64 now = S;
	u32 i;

	(void)state;
	run_rates(q, packets, ARRAY_LEN(packets), 3000, &now);
	for (i = 0; i < 300; i++) {
		assert_int_equal(zrtt_mark_or_drop(&q->params, &q->vars, arrive(q, &thin, now),
						   &thin, 0, now), ZRTT_PASS);
		run_rates(q, packets, ARRAY_LEN(packets), 50, &now);
	}
	assert_true(zrtt_flow_mature(flow_of(q, 9)) && flow_of(q, 9)->live);
	assert_int_equal(q->vars.table.counted, 3);
	assert_near(q->vars.law.due, 2 * 134218, 2 * 134218 * 0.05);
	assert_int_equal(flow_of(q, 9)->penalty_q16, 0);
	assert_true(weight_value(flow_of(q, 9)->weight) < 0.01);
	free_queue(q);
}

/* Packets of 1000 bytes at a P_b of @p_q30; what is counted of the last one. */
static u32 counted_bytes(u32 mode, u32 p_q30, bool ect, bool ecn, enum zrtt_verdict want)
{
	const struct zrtt_arrival pkt = { .tag = 7, .bytes = 1000, .segs = 1, .ecn = ect ? ZRTT_ECT_0 : ZRTT_NOT_ECT };
	struct queue *q = new_queue(mode, 64);
	struct zrtt_flow *f;
	u32 bytes, i;

	q->params.ecn = ecn;
	f = arrive(q, &pkt, S);
	/* spaced marks come once credit is full */
	for (i = 0; i < 4; i++) {
		f->acc_q30 = f->threshold_q30 - 1;
		zrtt_ctl_set(&q->vars.ctl, p_q30);
		bytes = f->bytes;
		f = arrive(q, &pkt, S);
		assert_int_equal(zrtt_mark_or_drop(&q->params, &q->vars, f, &pkt, 0, S), want);
	}
	bytes = f->bytes - bytes;
	free_queue(q);
	return bytes;
}

static void dropped_bytes_are_no_part_of_the_rate(void **state)
{
	u32 mode;

	(void)state;
	for (mode = 0; mode < ZRTT_MODES; mode++) {
		const u32 p = ZRTT_P_ONE / 4;

		assert_int_equal(counted_bytes(mode, 0, true, true, ZRTT_PASS), 1000);
		assert_int_equal(counted_bytes(mode, p, true, true, ZRTT_MARK), 1000);
		assert_int_equal(counted_bytes(mode, p, false, true, ZRTT_DROP), 0);
		assert_int_equal(counted_bytes(mode, p, true, false, ZRTT_DROP), 0);
	}
	assert_int_equal(counted_bytes(ZRTT_MODE_ZRTT, ZRTT_P_ONE, true, true, ZRTT_DROP), 0);
}

/* Whoever is marked or dropped is held back, but not by an ACK, and whoever passes is not for it. */
static void verdict_is_remembered_as_a_hit(void **state)
{
	const struct zrtt_arrival data = { .tag = 7, .bytes = 1000, .segs = 1, .seq_high = 5 };
	const struct zrtt_arrival ack = { .tag = 7, .bytes = 66, .segs = 1, .seq_high = 5 };
	u32 mode, i, hits = 0;
	u64 seed = 27;

	(void)state;
	for (mode = 0; mode < ZRTT_MODES; mode++) {
		struct queue *q = new_queue(mode, 64);
		struct zrtt_flow *f = arrive(q, &data, S);

		for (i = 0; i < 4000; i++) {
			const struct zrtt_arrival *pkt = i & 1 ? &data : &ack;
			enum zrtt_verdict v;

			f = arrive(q, pkt, S);
			zrtt_ctl_set(&q->vars.ctl, i & 2 ? ZRTT_P_ONE / 2 : ZRTT_P_ONE / 64);
			f->hit = i >> 2 & 1;
			f->hit_at = 0;
			v = zrtt_mark_or_drop(&q->params, &q->vars, f, pkt, (u32)unit_random(&seed), S);
			assert_int_equal(f->hit, (i >> 2 & 1) || v != ZRTT_PASS);
			assert_int_equal(zrtt_flow_held(f), f->hit && ((i & 1) || (i >> 2 & 1)));
			hits += v != ZRTT_PASS;
		}
		free_queue(q);
	}
	assert_in_range(hits, 500 * ZRTT_MODES, 2000 * ZRTT_MODES);
}

/* Packets of 1000 bytes at a P_b of @p_q30, hit as they leave if at all: how many are, of 6400. */
static u32 hit_leaving(struct queue *q, u32 p_q30, u32 segs, bool *later)
{
	const struct zrtt_arrival pkt = { .tag = 7, .bytes = 1000, .segs = segs };
	struct zrtt_flow *f;
	u32 i, hits = 0;
	u64 seed = 1;

	for (i = 0; i < 6400; i++) {
		f = arrive(q, &pkt, S);
		zrtt_ctl_set(&q->vars.ctl, p_q30);
		*later = zrtt_owes_later(&q->params, &q->vars, f, &pkt, S);
		if (!*later)
			return 0;
		if (!zrtt_flow_owes(f))
			continue;
		zrtt_settle(f, pkt.bytes, (u32)unit_random(&seed));
		assert_true(f->hit);
		zrtt_dropped_leaving(&q->vars, f, pkt.bytes);
		hits++;
	}
	assert_int_equal(flow_of(q, 7)->bytes, (6400 - hits) * 1000);
	return hits;
}

static void hits_are_had_by_packets_that_leave(void **state)
{
	const struct zrtt_arrival pkt = { .tag = 8, .bytes = 1000, .segs = 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f;
	bool later;
	u32 i;

	(void)state;
	assert_near(hit_leaving(q, ZRTT_P_ONE / 64, 1, &later), 100, 8);
	free_queue(q);
	q = new_queue(ZRTT_MODE_ZRTT, 64);
	assert_near(hit_leaving(q, ZRTT_P_ONE / 64, 4, &later), 400, 16);
	/* none waits for a second hit for ever */
	f = arrive(q, &pkt, S);
	zrtt_ctl_set(&q->vars.ctl, ZRTT_LATER_MAX);
	for (i = 0; i < 1000; i++)
		assert_true(zrtt_owes_later(&q->params, &q->vars, f, &pkt, S));
	for (i = 0; zrtt_flow_owes(f); i++)
		zrtt_settle(f, pkt.bytes, 1U << 31);
	assert_in_range(i, 2, 4);
	/* nor is any counted that comes while the queue falls */
	q->vars.ctl.falls = true;
	f->acc_q30 = 0;
	assert_true(zrtt_owes_later(&q->params, &q->vars, f, &pkt, S));
	assert_int_equal(f->acc_q30, 0);
	free_queue(q);
}

static void what_is_dropped_or_capped_is_judged_as_it_comes(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	bool later;
	u32 mode;

	(void)state;
	hit_leaving(q, ZRTT_LATER_MAX, 16, &later);
	assert_true(later);
	hit_leaving(q, ZRTT_LATER_MAX, 17, &later);
	assert_false(later);
	hit_leaving(q, ZRTT_LATER_MAX + ZRTT_LATER_MAX / 100, 1, &later);
	assert_false(later);
	q->params.law.mark_max_q30 = ZRTT_P_ONE / 100;
	zrtt_params_derive(&q->params);
	hit_leaving(q, ZRTT_P_ONE / 99, 1, &later);
	assert_false(later);
	q->params.ceil.rate = 1000000;
	zrtt_params_derive(&q->params);
	hit_leaving(q, 1000, 1, &later);
	assert_false(later);
	/* it counts where P_b is 0, too */
	hit_leaving(q, 0, 1, &later);
	assert_false(later);
	free_queue(q);
	for (mode = ZRTT_MODE_PAPER; mode < ZRTT_MODES; mode++) {
		q = new_queue(mode, 64);
		hit_leaving(q, 1000, 1, &later);
		assert_false(later);
		hit_leaving(q, 0, 1, &later);
		assert_false(later);
		free_queue(q);
	}
}

/* Another controller does not look ahead, and what was seen ahead before does not stay. */
static void only_pi2_foresees(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);

	(void)state;
	q->vars.ctl.falls = true;
	q->params.ctl.kind = ZRTT_CTL_PBLUE;
	zrtt_params_derive(&q->params);
	zrtt_tick(&q->params, &q->vars, 20000, 100, S);
	assert_false(q->vars.ctl.falls);
	free_queue(q);
}

/* A hit of a flow of the low-latency lane counts there, too, if it waits in bulk for once. */
static void hits_of_scalable_flows_are_counted(void **state)
{
	const struct zrtt_arrival pkt = { .tag = 7, .bytes = 1000, .segs = 1 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f = arrive(q, &pkt, S);

	(void)state;
	zrtt_settle(f, pkt.bytes, 0);
	assert_int_equal(f->marks, 0);
	f->l4s = 1;
	zrtt_settle(f, pkt.bytes, 0);
	assert_int_equal(f->marks, 1);
	free_queue(q);
}

/* A host each of whose flows has one packet, as of a flood from random ports: it has a rate. */
static void host_of_single_packets_has_a_rate(void **state)
{
	struct zrtt_arrival pkt = {
		.bytes = 1000, .host_bytes = 1000, .hosts = { ZRTT_TAG | 16 },
		.weight_q8 = ZRTT_WEIGHT_ONE, .host_weight = 1, .segs = 1,
	};
	struct queue *q = new_queue_of_hosts(1024);
	struct zrtt_flow *h = NULL;
	u32 i;

	(void)state;
	for (i = 0; i < 400; i++) {
		struct zrtt_flow *f;

		pkt.tag = ZRTT_TAG | (1000 + i);
		f = arrive(q, &pkt, S + i / 10 * ((u64)1 << ZRTT_EPOCH_SHIFT));
		h = zrtt_member_host(&q->vars.hosts, zrtt_own_member(&q->vars.table, f));
	}
	assert_near(h->rate, 10000, 500);
	assert_true(h->live);
	free_queue(q);
}

/* A packet that leaves is dropped: what it counted as is no part of its flow's rate, nor of its
 * host's, if that is still there.
 */
static void weights_of_what_is_dropped_leaving(void **state)
{
	const struct zrtt_arrival pkt = {
		.tag = 7, .bytes = 250, .host_bytes = 500, .hosts = { ZRTT_TAG | 16 },
		.weight_q8 = 4 * ZRTT_WEIGHT_ONE, .host_weight = 2, .segs = 1,
	};
	struct queue *q = new_queue_of_hosts(64);
	struct zrtt_hosts *hosts = &q->vars.hosts;
	struct zrtt_member *m, *members;
	struct zrtt_flow *f, *h;

	(void)state;
	f = arrive(q, &pkt, S);
	f = arrive(q, &pkt, S);
	m = zrtt_own_member(&q->vars.table, f);
	h = zrtt_member_host(hosts, m);
	assert_int_equal(f->bytes, 500);
	assert_int_equal(h->bytes, 1000);
	zrtt_dropped_leaving(&q->vars, f, 1000);
	assert_int_equal(f->bytes, 250);
	assert_int_equal(h->bytes, 500);
	h->tag = ZRTT_TAG | 32;
	zrtt_dropped_leaving(&q->vars, f, 1000);
	assert_int_equal(f->bytes, 0);
	assert_int_equal(h->bytes, 500);
	/* as after a change of what hosts are */
	*m = (struct zrtt_member) {};
	f->bytes = 250;
	zrtt_dropped_leaving(&q->vars, f, 1000);
	assert_int_equal(f->bytes, 250);
	assert_int_equal(h->bytes, 500);
	/* as of a flow that was there before hosts were */
	m->log_due = ZRTT_Q16_ONE;
	assert_int_equal(zrtt_log_due(&q->vars, f), ZRTT_Q16_ONE);
	members = q->vars.table.members;
	q->vars.table.members = NULL;
	assert_int_equal(zrtt_log_due(&q->vars, f), 0);
	q->vars.table.members = members;
	free_queue(q);
}

/* Whether an ACK of TCP was lost or data is said by a packet's length, not by what it counts as. */
static void weight_makes_no_ack_of_data(void **state)
{
	const u32 lengths[] = { 66, ZRTT_ACK_BYTES - 1, ZRTT_ACK_BYTES, 190, 1514 };
	const u32 weights[] = { 1, 64, 65, 255 };
	struct queue *q = new_queue_of_hosts(64);
	u32 i, j;

	(void)state;
	zrtt_ctl_set(&q->vars.ctl, ZRTT_P_ONE);
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (j = 0; j < sizeof(weights) / sizeof(*weights); j++) {
			u32 weight_q8 = weights[j] * ZRTT_WEIGHT_ONE;
			const struct zrtt_arrival pkt = {
				.tag = ZRTT_TAG | (8 * i + j), .length = lengths[i],
				.bytes = zrtt_weighed(lengths[i], weight_q8),
				.host_bytes = 1, .hosts = { ZRTT_TAG | 16 },
				.weight_q8 = weight_q8, .host_weight = 1, .segs = 1, .seq_high = 1,
			};
			struct zrtt_flow *f = arrive(q, &pkt, S);

			f->weight = zrtt_weight_pack(ZRTT_WEIGHT_LOG_MAX);
			assert_int_equal(zrtt_mark_or_drop(&q->params, &q->vars, f, &pkt, 0, S),
					 ZRTT_DROP);
			assert_int_equal(f->hit_at == ZRTT_HIT_AT_ACK, lengths[i] < ZRTT_ACK_BYTES);
		}
	free_queue(q);
}

/* All is marked, P_b is 1, and a flood has the largest weight. */
static void sum_of_what_is_marked_does_not_wrap(void **state)
{
	const struct zrtt_arrival pkt = { .tag = 7, .bytes = 100, .segs = 1, .ecn = ZRTT_ECT_0 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	struct zrtt_flow *f;
	u64 before = 0;
	u32 i;

	(void)state;
	q->params.law.mark_max_q30 = ZRTT_P_ONE;
	zrtt_params_derive(&q->params);
	f = arrive(q, &pkt, S);
	f->weight = zrtt_weight_pack(ZRTT_WEIGHT_LOG_MAX);
	zrtt_ctl_set(&q->vars.ctl, ZRTT_P_ONE);
	assert_true(zrtt_probability(&q->vars, f) > 1ULL << 51);
	for (i = 1; i <= 10000; i++) {
		zrtt_mark_or_drop(&q->params, &q->vars, f, &pkt, i, S);
		assert_true(q->vars.law.sum_p_q30 > before);
		before = q->vars.law.sum_p_q30;
	}
	assert_int_equal(q->vars.law.weighed, 10000);
	free_queue(q);
}

/* The answer to a SYN updates its flow while updates are rare, and is dropped then. */
static void drop_after_an_update_does_not_wrap(void **state)
{
	const struct zrtt_arrival syn = {
		.tag = 9, .bytes = 60, .segs = 1, .seq = 99, .handshake = true,
	};
	const struct zrtt_arrival ack = {
		.tag = 9, .bytes = 52, .segs = 1, .seq = 100, .ack = 1,
	};
	const struct zrtt_arrival other = { .tag = 9, .bytes = 52, .segs = 1, .seq = 7 };
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	const u64 epoch_ns = 1ULL << ZRTT_EPOCH_SHIFT;
	struct zrtt_flow *f = arrive(q, &syn, S);

	(void)state;
	zrtt_syn_left(f, zrtt_us(S));
	f = arrive(q, &other, S + epoch_ns);
	assert_true(f->live && f->syn == ZRTT_SYN_LEFT);
	q->vars.table.update_epochs = ZRTT_UPDATE_EPOCHS;
	f = arrive(q, &ack, S + 2 * epoch_ns);
	zrtt_answer(&q->params, &q->vars, f, &ack, S + 2 * epoch_ns, S + 2 * epoch_ns);
	assert_int_equal(f->source, ZRTT_RTT_HANDSHAKE);
	assert_int_equal(f->bytes, 0);
	zrtt_ctl_set(&q->vars.ctl, ZRTT_P_ONE);
	assert_int_equal(zrtt_mark_or_drop(&q->params, &q->vars, f, &ack, 0, S + 2 * epoch_ns),
			 ZRTT_DROP);
	assert_int_equal(f->bytes, 0);
	free_queue(q);
}

static void wait_is_of_the_backlog(void **state)
{
	(void)state;
	assert_int_equal(zrtt_wait_us(0, 100000), 0);
	assert_int_equal(zrtt_wait_us(100000, 100000), 134217);
	assert_int_equal(zrtt_wait_us(25000, 100000), 134217 / 4);
	assert_int_equal(zrtt_wait_us(1, 0), ZRTT_SOJOURN_MAX_US);
	assert_int_equal(zrtt_wait_us(UINT32_MAX, 100000), ZRTT_SOJOURN_MAX_US);
	/* of 31 packets */
	assert_int_equal(zrtt_wait_us(1, 31 * 1514), ZRTT_SOJOURN_MAX_US);
	assert_int_equal(zrtt_wait_us(32 * 1514, 32 * 1514), 134217);
}

/* 2.25 packets, at so many bytes per epoch, less the RTT that there is. */
static double fill_model(double due, double packet, double rtt_avg_us)
{
	double us = due ? floor(2.25 * packet) * 134217.0 / due : 0;

	return fmax(0, fmin(us, 10e6) - rtt_avg_us);
}

static void fill_is_a_window_of_the_due_share(void **state)
{
	u64 seed = 61;
	u32 i;

	(void)state;
	/* nothing is known; one byte per epoch; the most that there is */
	assert_int_equal(zrtt_fill_us(0, 1514, 0), 0);
	assert_int_equal(zrtt_fill_us(0, 1514, UINT32_MAX), 0);
	assert_int_equal(zrtt_fill_us(1, 1514, 0), ZRTT_SOJOURN_MAX_US);
	assert_int_equal(zrtt_fill_us(1, 1514, 4000000), 6000000);
	assert_int_equal(zrtt_fill_us(1, 1514, UINT32_MAX), 0);
	assert_int_equal(zrtt_fill_us(UINT32_MAX, 1514, 0), 0);
	/* 400 flows on 20 Mbit/s, RTT 80 ms: 50 kbit/s each */
	assert_near(zrtt_fill_us(839, 1514, 80000), 464900, 1000);
	for (i = 0; i < 200000; i++) {
		u32 due = unit_spread(&seed, 0, UINT32_MAX);
		u32 packet = 1 + unit_spread(&seed, 0, 1513);
		u32 rtt_us = unit_spread(&seed, 0, 20000000);

		assert_near(zrtt_fill_us(due, packet, rtt_us), fill_model(due, packet, rtt_us), 1);
	}
}

/* Of flows with the same rate, the mean length of their packets, not that of all packets. */
static void packets_are_weighed_by_their_bytes(void **state)
{
	struct zrtt_law law = {};
	u32 i;

	(void)state;
	assert_int_equal(zrtt_law_packet(&law), 1514);
	for (i = 0; i < 1514; i++)
		zrtt_law_left(&law, 66);
	assert_int_equal(zrtt_law_packet(&law), 66);
	for (i = 0; i < 66; i++)
		zrtt_law_left(&law, 1514);
	assert_int_equal(zrtt_law_packet(&law), (66 + 1514) / 2);
	/* one that stands for 40 is as full as they */
	zrtt_law_left(&law, 60000);
	assert_int_equal(zrtt_law_packet(&law), 1514);
}

/* Many flows at a high P_b get a longer queue, few do not. */
static void tick_sets_the_aim_by_the_mean_rate(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
	u32 i;

	(void)state;
	q->vars.table.counted = 3;
	q->vars.table.sum_rate = 3 * 839;
	q->vars.law.rtt_avg_us = 80000;
	for (i = 0; i < 2; i++) {
		q->vars.ctl.p_avg_q30 = i ? ZRTT_P_ONE / 10 : 0;
		zrtt_tick(&q->params, &q->vars, 15000, UINT32_MAX, S + i * 16 * MS);
		assert_int_equal(q->vars.ctl.aim_us, i ? 24 * 15000 : 7500);
	}
	/* flows of small packets have some of them in less time; what was seen of them fades */
	q->vars.law.rtt_avg_us = 0;
	q->vars.law.sum_bytes = 6400;
	q->vars.law.sum_squares = 6400 * 100;
	q->vars.ctl.p_avg_q30 = ZRTT_P_ONE / 10;
	zrtt_tick(&q->params, &q->vars, 15000, UINT32_MAX, 3 * S / 2);
	assert_near(q->vars.ctl.aim_us, 225 * 134217.0 / 839, 1);
	assert_int_equal(q->vars.law.sum_bytes, 6300);
	assert_int_equal(q->vars.law.sum_squares, 630000);
	q->vars.table.sum_rate = 3 * 100000;
	q->vars.ctl.p_avg_q30 = ZRTT_P_ONE / 10;
	zrtt_tick(&q->params, &q->vars, 15000, UINT32_MAX, 2 * S);
	assert_int_equal(q->vars.ctl.aim_us, 7500);
	free_queue(q);
}

/* Where flows that do not count have a part of the rates, the gains fall by that part. */
static void tick_heeds_short_flows(void **state)
{
	const u64 rates[][2] = {	/* of those that count, and of the others */
		{ 0, 0 }, { 0, 1000 }, { 1000, 0 }, { 3000, 1000 }, { 1000, 1000 },
		{ 1000, 3000 }, { 1ULL << 40, 1ULL << 40 },
	};
	const double parts[] = { 0, 0, 0, 0.25, 0.5, 0.75, 0.5 };
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rates); i++) {
		struct queue *q = new_queue(ZRTT_MODE_ZRTT, 64);
		struct zrtt_sums sums = {
			.sum_rate = rates[i][0],
			.other_rate = rates[i][1],
			.young_rate = rates[i][1],
		};

		assert_near(zrtt_young_q16(&sums) / 65536.0, parts[i], 1 / 65536.0);
		/* those that go on are none of them */
		sums.young_rate /= 4;
		assert_near(zrtt_young_q16(&sums) / 65536.0, parts[i] / 4, 1 / 65536.0);
		q->vars.table.counted = rates[i][0] ? 1 : 0;
		q->vars.table.sum_rate = rates[i][0];
		q->vars.table.other_rate = rates[i][1];
		q->vars.table.young_rate = rates[i][1];
		for (j = 0; j < 2560; j++)
			zrtt_tick(&q->params, &q->vars, 1000, UINT32_MAX, S + j * 16 * MS);
		assert_near(q->vars.ctl.young_q16 / 65536.0, fmin(parts[i], 0.5), 0.005);
		free_queue(q);
	}
}

/* Anything that tc accepts. */
static void random_params(struct zrtt_params *p, u64 *seed)
{
	zrtt_params_preset(p, unit_between(seed, 0, ZRTT_MODES - 1));
	p->hint = unit_between(seed, 0, ZRTT_HINT_IGNORE);
	p->handshake = unit_random(seed) & 1;
	p->ctl.kind = unit_between(seed, 0, ZRTT_CTL_PI2);
	p->ctl.target_us = unit_spread(seed, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX);
	p->ctl.tupdate_us = unit_spread(seed, TC_ZRTT_TUPDATE_MIN,
					TC_ZRTT_TUPDATE_MAX);
	p->ctl.freeze_us = unit_spread(seed, TC_ZRTT_FREEZE_MIN, TC_ZRTT_FREEZE_MAX);
	p->ctl.increment_q30 = unit_spread(seed, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX);
	p->ctl.decrement_q30 = unit_spread(seed, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX);
	p->law.alpha_kind = unit_between(seed, 0, ZRTT_ALPHA_FIXED);
	p->law.alpha_q16 = unit_between(seed, 0, TC_ZRTT_ALPHA_LIMIT);
	p->law.alpha_max_q16 = unit_between(seed, 0, TC_ZRTT_ALPHA_LIMIT);
	p->law.pth_q30 = unit_spread(seed, TC_ZRTT_PTH_MIN, TC_ZRTT_PTH_MAX);
	p->law.feedback = unit_between(seed, 0, TC_ZRTT_FEEDBACK_MAX);
	p->law.mark_max_q30 = unit_between(seed, 0, TC_ZRTT_P_ONE);
	zrtt_params_derive(p);
}

/* A packet of one of a few hundred flows, of any kind. */
static struct zrtt_arrival random_arrival(u64 *seed)
{
	struct zrtt_arrival pkt = {
		.tag = unit_spread(seed, 1, 400),
		.bytes = unit_spread(seed, 40, 65536),
		.segs = unit_spread(seed, 1, 65535),
		.ecn = unit_random(seed) & 3,
		.handshake = !unit_between(seed, 0, 9),
	};

	if (unit_random(seed) & 1)
		pkt.rtt_us = unit_spread(seed, 32, ZRTT_HINT_MAX_US);
	if (unit_random(seed) & 1)
		pkt.mark_us = unit_spread(seed, 32, ZRTT_HINT_MAX_US);
	if (unit_random(seed) & 1)
		pkt.timed_us = unit_spread(seed, 64, ZRTT_HINT_MAX_US);
	return pkt;
}

static void reset_forgets_all_but_the_flows(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 128);
	const struct zrtt_vars nothing = {};
	struct zrtt_flow *f = NULL, was;
	struct zrtt_table table;
	u32 i;

	(void)state;
	for (i = 1; i <= 20; i++) {
		f = pass_through(q, &(struct zrtt_arrival) {
			.tag = 7, .bytes = 1000, .segs = 1, .rtt_us = 40000,
		}, i * S / 5);
		zrtt_tick(&q->params, &q->vars, 100 * MS / 1000, 100, i * S / 5);
	}
	zrtt_idle(&q->params, &q->vars, 4 * S);
	assert_true(q->vars.ctl.p_q30 > 0);
	was = *f;
	table = q->vars.table;
	zrtt_vars_reset(&q->vars);
	assert_memory_equal(&q->vars.table, &table, sizeof(table));
	assert_memory_equal(f, &was, sizeof(was));
	assert_int_equal(f->rtt_us, 40000);
	q->vars.table = nothing.table;
	assert_memory_equal(&q->vars, &nothing, sizeof(nothing));
	q->vars.table = table;
	/* and it goes on */
	f = pass_through(q, &(struct zrtt_arrival) { .tag = 7, .bytes = 1, .segs = 1 }, 5 * S);
	assert_int_equal(f->rtt_us, 40000);
	assert_int_equal(q->vars.table.live, 1);
	check_table(&q->vars.table);
	free_queue(q);
}

static void no_history_breaks_the_invariants(void **state)
{
	struct queue *q = new_queue(ZRTT_MODE_ZRTT, 128);
	u64 seed = 30, now = S;
	u32 i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		struct zrtt_arrival pkt = random_arrival(&seed);
		struct zrtt_flow *f;
		u32 bytes;
		u64 p_i;

		if (!unit_between(&seed, 0, 999))
			random_params(&q->params, &seed);
		now += unit_spread(&seed, 0, unit_between(&seed, 0, 999) ?
				   10 * MS : UINT32_MAX);
		if (!unit_between(&seed, 0, 4))
			zrtt_idle(&q->params, &q->vars, now);
		if (!unit_between(&seed, 0, 9))
			zrtt_idle_end(&q->vars);
		if (!unit_between(&seed, 0, 9))
			zrtt_overflow(&q->params, &q->vars, &q->stats, now);
		if (zrtt_tick_due(&q->vars, now))
			zrtt_tick(&q->params, &q->vars,
				  unit_spread(&seed, 0, UINT32_MAX),
				  unit_spread(&seed, 0, UINT32_MAX), now);
		f = arrive(q, &pkt, now);
		if (pkt.handshake)
			zrtt_syn_left(f, zrtt_us(now));
		else if (f->syn == ZRTT_SYN_LEFT)
			zrtt_answer(&q->params, &q->vars, f, &pkt, now, now);
		p_i = zrtt_probability(&q->vars, f);
		bytes = f->bytes;
		zrtt_mark_or_drop(&q->params, &q->vars, f, &pkt,
				  (u32)unit_random(&seed), now);

		assert_true(q->vars.ctl.p_q30 <= ZRTT_P_ONE);
		assert_true(p_i <= (u64)ZRTT_P_ONE << 22);
		assert_in_range(f->penalty_q16 - ZRTT_PENALTY_MIN, 0,
				ZRTT_PENALTY_MAX - ZRTT_PENALTY_MIN);
		assert_true(q->vars.law.gain_q16 <=
			    zrtt_due_gain_max(q->vars.law.counted ? q->vars.law.p_q30 :
					      ZRTT_P_ONE));
		assert_true(f->bytes <= bytes);
		assert_true(f->rate < 1U << 31);
		assert_in_range(abs(q->vars.law.log_norm), 0, ZRTT_NORM_LOG_MAX);
		assert_true(q->vars.law.alpha_q16 <= TC_ZRTT_ALPHA_LIMIT);
		assert_true(weight_in_range(f->weight));
		if (!(i % 100))
			check_table(&q->vars.table);
	}
	free_queue(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enumerations_match_the_netlink_contract),
		cmocka_unit_test(defaults_are_within_their_ranges),
		cmocka_unit_test(presets_are_what_the_design_says),
		cmocka_unit_test(blue_has_the_papers_parameters),
		cmocka_unit_test(preset_leaves_what_is_not_its_own),
		cmocka_unit_test(ticks_keep_their_period),
		cmocka_unit_test(delay_is_smoothed_and_bounded),
		cmocka_unit_test(weights_follow_from_the_packets_alone),
		cmocka_unit_test(silent_flows_leave_the_averages),
		cmocka_unit_test(handshake_gives_the_rtt_without_our_own_queue),
		cmocka_unit_test(quic_has_a_source_of_its_own),
		cmocka_unit_test(repeated_syn_is_not_its_own_answer),
		cmocka_unit_test(timestamps_give_the_rtt_of_a_flow_without_handshake),
		cmocka_unit_test(clamped_hints_are_counted),
		cmocka_unit_test(mark_mask_has_up_to_16_adjacent_bits),
		cmocka_unit_test(mark_has_the_unit_and_the_range_of_a_hint),
		cmocka_unit_test(mark_is_not_clamped),
		cmocka_unit_test(blue_is_paid_at_the_end_of_an_idle_time),
		cmocka_unit_test(pi2_forgets_over_an_idle_time),
		cmocka_unit_test(floods_end_at_their_due_share),
		cmocka_unit_test(far_above_a_large_due_share_marks_come_soon),
		cmocka_unit_test(flood_alone_is_its_own_due_share),
		cmocka_unit_test(penalty_is_forgotten_after_2_s_of_silence),
		cmocka_unit_test(thin_flow_is_no_part_of_the_due_share),
		cmocka_unit_test(dropped_bytes_are_no_part_of_the_rate),
		cmocka_unit_test(weight_makes_no_ack_of_data),
		cmocka_unit_test(sum_of_what_is_marked_does_not_wrap),
		cmocka_unit_test(drop_after_an_update_does_not_wrap),
		cmocka_unit_test(hits_are_had_by_packets_that_leave),
		cmocka_unit_test(what_is_dropped_or_capped_is_judged_as_it_comes),
		cmocka_unit_test(only_pi2_foresees),
		cmocka_unit_test(verdict_is_remembered_as_a_hit),
		cmocka_unit_test(hits_of_scalable_flows_are_counted),
		cmocka_unit_test(host_of_single_packets_has_a_rate),
		cmocka_unit_test(weights_of_what_is_dropped_leaving),
		cmocka_unit_test(wait_is_of_the_backlog),
		cmocka_unit_test(fill_is_a_window_of_the_due_share),
		cmocka_unit_test(packets_are_weighed_by_their_bytes),
		cmocka_unit_test(tick_sets_the_aim_by_the_mean_rate),
		cmocka_unit_test(tick_heeds_short_flows),
		cmocka_unit_test(reset_forgets_all_but_the_flows),
		cmocka_unit_test(no_history_breaks_the_invariants),
	};

	return cmocka_run_group_tests_name("zrtt", tests, NULL, NULL);
}
