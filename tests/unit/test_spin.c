// SPDX-License-Identifier: GPL-2.0
/* spin.h: what of a QUIC flow is an RTT, and what is none. */
#include "unit.h"
#include <zrtt/seq.h>
#include <zrtt/spin.h>

#define START_NS	(1000ULL << ZRTT_EPOCH_SHIFT)
#define MS		1000000ULL
#define S		1000000000ULL
#define UNIT_US		66	/* a unit of the clock, rounded up */

/* A flow, and the time. */
struct path {
	struct zrtt_flow f;
	u64 now_ns;
};

static bool seen(struct path *p, enum zrtt_quic_kind kind, bool spin)
{
	return zrtt_quic_seen(&p->f, kind, spin, zrtt_spin_clock(p->now_ns),
			      zrtt_epoch(p->now_ns));
}

/* The flow's first packet, which leaves @wait_ns later. */
static struct path begin(enum zrtt_quic_kind kind, u64 wait_ns)
{
	struct path p = { .now_ns = START_NS };

	zrtt_quic_arrived(&p.f, true, kind);
	seen(&p, kind, false);
	p.now_ns += wait_ns;
	zrtt_quic_left(&p.f, p.now_ns);
	return p;
}

/* Another, @gap_ns later, which leaves at once. Return: whether it showed an RTT. */
static bool next(struct path *p, enum zrtt_quic_kind kind, u64 gap_ns)
{
	bool news;

	p->now_ns += gap_ns;
	news = seen(p, kind, false);
	zrtt_quic_left(&p->f, p->now_ns);
	return news;
}

static void clients_handshake_shows_the_rtt(void **state)
{
	/* with 300 ms in our own queue */
	struct path p = begin(ZRTT_QUIC_HELLO, 300 * MS);

	(void)state;
	assert_true(next(&p, ZRTT_QUIC_INITIAL_HANDSHAKE, 40 * MS));
	assert_in_range(p.f.passive_us, 40000 - UNIT_US, 40000 + UNIT_US);
	assert_int_equal(p.f.quic, ZRTT_QUIC_SPIN);
	assert_int_equal(zrtt_flow_passive_source(&p.f), ZRTT_RTT_QUIC);
}

/* A ClientHello of two datagrams, and 0-RTT behind it. */
static void flight_of_a_client_is_one(void **state)
{
	struct path p = begin(ZRTT_QUIC_HELLO, 0);

	(void)state;
	assert_false(next(&p, ZRTT_QUIC_HELLO, MS / 2));
	assert_false(next(&p, ZRTT_QUIC_OTHER, 5 * MS));
	assert_true(next(&p, ZRTT_QUIC_HANDSHAKE, 35 * MS));
	assert_in_range(p.f.passive_us, 40000, 41000);
}

static void what_a_timer_may_send_ends_a_clients_timing(void **state)
{
	const enum zrtt_quic_kind sent[] = { ZRTT_QUIC_HELLO, ZRTT_QUIC_INITIAL };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(sent); i++) {
		struct path p = begin(ZRTT_QUIC_HELLO, 0);

		assert_false(next(&p, sent[i], 200 * MS));
		assert_false(next(&p, ZRTT_QUIC_INITIAL_HANDSHAKE, 40 * MS));
		assert_int_equal(p.f.passive_us, 0);
	}
}

static void servers_flight_shows_the_rtt(void **state)
{
	const enum zrtt_quic_kind first[] = { ZRTT_QUIC_INITIAL, ZRTT_QUIC_INITIAL_HANDSHAKE,
					      ZRTT_QUIC_HELLO };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(first); i++) {
		struct path p = begin(first[i], 20 * MS);

		assert_false(next(&p, ZRTT_QUIC_HANDSHAKE, MS / 10));
		/* SETTINGS, before the client has answered */
		assert_false(next(&p, ZRTT_QUIC_SHORT, MS / 10));
		assert_true(next(&p, ZRTT_QUIC_SHORT, 100 * MS));
		assert_in_range(p.f.passive_us, 100000 - UNIT_US, 100000 + UNIT_US);
	}
}

/* An Initial that only acknowledges, and a certificate that comes from elsewhere. */
static void gap_before_a_servers_handshake_is_none(void **state)
{
	struct path p = begin(ZRTT_QUIC_INITIAL, 0);

	(void)state;
	assert_false(next(&p, ZRTT_QUIC_INITIAL_HANDSHAKE, 30 * MS));
	assert_int_equal(p.f.passive_us, 0);
	assert_true(next(&p, ZRTT_QUIC_SHORT, 80 * MS));
	assert_in_range(p.f.passive_us, 80000 - UNIT_US, 80000 + UNIT_US);
}

/* A timer of the handshake, or the limit before the client's address is validated. */
static void what_else_a_server_sends_ends_the_timing(void **state)
{
	const enum zrtt_quic_kind sent[] = { ZRTT_QUIC_HANDSHAKE, ZRTT_QUIC_INITIAL,
					     ZRTT_QUIC_INITIAL_HANDSHAKE };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(sent); i++) {
		struct path p = begin(ZRTT_QUIC_INITIAL_HANDSHAKE, 0);

		assert_false(next(&p, sent[i], 300 * MS));
		assert_false(next(&p, ZRTT_QUIC_SHORT, 100 * MS));
		assert_int_equal(p.f.passive_us, 0);
	}
}

/* Whose first packets of a handshake went another way, or were not seen. */
static void short_header_ends_the_handshake(void **state)
{
	const enum zrtt_quic_kind first[] = { ZRTT_QUIC_HELLO, ZRTT_QUIC_INITIAL };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(first); i++) {
		struct path p = begin(first[i], 0);

		assert_false(next(&p, ZRTT_QUIC_SHORT, 100 * MS));
		assert_int_equal(p.f.quic, ZRTT_QUIC_SPIN);
	}
}

static void a_second_is_a_timers(void **state)
{
	const u64 gaps_ns[] = { 900 * MS, 1000 * MS, 1999 * MS };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(gaps_ns); i++) {
		struct path client = begin(ZRTT_QUIC_HELLO, 0);
		struct path server = begin(ZRTT_QUIC_INITIAL_HANDSHAKE, 0);

		assert_false(next(&client, ZRTT_QUIC_INITIAL_HANDSHAKE, gaps_ns[i]));
		assert_false(next(&server, ZRTT_QUIC_SHORT, gaps_ns[i]));
		assert_int_equal(client.f.passive_us | server.f.passive_us, 0);
	}
}

static void only_a_first_packet_begins_quic(void **state)
{
	struct path p = begin(ZRTT_QUIC_HELLO, 0);
	struct zrtt_flow f = {}, before;

	(void)state;
	zrtt_quic_arrived(&f, false, ZRTT_QUIC_HELLO);
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
	zrtt_quic_arrived(&f, true, ZRTT_QUIC_SHORT);
	assert_int_equal(f.syn, ZRTT_SYN_NONE);
	next(&p, ZRTT_QUIC_HANDSHAKE, 40 * MS);
	before = p.f;
	zrtt_quic_arrived(&p.f, false, ZRTT_QUIC_HELLO);
	assert_memory_equal(&p.f, &before, sizeof(before));
}

/* An Initial in its name, or of another connection with its ports. */
static void silent_flow_does_not_begin_again(void **state)
{
	struct path p = begin(ZRTT_QUIC_HELLO, 0);
	struct zrtt_flow before;

	(void)state;
	next(&p, ZRTT_QUIC_HANDSHAKE, 40 * MS);
	p.now_ns += 10 * S;
	zrtt_flow_interrupt(&p.f);
	before = p.f;
	zrtt_quic_arrived(&p.f, true, ZRTT_QUIC_INITIAL_HANDSHAKE);
	assert_memory_equal(&p.f, &before, sizeof(before));
	assert_false(next(&p, ZRTT_QUIC_SHORT, 3 * MS));
	assert_in_range(p.f.passive_us, 40000 - UNIT_US, 40000 + UNIT_US);
}

/* A packet that the queue dropped is not what was answered. */
static void packet_that_did_not_leave_is_not_timed(void **state)
{
	struct path p = { .now_ns = START_NS };

	(void)state;
	zrtt_quic_arrived(&p.f, true, ZRTT_QUIC_HELLO);
	assert_false(next(&p, ZRTT_QUIC_HELLO, 300 * MS));
	assert_true(next(&p, ZRTT_QUIC_HANDSHAKE, 40 * MS));
	assert_in_range(p.f.passive_us, 40000 - UNIT_US, 40000 + UNIT_US);
}

/* A flow whose handshake is over. */
static struct path spinner(void)
{
	struct path p = { .now_ns = START_NS };

	zrtt_quic_arrived(&p.f, true, ZRTT_QUIC_HANDSHAKE);
	return p;
}

/* @n packets of @spin within @ns. */
static void half_wave(struct path *p, bool spin, u32 n, u64 ns)
{
	u32 i;

	for (i = 0; i < n; i++) {
		seen(p, ZRTT_QUIC_SHORT, spin);
		p->now_ns += ns / n;
	}
}

static void waves(struct path *p, u32 halves, u32 packets, u64 ns)
{
	u32 i;

	for (i = 0; i < halves; i++)
		half_wave(p, i % 2, packets, ns);
}

static void edges_show_the_rtt(void **state)
{
	const u32 rtts_ms[] = { 2, 20, 200, 2000 }, packets[] = { 4, 5, 40, 400 };
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rtts_ms); i++)
		for (j = 0; j < ARRAY_LEN(packets); j++) {
			struct path p = spinner();

			waves(&p, 12, packets[j], rtts_ms[i] * MS);
			assert_in_range(p.f.passive_us, rtts_ms[i] * 1000 - 2 * UNIT_US,
					rtts_ms[i] * 1000 + 2 * UNIT_US);
		}
}

static void a_few_edges_show_nothing(void **state)
{
	struct path p = spinner();

	(void)state;
	waves(&p, 8, 20, 20 * MS);
	assert_int_equal(p.f.passive_us, 0);
	waves(&p, 4, 3, 20 * MS);
	assert_int_equal(p.f.passive_us, 0);
}

/* The bit in its place is another. */
static void long_header_has_no_spin_bit(void **state)
{
	struct path p = spinner();
	struct zrtt_flow before;

	(void)state;
	waves(&p, 7, 20, 20 * MS);
	before = p.f;
	seen(&p, ZRTT_QUIC_HANDSHAKE, !p.f.spin);
	assert_memory_equal(&p.f, &before, sizeof(before));
}

static void constant_bits_show_nothing(void **state)
{
	struct path p = spinner();

	(void)state;
	half_wave(&p, true, 100000, 100 * S);
	half_wave(&p, false, 100000, 100 * S);
	assert_int_equal(p.f.passive_us, 0);
	assert_in_range(p.f.spin_good, 0, 1);
}

/* Drawn per packet: 2^-24 per edge. */
static void random_bits_show_nothing(void **state)
{
	struct path p = spinner();
	u64 seed = 5;
	u32 i;

	(void)state;
	for (i = 0; i < 1000000; i++) {
		seen(&p, ZRTT_QUIC_SHORT, unit_random(&seed) & 1);
		p.now_ns += 1200 * 1000;
	}
	assert_int_equal(p.f.passive_us, 0);
}

/* 0 1 0 1 1 1 at an edge, and a straggler in the middle. */
static void reordered_packets_show_nothing(void **state)
{
	struct path p = spinner();
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		bool spin = i % 2;

		half_wave(&p, spin, 1, MS);
		half_wave(&p, !spin, 1, MS);
		half_wave(&p, spin, 10, 9 * MS);
		half_wave(&p, !spin, 1, MS);
		half_wave(&p, spin, 10, 8 * MS);
	}
	assert_int_equal(p.f.passive_us, 0);
	/* where that is rare, the others count */
	for (i = 0; i < 100; i++) {
		half_wave(&p, i % 2, 20, 20 * MS);
		if (i % 15 == 0)
			half_wave(&p, (i + 1) % 2, 1, 0);
	}
	assert_in_range(p.f.passive_us, 20000 - 2 * UNIT_US, 20000 + 2 * UNIT_US);
}

/* Where the sender has nothing to send, edges come later. */
static void least_period_counts(void **state)
{
	struct path p = spinner();
	u64 seed = 2;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		half_wave(&p, i % 2, 10, (50 + unit_between(&seed, 0, 200) * (i % 10 != 0)) * MS);
	assert_in_range(p.f.passive_us, 50000 - 2 * UNIT_US, 50000 + 2 * UNIT_US);
}

static void path_may_become_longer(void **state)
{
	struct path p = spinner();

	(void)state;
	waves(&p, 100, 10, 20 * MS);
	/* a window is 34 s, and there are two */
	waves(&p, 100, 10, 80 * MS);
	assert_in_range(p.f.passive_us, 20000 - 2 * UNIT_US, 20000 + 2 * UNIT_US);
	waves(&p, 70000 / 80, 10, 80 * MS);
	assert_in_range(p.f.passive_us, 80000 - 2 * UNIT_US, 80000 + 2 * UNIT_US);
	waves(&p, 20, 10, 30 * MS);
	assert_in_range(p.f.passive_us, 30000 - 2 * UNIT_US, 30000 + 2 * UNIT_US);
}

static void handshake_without_the_queue_stays_below(void **state)
{
	struct path p = begin(ZRTT_QUIC_HELLO, 0);

	(void)state;
	next(&p, ZRTT_QUIC_HANDSHAKE, 20 * MS);
	waves(&p, 50, 10, 35 * MS);
	assert_in_range(p.f.passive_us, 20000 - UNIT_US, 20000 + UNIT_US);
	/* until its window and the next are over */
	waves(&p, 70000 / 35, 10, 35 * MS);
	assert_in_range(p.f.passive_us, 35000 - 2 * UNIT_US, 35000 + 2 * UNIT_US);
}

/* It is in its first window, and nothing is known of the next ones, as the sender did not spin. */
static void handshake_counts_until_there_are_edges(void **state)
{
	struct path p = begin(ZRTT_QUIC_HELLO, 0);

	(void)state;
	next(&p, ZRTT_QUIC_HANDSHAKE, 20 * MS);
	half_wave(&p, false, 40000, 40 * S);
	waves(&p, 20, 10, 35 * MS);
	assert_in_range(p.f.passive_us, 20000 - UNIT_US, 20000 + UNIT_US);
}

/* The clock of 16 bits wraps after 4.3 s. */
static void long_periods_show_nothing(void **state)
{
	const u64 ns[] = { 2200 * MS, 4000 * MS, 4400 * MS, 9000 * MS };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ns); i++) {
		struct path p = spinner();

		waves(&p, 40, 10, ns[i]);
		assert_int_equal(p.f.passive_us, 0);
	}
}

static void silence_interrupts(void **state)
{
	struct path p = spinner();

	(void)state;
	waves(&p, 8, 10, 20 * MS);
	assert_int_equal(p.f.spin_good, ZRTT_SPIN_GOOD);
	zrtt_flow_interrupt(&p.f);
	assert_int_equal(p.f.syn, ZRTT_SYN_QUIC);
	waves(&p, 7, 10, 20 * MS);
	assert_int_equal(p.f.passive_us, 0);
	waves(&p, 10, 10, 20 * MS);
	assert_int_not_equal(p.f.passive_us, 0);
}

/* Both are in the same memory. */
static void hint_is_not_taken_for_a_period(void **state)
{
	struct path p = spinner();

	(void)state;
	waves(&p, 8, 10, 20 * MS);
	seen(&p, ZRTT_QUIC_SHORT, 0);
	zrtt_flow_hint(&p.f, 70000, true, zrtt_epoch(p.now_ns));
	waves(&p, 20, 10, 20 * MS);
	assert_int_equal(p.f.passive_us, 0);
	assert_int_equal(p.f.hinted_epoch, (u16)zrtt_epoch(p.now_ns - 400 * MS));
	/* and edges of before are none of after it */
	p.f.hinted_q8 = 0;
	waves(&p, 6, 10, 20 * MS);
	assert_int_equal(p.f.passive_us, 0);
	waves(&p, 20, 10, 20 * MS);
	assert_in_range(p.f.passive_us, 20000 - 2 * UNIT_US, 20000 + 2 * UNIT_US);
}

/* A sender that hints is not bounded by what anyone may have spun. */
static void hint_is_not_bounded_by_quic(void **state)
{
	struct path p = spinner();

	(void)state;
	waves(&p, 20, 10, 2 * MS);
	assert_false(zrtt_flow_hint(&p.f, 100000, true, zrtt_epoch(p.now_ns)));
	assert_int_equal(p.f.hinted_q8 >> ZRTT_RTT_FRAC, 100000);
}

/* UDP has no sequence numbers: what is stored in their place is none. */
static void quic_is_not_taken_for_spoofed(void **state)
{
	struct path p = spinner();
	struct zrtt_flow before;

	(void)state;
	waves(&p, 20, 10, 20 * MS);
	p.f.age = ZRTT_LIVE_EPOCHS;
	before = p.f;
	assert_true(zrtt_flow_follows(&p.f, 0, zrtt_epoch(p.now_ns)));
	assert_memory_equal(&p.f, &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_handshake_shows_the_rtt),
		cmocka_unit_test(flight_of_a_client_is_one),
		cmocka_unit_test(what_a_timer_may_send_ends_a_clients_timing),
		cmocka_unit_test(servers_flight_shows_the_rtt),
		cmocka_unit_test(gap_before_a_servers_handshake_is_none),
		cmocka_unit_test(what_else_a_server_sends_ends_the_timing),
		cmocka_unit_test(short_header_ends_the_handshake),
		cmocka_unit_test(a_second_is_a_timers),
		cmocka_unit_test(only_a_first_packet_begins_quic),
		cmocka_unit_test(silent_flow_does_not_begin_again),
		cmocka_unit_test(packet_that_did_not_leave_is_not_timed),
		cmocka_unit_test(edges_show_the_rtt),
		cmocka_unit_test(a_few_edges_show_nothing),
		cmocka_unit_test(long_header_has_no_spin_bit),
		cmocka_unit_test(constant_bits_show_nothing),
		cmocka_unit_test(random_bits_show_nothing),
		cmocka_unit_test(reordered_packets_show_nothing),
		cmocka_unit_test(least_period_counts),
		cmocka_unit_test(path_may_become_longer),
		cmocka_unit_test(handshake_without_the_queue_stays_below),
		cmocka_unit_test(handshake_counts_until_there_are_edges),
		cmocka_unit_test(long_periods_show_nothing),
		cmocka_unit_test(silence_interrupts),
		cmocka_unit_test(hint_is_not_taken_for_a_period),
		cmocka_unit_test(hint_is_not_bounded_by_quic),
		cmocka_unit_test(quic_is_not_taken_for_spoofed),
	};

	return cmocka_run_group_tests_name("spin", tests, NULL, NULL);
}
