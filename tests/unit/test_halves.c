// SPDX-License-Identifier: GPL-2.0
/* halves.h against a simulated path: the RTT is found, never below the truth. */
#include "unit.h"
#include <zrtt/flow.h>
#include <zrtt/halves.h>

#define DATA		0	/* directions */
#define ACKS		1
#define TAG		0x1234567
#define START_EPOCH	1000
#define UNIT_US		(1 << ZRTT_HINT_UNIT_SHIFT)

/* One set of connections, and what the next packet of ours is. */
struct sight {
	struct zrtt_conn set[ZRTT_CONN_WAYS];
	struct zrtt_echo pkt[2];
	u32 rtt_us;
};

static struct sight new_sight(void)
{
	return (struct sight) {
		.pkt = { { .tag = TAG, .way = DATA, .ack = true },
			 { .tag = TAG, .way = ACKS, .ack = true } },
	};
}

static u32 epoch_of(u64 now_us)
{
	return START_EPOCH + (u32)((now_us * 1000) >> ZRTT_EPOCH_SHIFT);
}

static bool arrive(struct sight *s, u8 way, u64 now_us, u32 tsval, u32 tsecr)
{
	s->pkt[way].answers = false;
	s->pkt[way].tsval = tsval;
	s->pkt[way].tsecr = tsecr;
	return zrtt_conn_arrive(s->set, &s->pkt[way], (u32)now_us,
				epoch_of(now_us), &s->rtt_us);
}

static void leave(struct sight *s, u8 way, u64 now_us)
{
	zrtt_conn_left(s->set, TAG, way, (u32)now_us);
}

/* A packet comes, and leaves after @queued_us. Return: it began a probe. */
static bool cross(struct sight *s, u8 way, u64 now_us, u32 tsval, u32 tsecr,
		  u32 queued_us)
{
	bool begins = arrive(s, way, now_us, tsval, tsecr);

	if (begins)
		leave(s, way, now_us + queued_us);
	return begins;
}

/* Data is sent again, and @asker asks for its answer. */
static void again(struct sight *s, u8 asker, u32 tsval, u64 now_us)
{
	s->pkt[DATA].asker = asker;
	s->pkt[DATA].tsval = tsval;
	zrtt_conn_again(s->set, &s->pkt[DATA], (u32)now_us);
}

/* One exchange at @now_us: each half takes what is said, TSvals are from @ts on. */
static void exchange(struct sight *s, u64 now_us, u32 ts, u32 far_us, u32 near_us)
{
	memset(s->set[0].probe, ZRTT_PROBE_NONE, sizeof(s->set[0].probe));
	cross(s, DATA, now_us, ts, ts, 0);
	cross(s, ACKS, now_us, ts, ts, 0);
	cross(s, DATA, now_us + 2000, ts + 2, ts, 0);
	cross(s, ACKS, now_us + 2000 + far_us, ts + 3, ts + 2, 0);
	cross(s, DATA, now_us + 2000 + far_us + near_us, ts + 4, ts + 3, 0);
}

static void two_connections_fill_a_cache_line(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct zrtt_conn), 32);
	assert_int_equal(sizeof(struct zrtt_conn) * ZRTT_CONNS, 512 * 1024);
}

/* Of this window and the one before, in either of which there may have been none. */
static void half_is_the_least_of_two_windows(void **state)
{
	static const struct { u16 least, before, want; } cases[] = {
		{ 0, 0, 0 }, { 0, 50, 50 }, { 50, 0, 50 }, { 50, 70, 50 }, { 70, 50, 50 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const struct zrtt_half half = {
			.least = cases[i].least, .least_before = cases[i].before,
		};

		assert_int_equal(zrtt_half_us(&half), zrtt_hint_to_us(cases[i].want));
	}
}

static void both_halves_make_the_rtt(void **state)
{
	struct sight s = new_sight();

	(void)state;
	exchange(&s, 1000000, 50, 30000, 10000);
	assert_near(s.rtt_us, 40000, 2 * UNIT_US);
}

static void one_half_is_no_rtt(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	cross(&s, DATA, 1000, 11, 0, 0);
	cross(&s, ACKS, 21000, 99, 11, 0);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 20000, UNIT_US);
	assert_int_equal(s.rtt_us, 0);
}

static void own_queues_do_not_count(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 500000);
	cross(&s, ACKS, 0, 10, 0, 300000);
	assert_true(cross(&s, DATA, 1000000, 11, 0, 500000));
	assert_true(cross(&s, ACKS, 1520000, 11, 11, 300000));
	cross(&s, DATA, 1830000, 12, 11, 0);
	assert_near(s.rtt_us, 20000 + 10000, 2 * UNIT_US);
}

static void only_the_first_packet_of_a_tsval_is_timed(void **state)
{
	struct sight s = new_sight();

	(void)state;
	assert_false(cross(&s, DATA, 0, 10, 0, 0));	/* is it the first? */
	assert_false(cross(&s, DATA, 100, 10, 0, 0));
	assert_true(cross(&s, DATA, 1000, 11, 0, 0));
	assert_false(cross(&s, DATA, 1100, 11, 0, 0));
	cross(&s, ACKS, 21000, 50, 11, 0);
	/* 11 is still being sent: an echo of it may answer what left before */
	assert_false(cross(&s, DATA, 21100, 11, 0, 0));
	cross(&s, ACKS, 21200, 50, 11, 0);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 20000, UNIT_US);
}

static void echo_of_something_older_does_not_count(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	cross(&s, DATA, 1000, 11, 0, 0);
	cross(&s, ACKS, 1100, 50, 10, 0);
	assert_int_equal(zrtt_half_us(&s.set[0].half[DATA]), 0);
	s.pkt[ACKS].ack = false;
	cross(&s, ACKS, 1200, 50, 11, 0);
	assert_int_equal(zrtt_half_us(&s.set[0].half[DATA]), 0);
	s.pkt[ACKS].ack = true;
	cross(&s, ACKS, 31000, 50, 11, 0);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 30000, UNIT_US);
}

/* It came second, or what was before it was lost: how long it took is not known any more. */
static void echo_of_something_newer_ends_the_probe(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(cross(&s, DATA, 1000, 11, 0, 0));
	cross(&s, ACKS, 21000, 50, 12, 0);
	assert_false(s.pkt[ACKS].answers);
	cross(&s, ACKS, 22000, 50, 11, 0);
	assert_false(s.pkt[ACKS].answers);
	assert_int_equal(zrtt_half_us(&s.set[0].half[DATA]), 0);
	/* another one may begin */
	assert_false(cross(&s, DATA, 23000, 13, 0, 0));
	assert_true(cross(&s, DATA, 24000, 14, 0, 0));
	cross(&s, ACKS, 34000, 51, 14, 0);
	assert_true(s.pkt[ACKS].answers);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 10000, UNIT_US);
}

/* Who does not see the connection has to guess one of a thousand: not one of two. */
static void echo_of_what_was_never_sent_does_not_count(void **state)
{
	static const u32 guesses[] = { 11 + ZRTT_PROBE_TICKS + 1, 11 + (1U << 30), 11 + (1U << 31) };
	struct sight s = new_sight();
	u32 i;

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(cross(&s, DATA, 1000, 11, 0, 0));
	for (i = 0; i < ARRAY_LEN(guesses); i++) {
		cross(&s, ACKS, 1100, 50, guesses[i], 0);
		assert_false(s.pkt[ACKS].answers);
	}
	assert_int_equal(zrtt_half_us(&s.set[0].half[DATA]), 0);
	/* the answer still is one */
	cross(&s, ACKS, 31000, 50, 11, 0);
	assert_true(s.pkt[ACKS].answers);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 30000, UNIT_US);
	/* nor does it end a probe, unless it is of what may be sent by now: a clock of 1 us */
	cross(&s, DATA, 50000, 1000000, 0, 0);
	assert_true(cross(&s, DATA, 51000, 1001000, 0, 0));
	cross(&s, ACKS, 52000, 60, 1001000 + ZRTT_PROBE_TICKS + 1, 0);
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_FLYING);
	cross(&s, ACKS, 2051000, 60, 1001000 + 2000000, 0);
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_NONE);
}

static void probe_that_never_left_is_not_answered(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(arrive(&s, DATA, 1000, 11, 0));
	cross(&s, ACKS, 2000, 50, 11, 0);
	assert_int_equal(zrtt_half_us(&s.set[0].half[DATA]), 0);
}

static void lost_probe_is_given_up(void **state)
{
	struct sight s = new_sight();
	u64 later = 1000 + ZRTT_PROBE_MAX_US;

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(cross(&s, DATA, 1000, 11, 0, 0));
	assert_false(cross(&s, DATA, later, 12, 0, 0));
	assert_false(cross(&s, DATA, later + 1, 13, 0, 0));	/* given up */
	assert_false(cross(&s, DATA, later + 1000, 14, 0, 0));
	assert_true(cross(&s, DATA, later + 2000, 15, 0, 0));
}

/* The queue of a direction's arrivals may have an older clock than its departures. */
static void clock_that_lags_gives_nothing_up(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(cross(&s, DATA, 1000, 11, 0, 9000));
	assert_false(cross(&s, DATA, 6000, 12, 0, 0));
	cross(&s, ACKS, 30000, 50, 11, 0);
	assert_true(s.pkt[ACKS].answers);
	assert_int_equal(s.pkt[ACKS].answer.gap_us, 20000);
	again(&s, 0, 20, 40000);
	assert_false(cross(&s, DATA, 36000, 21, 0, 0));
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_AGAIN);
}

/* An age that looks negative is a long one, when the clock has wrapped. */
static void probe_of_an_idle_connection_is_given_up(void **state)
{
	static const u64 ages_s[] = { 5, 36 * 60, 60 * 60, 71 * 60, 110 * 60 };
	struct sight s;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ages_s); i++) {
		s = new_sight();
		cross(&s, DATA, 0, 10, 0, 0);
		assert_true(cross(&s, DATA, 1000, 11, 0, 0));
		assert_false(cross(&s, DATA, ages_s[i] * 1000000, 1000, 0, 0));
		assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_NONE);
	}
}

/* A third party's TSval, or that of a connection which had these ports before. */
static void timestamp_that_is_never_reached_is_given_up(void **state)
{
	struct sight s = new_sight();
	u64 begin = 10000000, over = begin + 1 + ZRTT_PROBE_MAX_US;

	(void)state;
	cross(&s, DATA, begin, 10U + INT32_MAX, 0, 0);
	assert_false(cross(&s, DATA, begin + 1000, 11, 0, 0));
	/* one that was overtaken is not what is sent now */
	assert_false(cross(&s, DATA, over - 1, 4010, 0, 0));
	assert_int_equal(s.set[0].half[DATA].tsval, 10U + INT32_MAX);
	assert_false(cross(&s, DATA, over, 4011, 0, 0));
	assert_false(cross(&s, DATA, over + 1000, 4012, 0, 0));
	assert_true(cross(&s, DATA, over + 2000, 4013, 0, 0));
	/* who was silent for long, but not older, need not begin again */
	s = new_sight();
	cross(&s, DATA, begin, 10, 0, 0);
	assert_true(cross(&s, DATA, 2 * over, 40010, 0, 0));
}

/* What the receiver echoes does not go on until it has got the packet again: only that is timed. */
static void what_is_sent_again_is_timed(void **state)
{
	struct sight s = new_sight();

	(void)state;
	exchange(&s, 0, 10, 10000, 10000);
	/* 19 is lost, and 20 a probe behind that hole */
	assert_true(cross(&s, DATA, 100000, 20, 13, 0));
	again(&s, 3, 40, 120000);
	assert_false(cross(&s, DATA, 121000, 41, 13, 0));
	/* the next one is none while that is on its way */
	again(&s, 3, 42, 122000);
	cross(&s, ACKS, 123000, 60, 18, 0);
	assert_int_equal(s.set[0].probe[DATA] & ZRTT_PROBE_BITS, ZRTT_PROBE_AGAIN);
	cross(&s, ACKS, 138000, 61, 40, 0);
	assert_true(s.pkt[ACKS].answers);
	assert_int_equal(s.pkt[ACKS].answered, 3);
	assert_int_equal(s.pkt[ACKS].answer.left_us, 120000);
	assert_int_equal(s.pkt[ACKS].answer.gap_us, 18000);
	assert_near(s.pkt[ACKS].answer.excess_us, 8000, UNIT_US);
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_NONE);
	/* that may be lost, too */
	again(&s, 3, 50, 150000);
	cross(&s, ACKS, 190000, 62, 70, 0);
	assert_false(s.pkt[ACKS].answers);
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_NONE);
	again(&s, 3, 80, 200000);
	cross(&s, DATA, 200001 + ZRTT_PROBE_MAX_US, 90, 13, 0);
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_NONE);
	/* nobody's */
	s.pkt[DATA].tag = TAG + 1;
	again(&s, 3, 30, 171000);
	assert_null(zrtt_conn_known(s.set, TAG + 1));
}

/* Another packet of its TSval may have been echoed, a tick before it. */
static void what_is_sent_again_seems_longer_by_a_tick(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	again(&s, 0, 20, 100000);
	cross(&s, ACKS, 150000, 60, 20, 0);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 50000 + ZRTT_PROBE_TICK_US, UNIT_US);
	assert_int_equal(s.pkt[ACKS].answer.excess_us, 0);
	again(&s, 0, 30, 200000);
	cross(&s, ACKS, 230000, 61, 30, 0);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 30000 + ZRTT_PROBE_TICK_US, UNIT_US);
	/* nor does it lengthen what is known */
	again(&s, 0, 40, 300000);
	cross(&s, ACKS, 390000, 62, 40, 0);
	assert_near(s.pkt[ACKS].answer.excess_us, 60000 - ZRTT_PROBE_TICK_US, UNIT_US);
	assert_near(zrtt_half_us(&s.set[0].half[DATA]), 30000 + ZRTT_PROBE_TICK_US, UNIT_US);
}

/* The next one need not wait until it is given up. */
static void probe_that_its_queue_drops_is_over(void **state)
{
	struct sight s = new_sight();

	(void)state;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(arrive(&s, DATA, 1000, 11, 0));
	zrtt_conn_dropped(s.set, TAG, DATA);
	assert_false(cross(&s, DATA, 3000, 12, 0, 0));
	assert_true(cross(&s, DATA, 4000, 13, 0, 0));
	/* one that has left is not in the queue */
	zrtt_conn_dropped(s.set, TAG, DATA);
	cross(&s, ACKS, 14000, 50, 13, 0);
	assert_true(s.pkt[ACKS].answers);
	zrtt_conn_dropped(s.set, TAG + 1, DATA);
	assert_null(zrtt_conn_known(s.set, TAG + 1));
}

static void who_asks_is_told(void **state)
{
	struct sight s = new_sight();

	(void)state;
	s.pkt[ACKS].asker = 3;
	cross(&s, DATA, 0, 10, 0, 0);
	assert_true(cross(&s, DATA, 1000, 11, 0, 500));
	cross(&s, ACKS, 11500, 50, 11, 0);
	assert_true(s.pkt[ACKS].answers);
	assert_int_equal(s.pkt[ACKS].answered, 0);
	assert_near(s.pkt[ACKS].answer.excess_us, 0, UNIT_US);
	cross(&s, DATA, 20000, 20, 50, 0);
	again(&s, ZRTT_ASKERS - 1, 21, 21500);
	cross(&s, ACKS, 41500, 51, 21, 0);
	assert_true(s.pkt[ACKS].answers);
	assert_int_equal(s.pkt[ACKS].answered, ZRTT_ASKERS - 1);
	assert_int_equal(s.pkt[ACKS].answer.left_us, 21500);
	assert_int_equal(s.pkt[ACKS].answer.gap_us, 20000);
	assert_near(s.pkt[ACKS].answer.excess_us, 10000, UNIT_US);
	cross(&s, ACKS, 42000, 52, 21, 0);
	assert_false(s.pkt[ACKS].answers);
}

static void packet_of_another_connection_leaves_unnoticed(void **state)
{
	struct sight s = new_sight();

	(void)state;
	leave(&s, DATA, 0);
	assert_int_equal(s.set[0].tag, 0);
	cross(&s, DATA, 0, 10, 0, 0);
	leave(&s, DATA, 0);	/* no probe was begun */
	assert_int_equal(s.set[0].probe[DATA], ZRTT_PROBE_WATCH);
}

static void clocks_may_wrap(void **state)
{
	struct sight s = new_sight();

	(void)state;
	exchange(&s, (1ULL << 32) - 20000, UINT32_MAX - 2, 30000, 10000);
	assert_near(s.rtt_us, 40000, 2 * UNIT_US);
}

static void longer_path_is_learnt_within_two_windows(void **state)
{
	u64 window_us = (1ULL << (ZRTT_WINDOW_SHIFT + ZRTT_EPOCH_SHIFT)) / 1000;
	struct sight s = new_sight();

	(void)state;
	exchange(&s, 0, 10, 10000, 10000);
	exchange(&s, 1000000, 100, 60000, 10000);
	assert_near(s.rtt_us, 20000, 2 * UNIT_US);
	exchange(&s, window_us, 200, 60000, 10000);
	assert_near(s.rtt_us, 20000, 2 * UNIT_US);
	exchange(&s, 2 * window_us, 300, 60000, 10000);
	assert_near(s.rtt_us, 70000, 2 * UNIT_US);
	/* nothing is known after a long silence */
	cross(&s, DATA, 4 * window_us, 400, 0, 0);
	assert_int_equal(s.rtt_us, 0);
}

static void gap_beyond_what_a_hint_states_is_ignored(void **state)
{
	struct sight s = new_sight();

	(void)state;
	exchange(&s, 0, 10, ZRTT_HINT_MAX_US + 1, 10000);
	assert_int_equal(s.rtt_us, 0);
	exchange(&s, 10000000, 1000, ZRTT_HINT_MAX_US, 10000);
	assert_int_equal(s.rtt_us, ZRTT_HINT_MAX_US);
}

/* Each queue has a clock of its own. One that lags across the boundary of an epoch, and of a
 * window with it, must neither wipe what is known nor evict it as the oldest.
 */
static void lagging_clock_forgets_nothing(void **state)
{
	struct zrtt_echo others[] = {
		{ .tag = TAG + ZRTT_CONN_SETS, .ack = true },
		{ .tag = TAG + 2 * ZRTT_CONN_SETS, .ack = true },
		{ .tag = TAG + 3 * ZRTT_CONN_SETS, .ack = true },
		{ .tag = TAG + 4 * ZRTT_CONN_SETS, .ack = true },
	};
	const u32 window = START_EPOCH >> ZRTT_WINDOW_SHIFT << ZRTT_WINDOW_SHIFT;
	struct sight s = new_sight();
	u32 rtt_us, i;

	(void)state;
	exchange(&s, 1000000, 50, 30000, 10000);
	s.set[0].seen = (u16)(window + (1 << ZRTT_WINDOW_SHIFT));
	for (i = 1; i <= ZRTT_CLOCK_LAG_EPOCHS; i++) {
		zrtt_conn_arrive(s.set, &s.pkt[ACKS], 2000000,
				 window + (1 << ZRTT_WINDOW_SHIFT) - i, &s.rtt_us);
		assert_near(s.rtt_us, 40000, 2 * UNIT_US);
	}
	/* as old as can be, but ours is the newest */
	for (i = 0; i < 3; i++)
		zrtt_conn_arrive(s.set, &others[i], 2000000, window, &rtt_us);
	zrtt_conn_arrive(s.set, &others[3], 2000000, window + (1 << ZRTT_WINDOW_SHIFT) - 1,
			 &rtt_us);
	assert_int_equal(s.set[0].tag, TAG);
}

static void full_set_gives_up_the_connection_seen_longest_ago(void **state)
{
	struct sight s = new_sight();
	struct zrtt_conn *evicted;
	u32 i, rtt_us, oldest = 2;

	(void)state;
	for (i = 1; i <= ZRTT_CONN_WAYS; i++) {
		s.pkt[DATA].tag = i;
		zrtt_conn_arrive(s.set, &s.pkt[DATA], 0, UINT16_MAX - 1, &rtt_us);
	}
	for (i = 1; i <= ZRTT_CONN_WAYS + 1; i++) {	/* the epoch's low bits wrap */
		s.pkt[DATA].tag = i;
		if (i != oldest)
			zrtt_conn_arrive(s.set, &s.pkt[DATA], 0, UINT16_MAX + 1, &rtt_us);
	}
	for (i = 1; i <= ZRTT_CONN_WAYS + 1; i++)
		assert_int_equal(!zrtt_conn_find(s.set, i, 0, &evicted), i == oldest);
}

/* An answer of two hosts that took so long. Return: the excess. */
static u32 pair_answers(struct zrtt_conn *set, u32 pair, u32 gap_us, bool sent_again, u32 epoch)
{
	const struct zrtt_echo pkt = { .again = sent_again, .answer = { .gap_us = gap_us } };

	return zrtt_pair_excess(set, pair, &pkt, epoch);
}

/* Whichever of their connections it was of, until two windows have passed. */
static void two_hosts_know_their_shortest_path(void **state)
{
	struct zrtt_conn set[ZRTT_CONN_WAYS] = {};
	u32 window = 1 << ZRTT_WINDOW_SHIFT, epoch = 10 * window, i;

	(void)state;
	assert_int_equal(pair_answers(set, TAG, 80000, false, epoch), 0);
	assert_int_equal(pair_answers(set, TAG, 48000, false, epoch), 0);
	assert_near(pair_answers(set, TAG, 80000, false, epoch), 32000, UNIT_US);
	/* what was sent again may seem shorter by a tick than it is */
	assert_int_equal(pair_answers(set, TAG, 45000, true, epoch), 0);
	assert_near(pair_answers(set, TAG, 80000, false, epoch), 32000, UNIT_US);
	/* others have paths of their own, of which more than a hint can state is none */
	assert_int_equal(pair_answers(set, TAG + 1, 89600, false, epoch), 0);
	assert_int_equal(pair_answers(set, TAG + 2, ZRTT_HINT_MAX_US, true, epoch), 0);
	assert_near(pair_answers(set, TAG, 80000, false, epoch + window), 32000, UNIT_US);
	assert_int_equal(pair_answers(set, TAG, 80000, false, epoch + 2 * window), 0);
	/* who is silent for longest makes room */
	for (i = 1; i < ZRTT_CONN_WAYS; i++)
		pair_answers(set, TAG + 2 + i, 70000, false, epoch + 2 * window);
	assert_near(pair_answers(set, TAG, 90000, false, epoch + 2 * window), 10000, UNIT_US);
	assert_int_equal(pair_answers(set, TAG + 1, 96000, false, epoch + 2 * window), 0);
}

/* A connection in bulk for 6 s, in steps, between which nothing happens */
#define STEP_US		100
#define STEPS		60000
#define CLOCK_STEPS	10	/* timestamps count milliseconds, as Linux's do */

/**
 * struct path - a sender and a receiver, and us in the middle
 * @seed: of all that is random
 * @far: steps from a departure of data to the arrival of what answers it
 * @near: the same of an ACK
 * @queue: the longest that one of our queues gets
 * @loss_percent: of data, behind us
 */
struct path {
	u64 seed;
	u32 far;
	u32 near;
	u32 queue;
	u32 loss_percent;
};

/**
 * struct queue - one of our queues, by step of departure
 * @tsval: of the packet that leaves then, 0 = none
 * @probe: it began a probe
 * @last: when the last one leaves
 */
struct queue {
	u32 tsval[STEPS];
	bool probe[STEPS];
	u32 last;
};

/* A packet comes at @now; it leaves in its turn, unless it is @lost behind us. */
static void queue_up(struct path *path, struct sight *s, struct queue *queue,
		     u8 way, u32 now, u32 tsval, u32 tsecr, bool lost)
{
	u32 leaves = now + unit_between(&path->seed, 0, path->queue);
	bool begins = arrive(s, way, (u64)now * STEP_US, tsval, tsecr);

	if (leaves <= queue->last)
		leaves = queue->last + 1;
	if (leaves >= STEPS)
		return;
	queue->last = leaves;
	queue->probe[leaves] = begins;
	queue->tsval[leaves] = lost ? 0 : tsval;
}

/* Return: the RTT found, microseconds. Fails if it was ever below the truth. */
static u32 simulate(struct path *path)
{
	static struct queue data, acks;
	u32 recent = 0, owed = 0, owed_tsval = 0, now, tsval;
	struct sight s = new_sight();

	memset(&data, 0, sizeof(data));
	memset(&acks, 0, sizeof(acks));
	for (now = path->far + path->near; now < STEPS; now++) {
		u32 clock = 1000 + now / CLOCK_STEPS;

		/* the sender echoes the newest ACK that it has heard */
		if (acks.tsval[now - path->near])
			recent = acks.tsval[now - path->near];
		if (unit_between(&path->seed, 0, 2))
			queue_up(path, &s, &data, DATA, now, clock, recent,
				 unit_between(&path->seed, 1, 100) <= path->loss_percent);

		/* the receiver acknowledges each second packet, echoing the first */
		tsval = data.tsval[now - path->far];
		if (tsval && !owed++)
			owed_tsval = tsval;
		if (owed == 2) {
			owed = 0;
			queue_up(path, &s, &acks, ACKS, now, clock + 5000, owed_tsval, false);
		}

		if (data.probe[now])
			leave(&s, DATA, (u64)now * STEP_US);
		if (acks.probe[now])
			leave(&s, ACKS, (u64)now * STEP_US);
		if (s.rtt_us)
			assert_true(s.rtt_us + 2 * UNIT_US >=
				    (path->far + path->near) * STEP_US);
	}
	return s.rtt_us;
}

static void rtt_of_a_bulk_connection_is_found_whatever_the_queues(void **state)
{
	u64 seed = 1;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct path path = {
			.seed = i,
			.far = unit_spread(&seed, 1, 2000),
			.near = unit_spread(&seed, 1, 500),
			.queue = unit_spread(&seed, 0, 500),
			.loss_percent = unit_between(&seed, 0, 20),
		};

		/* a millisecond of either clock, and the wait for a second packet */
		assert_near(simulate(&path), (path.far + path.near) * STEP_US, 3000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_connections_fill_a_cache_line),
		cmocka_unit_test(half_is_the_least_of_two_windows),
		cmocka_unit_test(both_halves_make_the_rtt),
		cmocka_unit_test(one_half_is_no_rtt),
		cmocka_unit_test(own_queues_do_not_count),
		cmocka_unit_test(only_the_first_packet_of_a_tsval_is_timed),
		cmocka_unit_test(echo_of_something_older_does_not_count),
		cmocka_unit_test(echo_of_something_newer_ends_the_probe),
		cmocka_unit_test(echo_of_what_was_never_sent_does_not_count),
		cmocka_unit_test(probe_that_never_left_is_not_answered),
		cmocka_unit_test(lost_probe_is_given_up),
		cmocka_unit_test(clock_that_lags_gives_nothing_up),
		cmocka_unit_test(probe_of_an_idle_connection_is_given_up),
		cmocka_unit_test(timestamp_that_is_never_reached_is_given_up),
		cmocka_unit_test(what_is_sent_again_is_timed),
		cmocka_unit_test(what_is_sent_again_seems_longer_by_a_tick),
		cmocka_unit_test(probe_that_its_queue_drops_is_over),
		cmocka_unit_test(who_asks_is_told),
		cmocka_unit_test(packet_of_another_connection_leaves_unnoticed),
		cmocka_unit_test(clocks_may_wrap),
		cmocka_unit_test(longer_path_is_learnt_within_two_windows),
		cmocka_unit_test(gap_beyond_what_a_hint_states_is_ignored),
		cmocka_unit_test(lagging_clock_forgets_nothing),
		cmocka_unit_test(full_set_gives_up_the_connection_seen_longest_ago),
		cmocka_unit_test(two_hosts_know_their_shortest_path),
		cmocka_unit_test(rtt_of_a_bulk_connection_is_found_whatever_the_queues),
	};

	return cmocka_run_group_tests_name("halves", tests, NULL, NULL);
}
