// SPDX-License-Identifier: GPL-2.0
/* flow.h, rtt.h, table.h, update.h: the table against a walk over all of it, the flow against floats. */
#include <sanitizer/asan_interface.h>

#include "unit.h"
#include "table_check.h"
#include <zrtt/hint.h>
#include <zrtt/lane.h>
#include <zrtt/seq.h>
#include <zrtt/update.h>

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

/* Of a host, too, that has the largest weight. */
static void rate_per_second_does_not_wrap(void **state)
{
	static const u64 rates[] = { 0, 1, 1000, 1 << ZRTT_EPOCH_SHIFT, ~0U, 255ULL * ~0U };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rates); i++)
		assert_near(zrtt_per_second(rates[i]), rates[i] / EPOCH_S, 1);
}

/* As the qdisc does it; @from is to be kept until the flows are moved. */
static void begin_resize(struct zrtt_table *t, struct zrtt_table *from, u32 flows)
{
	zrtt_table_resize(t, from, calloc(flows, sizeof(struct zrtt_flow)), flows);
}

/* Return: steps that it took. */
static u32 end_resize(struct zrtt_table *t, u32 epoch)
{
	struct zrtt_flow *slots = t->from->slots;
	u32 steps = 1;

	for (; !zrtt_table_move(t, epoch); steps++)
		check_table(t);
	assert_null(t->from);
	check_table(t);
	free(slots);
	return steps;
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

	zrtt_flow_update(t, f, START);
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
	assert_int_equal(f->weight, ZRTT_WEIGHT_ONE_PACKED);
	assert_in_range(f->threshold_q30, ZRTT_P_ONE / 2, ZRTT_P_ONE / 2 * 3);
	assert_ptr_equal(zrtt_flow_get(&t, 42, START, 0), f);
	assert_ptr_equal(zrtt_flow_find(&t, 42), f);
	for (i = 1; i < FLOWS; i++)
		assert_null(zrtt_flow_find(&t, 42 + i));
	/* a packet and no more is in no sum */
	assert_int_equal(t.live, 0);
	zrtt_flow_update(&t, f, START + 1);
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
	assert_int_equal(f.seq, 0);
	assert_int_equal(f.seq_known, 0);
	/* guarded by what is set: live, hinted_q8, passive_us, syn */
	f.older = 0;
	f.newer = 0;
	f.hinted_epoch = 0;
	f.passive_at = 0;
	f.syn_at = 0;
	f.syn_seq = 0;
	f.syn_ack = 0;
	assert_memory_equal(&f, &clean, sizeof(f));
	clean = (struct zrtt_flow) {
		.tag = 42, .epoch = START, .weight = ZRTT_WEIGHT_ONE_PACKED,
		.threshold_q30 = clean.threshold_q30,
	};
	assert_memory_equal(&f, &clean, sizeof(f));
}

/* Marks of flows that begin together are not together: credit of 0.5 to 1.5 is the first one's. */
static void first_mark_is_drawn(void **state)
{
	const u32 drawn[] = { 0, 1U << 30, 1U << 31, UINT32_MAX };
	struct zrtt_flow f;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(drawn); i++) {
		zrtt_flow_begin(&f, 42, START, drawn[i]);
		assert_near(f.threshold_q30 / (double)ZRTT_P_ONE, 0.5 + drawn[i] / 0x1p32, 1e-6);
	}
}

/* Flows of one packet, all of which would be in the first slot. */
static void new_flows_take_unused_slots_first(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 i;

	(void)state;
	for (i = 1; i <= ZRTT_WAYS; i++)
		zrtt_flow_get(&t, i * FLOWS, START, 0);
	for (i = 1; i <= ZRTT_WAYS; i++)
		assert_non_null(zrtt_flow_find(&t, i * FLOWS));
	check_table(&t);
	free(t.slots);
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
			zrtt_flow_update(&t, zrtt_flow_find(&t, tag_in_set(3, i)),
					 START + 1);
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

/* Whichever it is; one seen within 2 s counts. */
static void any_slot_of_a_set_may_be_given_up(void **state)
{
	u32 i, oldest;

	(void)state;
	for (oldest = 1; oldest <= ZRTT_WAYS; oldest++) {
		struct zrtt_table t = new_table(FLOWS);

		for (i = 1; i <= ZRTT_WAYS; i++)
			live_flow(&t, tag_in_set(3, i));
		for (i = 1; i <= ZRTT_WAYS; i++)
			if (i != oldest)
				zrtt_flow_update(&t, zrtt_flow_find(&t, tag_in_set(3, i)),
						 START + 1);
		zrtt_flow_get(&t, tag_in_set(3, ZRTT_WAYS + 1), START + ZRTT_LIVE_EPOCHS, 0);
		assert_null(zrtt_flow_find(&t, tag_in_set(3, oldest)));
		assert_int_equal(t.evicted, 1);
		free(t.slots);
	}
}

/* As many packets have passed all lanes, and 20 of each are queued. */
static void pass_lanes(struct zrtt_table *t, u32 in)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		t->lanes[i] = (struct zrtt_passage) { .in = in, .out = in - 20, .lost = in - 20 };
}

/* Whatever the numbers are, of which a flow has few bits. */
static void flow_is_queued_until_its_last_packet_left(void **state)
{
	const u32 passed[] = { 20, 0x4005, 0x8005, 0x10005, UINT32_MAX - 3 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(passed); i++) {
		struct zrtt_table t = new_table(FLOWS);
		struct zrtt_passage *bulk = &t.lanes[ZRTT_LANE_BULK];
		struct zrtt_flow *f;

		pass_lanes(&t, passed[i]);
		f = zrtt_flow_get(&t, 7, START, 0);
		assert_false(zrtt_flow_queued(&t, f));
		/* nobody lost the slot, and nothing is held against who has it */
		assert_false(t.lost);
		assert_false(f->last & ZRTT_LAST_BULK);
		zrtt_lane_join(&t, f, ZRTT_LANE_BULK);
		bulk->out += 20;
		assert_true(zrtt_flow_queued(&t, f));
		bulk->out++;
		assert_false(zrtt_flow_queued(&t, f));
		/* half of the numbers later */
		bulk->in += 0x4001;
		bulk->out = bulk->in - 20;
		assert_false(zrtt_flow_queued(&t, f));
		free(t.slots);
	}
}

/* Nor does a loss come back as the numbers wrap. */
static void lost_is_what_has_not_left(void **state)
{
	u32 lane, i;

	(void)state;
	for (lane = 0; lane < ZRTT_LANES; lane++) {
		struct zrtt_table t = new_table(FLOWS);
		struct zrtt_passage *passage = &t.lanes[lane];

		pass_lanes(&t, 100);
		zrtt_lane_lose(&t, lane);
		zrtt_table_tick(&t, START);
		passage->out = passage->in - 1;
		assert_true(t.lost && zrtt_table_lost(&t));
		for (i = 0; i < 8; i++) {
			passage->out = passage->in;
			zrtt_table_tick(&t, START);
			assert_false(zrtt_table_lost(&t));
			passage->in += 1U << 30;
		}
		free(t.slots);
	}
}

/* A flow that comes back must not overtake its packets: rather one that has none loses its slot. */
static void flow_without_packets_loses_its_slot_first(void **state)
{
	u32 i, idle;

	(void)state;
	for (idle = 1; idle <= ZRTT_WAYS; idle++) {
		struct zrtt_table t = new_table(ZRTT_WAYS);
		struct zrtt_flow *f;

		for (i = 1; i <= ZRTT_WAYS; i++) {
			f = zrtt_flow_get(&t, i, START, 0);
			if (i != idle)
				zrtt_lane_join(&t, f, ZRTT_LANE_BULK);
		}
		f = zrtt_flow_get(&t, 2 * ZRTT_WAYS + idle + 3, START, 0);
		assert_null(zrtt_flow_find(&t, idle));
		assert_false(t.lost);
		/* all have some: then one is lost until these have left */
		zrtt_lane_join(&t, f, ZRTT_LANE_BULK);
		f = zrtt_flow_get(&t, 100, START, 0);
		assert_true(t.lost);
		assert_true(f->last & ZRTT_LAST_BULK);
		t.lanes[ZRTT_LANE_BULK].out = t.lanes[ZRTT_LANE_BULK].in;
		f = zrtt_flow_get(&t, 101, START, 0);
		assert_false(t.lost);
		assert_false(f->last & ZRTT_LAST_BULK);
		free(t.slots);
	}
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
	f->penalty_q16 = -100;
	zrtt_flow_update(&t, f, START + 1);
	assert_int_equal(f->age, 1);
	zrtt_table_expire(&t, later + 1, 1);
	assert_int_equal(t.live, 0);
	assert_int_equal(t.sum_rtt_us, 0);
	assert_ptr_equal(zrtt_flow_get(&t, 7, later + 1, 0), f);
	zrtt_flow_update(&t, f, later + 1);
	assert_int_equal(f->rtt_us, 50000);
	assert_int_equal(t.by_source[ZRTT_RTT_HINT], 1);
	assert_int_equal(f->rate, 0);
	assert_int_equal(f->acc_q30, 0);
	assert_int_equal(f->age, 0);
	assert_int_equal(f->penalty_q16, 0);
	check_table(&t);
	free(t.slots);
}

/* The flow after @epochs without a packet, where the due share is @due. It had 2000 bytes per epoch. */
static struct zrtt_flow silent_for(u32 epochs, u32 due, bool l4s)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0), after;

	t.due = due;
	f->l4s = l4s;
	f->rate = 2000;
	f->age = ZRTT_LIVE_EPOCHS;
	f->penalty_q16 = 1000;
	f->acc_q30 = ZRTT_P_ONE / 4;
	f->strikes = 3;
	f->syn = ZRTT_SYN_LEFT;
	zrtt_flow_update(&t, f, START + epochs);
	check_table(&t);
	after = *f;
	free(t.slots);
	return after;
}

static bool begins_anew(const struct zrtt_flow *f)
{
	/* in part there is no such thing */
	assert_int_equal(!f->rate, !f->penalty_q16);
	assert_int_equal(!f->rate, !f->acc_q30);
	assert_int_equal(!f->rate, !f->age);
	return !f->rate;
}

static void silence_of_seconds_is_short_where_due_shares_are_small(void **state)
{
	const u32 small = ZRTT_FULL_PACKET - 1, seconds = ZRTT_LIVE_EPOCHS + 1;
	struct zrtt_flow f;

	(void)state;
	f = silent_for(seconds, ZRTT_FULL_PACKET, false);
	assert_true(begins_anew(&f));
	f = silent_for(seconds, 0, false);
	assert_true(begins_anew(&f));
	f = silent_for(seconds, small, true);
	assert_true(begins_anew(&f));
	f = silent_for(ZRTT_SLOW_EPOCHS + 1, small, false);
	assert_true(begins_anew(&f));
	f = silent_for(ZRTT_SLOW_EPOCHS, small, false);
	assert_false(begins_anew(&f));
	assert_near(f.rate, 2000 * pow(11 / 12.0, ZRTT_LIVE_EPOCHS), 2);
	f = silent_for(seconds, small, false);
	assert_false(begins_anew(&f));
	assert_int_equal(f.penalty_q16, 1000);
	/* what was going on ended all the same */
	assert_int_equal(f.strikes, 0);
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
}

/* What was being timed may be answered by another packet by now, and marks be of another path. */
static void silence_ends_what_was_going_on(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);

	(void)state;
	zrtt_flow_update(&t, f, START);
	f->l4s = 1;
	f->marks = 0x13;
	f->strikes = 3;
	f->looks = 2;
	f->syn = ZRTT_SYN_LEFT;
	zrtt_flow_update(&t, f, START + ZRTT_LIVE_EPOCHS);
	assert_int_equal(f->marks, 0x13);
	assert_int_equal(f->strikes, 3);
	assert_int_equal(f->looks, 2);
	assert_int_equal(f->syn, ZRTT_SYN_LEFT);
	zrtt_flow_update(&t, f, START + 2 * ZRTT_LIVE_EPOCHS + 1);
	assert_int_equal(f->marks, 0);
	assert_int_equal(f->strikes, 0);
	assert_int_equal(f->looks, 0);
	assert_int_equal(f->syn, ZRTT_SYN_NONE);
	/* it is TCP as before */
	f->seq = 5;
	zrtt_flow_update(&t, f, START + 4 * ZRTT_LIVE_EPOCHS);
	assert_true(zrtt_flow_is_tcp(f));
	free(t.slots);
}

/* Between two updates, an RTT that becomes known is all that changes. */
static void rtt_that_becomes_known_is_no_update_of_the_rate(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 i;

	(void)state;
	f->bytes = 6000;
	zrtt_flow_update(&t, f, START + 2);
	f->bytes = 1000;
	for (i = 0; i < 10; i++) {
		zrtt_flow_saw(f, 30000 + i, START + 2);
		zrtt_flow_update(&t, f, START + 2);
	}
	assert_int_equal(f->rtt_us, 30009);
	assert_int_equal(t.sum_rtt_us, 30009);
	assert_int_equal(f->bytes, 1000);
	assert_int_equal(f->rate, 3000);
	assert_int_equal(f->age, 2);
	assert_int_equal(f->updates, 1);
	check_table(&t);
	free(t.slots);
}

/* One random thing that may happen to the table at @epoch. */
static void random_operation(struct zrtt_table *t, u64 *seed, u32 epoch)
{
	u32 flows = table_slots(t);
	u32 tag = unit_between(seed, 1, 2 * flows) * 0x9e3779b1u;
	static struct zrtt_table from;
	struct zrtt_flow *f, *slots;

	zrtt_table_expire(t, epoch, ZRTT_EXPIRE_UPDATE);
	f = zrtt_flow_get(t, tag, epoch, (u32)unit_random(seed));
	f->bytes += unit_between(seed, 40, 65536);
	f->hit |= unit_random(seed) & 1;
	if (!unit_between(seed, 0, 99))
		t->due = unit_spread(seed, 0, UINT32_MAX);
	switch (unit_between(seed, 0, 9)) {
	case 0:
		zrtt_flow_hint(f, unit_spread(seed, 32, ZRTT_HINT_MAX_US),
			       unit_random(seed) & 1, epoch);
		break;
	case 1:
		zrtt_flow_saw(f, unit_spread(seed, 32, ZRTT_HINT_MAX_US), epoch);
		break;
	case 2:
		zrtt_flow_mark(f, unit_spread(seed, 32, ZRTT_HINT_MAX_US), epoch);
		break;
	case 3:
		zrtt_flow_timed(f, unit_spread(seed, 64, ZRTT_HINT_MAX_US), epoch);
		break;
	case 4:
		/* now and then: a resize is a rare event */
		if (unit_between(seed, 0, 99))
			return;
		if (!t->from)
			begin_resize(t, &from, ZRTT_WAYS << unit_between(seed, 0, 9));
		return;
	case 5:
		if (!t->from || unit_between(seed, 0, 9))
			break;
		slots = t->from->slots;
		if (zrtt_table_move(t, epoch))
			free(slots);
		return;
	}
	if (zrtt_flow_update_due(t, f, epoch) || unit_random(seed) & 1)
		zrtt_flow_update(t, f, epoch);
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
	if (t.from)
		end_resize(&t, epoch);
	free(t.slots);
}

static void updates_of_many_flows_are_rarer(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 flows, epochs;

	(void)state;
	/* the first ones are not, whatever the others do */
	t.update_epochs = 5;
	assert_false(zrtt_flow_update_due(&t, f, START));
	assert_true(zrtt_flow_update_due(&t, f, START + 1));
	zrtt_flow_update(&t, f, START);
	for (flows = 1; flows < 100000; flows += 500) {
		u32 want = flows / 1024 < 7 ? 1 + flows / 1024 : 8;

		t.live = flows;
		zrtt_table_tick(&t, START);
		for (epochs = 0; epochs < 20; epochs++)
			assert_int_equal(zrtt_flow_update_due(&t, f, START + epochs), epochs >= want);
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
			zrtt_flow_update(&t, f, epoch);
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
		zrtt_flow_update(&t, f, START + i);
		assert_near(f->rate, 250000, 50);
	}
	assert_int_equal(t.counted, 1);
	assert_int_equal(t.sum_log_rate, zrtt_log2(f->rate));
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
			zrtt_flow_update(&t, f, epoch);
		}
		assert_near(f->rate, (double)UINT32_MAX / gap, 1e-3 * UINT32_MAX / gap);
	}
	free(t.slots);
}

/* A packet in each of @epochs epochs. */
static struct zrtt_flow *age_flow(struct zrtt_table *t, u32 tag, u32 bytes, u32 epochs)
{
	struct zrtt_flow *f = zrtt_flow_get(t, tag, START, 0);
	u32 i;

	zrtt_flow_hint(f, 50000, false, START);
	for (i = 1; i <= epochs; i++) {
		f->bytes = bytes;
		zrtt_flow_update(t, f, START + i);
	}
	return f;
}

static void short_flows_do_not_move_the_due_share(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	s64 before;
	u32 age, tag;

	(void)state;
	age_flow(&t, 1, 100000, ZRTT_MATURE_EPOCHS);
	before = t.sum_log_rate;
	assert_int_equal(t.counted, 1);
	assert_near(before / 65536.0, log2(100000), 1e-3);
	for (age = 0, tag = 2; age < ZRTT_MATURE_EPOCHS; age++, tag++) {
		struct zrtt_flow *f = age_flow(&t, tag, 5, age);

		/* not even if it is hit */
		f->hit = 1;
		assert_false(zrtt_flow_mature(f) || zrtt_flow_counts(&t, f));
		assert_int_equal(t.live, age ? tag - 1 : 1);
		assert_int_equal(t.counted, 1);
		assert_int_equal(t.sum_log_rate, before);
	}
	assert_true(age_flow(&t, tag, 50000, age)->counts);
	assert_int_equal(t.counted, 2);
	assert_near(t.sum_log_rate / 65536.0, log2(100000) + log2(50000), 2e-3);
	check_sums(&t);
	free(t.slots);
}

/* Who is held back counts at any rate, others from a quarter of the share on if they are in bulk, in
 * lanes before it from all of it on, or if that is large and they are TCP, from a quarter; ACKs never.
 */
static void share_of_the_due_one_counts_and_so_does_a_hit(void **state)
{
	struct zrtt_flow f = { .age = ZRTT_MATURE_EPOCHS, .updates = ZRTT_MATURE_EPOCHS };
	struct zrtt_table t = { .update_epochs = 1 };
	u32 i, shift, least;
	u64 seed = 50;

	(void)state;
	for (i = 0; i < 100000; i++) {
		t.due = unit_between(&seed, 0, 2) ? unit_spread(&seed, 0, UINT32_MAX) : 0;
		shift = unit_between(&seed, 0, 1) ? 2 : 0;
		f.rate = unit_between(&seed, 0, 1) ? unit_spread(&seed, 1, UINT32_MAX) :
			 (t.due >> shift) + unit_between(&seed, 1, 3) - 2;
		f.hit = 0;
		f.lane = ZRTT_LANE_BULK;
		assert_int_equal(zrtt_flow_counts(&t, &f), f.rate && f.rate >= t.due / 4);
		f.lane = ZRTT_LANE_SPARSE;
		assert_int_equal(zrtt_flow_counts(&t, &f), f.rate && f.rate >= t.due);
		f.seq = 1;
		least = t.due < ZRTT_LARGE_DUE ? t.due : t.due / 4;
		assert_int_equal(zrtt_flow_counts(&t, &f), f.rate && f.rate >= least);
		f.syn = ZRTT_SYN_QUIC;
		assert_int_equal(zrtt_flow_counts(&t, &f), f.rate && f.rate >= t.due);
		f.syn = ZRTT_SYN_NONE;
		f.seq = 0;
		f.lane = ZRTT_LANE_RETURNING_LARGE;
		assert_int_equal(zrtt_flow_counts(&t, &f), f.rate && f.rate >= t.due);
		f.lane = ZRTT_LANE_THIN;
		f.seq = 1;
		assert_false(zrtt_flow_counts(&t, &f));
		f.hit = 1;
		assert_int_equal(zrtt_flow_counts(&t, &f), f.rate > 0);
		f.seq = 0;
	}
}

/* Its SYN was dropped, and it sends 7 kB a second later. */
static void short_flow_that_lost_its_first_packet_does_not_count(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 epoch;

	(void)state;
	f->hit = 1;
	f->bytes = 54;
	zrtt_flow_update(&t, f, START + ZRTT_MATURE_EPOCHS);
	assert_true(zrtt_flow_mature(f) && f->rate);
	assert_false(f->counts);
	f->bytes = 7000;
	zrtt_flow_update(&t, f, START + ZRTT_MATURE_EPOCHS + 1);
	assert_false(f->counts);
	assert_int_equal(t.counted, 0);
	/* if it goes on, it does, as soon as one that lost nothing */
	for (epoch = START + ZRTT_MATURE_EPOCHS + 2; f->updates < ZRTT_MATURE_EPOCHS; epoch++) {
		assert_false(f->counts);
		f->bytes = 1500;
		zrtt_flow_update(&t, f, epoch);
	}
	assert_int_equal(epoch, START + 2 * ZRTT_MATURE_EPOCHS);
	assert_true(f->counts);
	/* where updates are rare, few are enough */
	f->updates = 2;
	assert_false(zrtt_flow_counts(&t, f));
	t.update_epochs = ZRTT_MATURE_EPOCHS / 2;
	assert_true(zrtt_flow_counts(&t, f));
	/* silence ends that */
	t.update_epochs = 1;
	f->bytes = 0;
	zrtt_flow_update(&t, f, epoch + ZRTT_LIVE_EPOCHS + 1);
	assert_int_equal(f->updates, 1);
	check_table(&t);
	free(t.slots);
}

/* A flow that had the due share and was hit sends @bytes per epoch from then on, and is hit again if
 * @again. Return: whether it counts 9 s later, when a hit is not forgotten yet.
 */
static bool counts_after(u32 bytes, bool again)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 128 - START % 128, START, 0);
	u32 i;
	bool counts;

	t.due = 84000;
	f->lane = ZRTT_LANE_BULK;
	for (i = 1; i < 100; i++) {
		f->bytes = i < 32 ? t.due : bytes;
		zrtt_flow_update(&t, f, START + i);
		if (i == 31 || (i > 31 && again))
			zrtt_flow_was_hit(f);
		/* while it has a quarter of the share it counts anyway */
		assert_true(i < 12 || i >= 40 || f->counts);
	}
	counts = f->counts;
	assert_true(f->hit);
	check_table(&t);
	free(t.slots);
	return counts;
}

/* Its last hit holds a flow back to a quarter of what it had, not to a sixteenth: that it asks for. */
static void who_has_little_to_send_does_not_count(void **state)
{
	(void)state;
	assert_true(counts_after(84000 / 4, false));
	assert_false(counts_after(84000 / 16, false));
	assert_false(counts_after(20, false));
	/* who is held back that far is hit there, too */
	assert_true(counts_after(84000 / 32, true));
	assert_true(counts_after(20, true));
}

/* Nor after a silence, in which its past is forgotten, but not its hit. */
static void who_has_little_after_a_silence_does_not_count(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 128 - START % 128, START, 0);
	u32 i, silent = ZRTT_LIVE_EPOCHS + 1;

	(void)state;
	t.due = 84000;
	f->lane = ZRTT_LANE_BULK;
	for (i = 1; i < 60; i++) {
		f->bytes = i < 16 ? t.due : 100;
		zrtt_flow_update(&t, f, START + i + (i < 16 ? 0 : silent));
		if (i == 15)
			zrtt_flow_was_hit(f);
		assert_true(i < ZRTT_MATURE_EPOCHS || i > 15 || f->counts);
		assert_false(i > 15 && f->counts);
	}
	assert_true(f->hit);
	check_table(&t);
	free(t.slots);
}

/* Hit by a packet of @bytes, of TCP or not: does that hold the flow back, which has little? */
static bool is_held_by(u32 bytes, bool tcp, bool before)
{
	struct zrtt_flow f = { .seq = tcp, .rate = 5000 };

	if (before)
		zrtt_flow_was_hit(&f);
	zrtt_flow_packet_hit(&f, bytes);
	assert_true(f.hit);
	return zrtt_flow_held(&f);
}

static void lost_ack_holds_nobody_back(void **state)
{
	(void)state;
	assert_false(is_held_by(ZRTT_ACK_BYTES - 1, true, false));
	assert_true(is_held_by(ZRTT_ACK_BYTES, true, false));
	assert_true(is_held_by(66, false, false));
	/* one that was hit by data stays so */
	assert_true(is_held_by(66, true, true));
}

/* The rate follows a burst that is hit by an epoch. */
static void burst_is_what_its_hit_is_of(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 128 - START % 128, START, 0);
	u32 i;

	(void)state;
	t.due = 84000;
	f->lane = ZRTT_LANE_BULK;
	for (i = 1; i < 80; i++) {
		f->bytes = i == 16 ? 250 * 1514 : 60;
		if (i == 16)
			zrtt_flow_was_hit(f);
		zrtt_flow_update(&t, f, START + i);
	}
	assert_true(f->hit && !f->counts);
	free(t.slots);
}

/* Who is old enough counts in either lane, however often it changes; marks are no updates. */
static void change_of_lane_keeps_who_counts(void **state)
{
	struct zrtt_table t = { .update_epochs = 1 };
	struct zrtt_flow f = {
		.age = ZRTT_MATURE_EPOCHS, .updates = ZRTT_MATURE_EPOCHS, .rate = 1000, .hit = 1,
	};
	u32 i;

	(void)state;
	for (i = 0; i < 10; i++) {
		assert_true(zrtt_flow_counts(&t, &f));
		zrtt_flow_set_l4s(&f, i % 2 == 0);
		assert_int_equal(f.l4s, i % 2 == 0);
		assert_int_equal(f.marks, f.l4s ? 0 : ZRTT_MATURE_EPOCHS);
		/* its first second in the lane says nothing of its marks */
		f.epoch = 0;
	}
	zrtt_flow_set_l4s(&f, true);
	f.age = ZRTT_MATURE_EPOCHS - 1;
	f.marks = 200;
	zrtt_flow_set_l4s(&f, false);
	assert_int_equal(f.updates, 0);
	assert_false(zrtt_flow_counts(&t, &f));
}

static void thin_flow_is_taken_out_of_the_sums(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = age_flow(&t, 1, 24000, ZRTT_RATE_EPOCHS);
	u32 epoch = START + ZRTT_RATE_EPOCHS;

	(void)state;
	/* no share is known: any flow counts */
	assert_int_equal(t.counted, 1);
	t.due = 100000;
	assert_true(age_flow(&t, 2, 26000, ZRTT_RATE_EPOCHS)->counts);
	f->bytes = 24000;
	zrtt_flow_update(&t, f, ++epoch);
	assert_false(f->counts);
	assert_int_equal(t.counted, 1);
	assert_int_equal(t.live, 2);
	assert_near(t.sum_log_rate / 65536.0, log2(26000), 1e-3);
	f->hit = 1;
	f->bytes = 24000;
	zrtt_flow_update(&t, f, ++epoch);
	assert_int_equal(t.counted, 2);
	assert_near(t.sum_log_rate / 65536.0, log2(26000) + log2(24000), 2e-3);
	check_table(&t);
	/* all that it sends is dropped: no rate, and no logarithm of one */
	f = age_flow(&t, 3, 0, ZRTT_RATE_EPOCHS);
	f->hit = 1;
	zrtt_flow_update(&t, f, epoch);
	assert_false(f->counts);
	assert_int_equal(t.counted, 2);
	check_table(&t);
	free(t.slots);
}

/* Epochs until a hit just before @epoch is forgotten, updates being @gap apart. */
static u32 hit_lasts(u32 tag, u32 epoch, u32 gap, u32 due)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = age_flow(&t, tag, 10, ZRTT_RATE_EPOCHS);
	const u32 span = due < ZRTT_LARGE_DUE ? 128 : 256;
	u32 since = epoch;

	t.due = due;
	f->epoch = epoch;
	f->hit = 1;
	do {
		epoch += gap;
		f->bytes = 10 * gap;
		zrtt_flow_update(&t, f, epoch);
		/* at least once, and no longer than it lasts */
		assert_true(f->counts);
		assert_true(epoch - since < span + gap);
	} while (f->hit);
	f->bytes = 10 * gap;
	zrtt_flow_update(&t, f, epoch + gap);
	assert_false(f->counts);
	check_table(&t);
	free(t.slots);
	return epoch - since;
}

static void check_hit_lasts(u32 due, u32 span, double seconds)
{
	u32 tag, gap, offset, lasts, most = 0;
	bool seen[257] = {};

	assert_true(span < ARRAY_LEN(seen));
	assert_near(span * EPOCH_S, seconds, 0.2);
	for (gap = 1; gap <= ZRTT_LIVE_EPOCHS; gap++)
		for (offset = 0; offset < span; offset++) {
			lasts = hit_lasts(7, START + 100 + offset, gap, due);
			assert_in_range(lasts, 1, span + gap - 1);
			if (lasts > most)
				most = lasts;
		}
	assert_true(most >= span);
	/* flows do not forget all at once: when depends on the tag */
	for (tag = 1; tag <= span; tag++)
		seen[hit_lasts(tag, START + 100, 1, due)] = true;
	for (lasts = 1; lasts <= span; lasts++)
		assert_true(seen[lasts]);
	/* over a clock that wraps */
	assert_in_range(hit_lasts(7, UINT32_MAX - 3, 1, due), 1, span);
}

static void hit_counts_for_up_to_17_s_and_34_where_shares_are_large(void **state)
{
	(void)state;
	check_hit_lasts(ZRTT_LARGE_DUE - 1, 128, 17.2);
	check_hit_lasts(ZRTT_LARGE_DUE, 256, 34.4);
}

/* Whatever was measured or hinted is forgotten in time, also by a flow that was silent while
 * the low bits of clocks wrapped.
 */
static void rtts_age(void **state)
{
	const u32 silent[] = {
		ZRTT_PASSIVE_SILENT << ZRTT_PASSIVE_SHIFT, 1 << 13, 1 << 16, 1 << 17,
	};
	struct zrtt_flow f = {};
	u32 epoch, i;

	(void)state;
	zrtt_flow_timed(&f, 40000, START);
	for (epoch = START; f.passive_us; epoch++) {
		zrtt_flow_forget(&f, 1, epoch);
		assert_int_equal(f.timed, !!f.passive_us);
	}
	/* 14 minutes, 4 s of it by chance */
	assert_in_range((epoch - START) * 0.134218, 818, 826);
	for (i = 0; i < ARRAY_LEN(silent); i++) {
		zrtt_flow_saw(&f, 40000, START);
		zrtt_flow_remember(&f, 40000, false, START);
		zrtt_flow_forget(&f, silent[i], START + silent[i]);
		assert_int_equal(f.passive_us, 0);
		assert_int_equal(f.hinted_q8, 0);
	}
	zrtt_flow_remember(&f, 40000, false, START);
	zrtt_flow_forget(&f, 1, START + ZRTT_RTT_EPOCHS);
	assert_true(f.hinted_q8);
	zrtt_flow_forget(&f, 1, START + ZRTT_RTT_EPOCHS + 1);
	assert_false(f.hinted_q8);
}

/* From 9 minutes on, without a step, until it says no more than that it is not known. */
static void rtts_that_were_seen_fade(void **state)
{
	const u32 fades = START + (ZRTT_PASSIVE_FADES << ZRTT_PASSIVE_SHIFT);
	const u32 ends = START + (ZRTT_PASSIVE_AGES << ZRTT_PASSIVE_SHIFT);
	const u32 avg_us = 100000, rtts_us[] = { 400000, 10000, 100000 };
	u32 epoch, i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rtts_us); i++) {
		struct zrtt_flow f = {};
		u32 before_us = rtts_us[i];

		zrtt_flow_saw(&f, rtts_us[i], START);
		for (epoch = START; epoch < ends - 64; epoch++) {
			zrtt_flow_choose_rtt(&f, epoch);
			zrtt_flow_fade(&f, avg_us, epoch);
			if (epoch < fades - 32)
				assert_int_equal(f.rtt_us, rtts_us[i]);
			assert_near(f.rtt_us, before_us, 300000 / 63.0 + 1);
			before_us = f.rtt_us;
		}
		assert_near(f.rtt_us, avg_us, 300000 / 20.0);
		assert_int_equal(f.passive_us, rtts_us[i]);
	}
}

/* An update says so. */
static void rtt_of_a_flow_fades_as_it_goes_on(void **state)
{
	const u32 late = START + (160 << ZRTT_PASSIVE_SHIFT);
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, late, 0);

	(void)state;
	t.rtt_avg_us = 100000;
	zrtt_flow_saw(f, 40000, START);
	zrtt_flow_update(&t, f, late + 1);
	assert_near(f->rtt_us, 70000, 1000);
	assert_int_equal(t.sum_rtt_us, f->rtt_us);
	free(t.slots);
}

/* A hint is up to date, and needs no RTT_avg. */
static void hinted_rtts_do_not_fade(void **state)
{
	const u32 late = START + (160 << ZRTT_PASSIVE_SHIFT);
	struct zrtt_flow f = {};

	(void)state;
	zrtt_flow_saw(&f, 40000, START);
	zrtt_flow_remember(&f, 40000, false, late);
	zrtt_flow_choose_rtt(&f, late);
	zrtt_flow_fade(&f, 100000, late);
	assert_int_equal(f.rtt_us, 40000);
	f.hinted_q8 = 0;
	zrtt_flow_choose_rtt(&f, late);
	zrtt_flow_fade(&f, 0, late);
	assert_int_equal(f.rtt_us, 40000);
	zrtt_flow_fade(&f, 100000, late);
	assert_near(f.rtt_us, 70000, 1000);
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
	zrtt_flow_saw(&f, 30000, START);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_HANDSHAKE);
	assert_int_equal(f.rtt_us, 30000);
	zrtt_flow_timed(&f, 40000, START);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.source, ZRTT_RTT_TIMESTAMPS);
	assert_int_equal(f.rtt_us, 40000);
	/* the path became longer */
	zrtt_flow_timed(&f, 90000, START);
	zrtt_flow_choose_rtt(&f, START);
	assert_int_equal(f.rtt_us, 90000);
}

static void hint_is_bounded_by_timestamps_and_preferred_to_them(void **state)
{
	const u32 most = 40000 * 5 / 4 + 2000;
	struct zrtt_flow f = {};

	(void)state;
	zrtt_flow_timed(&f, 40000, START);
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

/* @flows slots, 2 in 3 of them used, one in @live_part of those by live flows, of which
 * every other one counts
 */
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
		f->age = i % 2 ? ZRTT_LIVE_EPOCHS : 0;
		f->updates = ZRTT_MATURE_EPOCHS;
		f->rate = 1000 * i;
		f->penalty_q16 = -(s32)i;
		zrtt_flow_update(&t, f, *now);
		f->bytes = 1000 * i;
	}
	*now = START + 110;
	zrtt_table_expire(&t, *now, flows);
	return t;
}

/* A copy of the slots of @t. */
static struct zrtt_flow *copy_slots(const struct zrtt_table *t)
{
	size_t bytes = table_slots(t) * sizeof(struct zrtt_flow);

	return memcpy(malloc(bytes), t->slots, bytes);
}

/* The sums of @a and @b are the same. */
static void assert_same_sums(const struct zrtt_table *a, const struct zrtt_table *b)
{
	assert_int_equal(a->live, b->live);
	assert_memory_equal(a->by_source, b->by_source, sizeof(a->by_source));
	assert_int_equal(a->counted, b->counted);
	assert_int_equal(a->sum_log_rate, b->sum_log_rate);
	assert_int_equal(a->due, b->due);
	assert_int_equal(a->sum_rtt_us, b->sum_rtt_us);
	assert_int_equal(a->rtt_avg_us, b->rtt_avg_us);
	assert_int_equal(a->evicted, b->evicted);
}

static void larger_table_keeps_every_flow(void **state)
{
	u32 now, i, steps;
	struct zrtt_table t = populated_table(1024, 2, &now);
	struct zrtt_table before = t, from;
	struct zrtt_flow a, b, *f, *was = copy_slots(&t);

	(void)state;
	assert_true(t.live > ZRTT_MOVE_STEP);
	assert_true(t.counted > ZRTT_MOVE_STEP && t.counted < t.live);
	begin_resize(&t, &from, 4096);
	check_table(&t);
	assert_same_sums(&t, &before);
	steps = end_resize(&t, now);
	/* no step is a long one */
	assert_true(steps > 1024 / ZRTT_MOVE_STEP);
	assert_same_sums(&t, &before);
	for (i = 0; i < 1024; i++) {
		if (!was[i].tag)
			continue;
		f = zrtt_flow_find(&t, was[i].tag);
		assert_non_null(f);
		a = knowledge(&was[i]);
		b = knowledge(f);
		assert_memory_equal(&a, &b, sizeof(a));
	}
	free(was);
	free(t.slots);
}

static void check_smaller_table(u32 flows, u32 live_part)
{
	u32 now, i, j, live_lost = 0, counted_lost = 0;
	struct zrtt_table t = populated_table(1024, live_part, &now);
	struct zrtt_table before = t, from;
	struct zrtt_flow *was = copy_slots(&t);

	begin_resize(&t, &from, flows);
	end_resize(&t, now);
	for (i = 0; i < 1024; i++) {
		const struct zrtt_flow *lost = &was[i];
		const struct zrtt_flow *set;

		if (!lost->tag || zrtt_flow_find(&t, lost->tag))
			continue;
		live_lost += lost->live;
		counted_lost += lost->live && lost->counts;
		/* all that stayed in its set are live, and were seen no earlier */
		set = zrtt_flow_bucket(&t, lost->tag);
		for (j = 0; j < ZRTT_WAYS; j++) {
			assert_true(set[j].tag);
			assert_true(!lost->live || set[j].live);
			assert_true(!lost->live || set[j].epoch >= lost->epoch);
		}
	}
	assert_int_equal(t.live, before.live - live_lost);
	assert_int_equal(t.counted, before.counted - counted_lost);
	assert_int_equal(t.evicted, before.evicted + live_lost);
	free(was);
	free(t.slots);
}

static void smaller_table_keeps_the_live_flows_seen_last(void **state)
{
	(void)state;
	check_smaller_table(256, 100);	/* room for some of the silent flows */
	check_smaller_table(128, 2);	/* not even for all of the live ones */
}

/* One that was live is at once, and one that was not stays known. */
static void flow_whose_packet_comes_is_moved_at_once(void **state)
{
	u32 now, i;
	struct zrtt_table t = populated_table(1024, 2, &now);
	struct zrtt_table from;
	struct zrtt_flow *f, *was = copy_slots(&t);

	(void)state;
	now++;
	begin_resize(&t, &from, 2048);
	for (i = 0; i < 1024; i++) {
		u32 live = t.live, tag = was[i].tag;

		if (!tag)
			continue;
		assert_null(zrtt_flow_find(&t, tag));
		assert_ptr_equal(zrtt_flow_lookup(&t, tag), &from.slots[i]);
		f = zrtt_flow_get(&t, tag, now, 0);
		assert_ptr_equal(zrtt_flow_lookup(&t, tag), f);
		assert_int_equal(f->hinted_q8, was[i].hinted_q8);
		assert_int_equal(f->age, was[i].age);
		assert_true(zrtt_flow_update_due(&t, f, now));
		zrtt_flow_update(&t, f, now);
		assert_int_equal(t.live, live + !was[i].live);
		check_table(&t);
	}
	assert_int_equal(from.oldest, ZRTT_NO_SLOT);
	assert_true(zrtt_flow_get(&t, 42, now, 0)->age == 0);
	assert_null(zrtt_flow_lookup(&t, 43));
	end_resize(&t, now);
	free(was);
	free(t.slots);
}

/* One that was updated in this epoch goes on as it is. */
static void flow_updated_just_now_stays_as_it_is(void **state)
{
	struct zrtt_table t = new_table(FLOWS), from, before;
	struct zrtt_flow *f = live_flow(&t, 7);

	(void)state;
	live_flow(&t, 8);
	f->bytes = 1000;
	before = t;
	begin_resize(&t, &from, 2 * FLOWS);
	f = zrtt_flow_get(&t, 7, START, 0);
	assert_true(f->live);
	assert_false(zrtt_flow_update_due(&t, f, START));
	assert_int_equal(f->bytes, 1000);
	assert_same_sums(&t, &before);
	check_table(&t);
	end_resize(&t, START);
	assert_same_sums(&t, &before);
	free(t.slots);
}

static void flows_expire_while_they_are_moved(void **state)
{
	struct zrtt_table t = new_table(1024), from;
	u32 later = START + ZRTT_LIVE_EPOCHS + 1, i;

	(void)state;
	for (i = 1; i <= 512; i++)
		live_flow(&t, i);
	begin_resize(&t, &from, 2048);
	assert_false(zrtt_table_move(&t, START));
	assert_int_equal(t.live, 512);
	/* in both tables */
	zrtt_table_expire(&t, later, 100);
	assert_int_equal(t.live, 512 - 200);
	check_table(&t);
	zrtt_table_expire(&t, later, 512);
	assert_int_equal(t.live, 0);
	assert_int_equal(from.oldest, ZRTT_NO_SLOT);
	check_table(&t);
	end_resize(&t, later);
	/* silent, but known */
	for (i = 1; i <= 512; i++)
		assert_non_null(zrtt_flow_find(&t, i));
	free(t.slots);
}

/* Those of which no slot is left are lost, but for who would have expired. */
static void silent_flow_is_no_eviction_in_a_smaller_table(void **state)
{
	u32 i, late;

	(void)state;
	for (late = 0; late < 2; late++) {
		struct zrtt_table t = new_table(2 * ZRTT_WAYS), from;

		for (i = 1; i <= 2 * ZRTT_WAYS; i++)
			live_flow(&t, i);
		begin_resize(&t, &from, ZRTT_WAYS);
		end_resize(&t, START + ZRTT_LIVE_EPOCHS + late);
		assert_int_equal(t.live, ZRTT_WAYS);
		assert_int_equal(t.evicted, late ? 0 : ZRTT_WAYS);
		free(t.slots);
	}
}

/* What is queued at a change of size may be of any flow. */
static void all_may_be_lost_in_another_table(void **state)
{
	struct zrtt_table t = new_table(FLOWS), from;
	u32 lane, i;

	(void)state;
	for (lane = 0; lane < ZRTT_LANES; lane++) {
		pass_lanes(&t, 20);
		for (i = 0; i < ZRTT_LANES; i++)
			t.lanes[i].out = i == lane ? 19 : 20;
		begin_resize(&t, &from, FLOWS);
		assert_true(t.lost && zrtt_table_lost(&t));
		end_resize(&t, START);
	}
	free(t.slots);
}

/* A flow that was seen at @epoch is moved to where new ones of START have packets queued. Return:
 * whether one of them lost its slot for that.
 */
static bool move_takes_a_slot(u32 epoch, bool live, bool fetched)
{
	struct zrtt_table t = new_table(ZRTT_WAYS), from;
	struct zrtt_flow *f = zrtt_flow_get(&t, 1, epoch, 0);
	bool taken;
	u32 i;

	if (live)
		zrtt_flow_update(&t, f, epoch);
	begin_resize(&t, &from, ZRTT_WAYS);
	t.lost = zrtt_table_lost(&t);
	for (i = 1; i <= ZRTT_WAYS; i++)
		zrtt_lane_join(&t, zrtt_flow_get(&t, 2 * ZRTT_WAYS + i, START, 0), ZRTT_LANE_BULK);
	assert_false(t.lost);
	if (fetched)
		zrtt_flow_get(&t, 1, epoch, 0);
	end_resize(&t, START + 6);
	taken = zrtt_flow_find(&t, 1);
	assert_int_equal(t.lost, taken);
	assert_int_equal(zrtt_table_lost(&t), taken);
	free(t.slots);
	return taken;
}

static void moved_flow_takes_the_slot_of_one_seen_before(void **state)
{
	(void)state;
	assert_true(move_takes_a_slot(START + 5, false, false));
	assert_false(move_takes_a_slot(START, false, false));
	assert_false(move_takes_a_slot(START - 5, false, false));
	/* one that is live takes any, and one whose packet came */
	assert_true(move_takes_a_slot(START - 5, true, false));
	assert_true(move_takes_a_slot(START - 5, false, true));
	assert_true(move_takes_a_slot(START - 5, true, true));
}

/* All other sets are poisoned, of both tables. */
static void lookup_stays_in_two_sets_while_flows_are_moved(void **state)
{
	struct zrtt_table t = new_table(FLOWS), from;
	const size_t set_bytes = ZRTT_WAYS * sizeof(struct zrtt_flow);
	u32 set, i;

	(void)state;
	for (set = 0; set < SETS; set++)
		for (i = 1; i <= ZRTT_WAYS; i++)
			zrtt_flow_get(&t, tag_in_set(set, i), START, 0);
	begin_resize(&t, &from, FLOWS);
	for (set = 0; set < SETS; set++) {
		ASAN_POISON_MEMORY_REGION(t.slots, FLOWS * sizeof(*t.slots));
		ASAN_POISON_MEMORY_REGION(from.slots, FLOWS * sizeof(*t.slots));
		ASAN_UNPOISON_MEMORY_REGION(t.slots + set * ZRTT_WAYS, set_bytes);
		ASAN_UNPOISON_MEMORY_REGION(from.slots + set * ZRTT_WAYS, set_bytes);
		for (i = 1; i <= 2 * ZRTT_WAYS; i++)
			zrtt_flow_get(&t, tag_in_set(set, i), START, 0);
		ASAN_UNPOISON_MEMORY_REGION(t.slots, FLOWS * sizeof(*t.slots));
		ASAN_UNPOISON_MEMORY_REGION(from.slots, FLOWS * sizeof(*t.slots));
	}
	end_resize(&t, START);
	free(t.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_per_second_does_not_wrap),
		cmocka_unit_test(slot_is_one_cache_line),
		cmocka_unit_test(epochs_last_what_the_comments_say),
		cmocka_unit_test(new_flow_is_found_again),
		cmocka_unit_test(new_flow_inherits_nothing),
		cmocka_unit_test(first_mark_is_drawn),
		cmocka_unit_test(new_flows_take_unused_slots_first),
		cmocka_unit_test(new_flow_takes_the_slot_of_one_that_is_not_live),
		cmocka_unit_test(full_set_gives_up_the_flow_seen_longest_ago),
		cmocka_unit_test(silent_flow_is_no_eviction),
		cmocka_unit_test(any_slot_of_a_set_may_be_given_up),
		cmocka_unit_test(flow_is_queued_until_its_last_packet_left),
		cmocka_unit_test(lost_is_what_has_not_left),
		cmocka_unit_test(flow_without_packets_loses_its_slot_first),
		cmocka_unit_test(lookup_stays_in_its_set),
		cmocka_unit_test(silent_flows_expire_a_few_at_a_time),
		cmocka_unit_test(expired_flow_starts_anew_but_for_its_rtt),
		cmocka_unit_test(silence_of_seconds_is_short_where_due_shares_are_small),
		cmocka_unit_test(silence_ends_what_was_going_on),
		cmocka_unit_test(rtt_that_becomes_known_is_no_update_of_the_rate),
		cmocka_unit_test(table_is_right_after_each_of_many_random_operations),
		cmocka_unit_test(updates_of_many_flows_are_rarer),
		cmocka_unit_test(rate_tables_follow_from_their_first_entries),
		cmocka_unit_test(rate_is_the_mean_of_arrivals),
		cmocka_unit_test(rate_of_a_constant_flow_is_its_rate),
		cmocka_unit_test(rate_does_not_overflow),
		cmocka_unit_test(short_flows_do_not_move_the_due_share),
		cmocka_unit_test(share_of_the_due_one_counts_and_so_does_a_hit),
		cmocka_unit_test(short_flow_that_lost_its_first_packet_does_not_count),
		cmocka_unit_test(who_has_little_to_send_does_not_count),
		cmocka_unit_test(who_has_little_after_a_silence_does_not_count),
		cmocka_unit_test(lost_ack_holds_nobody_back),
		cmocka_unit_test(burst_is_what_its_hit_is_of),
		cmocka_unit_test(change_of_lane_keeps_who_counts),
		cmocka_unit_test(thin_flow_is_taken_out_of_the_sums),
		cmocka_unit_test(hit_counts_for_up_to_17_s_and_34_where_shares_are_large),
		cmocka_unit_test(rtts_age),
		cmocka_unit_test(rtts_that_were_seen_fade),
		cmocka_unit_test(rtt_of_a_flow_fades_as_it_goes_on),
		cmocka_unit_test(hinted_rtts_do_not_fade),
		cmocka_unit_test(hint_is_smoothed_with_the_papers_weight),
		cmocka_unit_test(hint_is_bounded_by_what_was_seen),
		cmocka_unit_test(hint_is_remembered_then_the_handshake_counts),
		cmocka_unit_test(mark_is_taken_as_it_is_and_smoothed),
		cmocka_unit_test(hint_is_preferred_to_a_mark_while_it_is_remembered),
		cmocka_unit_test(timestamps_know_better_than_handshakes),
		cmocka_unit_test(hint_is_bounded_by_timestamps_and_preferred_to_them),
		cmocka_unit_test(larger_table_keeps_every_flow),
		cmocka_unit_test(smaller_table_keeps_the_live_flows_seen_last),
		cmocka_unit_test(flow_whose_packet_comes_is_moved_at_once),
		cmocka_unit_test(flow_updated_just_now_stays_as_it_is),
		cmocka_unit_test(flows_expire_while_they_are_moved),
		cmocka_unit_test(silent_flow_is_no_eviction_in_a_smaller_table),
		cmocka_unit_test(all_may_be_lost_in_another_table),
		cmocka_unit_test(moved_flow_takes_the_slot_of_one_seen_before),
		cmocka_unit_test(lookup_stays_in_two_sets_while_flows_are_moved),
	};

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
