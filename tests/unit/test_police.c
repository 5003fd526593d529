// SPDX-License-Identifier: GPL-2.0
/* police.h: when what may answer no mark is held near its due share, and at what. */
#include "unit.h"
#include <zrtt/zrtt.h>

#define FLOWS		64
#define START		1000	/* epoch at which tests begin */
#define DUE		100000	/* bytes per epoch */
#define TARGET_US	15000
#define PACKET		1514

static const u64 epoch_ns = 1ULL << ZRTT_EPOCH_SHIFT;

/* When it is on */

/* The law of a tick in which three flows count and there is a queue. */
static struct zrtt_law busy_law(void)
{
	return (struct zrtt_law) { .p_q30 = 1, .counted = 3, .queue_us = TARGET_US / 2 };
}

static struct zrtt_police police_after(u32 ticks, const struct zrtt_law *law)
{
	struct zrtt_police police = {};

	for (; ticks; ticks--)
		zrtt_police_tick(&police, law, TARGET_US);
	return police;
}

static void due_share_is_believed_after_two_seconds(void **state)
{
	struct zrtt_law law = busy_law(), none = busy_law();
	struct zrtt_police police;
	u32 i;

	(void)state;
	assert_false(police_after(124, &law).on);
	assert_true(police_after(125, &law).on);
	/* however long P_b was 0 before */
	none.p_q30 = 0;
	police = police_after(10000, &none);
	for (i = 0; i < 124; i++)
		zrtt_police_tick(&police, &law, TARGET_US);
	assert_false(police.on);
	zrtt_police_tick(&police, &law, TARGET_US);
	assert_true(police.on);
}

/* A fast link whose P_b is 0 in two of three updates: three of them count as 2. */
static void it_is_believed_where_p_b_comes_and_goes(void **state)
{
	struct zrtt_law law = busy_law(), none = busy_law();
	struct zrtt_police police = {};
	u32 i;

	(void)state;
	none.p_q30 = 0;
	for (i = 0; i < 3 * 248; i++)
		zrtt_police_tick(&police, i % 3 ? &none : &law, TARGET_US);
	assert_false(police.on);
	for (; i < 3 * 251 + 1; i++)
		zrtt_police_tick(&police, i % 3 ? &none : &law, TARGET_US);
	assert_true(police.on);
}

static void it_is_forgotten_after_eight_seconds(void **state)
{
	struct zrtt_law law = busy_law(), none = busy_law();
	struct zrtt_police police = police_after(10000, &law);
	u32 i;

	(void)state;
	none.p_q30 = 0;
	for (i = 0; i < ZRTT_POLICE_BELIEVE; i++)
		zrtt_police_tick(&police, &none, TARGET_US);
	zrtt_police_tick(&police, &law, TARGET_US);
	assert_true(police.on);
	for (i = 0; i < 9; i++)
		zrtt_police_tick(&police, &none, TARGET_US);
	zrtt_police_tick(&police, &law, TARGET_US);
	assert_false(police.on);
}

static void without_a_queue_nobody_is_held_back(void **state)
{
	struct zrtt_law law = busy_law(), idle = busy_law(), alone = busy_law(), calm = busy_law();
	struct zrtt_police police = police_after(1000, &law);

	(void)state;
	idle.queue_us--;
	alone.counted = 0;
	calm.p_q30 = 0;
	assert_true(police.on);
	zrtt_police_tick(&police, &idle, TARGET_US);
	assert_false(police.on);
	zrtt_police_tick(&police, &alone, TARGET_US);
	assert_false(police.on);
	zrtt_police_tick(&police, &calm, TARGET_US);
	assert_false(police.on);
	zrtt_police_tick(&police, &law, TARGET_US);
	assert_true(police.on);
}

/* At what */

static struct zrtt_table new_table(void)
{
	struct zrtt_table t;

	zrtt_table_init(&t, calloc(FLOWS, sizeof(struct zrtt_flow)), FLOWS);
	t.due = DUE;
	return t;
}

static struct zrtt_flow *flow_of_age(struct zrtt_table *t, u32 age, u32 rate)
{
	struct zrtt_flow *f = zrtt_flow_get(t, 7, START, 0);

	zrtt_flow_update(t, f, START);
	f->age = age;
	f->rate = rate;
	return f;
}

/* What @f may have when @quarters of an epoch have passed, bytes, ~0 = anything. */
static u32 bucket_of(const struct zrtt_table *t, struct zrtt_flow *f, u32 quarters)
{
	struct zrtt_law law = busy_law();
	u64 now_ns = START * epoch_ns + quarters * (epoch_ns / 4);

	f->bytes = PACKET;
	assert_false(zrtt_police_exceeds(&law, t, f, PACKET, now_ns));
	for (; f->bytes < 100 * DUE; f->bytes++)
		if (zrtt_police_exceeds(&law, t, f, PACKET, now_ns))
			return f->bytes - PACKET - 1;
	return ~0U;
}

static void known_flow_has_half_more_than_its_due(void **state)
{
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS, DUE * 3 / 2);

	(void)state;
	assert_int_equal(bucket_of(&t, f, 0), 3 * PACKET);
	assert_int_equal(bucket_of(&t, f, 4), 3 * PACKET + DUE * 3 / 2);
	f->rate--;	/* it has left something */
	assert_int_equal(bucket_of(&t, f, 0), 3 * PACKET + DUE * 3 / 2);
	assert_int_equal(bucket_of(&t, f, 2), 3 * PACKET + DUE * 9 / 4);
	free(t.slots);
}

/* Beside three flows, a new one is the fourth. */
static void new_flow_is_one_more(void **state)
{
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS - 1, 10 * DUE);

	(void)state;
	assert_int_equal(bucket_of(&t, f, 4), 3 * PACKET + DUE * 3 / 4 * 3 / 2);
	free(t.slots);
}

/* What its flows have already says how many they are. */
static void new_flow_of_a_host_has_what_its_flows_have(void **state)
{
	struct zrtt_law law = busy_law();
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS - 1, 10 * DUE);
	struct zrtt_group group = {};

	(void)state;
	t.groups = &group;
	t.members = calloc(FLOWS, sizeof(struct zrtt_member));
	zrtt_flow_member(&t, f)->due = DUE / 5;
	assert_true(zrtt_police_rate(&law, &t, f) == DUE / 5 * 3 / 2);
	free(t.members);
	free(t.slots);
}

static void who_has_a_law_of_its_own_has_no_bucket(void **state)
{
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS, 10 * DUE);

	(void)state;
	f->l4s = 1;
	assert_int_equal(bucket_of(&t, f, 0), ~0U);
	f->l4s = 0;
	f->syn = ZRTT_SYN_QUIC;
	assert_int_equal(bucket_of(&t, f, 0), ~0U);
	f->syn = ZRTT_SYN_NONE;
	assert_int_equal(bucket_of(&t, f, 0), 3 * PACKET);
	t.due = 0;
	assert_int_equal(bucket_of(&t, f, 0), ~0U);
	free(t.slots);
}

static void who_is_alone_has_no_bucket(void **state)
{
	struct zrtt_law law = busy_law();
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS, 10 * DUE);

	(void)state;
	law.counted = 1;
	assert_true(zrtt_police_rate(&law, &t, f) == DUE * 3 / 2);
	f->counts = 1;
	assert_true(zrtt_police_rate(&law, &t, f) == 0);
	free(t.slots);
}

/* A packet of GSO, 64 KB, is not dropped for its size alone. */
static void large_packet_passes_if_anything_is_left(void **state)
{
	struct zrtt_law law = busy_law();
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS, 10 * DUE);

	(void)state;
	f->bytes = 65536;
	assert_false(zrtt_police_exceeds(&law, &t, f, 65536, START * epoch_ns));
	f->bytes += 3 * PACKET + 1;
	assert_true(zrtt_police_exceeds(&law, &t, f, 65536, START * epoch_ns));
	free(t.slots);
}

static void what_the_bucket_drops_is_a_hit_that_the_penalty_knows(void **state)
{
	struct zrtt_table t = new_table();
	struct zrtt_flow *f = flow_of_age(&t, ZRTT_MATURE_EPOCHS, DUE);

	(void)state;
	assert_false(f->policed);
	zrtt_flow_was_policed(f);
	assert_true(f->hit);
	assert_true(f->policed);
	zrtt_flow_update(&t, f, START + 1);
	assert_true(f->policed);
	/* who begins anew has no past */
	zrtt_flow_update(&t, f, START + 1000);
	assert_false(f->policed);
	free(t.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(due_share_is_believed_after_two_seconds),
		cmocka_unit_test(it_is_believed_where_p_b_comes_and_goes),
		cmocka_unit_test(it_is_forgotten_after_eight_seconds),
		cmocka_unit_test(without_a_queue_nobody_is_held_back),
		cmocka_unit_test(known_flow_has_half_more_than_its_due),
		cmocka_unit_test(new_flow_is_one_more),
		cmocka_unit_test(new_flow_of_a_host_has_what_its_flows_have),
		cmocka_unit_test(who_has_a_law_of_its_own_has_no_bucket),
		cmocka_unit_test(who_is_alone_has_no_bucket),
		cmocka_unit_test(what_the_bucket_drops_is_a_hit_that_the_penalty_knows),
		cmocka_unit_test(large_packet_passes_if_anything_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
