// SPDX-License-Identifier: GPL-2.0
/* loss.h: rounds, who agrees on a loss, and which rate it asks for. */
#include "unit.h"
#include "passes.h"

#define S		1000000U	/* microseconds */
#define MBIT		125000ULL	/* bytes per second */
#define START_US	(~0U - 5 * S)	/* the clock wraps soon */

static void test_nothing_is_known_at_first(void **state)
{
	struct zrtt_loss loss;
	u32 i;

	(void)state;
	memset(&loss, 1, sizeof(loss));
	zrtt_loss_init(&loss, 77, START_US);
	for (i = 0; i < ZRTT_RESENT_FLOWS; i++)
		assert_int_equal(loss.resent.flows[i].tag, 0);
	for (i = 0; i < ZRTT_LOSS_HOSTS; i++)
		assert_int_equal(loss.hosts[0][i].sent | loss.hosts[1][i].sent |
				 loss.hosts[0][i].lost | loss.hosts[1][i].lost, 0);
	assert_int_equal(loss.ceiling | loss.clean | loss.before | loss.through | loss.bytes, 0);
	assert_int_equal(loss.vain | loss.own_q16 | loss.paused_us, 0);
	assert_false(loss.settling || loss.waited);
	assert_int_equal(loss.round_us, START_US);
	assert_int_equal(loss.round_bytes, 77);
}

/* Up to 17 s of them are no time of a round; with more it begins anew. While nothing counts, it does
 * not go on.
 */
static void test_pauses_add_up(void **state)
{
	const u32 pause_us = ZRTT_LOSS_PAUSES_US / 2;
	struct zrtt_loss loss;
	u32 i;

	(void)state;
	zrtt_loss_init(&loss, 0, START_US);
	pass_between(&loss, 1, 1, 1000, 100);
	loss.settling = true;
	zrtt_loss_pause(&loss, pause_us, 0, START_US);
	assert_int_equal(loss.round_us, START_US);
	loss.settling = false;
	for (i = 1; i <= 2; i++) {
		zrtt_loss_pause(&loss, pause_us, 0, START_US + i * pause_us);
		assert_int_equal(loss.round_us, START_US + i * pause_us);
		assert_int_equal(loss.hosts[0][1].sent, 1000);
	}
	zrtt_loss_pause(&loss, 1, 5, START_US + 3 * pause_us);
	assert_int_equal(loss.hosts[0][1].sent, 0);
	assert_int_equal(loss.round_us, START_US + 3 * pause_us);
	assert_int_equal(loss.round_bytes, 5);
	/* with none so far */
	zrtt_loss_pause(&loss, 2 * pause_us, 5, START_US + 5 * pause_us);
	assert_int_equal(loss.round_us, START_US + 5 * pause_us);
}

/* The path itself loses if, of two rates that were lowered, each still lost more than half as much. What
 * is then no news is that part, 2^-6 at most.
 */
static void test_path_loses_if_lowering_was_in_vain_twice(void **state)
{
	static const u64 lost[] = { 10, 100 };
	struct zrtt_loss loss;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(lost); i++) {
		memset(&loss, 1, sizeof(loss));
		loss.through = 5;
		zrtt_loss_begin_chain(&loss, 8 * MBIT);
		assert_false(zrtt_loss_in_vain(&loss, lost[i], 1000));
		assert_false(zrtt_loss_in_vain(&loss, lost[i], 1000));
		/* this one helped */
		assert_false(zrtt_loss_in_vain(&loss, lost[i] / 2, 1000));
		assert_int_equal(loss.vain, 1);
		assert_true(zrtt_loss_in_vain(&loss, lost[i], 1000));
		assert_int_equal(zrtt_loss_blame_path(&loss, START_US), 8 * MBIT);
		assert_int_equal(loss.own_q16, i ? 65536 / 64 : 65536 * 35 / 4000);
		assert_int_equal(loss.own_us, START_US);
		/* nothing else is known */
		assert_int_equal(loss.ceiling | loss.before | loss.vain, 0);
	}
	/* a round without a loss is of that mean, too */
	zrtt_loss_begin_chain(&loss, 8 * MBIT);
	zrtt_loss_chain(&loss, 0, 1000);
	assert_int_equal(loss.chain_sent, 0);
	zrtt_loss_in_vain(&loss, 10, 1000);
	zrtt_loss_chain(&loss, 1, 1000);
	assert_int_equal(loss.chain_sent, 2000);
	assert_int_equal(loss.chain_lost, 11);
}

/* One that was found again just above a rate that does not lose is tried half as often. */
static void test_ceiling_is_the_rate_that_lost_last(void **state)
{
	const u64 rate = 8 * MBIT, near = rate - (rate >> ZRTT_LOSS_NEAR_SHIFT);
	static const struct { bool near, above, busy; u8 retries; } cases[] = {
		{ true, true, true, 1 }, { true, true, false, 1 }, { false, true, true, 0 },
		{ true, false, true, 0 }, { true, false, false, 0 },
	};
	struct zrtt_loss loss;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		u64 lost = cases[i].near ? near : near - 1;

		memset(&loss, 0, sizeof(loss));
		loss.ceiling = rate;
		loss.clean = 1;
		loss.retries = 3;
		zrtt_loss_cap(&loss, lost, cases[i].above, cases[i].busy, START_US);
		assert_int_equal(loss.retries, cases[i].retries);
		assert_int_equal(loss.ceiling, lost);
		assert_int_equal(loss.ceiling_us, START_US);
		assert_int_equal(loss.busy_above, cases[i].above || cases[i].busy);
		assert_int_equal(loss.clean, 0);
	}
}

/* After a round without a loss: half of the way to the ceiling, and above it after 8 s, or 17. */
static void test_rate_returns_to_the_ceiling(void **state)
{
	const u64 rate = 1 << 20, ceiling = rate + rate / 16;
	struct zrtt_loss loss = {};
	u32 retries;

	(void)state;
	/* there is none: who is blind finds it */
	assert_int_equal(zrtt_loss_raise(&loss, rate, false, START_US), rate);
	assert_int_equal(loss.clean, rate);
	assert_int_equal(zrtt_loss_raise(&loss, rate, true, START_US), rate + rate / 8);
	loss.ceiling_us = START_US;
	loss.busy_above = true;
	loss.ceiling = 3 * rate;
	assert_int_equal(zrtt_loss_raise(&loss, rate, false, START_US), 2 * rate);
	for (retries = 0; retries < 2; retries++) {
		u32 until_us = START_US + (ZRTT_LOSS_RETRY_US << retries);

		loss.ceiling = rate + rate / 32;
		loss.retries = retries;
		assert_int_equal(zrtt_loss_raise(&loss, rate, false, until_us), rate);
		assert_int_equal(zrtt_loss_raise(&loss, rate, false, until_us + 1), rate + rate / 128);
		assert_int_equal(loss.ceiling, rate + rate / 32);
		/* it is none if 2^-5 above it nothing is lost */
		loss.ceiling = ceiling;
		zrtt_loss_raise(&loss, ceiling + ceiling / 32, false, until_us + 1);
		assert_int_equal(loss.ceiling, 0);
	}
	/* bursts, which found it, say little */
	loss.ceiling = rate;
	loss.busy_above = false;
	assert_int_equal(zrtt_loss_raise(&loss, rate, false, START_US), rate + rate / 128);
	assert_int_equal(loss.ceiling, 0);
}

/* Two packets and more than 2^-8, or more than twice what the path loses and four packets. */
static void test_little_is_no_loss(void **state)
{
	const u64 data = 1 << 20;
	struct zrtt_loss loss = {};

	(void)state;
	assert_true(zrtt_loss_loses(&loss, 2 * ZRTT_LOSS_PACKET, 100000));
	assert_false(zrtt_loss_loses(&loss, 2 * ZRTT_LOSS_PACKET - 1, 100000));
	assert_true(zrtt_loss_loses(&loss, data / 256 + 17, data));
	assert_false(zrtt_loss_loses(&loss, data / 256, data));
	loss.own_q16 = 65536 / 64;
	assert_true(zrtt_loss_loses(&loss, data / 32 + 4 * ZRTT_LOSS_PACKET, data));
	assert_false(zrtt_loss_loses(&loss, data / 32 + 4 * ZRTT_LOSS_PACKET - 1, data));
}

/* Hosts have one voice each, and those that lose most none. */
static void test_hosts_agree_on_loss(void **state)
{
	struct zrtt_loss loss;
	u32 i, near, far;
	u64 lost, sent;

	(void)state;
	zrtt_loss_init(&loss, 0, 0);
	assert_int_equal(zrtt_loss_agree(&loss, &lost), 0);
	assert_int_equal(lost, 0);
	pass_between(&loss, 1, 0, 1000, 100);
	sent = zrtt_loss_agree(&loss, &lost);
	assert_int_equal(sent, 1000);
	assert_int_equal(lost, 100);
	/* too little to say anything */
	pass_between(&loss, 2, 0, 1000 / ZRTT_LOSS_PART - 1, 0);
	zrtt_loss_agree(&loss, &lost);
	assert_int_equal(lost, 100);
	pass_between(&loss, 2, 0, 1, 0);
	sent = zrtt_loss_agree(&loss, &lost);
	assert_int_equal(sent, 1000 / ZRTT_LOSS_PART);
	assert_int_equal(lost, 0);
	/* many of one host are one, whichever side it is of */
	for (near = 0; near < 2; near++) {
		zrtt_loss_init(&loss, 0, 0);
		for (i = 0; i < 12; i++)
			pass_between(&loss, near ? i : 3, near ? 3 : i, 1000, 500);
		sent = zrtt_loss_agree(&loss, &lost);
		assert_int_equal(lost, 9 * 500);
		assert_int_equal(sent, 9 * 1000);
		pass_between(&loss, 13, 13, 6000, 10);
		sent = zrtt_loss_agree(&loss, &lost);
		assert_int_equal(lost, 10);
		assert_int_equal(sent, 6000);
	}
	/* what all lose is the line's */
	zrtt_loss_init(&loss, 0, 0);
	for (far = 0; far < 4; far++)
		for (near = 0; near < 4; near++)
			pass_between(&loss, far, near, 1000, 100);
	sent = zrtt_loss_agree(&loss, &lost);
	assert_int_equal(lost, 12 * 100);
	assert_int_equal(sent, 12 * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_at_first),
		cmocka_unit_test(test_pauses_add_up),
		cmocka_unit_test(test_path_loses_if_lowering_was_in_vain_twice),
		cmocka_unit_test(test_ceiling_is_the_rate_that_lost_last),
		cmocka_unit_test(test_rate_returns_to_the_ceiling),
		cmocka_unit_test(test_little_is_no_loss),
		cmocka_unit_test(test_hosts_agree_on_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
