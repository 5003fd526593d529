// SPDX-License-Identifier: GPL-2.0
/* l4s.h: the ramp, marks, shares of the link, who has the low-latency lane and who loses it. */
#include "unit.h"
#include "weight.h"
#include <zrtt/zrtt.h>

#define FLOWS		64
#define START		1000	/* epoch at which tests begin */
#define DUE		100000	/* bytes per epoch */
#define FAST		(100 << 20)	/* bytes per epoch */

static struct zrtt_l4s lane_of_link(u64 sent)
{
	struct zrtt_l4s l = {};

	zrtt_l4s_end_epoch(&l, sent);
	return l;
}

static struct zrtt_law law_of_due(u32 due)
{
	return (struct zrtt_law) { .due = due, .log_due = (s32)zrtt_log2(due), .counted = 1 };
}

/* A flow of the lane, old enough to be judged, that sends @rate. */
static struct zrtt_flow flow_of(u32 rate, u32 rtt_us)
{
	return (struct zrtt_flow) {
		.l4s = 1,
		.age = ZRTT_LIVE_EPOCHS,
		.epoch = START,
		.rate = rate,
		.rtt_us = rtt_us,
		.weight = ZRTT_WEIGHT_ONE_PACKED,
		.threshold_q30 = ZRTT_P_ONE,
	};
}

/* The ramp */

/* Shallow, but never less than some packets */
static void ramp_follows_the_link(void **state)
{
	/* 0.6 ms for a packet at 20 Mbit/s, 12 ms at 1 Mbit/s */
	static const struct { u64 sent; u32 from_us, to_us; } cases[] = {
		{ FAST, 500, 1500 }, { 335544, 605, 2422 }, { 16777, 12111, 48448 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct zrtt_l4s l = lane_of_link(cases[i].sent);

		assert_int_equal(zrtt_l4s_native(&l, cases[i].from_us), 0);
		assert_near(zrtt_l4s_native(&l, (cases[i].from_us + cases[i].to_us) / 2),
			    ZRTT_P_ONE / 2, ZRTT_P_ONE / 100);
		assert_near(zrtt_l4s_native(&l, cases[i].to_us), ZRTT_P_ONE, ZRTT_P_ONE / 100);
		assert_int_equal(zrtt_l4s_native(&l, ~0U), ZRTT_P_ONE);
	}
}

static void slower_link_is_believed_after_a_while(void **state)
{
	struct zrtt_l4s l = lane_of_link(FAST);
	u32 i;

	(void)state;
	zrtt_l4s_end_epoch(&l, FAST / 1000);
	assert_int_equal(l.from_us, ZRTT_L4S_FROM_US);
	for (i = 0; i < 64 * 10; i++)
		zrtt_l4s_end_epoch(&l, FAST / 1000);
	assert_near(l.from_us, 1514.0 * 134218 / (FAST / 1000), 30);
}

/* Marks */

/* RFC 9332 sec. 2.1: p_L = max(native, k p'), k = 2 */
static void more_of_native_and_coupled_counts(void **state)
{
	struct zrtt_ctl ctl = { .root_q30 = ZRTT_P_ONE / 10 };

	(void)state;
	assert_int_equal(zrtt_l4s_base(&ctl, 0), 2 * ctl.root_q30);
	assert_int_equal(zrtt_l4s_base(&ctl, ZRTT_P_ONE / 4), ZRTT_P_ONE / 4);
}

/* Marks per packet of a flow of that weight, where 2 p' is @base_q30. */
static double marked(double weight, u32 base_q30)
{
	struct zrtt_flow f = flow_of(DUE, 10000);
	struct zrtt_ctl ctl = { .root_q30 = base_q30 / 2 };
	struct zrtt_l4s l = lane_of_link(FAST);
	struct zrtt_law law = {};
	u32 i, marks = 0;
	u64 seed = 1;

	f.weight = zrtt_weight_pack((s32)lround(log2(weight) * ZRTT_Q16_ONE));
	for (i = 0; i < 100000; i++)
		marks += zrtt_l4s_verdict(&l, &ctl, &f, &law, 0, 0, (u32)unit_random(&seed));
	assert_int_equal(f.hit, 1);
	assert_int_equal(f.marks, 255);
	/* who is above 1 is not in the mean */
	assert_int_equal(law.weighed,
			 base_q30 * weight < ZRTT_P_ONE ? 100000 : 0);
	return marks / 100000.0;
}

static void marks_are_as_many_as_the_weight_says(void **state)
{
	(void)state;
	assert_near(marked(1, ZRTT_P_ONE / 5), 0.2, 0.005);
	assert_near(marked(3, ZRTT_P_ONE / 5), 0.6, 0.005);
	assert_near(marked(0.25, ZRTT_P_ONE / 5), 0.05, 0.005);
	assert_near(marked(9, ZRTT_P_ONE / 5), 1, 0);
}

/* So many packets leave, where 2 p' is @base_q30. */
static void verdicts(struct zrtt_l4s *l, struct zrtt_flow *f, u32 base_q30, u32 packets)
{
	struct zrtt_ctl ctl = { .root_q30 = base_q30 / 2 };
	struct zrtt_law law = {};

	for (; packets; packets--)
		zrtt_l4s_verdict(l, &ctl, f, &law, 0, 0, 0);
}

/* What tells whether a flow answers its marks is how many of its last 16 packets had one. */
static void marks_of_a_flow_are_a_mean_over_16_packets(void **state)
{
	struct zrtt_flow f = flow_of(DUE, 10000);
	struct zrtt_l4s l = lane_of_link(FAST);

	(void)state;
	verdicts(&l, &f, 2 * ZRTT_P_ONE, 16);
	assert_near(f.marked_q8, 256 * (1 - exp(-1)), 16);
	verdicts(&l, &f, 2 * ZRTT_P_ONE, 1000);
	assert_in_range(f.marked_q8, ZRTT_L4S_MOST_Q8, 255);
	f.acc_q30 = 0;
	verdicts(&l, &f, 0, 16);
	assert_near(f.marked_q8, 256 * exp(-1), 16);
}

static void marks_of_the_lane_are_a_mean_over_1024_packets(void **state)
{
	struct zrtt_flow f = flow_of(DUE, 10000);
	struct zrtt_l4s l = lane_of_link(FAST);

	(void)state;
	verdicts(&l, &f, ZRTT_P_ONE / 2, 1024);
	assert_near(l.p_avg_q30, ZRTT_P_ONE / 2 * (1 - exp(-1)), ZRTT_P_ONE / 1000);
	/* more than all are not marked */
	verdicts(&l, &f, 2 * ZRTT_P_ONE, 100000);
	assert_near(l.p_avg_q30, ZRTT_P_ONE, ZRTT_P_ONE / 1000);
}

/* Is a packet of @f marked, where its due share is DUE, and where it would be with P = @base_q30? */
static bool marked_of_due(struct zrtt_flow *f, u32 base_q30)
{
	struct zrtt_ctl ctl = { .root_q30 = base_q30 / 2 };
	struct zrtt_l4s l = lane_of_link(FAST);
	struct zrtt_law law = {};

	f->acc_q30 = ZRTT_P_ONE;
	f->threshold_q30 = ZRTT_P_ONE;
	return zrtt_l4s_verdict(&l, &ctl, f, &law, zrtt_log2(DUE), 0, ~0U);
}

static void flow_grows_unmarked_to_its_due(void **state)
{
	struct zrtt_flow f = flow_of(DUE * 7 / 10, 10000);

	(void)state;
	f.weight = zrtt_weight_pack(0);
	assert_false(marked_of_due(&f, ZRTT_P_ONE / 5));
	/* what it sent in this epoch counts before its rate follows */
	f.bytes = DUE * 8 / 10;
	assert_true(marked_of_due(&f, ZRTT_P_ONE / 5));
	/* now it has a mark in this second */
	f.bytes = 0;
	assert_true(marked_of_due(&f, ZRTT_P_ONE / 5));
	f.hit = 0;
	assert_false(marked_of_due(&f, ZRTT_P_ONE / 5));
	assert_true(marked_of_due(&f, ZRTT_P_ONE + 1));
	f.hit = 0;
	f.rate = DUE * 8 / 10;
	assert_true(marked_of_due(&f, ZRTT_P_ONE / 5));
}

/* A classic flow's rate goes with the root of 1 / P, a scalable one's with 1 / P. */
static void weight_is_the_root_of_bulk_weight(void **state)
{
	const struct zrtt_law_params params = { .tuned = true, .feedback = 2 };
	const struct zrtt_law law = law_of_due(DUE);
	struct zrtt_flow f = flow_of(3 * DUE, 0);
	u32 root;

	(void)state;
	root = zrtt_weight(&params, &law, &f);
	assert_near(weight_value(root), 3, 0.002);
	f.weight = root;
	assert_near(weight_value(zrtt_bulk_weight(&f)), 9, 0.02);
	f.l4s = 0;
	assert_near(weight_value(zrtt_weight(&params, &law, &f)), 9, 0.02);
}

/* RFC 9332 sec. 4.2: where marks cannot do more, packets are dropped in both */
static void drops_where_all_is_marked(void **state)
{
	struct zrtt_flow f = flow_of(DUE, 10000);
	struct zrtt_arrival pkt = { .ecn = ZRTT_ECT_1, .segs = 1 };
	struct zrtt_params params;
	struct zrtt_vars vars = {};

	(void)state;
	zrtt_params_init(&params);
	zrtt_ctl_set_root(&vars.ctl, ZRTT_P_ONE / 2 - ZRTT_P_ONE / 100);
	assert_false(zrtt_l4s_overloaded(&params, &vars, &f, &pkt));
	zrtt_ctl_set_root(&vars.ctl, ZRTT_P_ONE / 2 + ZRTT_P_ONE / 100);
	assert_int_equal(zrtt_l4s_base(&vars.ctl, 0) >= ZRTT_P_ONE, 1);
	assert_true(zrtt_l4s_overloaded(&params, &vars, &f, &pkt));
	zrtt_ctl_set_root(&vars.ctl, 0);
	pkt.ecn = ZRTT_NOT_ECT;
	assert_true(zrtt_l4s_overloaded(&params, &vars, &f, &pkt));
}

/* The due share and the penalty */

/* With so many marks in half a look, the last one just now: is a flow held back? It counts in
 * the due share, then, or if it has that.
 */
static void check_held(u32 rtt_us, u32 rate, u8 marks, bool want)
{
	struct zrtt_flow f = flow_of(rate, rtt_us);
	const struct zrtt_table t = { .due = DUE };

	f.tag = ZRTT_L4S_LOOK / 2 - START % ZRTT_L4S_LOOK;
	f.lane = ZRTT_LANE_L4S;
	f.marks = marks;
	assert_false(zrtt_flow_held(&f));
	f.hit = 1;
	assert_int_equal(zrtt_flow_held(&f), want);
	assert_int_equal(zrtt_flow_counts(&t, &f), want || rate >= DUE);
	/* others are by any mark, and it is in the first second of a look */
	f.l4s = 0;
	assert_true(zrtt_flow_held(&f));
	f.l4s = 1;
	f.epoch += ZRTT_L4S_LOOK / 2 + ZRTT_MATURE_EPOCHS - 1;
	f.marks = 0;
	assert_true(zrtt_flow_held(&f));
	f.epoch++;
	assert_false(zrtt_flow_held(&f));
}

/* In half a look there are 26 RTTs of 160 ms, 43 of 100 ms, 172 of 25 ms. */
static void flow_that_grows_is_not_held_back(void **state)
{
	(void)state;
	check_held(160000, DUE, 14, true);
	check_held(160000, DUE, 12, false);
	check_held(100000, DUE - 10, 22, true);
	check_held(100000, DUE - 10, 20, false);
	/* as one of 25 ms */
	check_held(25000, DUE, 86, true);
	check_held(1000, DUE, 86, true);
	check_held(1000, DUE, 82, false);
	check_held(20000, DUE, 86, true);
	check_held(20000, DUE, 82, false);
	check_held(40000, DUE, 54, true);
	check_held(40000, DUE, 50, false);
	/* one of 4 packets, of a packet in 3 epochs */
	check_held(25000, 1514 / 3, 3, true);
	check_held(25000, 1514 / 3, 2, false);
}

/* Marks come in each RTT: one that is a second old says nothing, whatever the due share is. */
static void mark_in_the_lane_is_forgotten_within_a_second(void **state)
{
	u32 tag, dues[] = { DUE, 2 * ZRTT_LARGE_DUE }, i, epochs;
	struct zrtt_table t;
	struct zrtt_flow *f;

	(void)state;
	for (i = 0; i < ARRAY_LEN(dues); i++)
		for (tag = 1; tag <= 8; tag++) {
			zrtt_table_init(&t, calloc(FLOWS, sizeof(*f)), FLOWS);
			t.due = dues[i];
			f = zrtt_flow_get(&t, tag, START, 0);
			f->l4s = 1;
			zrtt_flow_was_hit(f);
			for (epochs = 0; f->hit; epochs++)
				zrtt_flow_update(&t, f, START + epochs + 1);
			assert_int_equal(epochs, 8 - (START + tag) % 8);
			free(t.slots);
		}
}

/* What says how many marks it had has the place of what a lost ACK says of others. */
static void marked_ack_is_a_mark(void **state)
{
	struct zrtt_flow f = flow_of(DUE, 10000);
	u32 i;

	(void)state;
	f.seq = 1;
	for (i = 1; i < 20; i++) {
		zrtt_flow_packet_hit(&f, 66);
		assert_int_equal(f.marks, i);
	}
}

/* Nothing is marked in the lane or on the way to it: there it counts from its due on, in bulk, too.
 * Small packets of others that return to thin never count.
 */
static void flow_of_the_lane_counts_from_its_due_on(void **state)
{
	const struct zrtt_table t = { .due = DUE };
	struct zrtt_flow f = flow_of(DUE, 0);
	u32 lane;

	(void)state;
	for (lane = 0; lane < ZRTT_LANES; lane++) {
		bool small = lane == ZRTT_LANE_SELDOM || lane == ZRTT_LANE_THIN;

		f.lane = (u8)lane & 7;
		f.seq = 1;
		f.l4s = 1;
		assert_int_equal(zrtt_flow_counts_from(&t, &f) > DUE, small);
		assert_true(zrtt_flow_counts_from(&t, &f) >= DUE);
		f.l4s = 0;
		small = small || lane == ZRTT_LANE_RETURNING;
		assert_int_equal(zrtt_flow_counts_from(&t, &f) > UINT32_MAX, small);
	}
}

/* The penalty's step, Q16, of a flow that has twice its due and may have any gain. */
static s32 penalty_step(u32 due, u32 rtt_us)
{
	struct zrtt_law law = law_of_due(due);
	struct zrtt_flow f = flow_of(2 * due, rtt_us);

	law.l4s_gain_q16 = ZRTT_PENALTY_GAIN_MAX;
	f.counts = 1;
	zrtt_penalise(&law, &f, 1);
	return f.penalty_q16;
}

/* W RTTs of W packets: of 25 Mbit/s and 160 ms 55 s, 413 epochs */
static void integral_is_no_faster_than_its_flow(void **state)
{
	(void)state;
	assert_near(penalty_step(419430, 160000), ZRTT_Q16_ONE * 4 / 413.0, 2);
	assert_near(penalty_step(419430, 80000), ZRTT_Q16_ONE * 4 / 103.2, 2);
	assert_int_equal(penalty_step(419430, 10000), ZRTT_PENALTY_GAIN_MAX);
	assert_int_equal(penalty_step(419430, 0), ZRTT_PENALTY_GAIN_MAX);
	assert_near(penalty_step(83886, 160000), ZRTT_Q16_ONE * 4 / 82.6, 2);
	assert_int_equal(penalty_step(2, 1), ZRTT_PENALTY_GAIN_MAX);
	assert_int_equal(penalty_step(1 << 30, 4000000), 0);
}

/* The same of a flow that does not count, which has @rate and a penalty already. */
static s32 uncounted_step(u32 rate, bool l4s, bool hit, u8 age)
{
	struct zrtt_law law = law_of_due(DUE);
	struct zrtt_flow f = flow_of(rate, 0);

	law.l4s_gain_q16 = ZRTT_PENALTY_GAIN_MAX;
	law.gain_q16 = ZRTT_PENALTY_GAIN_MAX;
	f.l4s = l4s;
	f.hit = hit;
	f.age = age;
	f.penalty_q16 = ZRTT_Q16_ONE;
	zrtt_penalise(&law, &f, 1);
	return f.penalty_q16 - (s32)ZRTT_Q16_ONE;
}

/* Who is not scalable is held below its due by few marks, and would not count. */
static void any_mark_in_the_lane_is_enough_for_the_penalty(void **state)
{
	const s32 step = ZRTT_PENALTY_GAIN_MAX;

	(void)state;
	assert_int_equal(uncounted_step(2 * DUE, true, true, ZRTT_MATURE_EPOCHS), step);
	assert_int_equal(uncounted_step(DUE / 2, true, true, ZRTT_MATURE_EPOCHS), -step);
	assert_int_equal(uncounted_step(2 * DUE, true, true, ZRTT_MATURE_EPOCHS - 1), 0);
	assert_int_equal(uncounted_step(2 * DUE, true, false, ZRTT_MATURE_EPOCHS), 0);
	assert_int_equal(uncounted_step(DUE / 2, true, false, ZRTT_MATURE_EPOCHS), 0);
	/* in bulk such a flow only gets rid of it */
	assert_int_equal(uncounted_step(2 * DUE, false, true, ZRTT_MATURE_EPOCHS), 0);
	assert_int_equal(uncounted_step(DUE / 2, false, false, ZRTT_MATURE_EPOCHS), -step);
}

/* Where the lane is alone there is no P_b: its marks say how fast penalties of hosts move, and not
 * for long after its last packet.
 */
static void hosts_of_the_lane_alone_learn_from_its_marks(void **state)
{
	struct zrtt_vars vars = { .hosts.law = law_of_due(DUE), .l4s.p_avg_q30 = ZRTT_P_ONE / 10 };
	struct zrtt_params params = {};
	u32 i;

	(void)state;
	zrtt_tick_end(&params, &vars);
	assert_int_equal(vars.hosts.law.gain_q16, ZRTT_PENALTY_GAIN_MAX);

	for (i = 0; i < 8 * 60; i++)
		zrtt_l4s_end_epoch(&vars.l4s, FAST);
	zrtt_tick_end(&params, &vars);
	assert_int_equal(vars.hosts.law.gain_q16, 0);

	vars.l4s.p_avg_q30 = ZRTT_P_ONE / 10;
	vars.hosts.law.gain_q16 = 7;
	vars.ctl.p_q30 = 1;
	zrtt_tick_end(&params, &vars);
	assert_int_equal(vars.hosts.law.gain_q16, 7);
}

/* The lane */

static void check_class(u8 ecn, bool was, bool ect0, bool want)
{
	struct zrtt_params params;
	struct zrtt_vars vars = {};
	struct zrtt_flow f = flow_of(DUE, 0);
	u32 i;

	zrtt_params_init(&params);
	for (i = 0; i < 4; i++) {
		params.l4s = i & 1;
		f.barred = i >> 1;
		f.l4s = was;
		f.ect0 = ect0;
		zrtt_classify(&params, &vars, &f, ecn);
		assert_int_equal(f.l4s, want && i == 1);
	}
}

/* RFC 9331 sec. 5.1 and 5.3 */
static void ce_follows_the_last_ect(void **state)
{
	(void)state;
	check_class(ZRTT_ECT_1, false, false, true);
	check_class(ZRTT_ECT_1, false, true, true);
	check_class(ZRTT_ECT_0, true, false, false);
	check_class(ZRTT_CE, true, false, true);
	check_class(ZRTT_CE, false, true, false);
	/* of a flow that was never ECT */
	check_class(ZRTT_CE, false, false, true);
	check_class(ZRTT_NOT_ECT, true, false, true);
	check_class(ZRTT_NOT_ECT, false, true, false);
	check_class(ZRTT_NOT_ECT, false, false, false);
}

/* The part of the link that others have if they and the lane wait all the time, RFC 9332 sec. 2.5 */
static double part_of_others(bool sparse)
{
	u32 i, bytes = 0, others = 0;
	struct zrtt_l4s l = {};

	for (i = 0; i < 10000; i++) {
		if (l.credit <= 0) {
			zrtt_l4s_left(&l, 1514);
			bytes += 1514;
		} else {
			zrtt_l4s_other_left(&l, 1514, sparse);
			others += 1514;
		}
	}
	return (double)others / (bytes + others);
}

static void bulk_has_a_tenth_and_sparse_half(void **state)
{
	(void)state;
	assert_near(part_of_others(false), 0.1, 0.001);
	assert_near(part_of_others(true), 0.5, 0.001);
}

/* What leaves without credit is paid for, but not for longer than a GSO packet of bulk takes,
 * whatever lengths packets say they have.
 */
static void credit_is_bounded(void **state)
{
	const u32 lengths[] = { 64, 1514, 65536, 1U << 30, UINT32_MAX };
	struct zrtt_l4s l = {};
	u32 i, n;

	(void)state;
	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		for (n = 0; n < 2000000; n++)
			zrtt_l4s_other_left(&l, lengths[i], n & 1);
		assert_int_equal(l.credit, -9 * 65536);
		for (n = 0; n < 2000000; n++)
			zrtt_l4s_left(&l, lengths[i]);
		assert_int_equal(l.credit, ZRTT_L4S_CREDIT_MAX);
	}
	/* such a packet itself has its share */
	l.credit = 1;
	zrtt_l4s_other_left(&l, 65535, false);
	assert_int_equal(l.credit, 1 - 9 * 65535);
}

/* Queue protection */

/* Updates until a flow of @rate and @rtt_us loses the lane, of at most 1000; it gets so many
 * marks in each.
 */
static u32 updates_to_the_bar(u32 rate, u32 rtt_us, u8 marked_q8, double marks)
{
	const struct zrtt_law law = law_of_due(DUE);
	struct zrtt_flow f = flow_of(rate, rtt_us);
	struct zrtt_l4s l = {};
	double sum = 0;
	u32 i;

	f.marked_q8 = marked_q8;
	f.penalty_q16 = -ZRTT_Q16;
	for (i = 1; i <= 1000; i++) {
		f.epoch++;
		for (sum += marks; sum >= 1; sum--)
			f.marks += f.marks < 255;
		zrtt_l4s_judge(&l, law.log_due, &f, rate, 1);
		assert_int_equal(l.barred, f.barred);
		assert_int_equal(f.l4s, !f.barred);
		if (f.barred) {
			assert_int_equal(f.penalty_q16, 0);
			/* should it come back, it is judged anew */
			assert_int_equal(f.strikes + f.looks, 0);
			return i;
		}
	}
	return 0;
}

static void deaf_flow_loses_the_lane_in_a_second(void **state)
{
	struct zrtt_flow f = flow_of(2 * DUE, 50000);

	(void)state;
	assert_int_equal(updates_to_the_bar(2 * DUE, 50000, 240, 50), ZRTT_L4S_STRIKES);
	assert_int_equal(updates_to_the_bar(2 * DUE, 0, 240, 50), ZRTT_L4S_STRIKES);
	/* no more than its due, or answers, or has a sender's least window */
	assert_int_equal(updates_to_the_bar(DUE * 5 / 4, 50000, 240, 50), 0);
	assert_int_equal(updates_to_the_bar(2 * DUE, 50000, 128, 50), 0);
	assert_int_equal(updates_to_the_bar(2 * DUE, 3000, 240, 50), 0);
	/* as long as its due share is not known it has no more than that */
	f.marked_q8 = 240;
	assert_true(zrtt_l4s_unresponsive(zrtt_log2(DUE), &f, 2 * DUE));
	assert_false(zrtt_l4s_unresponsive(0, &f, 2 * DUE));
}

/* It goes on as it was, but for what it was spared. */
static void who_loses_the_lane_keeps_its_penalty(void **state)
{
	struct zrtt_flow f = flow_of(2 * DUE, 50000);
	struct zrtt_l4s l = {};

	(void)state;
	f.marked_q8 = 240;
	f.strikes = ZRTT_L4S_STRIKES - 1;
	f.penalty_q16 = ZRTT_Q16_ONE;
	zrtt_l4s_judge(&l, zrtt_log2(DUE), &f, 2 * DUE, 1);
	assert_int_equal(f.barred, 1);
	assert_int_equal(f.penalty_q16, ZRTT_Q16_ONE);
}

/* Marks in an epoch, of one in so many RTTs. */
static double rare(u32 rtt_us, double rtts)
{
	return 134218.0 / (rtt_us * rtts);
}

/* RFC 9331 sec. 4.3: a scalable sender has as many marks per RTT at any rate */
static void sender_of_few_marks_loses_the_lane(void **state)
{
	static const u32 rtts_us[] = { 25000, 50000, 160000 };
	u32 i, updates;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rtts_us); i++) {
		updates = updates_to_the_bar(DUE, rtts_us[i], 15, rare(rtts_us[i], 10));
		assert_in_range(updates, 2 << ZRTT_L4S_LOOK_SHIFT, 3 << ZRTT_L4S_LOOK_SHIFT);
		/* those of each look by themselves */
		assert_int_equal(updates_to_the_bar(DUE, rtts_us[i], 15, rare(rtts_us[i], 5)), updates);
		assert_int_equal(updates_to_the_bar(DUE, rtts_us[i], 15, rare(rtts_us[i], 0.5)), 0);
		assert_int_equal(updates_to_the_bar(DUE, rtts_us[i], 15, rare(rtts_us[i], 2)), 0);
		/* below its due it is not held, and may be application-limited */
		assert_int_equal(updates_to_the_bar(DUE / 2, rtts_us[i], 15, rare(rtts_us[i], 10)),
				 0);
		assert_int_equal(updates_to_the_bar(DUE, rtts_us[i], 15, 0), 0);
	}
	/* a scalable sender of a short RTT may behave as one of 25 ms */
	assert_int_equal(updates_to_the_bar(DUE, 5000, 15, rare(25000, 2)), 0);
	assert_int_equal(updates_to_the_bar(DUE, 0, 15, 0.1), 0);
}

/* With less than a packet per RTT there are no more marks than packets. */
static void sender_of_few_packets_keeps_the_lane(void **state)
{
	const struct zrtt_law law = law_of_due(1514);
	struct zrtt_flow f = flow_of(1514, 25000);

	(void)state;
	f.marks = ZRTT_L4S_LOOK / 4;
	assert_false(zrtt_l4s_classic(law.log_due, &f));
	f.marks--;
	assert_true(zrtt_l4s_classic(law.log_due, &f));
	/* of a new flow nothing is known */
	f.age = ZRTT_MATURE_EPOCHS - 1;
	assert_false(zrtt_l4s_classic(law.log_due, &f));
}

static void who_lost_the_lane_is_marked_above_its_due(void **state)
{
	const s32 log_due = zrtt_log2(DUE);
	struct zrtt_flow f = flow_of(DUE, 25000);

	(void)state;
	f.acc_q30 = 0;
	f.threshold_q30 = ZRTT_P_ONE;
	zrtt_l4s_charge(&f, log_due, log_due);
	zrtt_l4s_charge(&f, log_due + 1, 0);
	assert_false(zrtt_is_hit(&f, 0, true, 0));
	zrtt_l4s_charge(&f, log_due + 1, log_due);
	zrtt_l4s_charge(&f, log_due + 1, log_due);
	assert_true(zrtt_is_hit(&f, 0, true, 0));
	assert_false(zrtt_is_hit(&f, 0, true, 0));
	/* what it owes by P_i is not forgiven for that */
	f.acc_q30 = 2 * f.threshold_q30;
	zrtt_l4s_charge(&f, log_due + 1, log_due);
	assert_int_equal(f.acc_q30, 2 * f.threshold_q30);
}

static void lane_comes_back_after_a_silence(void **state)
{
	struct zrtt_table t;
	struct zrtt_flow *f;

	(void)state;
	zrtt_table_init(&t, calloc(FLOWS, sizeof(*f)), FLOWS);
	f = zrtt_flow_get(&t, 7, START, 0);
	zrtt_flow_update(&t, f, START);
	f->barred = 1;
	zrtt_flow_update(&t, f, START + ZRTT_LIVE_EPOCHS);
	assert_int_equal(f->barred, 1);
	zrtt_flow_update(&t, f, START + 2 * ZRTT_LIVE_EPOCHS + 1);
	assert_int_equal(f->barred, 0);
	free(t.slots);
}

/* Order */

static void check_lane(u32 last, bool queued, bool first, bool leaves, enum zrtt_lane want)
{
	struct zrtt_table t = {};
	struct zrtt_flow f = { .l4s = 1, .lane = (u8)last & 7, .bytes = first ? 1000 : 3000 };

	t.lanes[f.lane].in = 1;
	f.last = 1;
	t.lanes[f.lane].out = !queued;
	assert_int_equal(zrtt_lane_of_l4s(&t, &f, 1000, ZRTT_LANE_BULK, leaves), want);
	f.last |= ZRTT_LAST_BULK;
	assert_int_equal(zrtt_lane_of_l4s(&t, &f, 1000, ZRTT_LANE_BULK, leaves), ZRTT_LANE_BULK);
}

static void lane_waits_for_what_is_below(void **state)
{
	u32 lane;

	(void)state;
	for (lane = 0; lane < ZRTT_LANES; lane++)
		check_lane(lane, false, false, false, ZRTT_LANE_L4S);
	check_lane(ZRTT_LANE_THIN, true, false, false, ZRTT_LANE_L4S);
	check_lane(ZRTT_LANE_L4S, true, false, false, ZRTT_LANE_L4S);
	check_lane(ZRTT_LANE_RETURNING, true, false, false, ZRTT_LANE_RETURNING);
	check_lane(ZRTT_LANE_SPARSE, true, false, false, ZRTT_LANE_BULK);
	check_lane(ZRTT_LANE_BULK, true, false, false, ZRTT_LANE_BULK);
	check_lane(ZRTT_LANE_BULK, true, true, false, ZRTT_LANE_RETURNING);
}

/* Nothing is marked there: what arrives faster than it leaves must not stay there. */
static void who_returns_leaves_the_way_there(void **state)
{
	u32 first;

	(void)state;
	for (first = 0; first < 2; first++) {
		check_lane(ZRTT_LANE_RETURNING, true, first, true, ZRTT_LANE_BULK);
		check_lane(ZRTT_LANE_RETURNING, false, first, true, ZRTT_LANE_L4S);
	}
	/* others are there */
	check_lane(ZRTT_LANE_BULK, true, true, true, ZRTT_LANE_RETURNING);
}

/* While bulk waits, new flows together have an eighth of what the link sends, others what they have. */
static void flood_of_new_flows_has_a_part_of_the_lane(void **state)
{
	const struct zrtt_flow live = { .l4s = 1, .live = 1 }, new = { .l4s = 1 };
	struct zrtt_l4s l = { .new_bytes = 1 };
	u32 epoch, bytes;

	(void)state;
	assert_true(zrtt_l4s_allows(&l, &new, 1500));
	for (epoch = 0; epoch < 3; epoch++) {
		zrtt_l4s_end_epoch(&l, 80 * 1500);
		for (bytes = 0; zrtt_l4s_allows(&l, &new, 1500); bytes += 1500)
			assert_true(zrtt_l4s_allows(&l, &live, 1500));
		assert_int_equal(bytes, 11 * 1500);
		assert_true(zrtt_l4s_allows(&l, &live, 1500));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ramp_follows_the_link),
		cmocka_unit_test(slower_link_is_believed_after_a_while),
		cmocka_unit_test(more_of_native_and_coupled_counts),
		cmocka_unit_test(marks_are_as_many_as_the_weight_says),
		cmocka_unit_test(marks_of_a_flow_are_a_mean_over_16_packets),
		cmocka_unit_test(marks_of_the_lane_are_a_mean_over_1024_packets),
		cmocka_unit_test(flow_grows_unmarked_to_its_due),
		cmocka_unit_test(weight_is_the_root_of_bulk_weight),
		cmocka_unit_test(drops_where_all_is_marked),
		cmocka_unit_test(flow_that_grows_is_not_held_back),
		cmocka_unit_test(mark_in_the_lane_is_forgotten_within_a_second),
		cmocka_unit_test(marked_ack_is_a_mark),
		cmocka_unit_test(flow_of_the_lane_counts_from_its_due_on),
		cmocka_unit_test(integral_is_no_faster_than_its_flow),
		cmocka_unit_test(any_mark_in_the_lane_is_enough_for_the_penalty),
		cmocka_unit_test(hosts_of_the_lane_alone_learn_from_its_marks),
		cmocka_unit_test(ce_follows_the_last_ect),
		cmocka_unit_test(bulk_has_a_tenth_and_sparse_half),
		cmocka_unit_test(credit_is_bounded),
		cmocka_unit_test(deaf_flow_loses_the_lane_in_a_second),
		cmocka_unit_test(who_loses_the_lane_keeps_its_penalty),
		cmocka_unit_test(sender_of_few_marks_loses_the_lane),
		cmocka_unit_test(sender_of_few_packets_keeps_the_lane),
		cmocka_unit_test(who_lost_the_lane_is_marked_above_its_due),
		cmocka_unit_test(lane_comes_back_after_a_silence),
		cmocka_unit_test(lane_waits_for_what_is_below),
		cmocka_unit_test(who_returns_leaves_the_way_there),
		cmocka_unit_test(flood_of_new_flows_has_a_part_of_the_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
