// SPDX-License-Identifier: GPL-2.0
/* flow.h and table.h: the table against a walk over all of it, the flow against floats. */
#include <sanitizer/asan_interface.h>

#include "unit.h"
#include "table_check.h"
#include <zrtt/table.h>

#define FLOWS		64
#define SETS		(FLOWS / ZRTT_WAYS)
#define START		1000	/* epoch at which tests begin */
#define EPOCH_S		((double)(1 << ZRTT_EPOCH_SHIFT) / 1e9)

static struct zrtt_table new_table(u32 flows)
{
	struct zrtt_table t;

	zrtt_table_init(&t, calloc(flows, sizeof(struct zrtt_flow)), flows);
	return t;
}

/* The @i-th tag, from 1, of set @set; consecutive ones are at home apart. */
static u32 tag_in_set(u32 set, u32 i)
{
	return set * ZRTT_WAYS | i % ZRTT_WAYS | i << 8;
}

/* A flow that is in the sums. */
static struct zrtt_flow *live_flow(struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *f = zrtt_flow_get(t, tag, START, 0);

	zrtt_flow_close_books(t, f, ZRTT_Q16_ONE, START);
	return f;
}

static void slot_is_one_cache_line(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct zrtt_flow), 64);
}

static void epochs_last_what_the_comments_say(void **state)
{
	(void)state;
	assert_int_equal(zrtt_epoch(0), 0);
	assert_int_equal(zrtt_epoch((1 << ZRTT_EPOCH_SHIFT) - 1), 0);
	assert_int_equal(zrtt_epoch(1 << ZRTT_EPOCH_SHIFT), 1);
	assert_near(ZRTT_LIVE_EPOCHS * EPOCH_S, 2, 0.15);
	assert_near(ZRTT_RTT_EPOCHS * EPOCH_S, 30, 0.5);
}

static void new_flow_is_found_again(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f;
	u32 i;

	(void)state;
	assert_null(zrtt_flow_find(&t, 42));
	f = zrtt_flow_get(&t, 42, START, UINT32_MAX);
	assert_int_equal(f->tag, 42);
	assert_int_equal(f->weight_q16, ZRTT_Q16_ONE);
	assert_in_range(f->threshold_q30, ZRTT_P_ONE / 2, ZRTT_P_ONE / 2 * 3);
	assert_ptr_equal(zrtt_flow_get(&t, 42, START, 0), f);
	assert_ptr_equal(zrtt_flow_find(&t, 42), f);
	for (i = 1; i < FLOWS; i++)
		assert_null(zrtt_flow_find(&t, 42 + i));
	/* a packet and no more is in no sum */
	assert_int_equal(t.live, 0);
	zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, START + 1);
	assert_int_equal(t.live, 1);
	check_table(&t);
	free(t.slots);
}

/* Whatever stood in a slot, a new flow begins as in one that was never used. */
static void new_flow_inherits_nothing(void **state)
{
	struct zrtt_flow f, clean = {};

	(void)state;
	memset(&f, 0xff, sizeof(f));
	zrtt_flow_begin(&f, 42, START, 1);
	zrtt_flow_begin(&clean, 42, START, 1);
	/* guarded by what is set: live, told_q8, syn_left */
	f.older = 0;
	f.newer = 0;
	f.told_epoch = 0;
	f.syn_us = 0;
	assert_memory_equal(&f, &clean, sizeof(f));
}

static void new_flow_takes_the_slot_of_one_that_is_not_live(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 i, idle = 5;

	(void)state;
	for (i = 1; i <= ZRTT_WAYS; i++)
		if (i == idle)
			zrtt_flow_get(&t, tag_in_set(3, i), START, 0);
		else
			live_flow(&t, tag_in_set(3, i));
	/* though it was seen last */
	zrtt_flow_find(&t, tag_in_set(3, idle))->epoch = START + 1;
	zrtt_flow_get(&t, tag_in_set(3, ZRTT_WAYS + 1), START + 1, 0);
	assert_int_equal(t.evicted, 0);
	for (i = 1; i <= ZRTT_WAYS + 1; i++)
		assert_int_equal(!zrtt_flow_find(&t, tag_in_set(3, i)), i == idle);
	check_table(&t);
	free(t.slots);
}

static void full_set_gives_up_the_flow_seen_longest_ago(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 i, oldest = 5;

	(void)state;
	for (i = 1; i <= ZRTT_WAYS; i++)
		live_flow(&t, tag_in_set(3, i));
	for (i = 1; i <= ZRTT_WAYS; i++)
		if (i != oldest)
			zrtt_flow_close_books(&t, zrtt_flow_find(&t, tag_in_set(3, i)),
					      ZRTT_Q16_ONE, START + 1);
	assert_int_equal(t.evicted, 0);
	zrtt_flow_get(&t, tag_in_set(3, ZRTT_WAYS + 1), START + 1, 0);
	assert_int_equal(t.evicted, 1);
	for (i = 1; i <= ZRTT_WAYS + 1; i++)
		assert_int_equal(!zrtt_flow_find(&t, tag_in_set(3, i)), i == oldest);
	check_table(&t);
	free(t.slots);
}

static void silent_flow_is_no_eviction(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 later = START + ZRTT_LIVE_EPOCHS + 1, i;

	(void)state;
	for (i = 1; i <= ZRTT_WAYS; i++)
		live_flow(&t, tag_in_set(0, i));
	zrtt_flow_get(&t, tag_in_set(0, ZRTT_WAYS + 1), later, 0);
	assert_int_equal(t.evicted, 0);
	assert_int_equal(t.live, ZRTT_WAYS - 1);
	check_table(&t);
	free(t.slots);
}

/* All other sets are poisoned: ASan reports a lookup that touches one. */
static void lookup_stays_in_its_set(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	const size_t set_bytes = ZRTT_WAYS * sizeof(struct zrtt_flow);
	u32 set, i;

	(void)state;
	for (set = 0; set < SETS; set++) {
		for (i = 1; i <= ZRTT_WAYS; i++)
			zrtt_flow_get(&t, tag_in_set(set, i), START, 0);
		ASAN_POISON_MEMORY_REGION(t.slots, FLOWS * sizeof(*t.slots));
		ASAN_UNPOISON_MEMORY_REGION(t.slots + set * ZRTT_WAYS, set_bytes);
		for (i = 1; i <= ZRTT_WAYS; i++)
			assert_non_null(zrtt_flow_find(&t, tag_in_set(set, i)));
		for (; i <= 4 * ZRTT_WAYS; i++)
			assert_null(zrtt_flow_find(&t, tag_in_set(set, i)));
		ASAN_UNPOISON_MEMORY_REGION(t.slots, FLOWS * sizeof(*t.slots));
	}
	free(t.slots);
}

static void silent_flows_expire_a_few_at_a_time(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 live = 20, most = 3, i;

	(void)state;
	for (i = 1; i <= live; i++)
		live_flow(&t, i);
	zrtt_table_expire(&t, START + ZRTT_LIVE_EPOCHS, most);
	assert_int_equal(t.live, live);
	for (; live; live = t.live) {
		zrtt_table_expire(&t, START + ZRTT_LIVE_EPOCHS + 1, most);
		assert_int_equal(live - t.live, live < most ? live : most);
		check_table(&t);
	}
	zrtt_table_expire(&t, START + ZRTT_LIVE_EPOCHS + 1, most);
	assert_int_equal(t.live, 0);
	free(t.slots);
}

static void expired_flow_starts_anew_but_for_its_rtt(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 later = START + ZRTT_LIVE_EPOCHS + 1;

	(void)state;
	zrtt_flow_hint(f, 50000, false, START);
	f->bytes = 1000000;
	f->acc_q30 = ZRTT_P_ONE / 4;
	f->price_q13 = 100;
	zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, START + 1);
	assert_int_equal(f->age, 1);
	zrtt_table_expire(&t, later + 1, 1);
	assert_int_equal(t.live, 0);
	assert_int_equal(t.sum_rtt_us, 0);
	assert_ptr_equal(zrtt_flow_get(&t, 7, later + 1, 0), f);
	zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, later + 1);
	assert_int_equal(f->rtt_us, 50000);
	assert_int_equal(t.by_source[ZRTT_RTT_HINT], 1);
	assert_int_equal(f->rate, 0);
	assert_int_equal(f->acc_q30, 0);
	assert_int_equal(f->age, 0);
	assert_int_equal(f->price_q13, 0);
	check_table(&t);
	free(t.slots);
}

/* One random thing that may happen to the table at @epoch. */
static void random_operation(struct zrtt_table *t, u64 *seed, u32 epoch)
{
	u32 flows = table_slots(t);
	u32 tag = unit_between(seed, 1, 2 * flows) * 0x9e3779b1u;
	struct zrtt_flow *f;
	struct zrtt_table to;

	zrtt_table_expire(t, epoch, ZRTT_EXPIRE_BOOKS);
	f = zrtt_flow_get(t, tag, epoch, (u32)unit_random(seed));
	f->bytes += unit_between(seed, 40, 65536);
	switch (unit_between(seed, 0, 9)) {
	case 0:
		zrtt_flow_hint(f, unit_spread(seed, 32, ZRTT_HINT_MAX_US),
			       unit_random(seed) & 1, epoch);
		break;
	case 1:
		zrtt_flow_syn_left(f, (u32)unit_random(seed));
		zrtt_flow_syn_answered(f, f->syn_us +
				       unit_spread(seed, 1, 4000000));
		break;
	case 2:
		zrtt_flow_mark(f, unit_spread(seed, 32, ZRTT_HINT_MAX_US), epoch);
		break;
	case 3:
		zrtt_flow_timed(f, unit_spread(seed, 64, ZRTT_HINT_MAX_US));
		break;
	case 4:
		/* now and then: a resize is a rare event */
		if (unit_between(seed, 0, 99))
			return;
		to = new_table(ZRTT_WAYS << unit_between(seed, 0, 5));
		zrtt_table_move(&to, t, epoch);
		free(t->slots);
		*t = to;
		return;
	}
	if (zrtt_flow_due(t, f, epoch) || unit_random(seed) & 1)
		zrtt_flow_close_books(t, f, unit_between(seed, 0, ZRTT_Q16_ONE),
				      epoch);
}

static void table_is_right_after_each_of_many_random_operations(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 epoch = START, i;
	u64 seed = 7;

	(void)state;
	for (i = 0; i < 100000; i++) {
		if (!unit_between(&seed, 0, 3))
			epoch += unit_spread(&seed, 0, 2 * ZRTT_RTT_EPOCHS);
		random_operation(&t, &seed, epoch);
		check_table(&t);
	}
	assert_true(t.evicted > 0);
	free(t.slots);
}

static void books_of_many_flows_are_open_for_longer(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 flows, epochs;

	(void)state;
	/* the first ones are not, whatever the others do */
	t.books_epochs = 5;
	assert_false(zrtt_flow_due(&t, f, START));
	assert_true(zrtt_flow_due(&t, f, START + 1));
	zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, START);
	for (flows = 1; flows < 100000; flows += 500) {
		u32 want = flows / 1024 < 7 ? 1 + flows / 1024 : 8;

		t.live = flows;
		zrtt_table_tick(&t, START);
		for (epochs = 0; epochs < 20; epochs++)
			assert_int_equal(zrtt_flow_due(&t, f, START + epochs), epochs >= want);
	}
	free(t.slots);
}

static void rate_tables_follow_from_their_first_entries(void **state)
{
	double keep = 1 - 1.0 / ZRTT_RATE_EPOCHS;
	u32 i;

	(void)state;
	for (i = 1; i <= ZRTT_LIVE_EPOCHS; i++) {
		assert_near(zrtt_rate_gains[i] / 65536.0, 1 - pow(keep, i), 4e-5);
		assert_near(zrtt_epoch_recip[i] / 65536.0, 1.0 / i, 1e-5);
	}
}

static u32 older(u32 age, u32 epochs)
{
	if (age >= ZRTT_RATE_EPOCHS)
		return age;
	return age + epochs < ZRTT_LIVE_EPOCHS ? age + epochs : ZRTT_LIVE_EPOCHS;
}

/* A float model: the plain mean of the first epochs, then an EWMA per epoch. */
static double mean_rate(double rate, double mean, u32 age, u32 epochs)
{
	double keep = age < ZRTT_RATE_EPOCHS ?
		      1 - (double)epochs / older(age, epochs) :
		      pow(1 - 1.0 / ZRTT_RATE_EPOCHS, epochs);

	return rate * keep + mean * (1 - keep);
}

static void rate_is_the_mean_of_arrivals(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 epoch = START, flow, age, i;
	u64 seed = 8;

	(void)state;
	for (flow = 1; flow <= 2000; flow++) {
		struct zrtt_flow *f = zrtt_flow_get(&t, flow, epoch, 0);
		double want = 0;

		for (i = 0, age = 0; i < 50; i++) {
			u32 gap = unit_spread(&seed, 1, ZRTT_LIVE_EPOCHS);
			u32 bytes = unit_spread(&seed, 0, 100000000);

			epoch += gap;
			f->bytes = bytes;
			zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, epoch);
			want = mean_rate(want, (double)bytes / gap, age, gap);
			age = older(age, gap);
			/* rounding: two units a step, remembered so many steps */
			assert_near(f->rate, want,
				    want * 1e-3 + 2 * ZRTT_RATE_EPOCHS);
			assert_int_equal(f->bytes, 0);
			assert_int_equal(f->age, age);
		}
	}
	free(t.slots);
}

/* From its first epoch on: a young flow must not be taken for a slow one. */
static void rate_of_a_constant_flow_is_its_rate(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 i;

	(void)state;
	for (i = 1; i < 200; i++) {
		f->bytes = 250000;
		zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, START + i);
		assert_near(f->rate, 250000, 50);
	}
	assert_int_equal(t.sum_rate, f->rate);
	free(t.slots);
}

static void rate_does_not_overflow(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 epoch = START, gap, i;

	(void)state;
	for (gap = 1; gap <= ZRTT_LIVE_EPOCHS; gap++) {
		struct zrtt_flow *f = zrtt_flow_get(&t, gap, epoch, 0);

		for (i = 0; i < 50; i++) {
			epoch += gap;
			f->bytes = UINT32_MAX;
			zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, epoch);
		}
		assert_near(f->rate, (double)UINT32_MAX / gap, 1e-3 * UINT32_MAX / gap);
	}
	free(t.slots);
}

/* A packet in each of @epochs epochs, of which @pass_q16 pass. */
static struct zrtt_flow *age_flow(struct zrtt_table *t, u32 tag, u32 bytes,
				  u32 pass_q16, u32 epochs)
{
	struct zrtt_flow *f = zrtt_flow_get(t, tag, START, 0);
	u32 i;

	zrtt_flow_hint(f, 50000, false, START);
	for (i = 1; i <= epochs; i++) {
		f->bytes = bytes;
		zrtt_flow_close_books(t, f, pass_q16, START + i);
	}
	return f;
}

static void short_flows_do_not_move_the_averages(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 before, age, tag;

	(void)state;
	age_flow(&t, 1, 100000, ZRTT_Q16_ONE, ZRTT_MATURE_EPOCHS);
	before = t.sum_rate;
	assert_int_equal(t.rated, 1);
	assert_near(before, 100000, 50);
	for (age = 0, tag = 2; age < ZRTT_MATURE_EPOCHS; age++, tag++) {
		assert_false(zrtt_flow_mature(age_flow(&t, tag, 5, ZRTT_Q16_ONE, age)));
		assert_int_equal(t.live, age ? tag - 1 : 1);
		assert_int_equal(t.rated, 1);
		assert_int_equal(t.fit_n, 1);
		assert_int_equal(t.sum_rate, before);
	}
	assert_true(zrtt_flow_mature(age_flow(&t, tag, 50000, ZRTT_Q16_ONE, age)));
	assert_int_equal(t.rated, 2);
	assert_int_equal(t.fit_n, 2);
	assert_near(t.sum_rate, 150000, 100);
	free(t.slots);
}

static void thin_flows_do_not_move_the_average(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 tag;

	(void)state;
	/* alone, any flow counts, until its next books beside a larger one */
	assert_true(age_flow(&t, 1, 10, ZRTT_Q16_ONE, ZRTT_RATE_EPOCHS)->passed);
	age_flow(&t, 2, 100000, ZRTT_Q16_ONE, ZRTT_RATE_EPOCHS);
	assert_int_equal(t.rated, 2);
	zrtt_flow_close_books(&t, zrtt_flow_find(&t, 1), ZRTT_Q16_ONE, START + 13);
	assert_int_equal(t.rated, 1);
	for (tag = 3; tag < 20; tag++)
		assert_false(age_flow(&t, tag, 24000, ZRTT_Q16_ONE, ZRTT_RATE_EPOCHS)->passed);
	assert_near(t.sum_rate, 100000, 100);
	assert_int_equal(t.live, 19);
	/* a quarter is enough */
	age_flow(&t, tag, 26000, ZRTT_Q16_ONE, ZRTT_RATE_EPOCHS);
	assert_near(t.sum_rate, 126000, 100);
	free(t.slots);
}

static void dropped_packets_do_not_count_in_the_average(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = age_flow(&t, 1, 100000, ZRTT_Q16_ONE / 4,
				       ZRTT_RATE_EPOCHS);

	(void)state;
	assert_near(f->rate, 100000, 50);
	assert_near(f->passed, 25000, 20);
	assert_int_equal(t.sum_rate, f->passed);
	/* all of it is lost: it has no rate to average, but still a slope */
	zrtt_flow_close_books(&t, f, 0, START + ZRTT_RATE_EPOCHS + 1);
	assert_int_equal(f->passed, 0);
	assert_int_equal(t.rated, 0);
	assert_int_equal(t.sum_rate, 0);
	assert_int_equal(t.fit_n, 1);
	check_table(&t);
	free(t.slots);
}

static void handshake_gap_is_an_rtt(void **state)
{
	struct zrtt_flow f = {};

	(void)state;
	zrtt_flow_syn_left(&f, 1000);
	assert_true(f.syn_left);
	zrtt_flow_syn_answered(&f, 41000);
	assert_false(f.syn_left);
	assert_int_equal(f.passive_us, 40000);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_HANDSHAKE);
	assert_int_equal(f.rtt_us, 40000);
}

static void least_handshake_gap_is_kept(void **state)
{
	struct zrtt_flow f = {};

	(void)state;
	zrtt_flow_syn_left(&f, 0);
	zrtt_flow_syn_answered(&f, 50000);
	zrtt_flow_syn_left(&f, 100000);
	zrtt_flow_syn_answered(&f, 130000);
	assert_int_equal(f.passive_us, 30000);
	zrtt_flow_syn_left(&f, 200000);
	zrtt_flow_syn_answered(&f, 290000);
	assert_int_equal(f.passive_us, 30000);
	/* the clock wraps between the two packets */
	zrtt_flow_syn_left(&f, UINT32_MAX - 9999);
	zrtt_flow_syn_answered(&f, 10000);
	assert_int_equal(f.passive_us, 20000);
}

static void impossible_handshake_gaps_are_ignored(void **state)
{
	const u32 gaps[] = { 0, 31, ZRTT_HINT_MAX_US + 1, 1U << 31, UINT32_MAX };
	struct zrtt_flow f = {};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(gaps); i++) {
		zrtt_flow_syn_left(&f, 5000);
		zrtt_flow_syn_answered(&f, 5000 + gaps[i]);
		assert_int_equal(f.passive_us, 0);
	}
	zrtt_flow_syn_left(&f, 5000);
	zrtt_flow_syn_answered(&f, 5000 + ZRTT_HINT_MAX_US);
	assert_int_equal(f.passive_us, ZRTT_HINT_MAX_US);
}

static void hint_is_smoothed_with_the_papers_weight(void **state)
{
	struct zrtt_flow f = {};
	double want = 0;
	u64 seed = 9;
	u32 i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		u32 rtt_us = unit_spread(&seed, 32, ZRTT_HINT_MAX_US);

		want = i ? 0.9 * want + 0.1 * rtt_us : rtt_us;
		assert_false(zrtt_flow_hint(&f, rtt_us, false, START + i));
		zrtt_flow_choose_rtt(&f, START + i);
		assert_int_equal(f.source, ZRTT_RTT_HINT);
		assert_near(f.rtt_us, want, 2 + want * 1e-3);
	}
}

static void hint_is_bounded_by_what_was_seen(void **state)
{
	const u32 passive = 40000, least = passive / 4, most = passive * 5 / 4 + 2000;
	u64 seed = 10;
	u32 i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		u32 rtt_us = unit_spread(&seed, 32, ZRTT_HINT_MAX_US);
		struct zrtt_flow f = { .passive_us = passive };

		assert_int_equal(zrtt_flow_hint(&f, rtt_us, true, START),
				 rtt_us > most || rtt_us < least);
		zrtt_flow_choose_rtt(&f, START);
		assert_int_equal(f.rtt_us, rtt_us > most ? most :
				 rtt_us < least ? least : rtt_us);

		/* believed if the policy says so, or if nothing was seen */
		f = (struct zrtt_flow) { .passive_us = passive };
		assert_false(zrtt_flow_hint(&f, rtt_us, false, START));
		zrtt_flow_choose_rtt(&f, START);
		assert_int_equal(f.rtt_us, rtt_us);
		f = (struct zrtt_flow) {};
		assert_false(zrtt_flow_hint(&f, rtt_us, true, START));
		zrtt_flow_choose_rtt(&f, START);
		assert_int_equal(f.rtt_us, rtt_us);
	}
}

static void hint_is_remembered_then_the_handshake_counts(void **state)
{
	struct zrtt_flow f = { .passive_us = 40000 };

	(void)state;
	zrtt_flow_hint(&f, 30000, true, START);
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS);
	assert_int_equal(f.source, ZRTT_RTT_HINT);
	assert_int_equal(f.rtt_us, 30000);
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS + 1);
	assert_int_equal(f.source, ZRTT_RTT_HANDSHAKE);
	assert_int_equal(f.rtt_us, 40000);

	/* a hint after that long starts anew, it is not averaged with the old */
	zrtt_flow_hint(&f, 20000, true, START + ZRTT_RTT_EPOCHS + 1);
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS + 1);
	assert_int_equal(f.rtt_us, 20000);
	zrtt_flow_hint(&f, 30000, true, START + 2 * ZRTT_RTT_EPOCHS + 1);
	zrtt_flow_choose_rtt(&f, START + 2 * ZRTT_RTT_EPOCHS + 1);
	assert_near(f.rtt_us, 21000, 1);

	f = (struct zrtt_flow) {};
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_NONE);
	assert_int_equal(f.rtt_us, 0);
}

static void mark_is_taken_as_it_is_and_smoothed(void **state)
{
	struct zrtt_flow f = { .passive_us = 40000 };

	(void)state;
	assert_true(zrtt_flow_mark(&f, 400000, START));
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_MARK);
	assert_int_equal(f.rtt_us, 400000);
	assert_true(zrtt_flow_mark(&f, 300000, START + 1));
	zrtt_flow_choose_rtt(&f, START + 1);
	assert_near(f.rtt_us, 390000, 5);
	zrtt_flow_choose_rtt(&f, START + 1 + ZRTT_RTT_EPOCHS);
	assert_int_equal(f.source, ZRTT_RTT_MARK);
	zrtt_flow_choose_rtt(&f, START + 2 + ZRTT_RTT_EPOCHS);
	assert_int_equal(f.source, ZRTT_RTT_HANDSHAKE);
	assert_int_equal(f.rtt_us, 40000);
}

/* Hint and mark share their place: neither is averaged with the other. */
static void hint_is_preferred_to_a_mark_while_it_is_remembered(void **state)
{
	struct zrtt_flow f = {};

	(void)state;
	assert_true(zrtt_flow_mark(&f, 50000, START));
	zrtt_flow_hint(&f, 30000, true, START);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_HINT);
	assert_int_equal(f.rtt_us, 30000);
	assert_false(zrtt_flow_mark(&f, 50000, START + ZRTT_RTT_EPOCHS));
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS);
	assert_int_equal(f.source, ZRTT_RTT_HINT);
	assert_int_equal(f.rtt_us, 30000);
	assert_true(zrtt_flow_mark(&f, 50000, START + ZRTT_RTT_EPOCHS + 1));
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS + 1);
	assert_int_equal(f.source, ZRTT_RTT_MARK);
	assert_int_equal(f.rtt_us, 50000);
}

static void timestamps_know_better_than_handshakes(void **state)
{
	struct zrtt_flow f = {};

	(void)state;
	zrtt_flow_syn_left(&f, 0);
	zrtt_flow_syn_answered(&f, 30000);
	zrtt_flow_timed(&f, 40000);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_TIMESTAMPS);
	assert_int_equal(f.rtt_us, 40000);
	zrtt_flow_syn_left(&f, 100000);
	zrtt_flow_syn_answered(&f, 120000);
	assert_false(f.syn_left);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_TIMESTAMPS);
	assert_int_equal(f.rtt_us, 40000);
	/* the path became longer */
	zrtt_flow_timed(&f, 90000);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.rtt_us, 90000);
}

static void hint_is_bounded_by_timestamps_and_preferred_to_them(void **state)
{
	const u32 most = 40000 * 5 / 4 + 2000;
	struct zrtt_flow f = {};

	(void)state;
	zrtt_flow_timed(&f, 40000);
	assert_true(zrtt_flow_hint(&f, 400000, true, START));
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS);
	assert_int_equal(f.source, ZRTT_RTT_HINT);
	assert_int_equal(f.rtt_us, most);
	zrtt_flow_choose_rtt(&f, START + ZRTT_RTT_EPOCHS + 1);
	assert_int_equal(f.source, ZRTT_RTT_TIMESTAMPS);
	assert_int_equal(f.rtt_us, 40000);
}

/* All that is known of a flow, without its place. */
static struct zrtt_flow knowledge(const struct zrtt_flow *f)
{
	struct zrtt_flow copy = *f;

	copy.older = 0;
	copy.newer = 0;
	return copy;
}

/* @flows slots, 2 in 3 of them used, one in @live_part of those by live flows */
static struct zrtt_table populated_table(u32 flows, u32 live_part, u32 *now)
{
	struct zrtt_table t = new_table(flows);
	u32 used = flows * 2 / 3, i;
	struct zrtt_flow *f;
	u64 seed = 11;

	for (i = 1; i <= used; i++) {
		*now = START + i * 20 / used +
		       (i > used - used / live_part ? 90 : 0);
		f = zrtt_flow_get(&t, (u32)unit_random(&seed), *now, i);
		zrtt_flow_hint(f, 1000 * i, false, *now);
		zrtt_flow_close_books(&t, f, ZRTT_Q16_ONE, *now);
		f->bytes = 1000 * i;
	}
	*now = START + 110;
	zrtt_table_expire(&t, *now, flows);
	return t;
}

static void larger_table_keeps_every_flow(void **state)
{
	u32 now, i;
	struct zrtt_table from = populated_table(1024, 2, &now);
	struct zrtt_table to = new_table(4096);
	u32 live = from.live, evicted = from.evicted;
	struct zrtt_flow a, b, *f;

	(void)state;
	zrtt_table_move(&to, &from, now);
	check_table(&to);
	assert_int_equal(to.live, live);
	assert_true(live > 0);
	assert_int_equal(to.evicted, evicted);
	for (i = 0; i < 1024; i++) {
		if (!from.slots[i].tag)
			continue;
		f = zrtt_flow_find(&to, from.slots[i].tag);
		assert_non_null(f);
		a = knowledge(&from.slots[i]);
		b = knowledge(f);
		assert_memory_equal(&a, &b, sizeof(a));
	}
	free(from.slots);
	free(to.slots);
}

static void check_smaller_table(u32 flows, u32 live_part)
{
	u32 now, i, j;
	struct zrtt_table from = populated_table(1024, live_part, &now);
	struct zrtt_table to = new_table(flows);

	zrtt_table_move(&to, &from, now);
	check_table(&to);
	for (i = 0; i < 1024; i++) {
		const struct zrtt_flow *lost = &from.slots[i];
		const struct zrtt_flow *set;

		if (!lost->tag || zrtt_flow_find(&to, lost->tag))
			continue;
		/* all that stayed in its set are live, and were seen no earlier */
		set = zrtt_flow_set(&to, lost->tag);
		for (j = 0; j < ZRTT_WAYS; j++) {
			assert_true(set[j].tag);
			assert_true(!lost->live || set[j].live);
			assert_true(!lost->live || set[j].epoch >= lost->epoch);
		}
	}
	free(from.slots);
	free(to.slots);
}

static void smaller_table_keeps_the_live_flows_seen_last(void **state)
{
	(void)state;
	check_smaller_table(256, 100);	/* room for some of the silent flows */
	check_smaller_table(128, 2);	/* not even for all of the live ones */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_is_one_cache_line),
		cmocka_unit_test(epochs_last_what_the_comments_say),
		cmocka_unit_test(new_flow_is_found_again),
		cmocka_unit_test(new_flow_inherits_nothing),
		cmocka_unit_test(new_flow_takes_the_slot_of_one_that_is_not_live),
		cmocka_unit_test(full_set_gives_up_the_flow_seen_longest_ago),
		cmocka_unit_test(silent_flow_is_no_eviction),
		cmocka_unit_test(lookup_stays_in_its_set),
		cmocka_unit_test(silent_flows_expire_a_few_at_a_time),
		cmocka_unit_test(expired_flow_starts_anew_but_for_its_rtt),
		cmocka_unit_test(table_is_right_after_each_of_many_random_operations),
		cmocka_unit_test(books_of_many_flows_are_open_for_longer),
		cmocka_unit_test(rate_tables_follow_from_their_first_entries),
		cmocka_unit_test(rate_is_the_mean_of_arrivals),
		cmocka_unit_test(rate_of_a_constant_flow_is_its_rate),
		cmocka_unit_test(rate_does_not_overflow),
		cmocka_unit_test(short_flows_do_not_move_the_averages),
		cmocka_unit_test(thin_flows_do_not_move_the_average),
		cmocka_unit_test(dropped_packets_do_not_count_in_the_average),
		cmocka_unit_test(handshake_gap_is_an_rtt),
		cmocka_unit_test(least_handshake_gap_is_kept),
		cmocka_unit_test(impossible_handshake_gaps_are_ignored),
		cmocka_unit_test(hint_is_smoothed_with_the_papers_weight),
		cmocka_unit_test(hint_is_bounded_by_what_was_seen),
		cmocka_unit_test(hint_is_remembered_then_the_handshake_counts),
		cmocka_unit_test(mark_is_taken_as_it_is_and_smoothed),
		cmocka_unit_test(hint_is_preferred_to_a_mark_while_it_is_remembered),
		cmocka_unit_test(timestamps_know_better_than_handshakes),
		cmocka_unit_test(hint_is_bounded_by_timestamps_and_preferred_to_them),
		cmocka_unit_test(larger_table_keeps_every_flow),
		cmocka_unit_test(smaller_table_keeps_the_live_flows_seen_last),
	};

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
