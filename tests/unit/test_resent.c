// SPDX-License-Identifier: GPL-2.0
/* resent.h by way of loss.h: what of TCP data that is sent again a line lost. */
#include "unit.h"
#include <zrtt/loss.h>

#define S		1000000U	/* microseconds */
#define START_US	(~0U - 5 * S)	/* the clock wraps soon */

/* Data of one flow that passes, and what is known of it. */
struct watched {
	struct zrtt_loss loss;
	struct zrtt_resent_flow *flow;
	u32 now_us;
};

static void begin_watched(struct watched *w, u32 seq)
{
	w->now_us = START_US;
	zrtt_loss_init(&w->loss, 0, w->now_us);
	w->flow = zrtt_resent_flow(&w->loss.resent, 7, 1000, w->now_us);
	assert_int_equal(w->flow->tag, 0);
	zrtt_loss_begin(w->flow, 7, 3, 5, seq, false, w->now_us);
	assert_ptr_equal(zrtt_resent_flow(&w->loss.resent, 7, 1000, w->now_us), w->flow);
}

/* It came @wait_us ago. */
static bool watch(struct watched *w, u32 seq, u32 bytes, bool ahead, u32 wait_us)
{
	w->now_us += 10000;
	return zrtt_loss_pass(&w->loss, w->flow, seq, bytes, ahead, w->now_us - wait_us,
			      w->now_us) == ZRTT_DATA_AGAIN;
}

static void test_what_passed_before_was_lost(void **state)
{
	struct watched w;
	u32 i;

	(void)state;
	begin_watched(&w, ~0U - 1999);
	for (i = 0; i < 5; i++)
		assert_false(watch(&w, ~0U - 1999 + i * 1000, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 0);
	assert_true(watch(&w, ~0U - 999, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 1000);
	/* and again; half of the next is new */
	assert_true(watch(&w, ~0U - 999, 1000, false, 0));
	assert_true(watch(&w, 2500, 1000, false, 0));
	assert_int_equal(w.flow->next, 3500);
	assert_int_equal(w.loss.bytes, 2500);
	assert_int_equal(w.loss.hosts[ZRTT_LOSS_FAR][3].lost, 2500);
	assert_int_equal(w.loss.hosts[ZRTT_LOSS_FAR][3].sent, 8000);
	assert_int_equal(w.loss.hosts[ZRTT_LOSS_NEAR][5].lost, 2500);
	assert_int_equal(w.loss.hosts[ZRTT_LOSS_NEAR][5].sent, 8000);
}

/* What did not pass was dropped before: here, or by somebody else. */
static void test_what_fills_a_hole_was_not_lost(void **state)
{
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	assert_false(watch(&w, 1000, 1000, false, 0));
	assert_false(watch(&w, 4000, 1000, false, 0));
	assert_false(watch(&w, 5000, 1000, false, 0));
	assert_true(watch(&w, 3000, 1000, false, 0));
	assert_true(watch(&w, 2000, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 0);
	assert_true(watch(&w, 2000, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 1000);
	/* a line before this queue is where that was lost */
	begin_watched(&w, 1000);
	assert_false(watch(&w, 1000, 1000, true, 0));
	assert_false(watch(&w, 3000, 1000, true, 0));
	assert_true(watch(&w, 2000, 1000, true, 0));
	assert_int_equal(w.loss.bytes, 1000);
	assert_true(watch(&w, 2000, 1000, true, 0));
	assert_int_equal(w.loss.bytes, 1000);
}

/* Who is watched from the middle of a connection on may have been dropped here before that. */
static void test_what_is_older_than_the_watch_was_not_lost(void **state)
{
	struct watched w;
	u32 i;

	(void)state;
	begin_watched(&w, 10000);
	assert_false(watch(&w, 10000, 1000, false, 0));
	assert_false(watch(&w, 11000, 1000, false, 0));
	assert_true(watch(&w, 7000, 1000, false, 0));
	assert_true(watch(&w, 9500, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 0);
	/* but it was sent */
	assert_int_equal(w.loss.hosts[ZRTT_LOSS_FAR][3].sent, 4000);
	assert_true(watch(&w, 10000, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 1000);
	/* that stays so when numbers wrap */
	for (i = 0; i < 6000; i++)
		watch(&w, 12000 + i * 1000000, 1000000, false, 0);
	assert_int_equal(w.loss.bytes, 1000);
	assert_true(watch(&w, 12000 + 5998U * 1000000, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 2000);
}

/* What passed before the rate was another is counted as lost, but no news of that, though a hole was taken
 * back or numbers wrap.
 */
static void test_what_passed_at_another_rate_is_no_news(void **state)
{
	const struct zrtt_loss_host *host;
	struct watched w;
	u32 i;

	(void)state;
	begin_watched(&w, 0);
	host = &w.loss.hosts[ZRTT_LOSS_FAR][3];
	for (i = 0; i < 4; i++)
		watch(&w, i * 1000, 1000, false, 0);
	watch(&w, 1000, 1000, false, 0);
	assert_int_equal(host->lost, 1000);
	zrtt_resent_turn(&w.loss.resent);
	watch(&w, 4000, 1000, false, 0);
	watch(&w, 2000, 1000, false, 0);
	watch(&w, 3000, 1000, false, 0);
	assert_int_equal(host->lost, 1000);
	watch(&w, 4000, 1000, false, 0);
	assert_int_equal(host->lost, 2000);
	assert_int_equal(w.loss.bytes, 4000);
	/* nothing was left out after all */
	watch(&w, 100000, 1000, false, 0);
	zrtt_resent_turn(&w.loss.resent);
	watch(&w, 5000, 1000, false, 0);
	watch(&w, 6000, 1000, false, 0);
	watch(&w, 5000, 1000, false, 0);
	assert_int_equal(host->lost, 3000);
	for (i = 0; i < 3000; i++)
		watch(&w, 7000 + i * 1000000, 1000000, false, 0);
	watch(&w, 7000 + 2998U * 1000000, 1000, false, 0);
	assert_int_equal(host->lost, 4000);
}

/* What fills a hole from before that is not a hole since, nor the other way round. */
static void test_holes_are_of_their_rate(void **state)
{
	const struct zrtt_loss_host *host;
	struct watched w;

	(void)state;
	begin_watched(&w, 0);
	host = &w.loss.hosts[ZRTT_LOSS_FAR][3];
	watch(&w, 0, 1000, false, 0);
	watch(&w, 2000, 1000, false, 0);
	zrtt_resent_turn(&w.loss.resent);
	watch(&w, 3000, 1000, false, 0);
	watch(&w, 5000, 1000, false, 0);
	/* the second of these was lost on the line, at the rate before */
	watch(&w, 1000, 1000, false, 0);
	watch(&w, 2000, 1000, false, 0);
	assert_int_equal(w.loss.bytes, 1000);
	watch(&w, 4000, 1000, false, 0);
	assert_int_equal(host->lost, 0);
	watch(&w, 3000, 1000, false, 0);
	assert_int_equal(host->lost, 1000);
	assert_int_equal(w.loss.bytes, 2000);
}

/* The sender's timer was sooner than this queue. */
static void test_what_came_before_it_passed_was_not_lost(void **state)
{
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	assert_false(watch(&w, 1000, 1000, false, 0));
	assert_false(watch(&w, 2000, 1000, false, 0));
	assert_true(watch(&w, 2000, 1000, false, 15000));
	assert_int_equal(w.loss.bytes, 0);
	/* nor than what is before that */
	assert_true(watch(&w, 1000, 1000, false, 45000));
	assert_int_equal(w.loss.bytes, 0);
	assert_false(w.loss.waited);
	assert_true(watch(&w, 2000, 1000, false, ZRTT_LOSS_WAIT_US + 1));
	assert_true(w.loss.waited);
}

/* Numbers of a third party. */
static void test_what_is_far_away_was_not_lost(void **state)
{
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	assert_false(watch(&w, 1000, 1000, false, 0));
	assert_false(watch(&w, 1000 + (1U << 31), 1000, false, 0));
	assert_false(watch(&w, 2000, 1000, false, 0));
	assert_false(watch(&w, 3000, 1000, false, 0));
	assert_int_equal(w.loss.bytes, 0);
	assert_int_equal(w.flow->holes, 0);
	/* who is watched is not evicted at once */
	assert_null(zrtt_resent_flow(&w.loss.resent, 7 + ZRTT_RESENT_FLOWS, 1000, w.now_us));
	assert_ptr_equal(zrtt_resent_flow(&w.loss.resent, 7 + ZRTT_RESENT_FLOWS, 1000,
					w.now_us + ZRTT_RESENT_KEEP_US + 1), w.flow);
}

/* In either direction, or by a packet of that length: what passed before it is not known any more. */
static void test_far_numbers_begin_anew(void **state)
{
	static const struct { u32 seq, bytes; } far[] = {
		{ 2000 + ZRTT_RESENT_REACH + 101001, 1000 }, { 101000 - ZRTT_RESENT_REACH - 1, 1000 },
		{ 103000, ZRTT_RESENT_REACH + 1 },
	};
	struct watched w;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(far); i++) {
		begin_watched(&w, 1000);
		watch(&w, 1000, 1000, false, 0);
		watch(&w, 102000, 1000, false, 0);
		assert_int_equal(w.flow->holes, 100000);
		assert_true(w.flow->doubt > 0);
		assert_false(watch(&w, far[i].seq, far[i].bytes, false, 0));
		assert_int_equal(w.flow->next, far[i].seq + far[i].bytes);
		assert_int_equal(w.flow->first, w.flow->next);
		assert_int_equal(w.flow->holes + w.flow->doubt, 0);
	}
}

static enum zrtt_data carries(struct watched *w, u32 seq, u32 after_us)
{
	w->now_us += after_us;
	return zrtt_loss_pass(&w->loss, w->flow, seq, 1000, false, w->now_us, w->now_us);
}

/* Who is watched from its middle on may send again what it sent before: for a second nobody knows. */
static void test_data_pass_for_the_first_time(void **state)
{
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	assert_int_equal(carries(&w, 1000, 0), ZRTT_DATA_UNKNOWN);
	assert_int_equal(carries(&w, 2000, ZRTT_RESENT_WHOLE_US), ZRTT_DATA_UNKNOWN);
	assert_int_equal(carries(&w, 3000, 1), ZRTT_DATA_FIRST);
	assert_int_equal(carries(&w, 2000, 1), ZRTT_DATA_AGAIN);
	assert_int_equal(carries(&w, 5000, 1), ZRTT_DATA_FIRST);
	assert_int_equal(carries(&w, 4000, 1), ZRTT_DATA_AGAIN);
	assert_int_equal(carries(&w, 0, 1), ZRTT_DATA_AGAIN);
}

/* Who is watched from its SYN on is known at once, until its numbers jump. */
static void test_data_behind_a_syn_are_known(void **state)
{
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	zrtt_loss_begin(w.flow, 7, 3, 5, 1000, true, w.now_us);
	assert_int_equal(carries(&w, 1000, 0), ZRTT_DATA_FIRST);
	assert_int_equal(carries(&w, 1000, 0), ZRTT_DATA_AGAIN);
	assert_int_equal(carries(&w, 1U << 31, 1), ZRTT_DATA_UNKNOWN);
	assert_int_equal(carries(&w, (1U << 31) + 1000, ZRTT_RESENT_WHOLE_US), ZRTT_DATA_UNKNOWN);
	assert_int_equal(carries(&w, (1U << 31) + 2000, 1), ZRTT_DATA_FIRST);
}

/* A flood of SYNs leaves the places to those who send. */
static void test_syn_keeps_no_place(void **state)
{
	const u32 other = 7 + ZRTT_RESENT_FLOWS;
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	zrtt_loss_begin(w.flow, 7, 3, 5, 1000, true, w.now_us);
	assert_null(zrtt_resent_flow(&w.loss.resent, other, 0, w.now_us));
	assert_int_equal(w.flow->tag, 7);
	assert_ptr_equal(zrtt_resent_flow(&w.loss.resent, other, 1000, w.now_us), w.flow);
	assert_int_equal(w.flow->tag, 0);
	zrtt_loss_begin(w.flow, 7, 3, 5, 1000, true, w.now_us);
	carries(&w, 1000, 0);
	assert_null(zrtt_resent_flow(&w.loss.resent, other, 1000, w.now_us));
}

/* Who passes is there, and makes no room. */
static void test_who_passes_is_watched(void **state)
{
	struct watched w;
	u32 i;

	(void)state;
	begin_watched(&w, 1000);
	for (i = 0; i < 300; i++)
		watch(&w, 1000 + i * 1000, 1000, false, 0);
	assert_true(w.now_us - START_US > ZRTT_RESENT_KEEP_US);
	assert_null(zrtt_resent_flow(&w.loss.resent, 7 + ZRTT_RESENT_FLOWS, 1000, w.now_us));
}

/* A byte that somebody forged 1 MB ahead is no hole: the flow goes on where it was. What goes on beyond
 * it is one.
 */
static void test_little_beyond_a_hole_says_nothing(void **state)
{
	struct watched w;
	u32 i;

	(void)state;
	begin_watched(&w, 1000);
	assert_false(watch(&w, 1000, 1000, true, 0));
	assert_false(watch(&w, 1002000, 1, true, 0));
	for (i = 0; i < 2000; i++)
		assert_false(watch(&w, 2000 + i * 1000, 1000, true, 0));
	assert_int_equal(w.loss.bytes, 0);
	for (i = 0; i < 70; i++)
		assert_false(watch(&w, 3002000 + i * 1000, 1000, true, 0));
	for (i = 0; i < 1000; i++)
		assert_true(watch(&w, 2002000 + i * 1000, 1000, true, 0));
	assert_int_equal(w.loss.bytes, 1000000);
}

/* A forged byte behind another: the flow goes on before both, and is where it was. */
static void test_holes_of_which_nothing_passed_are_none(void **state)
{
	struct watched w;

	(void)state;
	begin_watched(&w, 1000);
	watch(&w, 1000, 1000, false, 0);
	watch(&w, 102000, 1, false, 0);
	watch(&w, 202001, 1, false, 0);
	assert_int_equal(w.flow->holes, 200000);
	assert_false(watch(&w, 2000, 1000, false, 0));
	assert_int_equal(w.flow->holes + w.flow->doubt, 0);
	assert_int_equal(w.flow->next, 3000);
	assert_int_equal(w.flow->passed, 2000);
	assert_int_equal(w.flow->mark, 2000);
	/* holes of before are still there */
	watch(&w, 4000, 1000, false, 0);
	watch(&w, 105000, 1, false, 0);
	assert_int_equal(w.flow->holes, 101000);
	assert_false(watch(&w, 5000, 1000, false, 0));
	assert_in_range(w.flow->holes, 999, 1000);
	/* and what is watched is from there on, if it began behind it by now */
	begin_watched(&w, 1000);
	watch(&w, 1000, 1000, false, 0);
	watch(&w, 2000 + ZRTT_RESENT_REACH, 1000, false, 0);
	watch(&w, 3000 + ZRTT_RESENT_REACH, 1000, false, 0);
	assert_int_equal(w.flow->first, 3000);
	assert_false(watch(&w, 2000, 1000, false, 0));
	assert_int_equal(w.flow->first, 2000);
}

/* Of a lead no more than 2^18 bytes count, however much was sent. */
static void test_lead_has_an_end(void **state)
{
	struct watched w;
	u32 i;

	(void)state;
	begin_watched(&w, 1000);
	for (i = 0; i < 100; i++)
		zrtt_resent_flow(&w.loss.resent, 7, 100000, w.now_us);
	assert_int_equal(w.flow->lead, ZRTT_RESENT_LEAD_MAX);
	w.now_us += ZRTT_RESENT_TENURE_US + 1;
	w.flow->seen_us = w.now_us;
	assert_null(zrtt_resent_flow(&w.loss.resent, 7 + ZRTT_RESENT_FLOWS, ZRTT_RESENT_LEAD_MAX, w.now_us));
	assert_ptr_equal(zrtt_resent_flow(&w.loss.resent, 7 + ZRTT_RESENT_FLOWS, 1, w.now_us), w.flow);
	assert_int_equal(w.flow->tag, 0);
}

/* Of two flows that have one place the one that sends more is watched, but no sooner than after 4 s. */
static void test_who_sends_more_is_watched(void **state)
{
	static const u32 bytes[] = { 100, 1000, 2000 };
	struct watched w;
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bytes); i++) {
		begin_watched(&w, 1000);
		for (j = 0; j < 1000; j++) {
			w.now_us += 10000;
			w.flow->seen_us = w.now_us;
			assert_ptr_equal(zrtt_resent_flow(&w.loss.resent, 7, bytes[i], w.now_us), w.flow);
			if (zrtt_resent_flow(&w.loss.resent, 7 + ZRTT_RESENT_FLOWS, 1000, w.now_us))
				break;
		}
		assert_true(j >= ZRTT_RESENT_TENURE_US / 10000 - 1);
		assert_true(bytes[i] < 1000 ? j < 500 : j == 1000);
	}
}

/* It goes on after a silence of any length, as the clock wraps in 72 minutes. */
static void test_loss_after_a_silence_is_seen(void **state)
{
	static const u32 silences_s[] = { 3, 36 * 60, 60 * 60, 71 * 60 };
	struct watched w;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(silences_s); i++) {
		begin_watched(&w, 1000);
		assert_false(watch(&w, 1000, 1000, false, 0));
		w.now_us += silences_s[i] * 1000000;
		if (!zrtt_resent_flow(&w.loss.resent, 7, 1000, w.now_us)->tag)
			zrtt_loss_begin(w.flow, 7, 3, 5, 2000, false, w.now_us);
		assert_false(watch(&w, 2000, 1000, false, 0));
		assert_false(watch(&w, 3000, 1000, false, 0));
		assert_true(watch(&w, 2000, 1000, false, 0));
		assert_int_equal(w.loss.bytes, 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_passed_before_was_lost),
		cmocka_unit_test(test_what_fills_a_hole_was_not_lost),
		cmocka_unit_test(test_what_is_older_than_the_watch_was_not_lost),
		cmocka_unit_test(test_what_passed_at_another_rate_is_no_news),
		cmocka_unit_test(test_holes_are_of_their_rate),
		cmocka_unit_test(test_what_came_before_it_passed_was_not_lost),
		cmocka_unit_test(test_what_is_far_away_was_not_lost),
		cmocka_unit_test(test_far_numbers_begin_anew),
		cmocka_unit_test(test_data_pass_for_the_first_time),
		cmocka_unit_test(test_data_behind_a_syn_are_known),
		cmocka_unit_test(test_syn_keeps_no_place),
		cmocka_unit_test(test_who_passes_is_watched),
		cmocka_unit_test(test_little_beyond_a_hole_says_nothing),
		cmocka_unit_test(test_holes_of_which_nothing_passed_are_none),
		cmocka_unit_test(test_lead_has_an_end),
		cmocka_unit_test(test_who_sends_more_is_watched),
		cmocka_unit_test(test_loss_after_a_silence_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
