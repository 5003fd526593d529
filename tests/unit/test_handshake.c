// SPDX-License-Identifier: GPL-2.0
/* handshake.h: what is an RTT, and what nobody can pass off as one; seq.h: whose packets
 * count as a flow's.
 */
#include "unit.h"
#include <zrtt/handshake.h>
#include <zrtt/seq.h>

#define START	1000000		/* an epoch */
#define ISN	0xfffffff0U	/* numbers wrap */
#define PEER	0x12345678U
#define HIGH	0xffff		/* of ISN, on any machine */

/* A client's SYN that left at @left_us. */
static struct zrtt_flow syn(u32 left_us)
{
	struct zrtt_flow f = {};

	zrtt_syn_arrived(&f, true, ISN, 0);
	zrtt_syn_left(&f, left_us);
	return f;
}

/* A server's SYN-ACK. */
static struct zrtt_flow syn_ack(u32 left_us)
{
	struct zrtt_flow f = {};

	zrtt_syn_arrived(&f, true, ISN, PEER);
	zrtt_syn_left(&f, left_us);
	return f;
}

static void gap_of_the_handshake_is_the_rtt(void **state)
{
	struct zrtt_flow client = syn(1000), server = syn_ack(1000);

	(void)state;
	assert_true(zrtt_syn_answered(&client, ISN + 1, HIGH, PEER, 41000, START));
	assert_in_range(client.passive_us, 40000 - 32, 40000 + 32);
	assert_int_equal(client.syn, ZRTT_SYN_NONE);
	/* the server answers a request of 100 bytes */
	assert_true(zrtt_syn_answered(&server, ISN + 1, HIGH, PEER + 100, 41000, START));
	assert_in_range(server.passive_us, 40000 - 32, 40000 + 32);
}

static void clocks_wrap(void **state)
{
	const u32 left_us[] = { UINT32_MAX - 9999, (1U << 21) - 9999, 0 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(left_us); i++) {
		struct zrtt_flow f = syn(left_us[i]);

		assert_true(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, left_us[i] + 20000, START));
		assert_in_range(f.passive_us, 20000 - 32, 20000 + 32);
	}
}

/* Without one packet of a foreign sender being believed. */
static void wrong_numbers_answer_nothing(void **state)
{
	struct zrtt_flow f = syn(0);
	u64 seed = 3;
	u32 i, taken = 0;

	(void)state;
	assert_false(zrtt_syn_answered(&f, ISN, HIGH, PEER, 3000, START));
	assert_false(zrtt_syn_answered(&f, ISN + 2, HIGH, PEER, 3000, START));
	for (i = 0; i < 10000 && f.syn == ZRTT_SYN_LEFT; i++)
		taken += zrtt_syn_answered(&f, (u32)unit_random(&seed), HIGH, PEER, 3000, START);
	assert_true(taken <= 1);
	/* and the true answer still counts */
	f = syn(0);
	zrtt_syn_answered(&f, 77, HIGH, PEER, 3000, START);
	assert_true(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, 50000, START));
	assert_in_range(f.passive_us, 50000 - 32, 50000);
}

static void syn_on_a_live_flow_begins_nothing(void **state)
{
	struct zrtt_flow f = syn(0), before;

	(void)state;
	zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, 400000, START);
	before = f;
	zrtt_syn_arrived(&f, false, 5, 0);
	zrtt_syn_left(&f, 500000);
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
	assert_in_range(f.passive_us, 400000 - 32, 400000);
	/* nor does anything end: anyone may have sent it */
	assert_memory_equal(&f, &before, sizeof(f));
}

/* What leaves behind it is not what was answered. */
static void syn_leaves_once(void **state)
{
	struct zrtt_flow f = syn(1000);

	(void)state;
	assert_int_equal(f.syn, ZRTT_SYN_LEFT);
	zrtt_syn_left(&f, 21000);
	assert_true(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, 41000, START));
	assert_in_range(f.passive_us, 40000 - 32, 40000 + 32);
}

/* 1.2 s of path, 1 s of retransmission timeout. */
static void second_syn_ends_the_timing(void **state)
{
	struct zrtt_flow f = syn(0);

	(void)state;
	zrtt_syn_arrived(&f, false, ISN, 0);
	zrtt_syn_left(&f, 1000000);
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
	assert_int_equal(f.seq_known, 0);
	assert_int_equal(f.passive_us, 0);
}

/* Which of two SYNs is answered is not known if the first was dropped here, either. */
static void syn_that_did_not_leave_is_not_timed(void **state)
{
	struct zrtt_flow f = {};

	(void)state;
	zrtt_syn_arrived(&f, true, ISN, 0);
	assert_int_equal(f.syn, ZRTT_SYN_QUEUED);
	zrtt_syn_arrived(&f, false, ISN, 0);
	zrtt_syn_left(&f, 0);
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
}

/* TCP Fast Open: data right behind the SYN-ACK. What comes a round trip later is not
 * timed either: nobody knows what it waited for.
 */
static void data_behind_the_syn_ack_is_no_answer(void **state)
{
	struct zrtt_flow f = syn_ack(0);

	(void)state;
	assert_false(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, 3000, START));
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
	assert_int_equal(f.passive_us, 0);
}

static void impossible_gaps_are_ignored(void **state)
{
	struct zrtt_flow f = syn(5000);

	(void)state;
	assert_false(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, 5020, START));
	assert_int_equal(f.passive_us, 0);
	/* the clock of 16 bits has wrapped */
	f = syn(5000);
	f.age = ZRTT_SYN_EPOCHS_MAX + 1;
	assert_true(zrtt_flow_follows(&f, HIGH, START));
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
	assert_int_equal(f.passive_us, 0);
}

static void timestamps_know_better(void **state)
{
	struct zrtt_flow f = syn(0);

	(void)state;
	zrtt_flow_timed(&f, 90000, START);
	assert_false(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER, 30000, START));
	assert_int_equal(f.passive_us, 90000);
}

/* Requests have lengths that a byte does not tell apart. */
static void acks_that_advanced_are_seen_to(void **state)
{
	const u32 lengths[] = { 1, 100, 256, 512, 1024, 1448, 2048, 16384 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		struct zrtt_flow f = syn_ack(0);

		assert_true(zrtt_syn_answered(&f, ISN + 1, HIGH, PEER + lengths[i], 30000, START));
	}
	assert_int_not_equal(zrtt_fold_ack(0), 0);
	assert_int_not_equal(zrtt_fold_ack(0x01010000), 0);
}

/* High bits of a sequence number, as they lie in a packet. */
static u16 high(u32 seq)
{
	const u8 bytes[] = { (u8)(seq >> 24), (u8)(seq >> 16) };
	u16 lie;

	memcpy(&lie, bytes, sizeof(lie));
	return lie;
}

/* A flow whose packets came one behind the other, up to @seq. */
static struct zrtt_flow flow_at(u32 seq)
{
	struct zrtt_flow f = { .epoch = START };

	assert_true(zrtt_flow_follows(&f, high(seq), START));
	assert_true(zrtt_flow_follows(&f, high(seq), START));
	assert_true(f.seq_known);
	return f;
}

static void a_flow_owns_what_follows(void **state)
{
	const u32 starts[] = { 0, 0x7ffffff0, 0xffff0000, 0xfffffff0 };
	u32 i, sent;

	(void)state;
	for (i = 0; i < ARRAY_LEN(starts); i++) {
		struct zrtt_flow f = flow_at(starts[i]);

		for (sent = 0; sent < 10000000; sent += 1448)
			assert_true(zrtt_flow_follows(&f, high(starts[i] + sent), START));
		/* a hole is repaired; GSO packets are 64 KB apart */
		assert_true(zrtt_flow_follows(&f, high(starts[i] + sent - 100000), START));
		assert_true(zrtt_flow_follows(&f, high(starts[i] + sent), START));
		assert_true(zrtt_flow_follows(&f, high(starts[i] + sent + 65536), START));
	}
}

/* 1 Gbit/s over 600 ms: 75 MB are on their way. */
static void fast_flows_own_what_is_far(void **state)
{
	struct zrtt_flow f = flow_at(0x40000000);

	(void)state;
	assert_false(zrtt_flow_follows(&f, high(0x40000000 - 75000000), START));
	f.rate = 16777216;
	assert_true(zrtt_flow_follows(&f, high(0x40000000 - 75000000), START));
}

static void spoofed_packets_own_nothing(void **state)
{
	struct zrtt_flow f = flow_at(0x12345678);
	u64 seed = 8;
	u32 i, owned = 0;

	(void)state;
	for (i = 0; i < 100000; i++) {
		u16 seq = high((u32)unit_random(&seed));
		bool spoofs = zrtt_flow_spoofs(&f, seq, START), owns;

		owns = zrtt_flow_follows(&f, seq, START);
		assert_int_not_equal(spoofs, owns);
		owned += owns;
	}
	/* 5 of 65536 are near, and move the number by as little */
	assert_in_range(owned, 1, 40);
	/* also one that keeps to a number of its own */
	for (i = 0; i < 1000; i++)
		assert_false(zrtt_flow_follows(&f, high(0xdead0000), START));
}

static void a_silent_flow_may_be_another(void **state)
{
	struct zrtt_flow f = flow_at(1 << 20);
	u32 later = START + ZRTT_LIVE_EPOCHS + 1;

	(void)state;
	assert_true(zrtt_flow_spoofs(&f, high(0xdead0000), later - 1));
	assert_false(zrtt_flow_spoofs(&f, high(0xdead0000), later));
	assert_false(zrtt_flow_follows(&f, high(0xdead0000), later - 1));
	assert_true(zrtt_flow_follows(&f, high(0xdead0000), later));
	/* a spoofed number does not bind before a packet follows it */
	assert_true(zrtt_flow_follows(&f, high(1 << 20), later));
	assert_true(zrtt_flow_follows(&f, high(1 << 20), later));
	f.epoch = later;
	assert_false(zrtt_flow_follows(&f, high(0xdead0000), later));
}

static void the_handshake_says_whose_numbers_count(void **state)
{
	struct zrtt_flow f = syn(0);

	(void)state;
	f.epoch = START;
	assert_true(zrtt_flow_follows(&f, high(ISN + 1), START));
	assert_true(zrtt_syn_answered(&f, ISN + 1, high(ISN + 1), PEER, 40000, START));
	assert_true(f.seq_known);
	assert_false(zrtt_flow_follows(&f, high(0x12340000), START));
	assert_true(zrtt_flow_follows(&f, high(ISN + 1449), START));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gap_of_the_handshake_is_the_rtt),
		cmocka_unit_test(clocks_wrap),
		cmocka_unit_test(wrong_numbers_answer_nothing),
		cmocka_unit_test(syn_on_a_live_flow_begins_nothing),
		cmocka_unit_test(syn_leaves_once),
		cmocka_unit_test(second_syn_ends_the_timing),
		cmocka_unit_test(syn_that_did_not_leave_is_not_timed),
		cmocka_unit_test(data_behind_the_syn_ack_is_no_answer),
		cmocka_unit_test(impossible_gaps_are_ignored),
		cmocka_unit_test(timestamps_know_better),
		cmocka_unit_test(acks_that_advanced_are_seen_to),
		cmocka_unit_test(a_flow_owns_what_follows),
		cmocka_unit_test(fast_flows_own_what_is_far),
		cmocka_unit_test(spoofed_packets_own_nothing),
		cmocka_unit_test(a_silent_flow_may_be_another),
		cmocka_unit_test(the_handshake_says_whose_numbers_count),
	};

	return cmocka_run_group_tests_name("handshake", tests, NULL, NULL);
}
