// SPDX-License-Identifier: GPL-2.0
/* acks.h: data that pass for the first time are timed until they are acknowledged. */
#include "unit.h"
#include <zrtt/flow.h>
#include <zrtt/acks.h>

#define DATA	0	/* directions */
#define ACKS	1
#define TAG	77
#define ASKER	5
#define SEQ	0xfffffff0u	/* wraps soon */

struct sight {
	struct zrtt_conn set[ZRTT_CONN_WAYS];
	struct zrtt_echo ack;
};

static void send_data(struct sight *s, u32 seq, u32 now_us)
{
	const struct zrtt_echo pkt = { .tag = TAG, .way = DATA, .tsval = seq, .asker = ASKER };

	zrtt_acks_send(s->set, &pkt, now_us, now_us >> 17);
}

/* Return: whether it answers. */
static bool acknowledge(struct sight *s, u32 seq, u32 now_us)
{
	s->ack = (struct zrtt_echo) { .tag = TAG, .way = ACKS, .tsecr = seq, .ack = true };
	zrtt_acks_arrive(s->set, &s->ack, now_us);
	return s->ack.answers;
}

static void data_are_timed_until_they_are_acknowledged(void **state)
{
	struct sight s = {};

	(void)state;
	send_data(&s, SEQ, 1000);
	assert_true(acknowledge(&s, SEQ, 41000));
	assert_int_equal(s.ack.answered, ASKER);
	assert_int_equal(s.ack.answer.left_us, 1000);
	assert_int_equal(s.ack.answer.gap_us, 40000);
	assert_int_equal(s.ack.answer.excess_us, 0);
	assert_false(acknowledge(&s, SEQ, 42000));
	send_data(&s, SEQ + 1448, 50000);
	assert_true(acknowledge(&s, SEQ + 1448, 100000));
	assert_in_range(s.ack.answer.excess_us, 10000 - 32, 10000 + 32);
}

static void all_before_the_number_is_acknowledged(void **state)
{
	const u32 more[] = { 1, 1448, ZRTT_PROBE_TICKS };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(more); i++) {
		struct sight s = {};

		send_data(&s, SEQ, 1000);
		assert_true(acknowledge(&s, SEQ + more[i], 41000));
		assert_int_equal(s.ack.answer.gap_us, 40000);
	}
}

static void other_numbers_are_no_answer(void **state)
{
	const u32 other[] = { SEQ - 1, SEQ - 1448, SEQ + ZRTT_PROBE_TICKS + 1, SEQ + (1u << 31) };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(other); i++) {
		struct sight s = {};

		send_data(&s, SEQ, 1000);
		assert_false(acknowledge(&s, other[i], 20000));
		assert_true(acknowledge(&s, SEQ, 41000));
	}
}

static void one_probe_is_away_at_a_time(void **state)
{
	struct sight s = {};

	(void)state;
	send_data(&s, SEQ, 1000);
	send_data(&s, SEQ + 1448, 2000);
	assert_true(acknowledge(&s, SEQ, 41000));
	assert_int_equal(s.ack.answer.left_us, 1000);
	assert_false(acknowledge(&s, SEQ + 1448, 42000));
}

static void what_is_sent_again_gives_the_probe_up(void **state)
{
	struct sight s = {};

	(void)state;
	send_data(&s, SEQ, 1000);
	zrtt_acks_give_up(s.set, TAG, ACKS);
	zrtt_acks_give_up(s.set, TAG + 1, DATA);
	assert_true(acknowledge(&s, SEQ, 41000));
	send_data(&s, SEQ + 1448, 50000);
	zrtt_acks_give_up(s.set, TAG, DATA);
	assert_false(acknowledge(&s, SEQ + 1448, 90000));
	send_data(&s, SEQ + 2 * 1448, 100000);
	assert_true(acknowledge(&s, SEQ + 2 * 1448, 140000));
}

static void probe_without_an_answer_makes_room(void **state)
{
	struct sight s = {};

	(void)state;
	send_data(&s, SEQ, 1000);
	send_data(&s, SEQ + 1448, 1000 + ZRTT_PROBE_MAX_US);
	send_data(&s, SEQ + 2 * 1448, 2000 + ZRTT_PROBE_MAX_US);
	assert_true(acknowledge(&s, SEQ + 2 * 1448, 42000 + ZRTT_PROBE_MAX_US));
	assert_int_equal(s.ack.answer.gap_us, 40000);
}

static void who_sends_no_data_has_no_slot(void **state)
{
	struct sight s = {};
	u32 i;

	(void)state;
	assert_false(acknowledge(&s, SEQ, 1000));
	zrtt_acks_give_up(s.set, TAG, DATA);
	for (i = 0; i < ZRTT_CONN_WAYS; i++)
		assert_int_equal(s.set[i].tag, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_are_timed_until_they_are_acknowledged),
		cmocka_unit_test(all_before_the_number_is_acknowledged),
		cmocka_unit_test(other_numbers_are_no_answer),
		cmocka_unit_test(one_probe_is_away_at_a_time),
		cmocka_unit_test(what_is_sent_again_gives_the_probe_up),
		cmocka_unit_test(probe_without_an_answer_makes_room),
		cmocka_unit_test(who_sends_no_data_has_no_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
