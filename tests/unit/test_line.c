// SPDX-License-Identifier: GPL-2.0
/*
 * line.h against a line: a FIFO behind the shaper, or before it, whose answers come back
 * after its delay and that of the path.
 */
#include "unit.h"
#include "passes.h"
#include <zrtt/line.h>

#define S		1000000U	/* microseconds */
#define STEP_US		100
#define TICK_US		16000
#define MBIT		125000ULL	/* bytes per second */
#define PACKET		1514
#define ANSWERS		65536	/* on their way */
#define PROBE_US	4000
#define HOSTS		8
#define LOST		65536	/* of a host, not yet sent again */
#define START_US	(~0U - 5 * S)	/* the clock wraps soon */

struct flying {
	u32 due_us;
	u32 pair;
	struct zrtt_line_answer answer;
};

/**
 * struct sender - data to one host
 * @next: sequence number
 * @answered_us: when its latest answer is due, but for the path
 * @twice: what passes now passed before
 * @lost: sequence numbers of packets to be sent again ...
 * @due_us: ... and when
 */
struct sender {
	u32 next;
	bool twice;
	u32 answered_us;
	u32 lost[LOST];
	u32 due_us[LOST];
	u32 first;
	u32 last;
};

/**
 * struct world - a line, and who sends to it
 * @room: bytes of its FIFO
 * @own_q16: part that the first host's own path loses, 65536 is all
 * @rate: of the line, bytes per second
 * @rtt_us: of the path
 * @hosts: that answer
 * @liars: that the same host on this side sends to, all of it twice
 * @slow_us: queue of the last one's own path
 * @hidden_us: that was on the line when they first answered: their shortest time holds it
 * @delayed: in 256, answers that come 40 ms later
 * @jitter_us: all come up to this later, and in order
 * @idle: nothing is sent
 * @load: most that is sent, bytes per second, 0 = all that the rate allows
 * @silent: nobody answers
 * @queue: bytes on the line
 * @sent: bytes that passed it
 * @worst_us: longest time on the line since this was cleared
 * @senders: to each host
 * @dropped: packets that the line had no room for
 */
struct world {
	struct zrtt_line_params params;
	struct zrtt_line line;
	struct zrtt_line_answers answers;
	struct zrtt_loss loss;
	double room;
	u32 own_q16;
	u64 rate;
	u32 rtt_us;
	u32 hosts;
	u32 liars;
	u32 slow_us;
	u32 hidden_us;
	u32 delayed;
	u32 jitter_us;
	bool idle;
	u64 load;
	bool silent;
	u32 now_us;
	u32 next_us;
	u32 tick_us;
	u32 probe_us;
	u32 bytes;
	double queue;
	double sent;
	double owed;
	u32 worst_us;
	u64 random;
	struct flying flying[ANSWERS];
	u32 first;
	u32 last;
	struct sender senders[HOSTS];
	u32 turn;
	u64 dropped;
};

static struct world *new_world(u32 kind, u64 rate, u32 rtt_us)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->params = (struct zrtt_line_params) { kind, 1 * MBIT, 50 * MBIT };
	w->rate = rate;
	w->rtt_us = rtt_us;
	w->hosts = 3;
	w->room = INFINITY;
	w->now_us = w->next_us = w->tick_us = w->probe_us = START_US;
	zrtt_line_begin(&w->line, &w->params, 0, START_US);
	zrtt_loss_init(&w->loss, 0, START_US);
	return w;
}

static bool is_due(u32 at_us, u32 now_us)
{
	return (s32)(now_us - at_us) >= 0;
}

/* Of an answer that is due @excess_us later than that of an empty path: none overtakes another. */
static u32 jitter(struct world *w, struct sender *s, u32 excess_us)
{
	u32 due_us = w->now_us + excess_us;

	if (!w->jitter_us)
		return 0;
	due_us += unit_between(&w->random, 0, w->jitter_us);
	if (!s->answered_us || is_due(s->answered_us, due_us))
		s->answered_us = due_us;
	return s->answered_us - w->now_us - excess_us;
}

static void probe(struct world *w, u32 wait_us)
{
	u32 host, noise_us;

	for (host = 0; host < w->hosts; host++) {
		struct flying *f = &w->flying[w->last++ % ANSWERS];
		u32 excess_us = wait_us + (host + 1 == w->hosts ? w->slow_us : 0);

		noise_us = unit_between(&w->random, 0, 255) < w->delayed ? 40000 : 0;
		noise_us += jitter(w, &w->senders[host], excess_us);
		*f = (struct flying) {
			.due_us = w->now_us + w->rtt_us + excess_us + noise_us,
			.pair = host,
			.answer = {
				.left_us = w->now_us,
				.gap_us = w->rtt_us + excess_us + noise_us,
				.excess_us = excess_us + noise_us -
					     (u32)zrtt_line_least(w->hidden_us, excess_us + noise_us),
				.host = host,
			},
		};
	}
}

/* What is due, wherever it is in the ring: noise brings answers out of order. */
static void answer(struct world *w)
{
	u32 i;

	for (i = w->first; i != w->last; i++) {
		struct flying *f = &w->flying[i % ANSWERS];

		if (f->pair == ~0U || !is_due(f->due_us, w->now_us))
			continue;
		if (!w->silent)
			zrtt_line_answer(&w->answers, f->pair, &f->answer);
		f->pair = ~0U;
	}
	while (w->first != w->last && w->flying[w->first % ANSWERS].pair == ~0U)
		w->first++;
}

/* A packet to a host passes the shaper: what was lost comes first, an RTT later. Return: whether
 * it gets through.
 */
static bool pass(struct world *w, u32 host)
{
	struct sender *s = &w->senders[host];
	bool again = s->first != s->last && is_due(s->due_us[s->first % LOST], w->now_us);
	u32 seq = again ? s->lost[s->first++ % LOST] : s->next - (s->twice ? 4 * PACKET : 0);
	struct zrtt_resent_flow *flow = zrtt_resent_flow(&w->loss.resent, host + 1, PACKET, w->now_us);
	bool full = w->queue + PACKET > w->room;

	s->next += again || s->twice ? 0 : PACKET;
	s->twice = host < w->liars && !s->twice;
	if (!flow->tag)
		zrtt_loss_begin(flow, host + 1, host, host < w->liars ? 0 : host, seq, false,
				w->now_us);
	zrtt_loss_pass(&w->loss, flow, seq, PACKET, false, w->now_us, w->now_us);
	w->dropped += full;
	if (!full && (host || !w->own_q16 || unit_between(&w->random, 0, 65535) >= w->own_q16))
		return true;
	s->lost[s->last % LOST] = seq;
	s->due_us[s->last++ % LOST] = w->now_us + w->rtt_us;
	return false;
}

/* Behind the shaper: packets leave at its rate, and wait on the line. */
static void send_behind(struct world *w)
{
	u64 rate = w->load && w->load < w->line.rate ? w->load : w->line.rate;

	if (w->idle)
		w->next_us = w->now_us;
	while (!w->idle && is_due(w->next_us, w->now_us)) {
		w->next_us += (u32)(PACKET * 1000000ULL / rate);
		w->bytes += PACKET;
		if (pass(w, w->turn++ % w->hosts))
			w->queue += PACKET;
	}
}

/* Before it: a little more than the shaper lets pass comes from the line, or all it has. */
static void send_before(struct world *w, double passed)
{
	w->bytes += (u32)passed;
	w->queue += w->idle ? 0 : w->line.rate * 1.02 * STEP_US / 1e6;
}

static void run(struct world *w, u32 us)
{
	u32 end_us = w->now_us + us;
	u32 wait_us;
	double passed;

	for (; w->now_us != end_us; w->now_us += STEP_US) {
		passed = fmin(w->queue, (double)w->rate * STEP_US / 1e6 + w->owed);
		w->owed = w->queue > 0 && w->params.kind == ZRTT_LINE_AHEAD ? passed - (u32)passed : 0;
		w->queue -= passed;
		w->sent += passed;
		if (w->params.kind == ZRTT_LINE_BEHIND)
			send_behind(w);
		else
			send_before(w, passed);
		wait_us = (u32)(w->queue * 1e6 / w->rate);
		if (w->worst_us < wait_us)
			w->worst_us = wait_us;
		if (!w->idle && is_due(w->probe_us, w->now_us)) {
			probe(w, wait_us);
			w->probe_us = w->now_us + PROBE_US;
		}
		answer(w);
		if (is_due(w->tick_us, w->now_us)) {
			zrtt_line_update(&w->line, &w->params, &w->answers, &w->loss, w->bytes,
					 w->now_us);
			w->tick_us = w->now_us + TICK_US;
		}
	}
}

/* Share of the line that is used for so long; the longest wait is in @worst_us then. */
static double used(struct world *w, u32 us)
{
	double before = w->sent;

	w->worst_us = 0;
	run(w, us);
	return (w->sent - before) * 1e6 / us / w->rate;
}

static const u32 rtts_us[] = { 10000, 40000, 100000, 200000 };

static void test_line_is_found_and_kept(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rtts_us); i++) {
		struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, rtts_us[i]);

		run(w, 10 * S);
		assert_true(used(w, 30 * S) >= 0.97);
		assert_true(w->worst_us <= 50000);
		free(w);
	}
}

/* Whose connections all began when there was a queue: that is seen by how it goes. */
static void test_first_queue_is_emptied(void **state)
{
	static const u32 kinds[] = { ZRTT_LINE_BEHIND, ZRTT_LINE_AHEAD };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		struct world *w = new_world(kinds[i], 10 * MBIT, 40000);

		w->hidden_us = 150000;
		while (!w->line.empty.begun)
			run(w, STEP_US);
		while (w->line.empty.begun)
			run(w, STEP_US);
		assert_true((s32)(w->now_us - START_US) < 5 * (s32)S);
		assert_true(w->queue * 1e6 / w->rate < 10000);
		/* and once only */
		w->hidden_us = 0;
		assert_true(used(w, 30 * S) >= 0.95);
		assert_false(w->line.empty.pending || w->line.empty.begun);
		free(w);
	}
}

static void test_line_before_the_queue_is_found(void **state)
{
	struct world *w = new_world(ZRTT_LINE_AHEAD, 20 * MBIT, 40000);

	(void)state;
	run(w, 10 * S);
	assert_true(used(w, 30 * S) >= 0.95);
	assert_true(w->worst_us <= 60000);
	assert_near((double)w->line.measured, 20.0 * MBIT, 1.0 * MBIT);
	free(w);
}

/* What is no queue yet, and left, is not taken for an empty line minute by minute. */
static void test_queue_does_not_add_up(void **state)
{
	static const u32 kinds[] = { ZRTT_LINE_BEHIND, ZRTT_LINE_AHEAD };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		struct world *w = new_world(kinds[i], 20 * MBIT, 40000);

		run(w, 180 * S);
		assert_true(used(w, 60 * S) >= 0.98);
		assert_true(w->worst_us <= 20000);
		free(w);
	}
}

/* Who found no rate has the most that is allowed, also when that is raised. */
static void test_most_that_is_allowed_may_rise(void **state)
{
	struct zrtt_line_params params = { ZRTT_LINE_BEHIND, MBIT, 10 * MBIT };
	struct zrtt_line line;

	(void)state;
	zrtt_line_begin(&line, &params, 0, START_US);
	params.max = 50 * MBIT;
	zrtt_line_allow(&line, &params, 10 * MBIT);
	assert_int_equal(line.rate, 50 * MBIT);
	params.max = 5 * MBIT;
	zrtt_line_allow(&line, &params, 50 * MBIT);
	assert_int_equal(line.rate, 5 * MBIT);
	/* one that was lowered, or found, stays */
	line.rate = 2 * MBIT;
	params.max = 20 * MBIT;
	zrtt_line_allow(&line, &params, 5 * MBIT);
	assert_int_equal(line.rate, 2 * MBIT);
	line.rate = 20 * MBIT;
	line.measured = 20 * MBIT;
	params.max = 50 * MBIT;
	zrtt_line_allow(&line, &params, 20 * MBIT);
	assert_int_equal(line.rate, 20 * MBIT);
}

static void test_line_that_falls_and_rises(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rtts_us) - 1; i++) {
		struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, rtts_us[i]);

		run(w, 20 * S);
		w->rate = 5 * MBIT;
		run(w, S);
		assert_true(w->line.rate < 6 * MBIT);
		run(w, 2 * S);
		assert_true(used(w, 17 * S) >= 0.85);
		assert_true(w->worst_us <= 100000);
		w->rate = 20 * MBIT;
		run(w, 3 * S);
		assert_true(used(w, 17 * S) >= 0.85);
		assert_true(w->line.lowered && w->line.raised);
		free(w);
	}
}

/* One whose rate doubles or halves in 200 ms, or stays: that it does so is learnt. */
static void test_line_that_always_changes(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 10 * MBIT, 40000);
	double might = 0, before = 0, waited = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 300; i++) {
		if (i == 50)
			before = w->sent;
		run(w, S / 5);
		if (i >= 50) {
			might += w->rate / 5.0;
			waited += w->queue / w->rate / 250;
		}
		w->rate *= unit_between(&w->random, 0, 1) ? 2 : 1;
		w->rate /= unit_between(&w->random, 0, 1) ? 2 : 1;
		w->rate = fmin(fmax(w->rate, 2 * MBIT), 40 * MBIT);
	}
	assert_true((w->sent - before) / might >= 0.8);
	assert_true(waited <= 0.1);
	free(w);
}

static void test_idle_line_is_remembered(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);
	u64 rate;

	(void)state;
	run(w, 20 * S);
	rate = w->line.rate;
	w->idle = true;
	run(w, S);
	rate = w->line.rate;
	run(w, 100 * S);
	assert_near((double)w->line.rate, (double)rate, 0.02 * rate);
	assert_near((double)rate, 20.0 * MBIT, 2.0 * MBIT);
	free(w);
}

static void test_rate_is_within_bounds(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	w->params.max = 10 * MBIT;
	run(w, 10 * S);
	assert_int_equal(w->line.rate, 10 * MBIT);
	w->params.min = 8 * MBIT;
	w->rate = 2 * MBIT;
	run(w, 5 * S);
	assert_int_equal(w->line.rate, 8 * MBIT);
	free(w);
}

/* Packets without timestamps: the last rate stays, and the state says why. */
static void test_without_answers_the_rate_stays(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);
	u64 rate;

	(void)state;
	run(w, 20 * S);
	w->silent = true;
	run(w, 3 * S);
	assert_int_equal(w->line.state, ZRTT_LINE_BLIND);
	rate = w->line.rate;
	assert_near((double)rate, 20.0 * MBIT, 2.0 * MBIT);
	run(w, 60 * S);
	assert_int_equal(w->line.rate, rate);
	w->silent = false;
	w->queue = 0;
	run(w, 10 * S);
	assert_int_not_equal(w->line.state, ZRTT_LINE_BLIND);
	free(w);
}

/* Where nobody ever answers, a loss says what the line carries, and none that it may carry more. Up to
 * 67 s after one that is not tried.
 */
static void test_without_answers_loss_is_followed(void **state)
{
	static const double rooms[] = { 3028, 50000, 500000 };
	u32 i, hosts;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rooms); i++) {
		for (hosts = 1; hosts <= 4; hosts += 3) {
			struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

			w->silent = true;
			w->room = rooms[i];
			w->hosts = hosts;
			run(w, 20 * S);
			assert_true(used(w, 60 * S) >= 0.9);
			assert_int_equal(w->line.state, ZRTT_LINE_BLIND);
			assert_near((double)w->line.rate, 20.0 * MBIT, 4.0 * MBIT);
			w->rate = 5 * MBIT;
			run(w, 10 * S);
			assert_true(used(w, 60 * S) >= 0.9);
			w->rate = 20 * MBIT;
			run(w, 90 * S);
			assert_true(used(w, 20 * S) >= 0.9);
			free(w);
		}
	}
}

/* A rate at which nobody gets through to answer is not kept: the line had more lately. */
static void test_without_answers_a_low_rate_rises(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);
	u64 measured;

	(void)state;
	run(w, 20 * S);
	w->silent = true;
	run(w, S / 10);
	w->line.rate = 2 * MBIT;
	measured = w->line.measured;
	run(w, 5 * S);
	assert_int_equal(w->line.rate, measured);
	assert_int_equal(w->line.state, ZRTT_LINE_BLIND);
	run(w, 20 * S);
	assert_int_equal(w->line.rate, measured);
	w->idle = true;
	run(w, S / 10);
	w->line.rate = 2 * MBIT;
	run(w, 20 * S);
	assert_int_equal(w->line.rate, 2 * MBIT);
	free(w);
}

/* Seldom as they are, the rate goes on between two answers. */
static void test_few_answers_are_enough(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);
	u32 i;

	(void)state;
	run(w, 20 * S);
	w->line.rate = 2 * MBIT;
	w->line.measured = w->line.lately = w->line.least = w->line.passed = 2 * MBIT;
	for (i = 0; i < 19 && w->line.rate < 15 * MBIT; i++) {
		w->silent = true;
		run(w, S);
		w->silent = false;
		run(w, S / 10);
	}
	assert_true(w->line.rate >= 15 * MBIT);
	free(w);
}

static void test_one_slow_host_is_not_followed(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	run(w, 10 * S);
	w->slow_us = 300000;
	assert_true(used(w, 30 * S) >= 0.95);
	free(w);
}

/* Nor is one that is alone for longer than it takes to see that the rate does not matter to it. */
static void test_lone_slow_host_is_not_followed(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	run(w, 10 * S);
	w->hosts = 1;
	w->slow_us = 100000;
	run(w, 3 * S);
	assert_true(used(w, 20 * S) >= 0.95);
	w->hosts = 3;
	assert_true(used(w, 20 * S) >= 0.95);
	free(w);
}

static void test_ack_that_waited_is_not_a_queue(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	w->delayed = 100;
	run(w, 10 * S);
	assert_true(used(w, 30 * S) >= 0.9);
	free(w);
}

/* The path becomes longer: that is no queue, and is known within two seconds. */
static void test_longer_path_is_learnt(void **state)
{
	static const u32 farther_us[] = { 10000, 30000, 100000 };
	/* the last is of a rate that is twice the line's for the time of an answer, and an epoch */
	static const u32 most_us[] = { 60000, 60000, 140000 + ZRTT_LINE_EPOCH_US };
	u32 i, kind;

	(void)state;
	for (kind = ZRTT_LINE_BEHIND; kind <= ZRTT_LINE_AHEAD; kind++) {
		for (i = 0; i < ARRAY_LEN(farther_us); i++) {
			struct world *w = new_world(kind, 20 * MBIT, 40000);

			run(w, 20 * S);
			w->slow_us = farther_us[i];
			w->hosts = 1;
			run(w, 2 * S);
			assert_true(used(w, 10 * S) >= 0.9);
			assert_true(w->worst_us <= most_us[i]);
			free(w);
		}
	}
}

/* A path whose delay varies by itself: that is no queue, and is known in some seconds. That of a line
 * which falls to a quarter is still seen.
 */
static void test_delay_that_varies_is_learnt(void **state)
{
	static const u32 jitters_us[] = { 10000, 20000, 50000 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(jitters_us); i++) {
		struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

		/* who is alone has nobody whose answers come sooner */
		w->hosts = 1;
		run(w, 10 * S);
		w->jitter_us = jitters_us[i];
		run(w, 20 * S);
		assert_true(used(w, 40 * S) >= 0.9);
		assert_true(w->worst_us <= 2 * jitters_us[i] + 60000);
		w->rate = 5 * MBIT;
		run(w, 3 * S);
		assert_true(w->line.rate < 8 * MBIT);
		free(w);
	}
}

/* A policer, and a FIFO that is too short to be seen, that become slower and faster. */
static void test_line_that_drops_is_found(void **state)
{
	static const double rooms[] = { 3028, 12500 };
	u32 i, hosts;
	u64 before;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rooms); i++) {
		for (hosts = 1; hosts <= 4; hosts += 3) {
			struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

			w->room = rooms[i];
			w->hosts = hosts;
			run(w, 20 * S);
			before = w->dropped;
			assert_true(used(w, 60 * S) >= 0.95);
			/* one in a hundred packets */
			assert_true(w->dropped - before <= 60.0 * w->rate / PACKET / 100);
			w->rate = 5 * MBIT;
			run(w, 10 * S);
			before = w->dropped;
			assert_true(used(w, 60 * S) >= 0.9);
			assert_true(w->dropped - before <= 60.0 * w->rate / PACKET / 10);
			w->rate = 20 * MBIT;
			run(w, 30 * S);
			assert_true(used(w, 20 * S) >= 0.95);
			free(w);
		}
	}
}

/* Above it the rate stays, and this is said. */
static void test_loss_is_told(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	w->room = 3028;
	while (w->line.state != ZRTT_LINE_LOSS)
		run(w, STEP_US);
	assert_true(w->line.rate < w->params.max && w->line.lowered);
	assert_true(w->loss.bytes);
	run(w, 12 * S);
	while (w->line.state != ZRTT_LINE_LOSS)
		run(w, STEP_US);
	assert_near((double)w->loss.ceiling, 20.0 * MBIT, 1.0 * MBIT);
	free(w);
}

/* Whatever the rate is: once that is known, it costs nothing. */
static void test_loss_of_a_lone_path_is_not_followed(void **state)
{
	static const u64 loads[] = { 0, 8 * MBIT, 2 * MBIT };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(loads); i++) {
		struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);
		double might = loads[i] ? (double)loads[i] / w->rate : 1;

		w->hosts = 1;
		w->own_q16 = 65536 / 100;
		w->load = loads[i];
		assert_true(used(w, 60 * S) >= 0.9 * might);
		assert_true(used(w, 60 * S) >= 0.96 * might);
		w->load = 0;
		run(w, 10 * S);
		assert_true(used(w, 60 * S) >= 0.96);
		free(w);
	}
}

static void test_loss_of_one_host_is_not_followed(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	w->hosts = 2;
	w->own_q16 = 65536 / 10;
	w->load = 8 * MBIT;
	run(w, 60 * S);
	assert_int_equal(w->line.rate, w->params.max);
	free(w);
}

/* Nor is a host that sends all of its data twice, to however many. Beside a line that drops, too. */
static void test_data_that_a_host_sends_twice_are_not_followed(void **state)
{
	static const double rooms[] = { 1250000, 12500 };
	u32 i, silent;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rooms); i++) {
		for (silent = 0; silent < 2; silent++) {
			struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

			w->room = rooms[i];
			w->silent = silent;
			w->hosts = HOSTS;
			w->liars = HOSTS - 2;
			run(w, 20 * S);
			assert_true(used(w, 60 * S) >= 0.9);
			free(w);
		}
	}
}

/* A line whose long queue is seen loses nothing without it. */
static void test_loss_beside_a_long_queue_is_not_followed(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	w->hosts = 1;
	w->line.deep = true;
	w->line.deep_us = START_US;
	w->own_q16 = 65536 / 10;
	w->load = 8 * MBIT;
	run(w, 16 * S);
	assert_int_equal(w->line.rate, w->params.max);
	run(w, 10 * S);
	assert_true(w->line.rate < w->params.max);
	free(w);
}

/* It is known as soon where answers are few, and epochs long. */
static void test_long_queue_of_few_answers_is_seen(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);
	struct zrtt_line *line = &w->line;

	(void)state;
	line->delay.us = 100000;
	zrtt_line_deep(line, true, true, 100000, START_US);
	assert_false(line->deep);
	zrtt_line_deep(line, true, true, 100000, START_US);
	assert_true(line->deep);
	line->deep = false;
	zrtt_line_deep(line, false, true, 100000, START_US);
	zrtt_line_deep(line, true, false, 1000000, START_US);
	assert_false(line->deep);
	free(w);
}

/* A line of 20 Mbit/s on which 1 Mbit/s is sent, and what is said of it. */
struct told {
	struct zrtt_line_params params;
	struct zrtt_line_answers answers;
	struct zrtt_line line;
	struct zrtt_loss loss;
	u32 bytes;
	u32 now_us;
};

static void begin_told(struct told *told)
{
	*told = (struct told) { .params = { ZRTT_LINE_BEHIND, MBIT, 20 * MBIT } };
	zrtt_line_begin(&told->line, &told->params, 0, 0);
	zrtt_loss_init(&told->loss, 0, 0);
}

static void tell(struct told *told, u32 pair, u32 gap_us, u32 excess_us)
{
	struct zrtt_line_answer answer = { told->now_us - gap_us, gap_us, excess_us, 7, 0 };

	zrtt_line_answer(&told->answers, pair, &answer);
}

static void tick_told(struct told *told)
{
	told->now_us += TICK_US;
	told->bytes += MBIT * TICK_US / 1000000;
}

static void update_told(struct told *told)
{
	zrtt_line_update(&told->line, &told->params, &told->answers, &told->loss, told->bytes,
			 told->now_us);
}

/* For @us, @rate comes from a line before the queue or is sent to one behind it, 2^-@part of it lost (32:
 * nothing), and each answer is late by @excess_us.
 */
static void tell_for(struct told *told, u32 us, u64 rate, u32 part, u32 excess_us)
{
	u32 i, bytes = (u32)(rate * TICK_US / 1000000);

	for (i = 0; i < us / TICK_US; i++) {
		told->now_us += TICK_US;
		told->bytes += bytes;
		pass_between(&told->loss, 0, 0, bytes, (u32)((u64)bytes >> part));
		tell(told, 1, 10000 + excess_us, excess_us);
		tell(told, 2, 10000 + excess_us, excess_us);
		update_told(told);
	}
}

/* A line of that kind was measured, emptied, and has that rate; one of @ceiling, if any, lost. */
static void begin_known(struct told *told, u32 kind, u64 rate, u64 ceiling)
{
	begin_told(told);
	told->params.kind = kind;
	told->line.state = ZRTT_LINE_HOLD;
	told->line.empty.pending = false;
	told->line.rate = told->line.measured = rate;
	told->loss.ceiling = ceiling;
	told->loss.busy_above = ceiling;
}

/* More comes than the queue lets pass, and the line has no queue: it carries that. */
static void test_what_comes_from_a_line_is_its_rate(void **state)
{
	static const struct { u32 kind; u64 least, most; } cases[] = {
		{ ZRTT_LINE_BEHIND, 2 * MBIT, 3 * MBIT }, { ZRTT_LINE_AHEAD, 7 * MBIT, 9 * MBIT },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct told told;

		begin_known(&told, cases[i].kind, 2 * MBIT, 0);
		tell_for(&told, S / 5, cases[i].kind == ZRTT_LINE_AHEAD ? 8 * MBIT : 2 * MBIT, 32, 0);
		assert_in_range(told.line.rate, cases[i].least, cases[i].most);
	}
}

/* What comes from a line that loses has got through, however much was lost, and is the ceiling though
 * the queue lets less pass.
 */
static void test_what_comes_from_a_line_that_loses_got_through(void **state)
{
	static const u64 rates[] = { 2 * MBIT, 8 * MBIT };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rates); i++) {
		struct told told;

		begin_known(&told, ZRTT_LINE_AHEAD, rates[i], rates[i]);
		while (!told.loss.settling)
			tell_for(&told, TICK_US, 8 * MBIT, 2, 0);
		assert_near(told.loss.ceiling, 8 * MBIT, MBIT / 4);
		assert_near(told.line.rate, 8 * MBIT * 15 / 16, MBIT / 4);
	}
}

/* More comes than the rate that lost, and nothing is lost of it: then that one is no ceiling for long. */
static void test_what_comes_above_a_ceiling_ends_it(void **state)
{
	struct told told;

	(void)state;
	begin_known(&told, ZRTT_LINE_AHEAD, 2 * MBIT, 4 * MBIT);
	tell_for(&told, S, 8 * MBIT, 32, 0);
	assert_near(told.line.rate, 8 * MBIT, MBIT / 2);
	tell_for(&told, ZRTT_LOSS_RETRY_US, 8 * MBIT, 32, 0);
	assert_int_equal(told.loss.ceiling, 0);
}

/* Of a line that fell, what was on its way is lost, whatever the rate is: its queue says what that is to
 * be. It counts if the line is behind the queue, which sends less at once.
 */
static void test_what_a_line_that_fell_loses_is_excused(void **state)
{
	u32 kind;

	(void)state;
	for (kind = ZRTT_LINE_BEHIND; kind <= ZRTT_LINE_AHEAD; kind++) {
		struct told told;

		begin_known(&told, kind, 4 * MBIT, 0);
		told.line.lately = 16 * MBIT;
		told.line.least = 4 * MBIT;
		tell_for(&told, S, 4 * MBIT, 3, 0);
		assert_int_equal(!told.loss.ceiling, kind == ZRTT_LINE_AHEAD);
		/* lately is seconds */
		tell_for(&told, 30 * S, 4 * MBIT, 3, 0);
		assert_true(told.loss.ceiling);
	}
}

/* What is lost of half of what a line carries, while it is emptied, was lost before; later it counts. */
static void test_loss_of_a_line_that_is_emptied_is_excused(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		u32 kind = i / 2 ? ZRTT_LINE_AHEAD : ZRTT_LINE_BEHIND;
		bool emptied = i % 2;
		struct told told;

		begin_known(&told, kind, 8 * MBIT, 0);
		told.line.rate = 4 * MBIT;
		told.line.empty.begun = emptied;
		told.line.empty.least_us = 10000;
		tell_for(&told, ZRTT_LINE_EMPTY_US * 4 / 5, 4 * MBIT, 3, 0);
		assert_int_equal(!told.loss.ceiling, emptied);
		tell_for(&told, S, 8 * MBIT, 3, 0);
		assert_false(told.line.empty.begun);
		assert_true(told.loss.ceiling);
	}
}

/* What comes from a line in bursts is lost before this queue, whatever the rate is. */
static void test_loss_of_bursts_before_the_queue_does_not_count(void **state)
{
	u32 kind;

	(void)state;
	for (kind = ZRTT_LINE_BEHIND; kind <= ZRTT_LINE_AHEAD; kind++) {
		struct told told;

		begin_known(&told, kind, 8 * MBIT, 0);
		tell_for(&told, S, 4 * MBIT, 5, 0);
		assert_int_equal(!told.loss.ceiling, kind == ZRTT_LINE_AHEAD);
		assert_int_equal(told.line.rate == 8 * MBIT, kind == ZRTT_LINE_AHEAD);
		tell_for(&told, 2 * S, told.line.rate, 5, 0);
		assert_true(told.loss.ceiling);
		assert_true(told.line.rate < 8 * MBIT);
	}
}

/* A burst was lost, and the rate is lowered, or the line emptied. Its sender takes 8 s to send it all again,
 * which is half of what it sends: the rate stays, as nothing else is lost.
 */
static void test_old_burst_lowers_the_rate_once(void **state)
{
	u32 emptied, i, old, new;

	(void)state;
	for (emptied = 0; emptied < 2; emptied++) {
		struct zrtt_resent_flow *flow;
		struct told told;

		begin_known(&told, ZRTT_LINE_BEHIND, 4 * MBIT, 0);
		if (emptied) {
			told.line.rate = 2 * MBIT;
			told.line.empty.begun = true;
			told.line.empty.least_us = 10000;
		}
		flow = zrtt_resent_flow(&told.loss.resent, 1, PACKET, 0);
		zrtt_loss_begin(flow, 1, 1, 1, 0, false, 0);
		for (i = 0; i < 8 * S / TICK_US; i++)
			zrtt_loss_pass(&told.loss, flow, i * PACKET, PACKET, false, 0, 0);
		for (old = 0, new = i; old < i; old++, new++) {
			told.now_us += TICK_US;
			told.bytes += (u32)(told.line.rate * TICK_US / 1000000);
			zrtt_loss_pass(&told.loss, flow, old * PACKET, PACKET, false, told.now_us,
				       told.now_us);
			zrtt_loss_pass(&told.loss, flow, new * PACKET, PACKET, false, told.now_us,
				       told.now_us);
			tell(&told, 1, 10000, 0);
			tell(&told, 2, 10000, 0);
			update_told(&told);
		}
		assert_int_equal(told.line.lowered, !emptied);
		assert_int_equal(told.loss.bytes, old * PACKET);
	}
}

/* A queue of a line before this one does not go as less is let pass after a loss: it counts. */
static void test_queue_after_a_loss_is_seen(void **state)
{
	u32 kind;

	(void)state;
	for (kind = ZRTT_LINE_BEHIND; kind <= ZRTT_LINE_AHEAD; kind++) {
		struct told told;

		begin_known(&told, kind, 4 * MBIT, 4 * MBIT);
		told.loss.settling = true;
		tell_for(&told, S / 10, 4 * MBIT, 32, 0);
		tell_for(&told, S / 5, 4 * MBIT, 32, 100000);
		assert_int_equal(told.line.state == ZRTT_LINE_QUEUE, kind == ZRTT_LINE_AHEAD);
	}
}

/* The excess stays the same though the line was measured to have less: the path is longer, or its FIFO
 * is full, and loses.
 */
static void test_full_fifo_is_no_longer_path(void **state)
{
	u32 kind, full;

	(void)state;
	for (kind = ZRTT_LINE_BEHIND; kind <= ZRTT_LINE_AHEAD; kind++) {
		for (full = 0; full < 2; full++) {
			struct told told;

			begin_known(&told, kind, 16 * MBIT, 0);
			told.line.state = ZRTT_LINE_QUEUE;
			tell_for(&told, S / 5, 16 * MBIT, 32, 0);
			tell_for(&told, S / 10, 16 * MBIT, 32, 100000);
			tell_for(&told, 2 * S, 4 * MBIT, full ? 4 : 32, 100000);
			assert_int_equal(zrtt_delay_floor(&told.line.delay) > 0, !full);
		}
	}
}

/* The same queue, seen by who sends ACKs only. */
static void test_queue_of_the_other_direction_is_not_followed(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	for (i = 0; i < 300; i++) {
		tick_told(&told);
		tell(&told, 1, 100000, i < 50 ? 0 : 80000);
		told.answers.of[1].other_q8 = 128;
		update_told(&told);
	}
	assert_int_equal(told.line.rate, 20 * MBIT);
	assert_near(told.line.used_q8, 256 / 20, 2);
	/* it is its own, if nobody else sends */
	for (; i < 400; i++) {
		tick_told(&told);
		tell(&told, 1, 100000, 80000);
		update_told(&told);
	}
	assert_true(told.line.rate < 2 * MBIT);
}

/* A sensor's 200 bytes each 100 ms, whose answers are late: that is no measure of the line. */
static void test_line_that_is_hardly_used_is_not_measured(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	for (i = 0; i < 60 * S / TICK_US; i++) {
		told.now_us += TICK_US;
		if (i % 10 == 0) {
			told.bytes += 200;
			tell(&told, 1, 20000, i < 100 ? 0 : 40000);
		}
		update_told(&told);
		assert_int_equal(told.line.measured, 0);
		assert_int_equal(told.line.rate, 20 * MBIT);
	}
}

/* What passes while nobody answers is no measure, however long that takes; the clock wraps. */
static void test_silence_is_not_measured(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	for (i = 0; i < 100; i++) {
		tick_told(&told);
		tell(&told, 1, 20000, 0);
		update_told(&told);
	}
	assert_true(told.line.pointed);
	told.now_us += 3000U * S;
	update_told(&told);
	assert_false(told.line.pointed);
}

/* Two paths of one host: one that answers seldom, and one with a queue of its own. */
static void test_seldom_answers_are_kept(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	for (i = 0; i < 10 * S / TICK_US; i++) {
		tick_told(&told);
		if (i % (ZRTT_LINE_KEEP_US / 2 / TICK_US) == 0 && i < 8 * S / TICK_US)
			tell(&told, 1, 20000, 0);
		tell(&told, 2, 400000, i < 50 ? 0 : 300000);
		update_told(&told);
		if (i < 8 * S / TICK_US)
			assert_int_equal(told.line.rate, 20 * MBIT);
	}
	/* it is the line's, if nobody else answers */
	assert_true(told.line.rate < 2 * MBIT);
}

/* The first answer of an empty line ends it, but stays below a rate that the line loses. */
static void test_rate_that_empties_a_queue_ends_with_it(void **state)
{
	static const u64 ceilings[] = { 0, 4 * MBIT };
	u32 i, ticks;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ceilings); i++) {
		struct told told;

		begin_told(&told);
		told.line.state = ZRTT_LINE_QUEUE;
		told.line.measured = 8 * MBIT;
		told.line.rate = 2 * MBIT;
		told.loss.ceiling = ceilings[i];
		for (ticks = 0; ticks < 2 * ZRTT_LINE_EPOCH_US / TICK_US + 1; ticks++) {
			tick_told(&told);
			tell(&told, 1, 10000, 0);
			tell(&told, 2, 10000, 0);
			update_told(&told);
		}
		assert_int_equal(told.line.state, ZRTT_LINE_HOLD);
		assert_int_equal(told.line.rate, ceilings[i] ? 4 * MBIT / 32 * 31 : 8 * MBIT);
	}
}

/* The most that is allowed is twenty times what gets through, and some of that is lost. */
static void test_first_rate_that_loses_says_nothing(void **state)
{
	u64 measured;
	u32 i;

	(void)state;
	for (measured = 0; measured <= 4 * MBIT; measured += 4 * MBIT) {
		struct told told;

		begin_told(&told);
		told.params.min = MBIT / 8;
		told.line.measured = measured;
		for (i = 0; i < 300000 / TICK_US; i++) {
			tick_told(&told);
			if (!told.loss.hosts[ZRTT_LOSS_FAR][0].sent)
				pass_between(&told.loss, 0, 0, 40000, 20000);
			update_told(&told);
		}
		assert_near(told.line.rate, measured ? 10 * MBIT : MBIT / 2, MBIT / 20);
		assert_int_equal(told.loss.ceiling, measured ? 20 * MBIT : 0);
	}
}

/* UDP and QUIC say nothing of a loss: the rate stays. */
static void test_without_tcp_the_rate_stays(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	told.params.min = MBIT / 8;
	told.line.rate = MBIT;
	for (i = 0; i < 60 * S / TICK_US; i++) {
		tick_told(&told);
		update_told(&told);
	}
	assert_int_equal(told.line.state, ZRTT_LINE_BLIND);
	assert_int_equal(told.line.rate, MBIT);
}

/* An epoch in which @bytes are sent, @data of TCP, of which @lost were lost. */
static void epoch_without_answers(struct told *told, u32 bytes, u32 data, u32 lost)
{
	told->now_us += TICK_US;
	told->bytes += bytes;
	pass_between(&told->loss, 0, 0, data, lost);
	update_told(told);
}

/* For @us, @rate comes, one of @part bytes of it TCP, and nobody answers. */
static void come_for(struct told *told, u32 us, u64 rate, u32 part)
{
	u32 i, bytes = (u32)(rate * TICK_US / 1000000);

	for (i = 0; i < us / TICK_US; i++)
		epoch_without_answers(told, bytes, bytes / part, 0);
}

/* If as much comes as before though more would be let pass, the line before the queue has no more. */
static void test_without_answers_even_arrivals_are_the_rate(void **state)
{
	static const struct { u32 kind, part; u64 other; bool found; } cases[] = {
		{ ZRTT_LINE_AHEAD, 1, 4 * MBIT, true },
		{ ZRTT_LINE_AHEAD, 1, 4 * MBIT + MBIT / 16, true },
		{ ZRTT_LINE_AHEAD, 1, 5 * MBIT, false },
		{ ZRTT_LINE_AHEAD, 3, 4 * MBIT, false },
		{ ZRTT_LINE_AHEAD, 1, 15 * MBIT, false },
		{ ZRTT_LINE_BEHIND, 1, 4 * MBIT, false },
	};
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct told told;

		begin_told(&told);
		told.params.kind = cases[i].kind;
		told.line.rate = 16 * MBIT;
		for (j = 0; j < 5 && !told.loss.full; j++) {
			come_for(&told, S / 2, 4 * MBIT, cases[i].part);
			come_for(&told, S / 2, cases[i].other, cases[i].part);
		}
		assert_int_equal(told.loss.full, cases[i].found);
		if (cases[i].found)
			assert_near(told.line.rate, 4 * MBIT * 15 / 16, MBIT / 16);
		else
			assert_int_equal(told.line.rate, 16 * MBIT);
	}
}

/* After that the line is tried again soon, by more and more, and found again without a loss. */
static void test_without_answers_a_faster_line_is_found(void **state)
{
	static const u64 lines[] = { 4 * MBIT, 16 * MBIT };
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(lines); i++) {
		struct told told;
		u32 raised = 0;
		u64 most = 0;

		begin_told(&told);
		told.params.kind = ZRTT_LINE_AHEAD;
		come_for(&told, 6 * S, 4 * MBIT, 1);
		assert_true(told.loss.full);
		for (j = 0; j < 12 * S / TICK_US; j++) {
			u64 before = told.line.rate;

			come_for(&told, TICK_US, before < lines[i] ? before : lines[i], 1);
			raised += told.line.rate > before;
			most = told.line.rate > most ? told.line.rate : most;
		}
		assert_near(told.loss.through, lines[i], lines[i] / 32);
		assert_in_range(most, lines[i] + lines[i] / 16, lines[i] / 16 * 31);
		assert_in_range(raised, 2, 6);
	}
}

/* Nor does a loss of the little that was sent at first, and a low rate rises. */
static void test_without_answers_little_tcp_does_not_hold_the_rate(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	told.params.min = 16000;
	for (i = 0; i < 60 * S / TICK_US; i++) {
		bool sends = i > 300 && i < 400;

		epoch_without_answers(&told, sends ? 600 : 0, sends ? 570 : 0,
				      i == 320 ? 2 * ZRTT_LOSS_PACKET : 0);
	}
	assert_int_equal(told.line.rate, told.params.max);
	told.line.rate = told.params.min;
	for (; i < 120 * S / TICK_US; i++) {
		u32 bytes = (u32)(told.line.rate * TICK_US / 1000000);

		epoch_without_answers(&told, bytes, bytes * 95 / 100, 0);
	}
	assert_true(told.line.rate > MBIT);
}

/* Nor does a round in which a sender of a long RTT sends again what it lost, and nothing else. */
static void test_without_answers_a_repair_is_no_measure(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	told.params.min = 16000;
	for (i = 0; i < 60 * S / TICK_US; i++) {
		u32 again = i >= 300 && i < 310 ? ZRTT_LOSS_PACKET : 0;

		epoch_without_answers(&told, again, again, i >= 302 ? again : 0);
	}
	assert_int_equal(told.line.rate, told.params.max);
}

/* Hardly anything is sent for @idle_us, then 1 Mbit/s, of which 100 ms later @lost of 250 are lost. Return:
 * the rate that it is changed to.
 */
static u64 rate_after_a_silence(struct told *told, u32 idle_us, u32 lost, bool answers)
{
	u64 before = told->line.rate;
	u32 i;

	told->params.min = MBIT / 64;
	for (i = 0; i < (idle_us + S) / TICK_US && told->line.rate == before; i++) {
		bool idle = i < idle_us / TICK_US;

		tick_told(told);
		told->bytes -= idle ? MBIT * TICK_US / 1000000 - 100 : 0;
		pass_between(&told->loss, 0, 0, idle ? 0 : 2500,
			     i < (idle_us + S / 10) / TICK_US ? 0 : lost * 10);
		if (answers)
			tell(told, 1, 10000, 0);
		update_told(told);
	}
	return told->line.rate;
}

/* The mean is not what the line carries, whoever answers. */
static void test_first_loss_after_a_silence_is_not_a_mean(void **state)
{
	u32 idle_us, answers;

	(void)state;
	for (answers = 0; answers < 2; answers++) {
		for (idle_us = S / 4; idle_us < 6 * S; idle_us += S / 4) {
			struct told told;
			u64 rate;

			begin_told(&told);
			rate = rate_after_a_silence(&told, idle_us, 120, answers);
			assert_true(rate >= MBIT / 5 && rate <= MBIT);
		}
	}
}

/* Nor later: a rate that loses a tenth falls by that, a sixteenth, and what an epoch of the idle time was. */
static void test_loss_after_an_idle_time_is_not_a_mean(void **state)
{
	u32 idle_us;

	(void)state;
	for (idle_us = S / 4; idle_us < 6 * S; idle_us += S / 4) {
		struct told told;
		u64 rate;

		begin_told(&told);
		told.line.rate = MBIT;
		rate = rate_after_a_silence(&told, idle_us, 25, false);
		assert_true(rate >= MBIT * 3 / 4 && rate < MBIT);
	}
}

/* A page of which a tenth was lost says nothing an hour later. */
static void test_old_loss_is_forgotten(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	told.line.measured = told.line.rate;
	for (i = 0; i < 8; i++) {
		tick_told(&told);
		told.bytes += 5 * PACKET;
		pass_between(&told.loss, 0, 0, 5 * PACKET, i ? PACKET / 2 : 0);
		update_told(&told);
	}
	told.now_us += 3600 * S;
	told.bytes += PACKET;
	update_told(&told);
	assert_int_equal(told.line.rate, 20 * MBIT);
}

/* Bursts use the rate, whatever the pauses between them: it returns towards the one that lost. */
static void test_pauses_are_no_time_of_a_round(void **state)
{
	struct told told;
	u32 i, j;

	(void)state;
	begin_told(&told);
	told.params.min = MBIT / 2;
	told.line.rate = told.line.measured = MBIT;
	told.loss.ceiling = 2 * MBIT;
	for (i = 0; i < 15; i++) {
		for (j = 0; j < 20; j++) {
			tick_told(&told);
			pass_between(&told.loss, 0, 0, MBIT * TICK_US / 1000000, 0);
			tell(&told, 1, 10000, 0);
			update_told(&told);
		}
		told.now_us += S;
	}
	assert_int_equal(told.line.rate, MBIT * 3 / 2);
}

/* Beside traffic without a pause the same bursts do not seem to use the rate. A part that a path loses
 * whatever it is does not take it away, nor hold it once that ends.
 */
static void test_loss_of_bursts_of_a_path_is_not_followed(void **state)
{
	struct told told;
	u64 least = 20 * MBIT;
	u32 i;

	(void)state;
	begin_told(&told);
	told.line.measured = told.line.rate;
	for (i = 0; i < 120 * S / TICK_US; i++) {
		bool burst = i % 125 < 6;

		tick_told(&told);
		told.bytes += burst ? 19 * MBIT * TICK_US / 1000000 : 0;
		pass_between(&told.loss, 0, 0, burst ? 38000 : 100,
			     burst && i < 60 * S / TICK_US ? 800 : 0);
		tell(&told, 1, 10000, 0);
		update_told(&told);
		if (told.line.rate < least)
			least = told.line.rate;
	}
	assert_true(least >= 10 * MBIT);
	assert_int_equal(told.loss.ceiling, 0);
}

/* Nor is a rate held that bursts were lost at, once nothing has been lost for long. */
static void test_loss_of_bursts_is_forgotten(void **state)
{
	struct told told;
	u32 i;

	(void)state;
	begin_told(&told);
	told.line.measured = told.line.rate;
	for (i = 0; i < 60 * S / TICK_US; i++) {
		bool burst = i % 125 < 6;

		tick_told(&told);
		told.bytes += burst ? 5 * MBIT * TICK_US / 1000000 : 100 - MBIT * TICK_US / 1000000;
		pass_between(&told.loss, 0, 0, burst ? 10000 : 100,
			     burst && i < 5 * S / TICK_US ? 2500 : 0);
		tell(&told, 1, 10000, 0);
		update_told(&told);
		if (i == 15 * S / TICK_US)
			assert_true(told.loss.ceiling && told.line.rate < 15 * MBIT);
	}
	assert_int_equal(told.loss.ceiling, 0);
}

/* A line that fell to 1 Mbit/s, of one connection that has 125 kB on its way: an answer comes a second
 * after the one before.
 */
static void test_line_is_measured_by_answers_of_a_long_queue(void **state)
{
	u32 i, at_us = 0, left_us = 0, wait_us = 0;
	struct told told;
	double queue = 0;

	(void)state;
	begin_told(&told);
	told.params.min = MBIT / 16;
	told.line.measured = told.line.lately = told.line.rate;
	for (i = 0; i < 20 * S / TICK_US; i++) {
		double carried = fmin(queue, 1.0 * MBIT * TICK_US / 1e6);
		double sent = fmin((double)told.line.rate * TICK_US / 1e6, 125000 - queue + carried);

		told.now_us += TICK_US;
		told.bytes += (u32)sent;
		queue += sent - carried;
		if (is_due(at_us, told.now_us)) {
			if (left_us)
				tell(&told, 1, told.now_us - left_us, wait_us);
			wait_us = (u32)(queue * 1e6 / MBIT);
			left_us = told.now_us;
			at_us = told.now_us + wait_us + 20000;
		}
		update_told(&told);
	}
	assert_true(told.line.measured < 2 * MBIT && told.line.rate < 2 * MBIT);
}

/* A line with a queue stands still for 2 s, and goes on at its rate. Senders stop after 200 ms, but for
 * packets that they send again on timeouts, and all that they send for 200 ms when they have answers.
 */
static void test_line_that_stood_still_has_its_rate(void **state)
{
	struct zrtt_resent_flow *flow;
	struct told told;
	u32 i, wait_us;

	(void)state;
	begin_told(&told);
	told.params.min = MBIT / 16;
	flow = zrtt_resent_flow(&told.loss.resent, 1, ZRTT_LOSS_PACKET, 0);
	zrtt_loss_begin(flow, 1, 1, 1, 0, false, 0);
	for (i = 0; i < 20 * S / TICK_US; i++) {
		u32 at_us = i * TICK_US;
		bool still = at_us >= 5 * S && at_us < 7 * S;
		bool again = at_us >= 5 * S + S / 5 && at_us < 7 * S + S / 5;
		bool timeout = at_us > 5 * S + ZRTT_LINE_STILL_US && i % 2;
		bool sends = !still || at_us < 5 * S + S / 5 || timeout;

		tick_told(&told);
		if (!sends)
			told.bytes -= MBIT * TICK_US / 1000000;
		else
			zrtt_loss_pass(&told.loss, flow, (again ? i % 300 : i) * PACKET, PACKET,
				       false, told.now_us, told.now_us);
		wait_us = at_us < S ? 0 : at_us >= 7 * S && at_us < 7 * S + S / 5 ? 2 * S : 60000;
		if (!still)
			tell(&told, 1, wait_us + 10000, wait_us);
		update_told(&told);
		assert_int_equal(told.loss.ceiling, 0);
		if (at_us >= 2 * S)
			assert_true(told.line.measured >= MBIT * 7 / 8);
	}
	assert_true(told.loss.bytes > 50 * PACKET);
}

/* What was sent since the latest answer waits, but for what the line has sent since. */
static void test_queue_is_that_of_now(void **state)
{
	struct zrtt_line_params params = { ZRTT_LINE_BEHIND, MBIT, 50 * MBIT };
	struct zrtt_line line;

	(void)state;
	zrtt_line_begin(&line, &params, 0, START_US);
	line.measured = 8 * MBIT;	/* a byte in a microsecond */
	line.delay.us = 77;
	line.latest = (struct zrtt_sent_mark) { START_US, ~0U - 999 };
	assert_int_equal(zrtt_line_waits(&line, &params, 49000, START_US + 30000), 20000);
	assert_int_equal(zrtt_line_waits(&line, &params, 9000, START_US + 30000), 0);
	assert_int_equal(zrtt_line_waits(&line, &params, 9000, START_US - 1), 77);
	/* before the queue it is what is let pass that counts */
	params.kind = ZRTT_LINE_AHEAD;
	line.rate = 4 * MBIT;
	line.delay.us = 20000;
	assert_int_equal(zrtt_line_waits(&line, &params, 9000, START_US + 30000), 5000);
}

/* Who had a queue and is silent has the line as it was measured. */
static void test_silence_ends_a_queue(void **state)
{
	struct world *w = new_world(ZRTT_LINE_BEHIND, 20 * MBIT, 40000);

	(void)state;
	run(w, 10 * S);
	w->rate = 10 * MBIT;
	while (w->line.state != ZRTT_LINE_QUEUE || w->line.measured > 11 * MBIT)
		run(w, STEP_US);
	w->silent = true;
	run(w, 3 * S);
	assert_int_equal(w->line.state, ZRTT_LINE_BLIND);
	assert_int_equal(w->line.rate, w->line.measured);
	free(w);
}

/* What is measured of a line at 4 Mbyte/s when 800 kbyte passed in 100 ms, at @rate. */
static u64 measured_at(u64 rate, bool queued, bool queue, u32 latest_us, u64 *passed)
{
	struct zrtt_line_params params = { ZRTT_LINE_BEHIND, MBIT, 50 * MBIT };
	struct zrtt_line line;

	zrtt_line_begin(&line, &params, 0, START_US);
	line.rate = rate;
	line.measured = 4000000;
	line.pointed = true;
	line.point = (struct zrtt_sent_mark) { START_US, 0 };
	line.point_queued = queued;
	line.delay.latest_us = line.delay.us = latest_us;
	zrtt_line_measure(&line, (struct zrtt_sent_mark) { START_US + 100000, 800000 }, queue);
	*passed = line.passed;
	return line.measured;
}

static void test_line_is_measured_while_it_is_busy(void **state)
{
	u64 passed;

	(void)state;
	/* with a queue at both ends, or one now that is worth half of the time */
	assert_int_equal(measured_at(9000000, true, true, 10000, &passed), 8000000);
	assert_int_equal(measured_at(9000000, false, true, 50000, &passed), 8000000);
	assert_int_equal(measured_at(9000000, false, true, 49999, &passed), 4000000);
	assert_int_equal(passed, 0);
	/* without one it can do that at least, but what is sent is no more than the rate */
	assert_int_equal(measured_at(9000000, false, false, 0, &passed), 8000000);
	assert_int_equal(passed, 8000000);
	assert_int_equal(measured_at(6000000, false, false, 0, &passed), 6000000);
	assert_int_equal(passed, 8000000);
	/* of what a queue before gave nothing is known */
	assert_int_equal(measured_at(9000000, true, false, 0, &passed), 4000000);
	assert_int_equal(measured_at(3000000, false, false, 0, &passed), 4000000);
}

/* What is measured of one that was emptied at 4 Mbyte/s, when 0.1 Mbyte/s passed for @span_us. */
static u64 measured_over(u32 span_us)
{
	struct zrtt_line_params params = { ZRTT_LINE_BEHIND, 1000, 50 * MBIT };
	struct zrtt_line line;

	zrtt_line_begin(&line, &params, 0, START_US);
	line.state = ZRTT_LINE_QUEUE;
	line.measured = 4000000;
	line.pointed = line.point_queued = true;
	line.point = (struct zrtt_sent_mark) { START_US, 0 };
	line.delay.latest_us = line.delay.us = span_us;
	zrtt_line_measure(&line, (struct zrtt_sent_mark) { START_US + span_us, span_us / 10 }, true);
	return line.measured;
}

static void test_little_of_an_old_rate_is_much_of_a_line_that_fell(void **state)
{
	(void)state;
	assert_near(measured_over(ZRTT_LINE_STILL_US - 10000), 761000, 1000);
	assert_near(measured_over(ZRTT_LINE_STILL_US), 100000, 10);
	assert_near(measured_over(4 * ZRTT_LINE_STILL_US), 100000, 10);
}

/* What the rate becomes from 1 Mbyte/s in 0.1 s, at the largest step. */
static u64 grown(u32 kind, u64 passed, u64 most)
{
	struct zrtt_line_params params = { kind, MBIT, 50 * MBIT };
	struct zrtt_line line;

	zrtt_line_begin(&line, &params, 0, START_US);
	line.step = ZRTT_LINE_GROW_MAX;
	line.passed = passed;
	zrtt_line_grow(&line, &params, 1000000, most, 100000);
	return line.rate;
}

static void test_rate_grows_to_twice_what_passed(void **state)
{
	(void)state;
	assert_int_equal(grown(ZRTT_LINE_BEHIND, 0, 50 * MBIT), 1500000);
	assert_int_equal(grown(ZRTT_LINE_BEHIND, 750000, 50 * MBIT), 1500000);
	assert_int_equal(grown(ZRTT_LINE_BEHIND, 600000, 50 * MBIT), 1200000);
	assert_int_equal(grown(ZRTT_LINE_BEHIND, 400000, 50 * MBIT), 1000000);
	assert_int_equal(grown(ZRTT_LINE_BEHIND, 600000, 1100000), 1100000);
	/* or a quarter above it */
	assert_int_equal(grown(ZRTT_LINE_AHEAD, 880000, 50 * MBIT), 1100000);
}

/* Is the line still measured from the last answer, after @silent_us in which a packet passed each
 * @gap_us?
 */
static bool keeps_its_point(u32 silent_us, u32 gap_us)
{
	struct zrtt_line_params params = { ZRTT_LINE_BEHIND, 1000, 50 * MBIT };
	struct zrtt_line_answers answers = {};
	struct zrtt_loss loss;
	struct zrtt_line line;
	u32 at_us, bytes = 0;

	zrtt_line_begin(&line, &params, 0, START_US);
	zrtt_loss_init(&loss, 0, START_US);
	line.rate = line.measured = 4000000;
	line.gap_us = 20000;
	line.pointed = true;
	for (at_us = gap_us; at_us <= silent_us; at_us += gap_us) {
		bytes += PACKET;
		zrtt_line_update(&line, &params, &answers, &loss, bytes, START_US + at_us);
	}
	return line.pointed;
}

/* A line that passes on something is slow, however long its answers take. */
static void test_slow_line_does_not_stand(void **state)
{
	const u32 still_us = ZRTT_LINE_STILL_US;

	(void)state;
	assert_true(keeps_its_point(4 * S, 100000));
	assert_true(keeps_its_point(4 * S, still_us));
	assert_false(keeps_its_point(4 * S, still_us + 10000));
	assert_true(keeps_its_point(ZRTT_DELAY_WINDOW_US, 100000));
	assert_false(keeps_its_point(ZRTT_DELAY_WINDOW_US + 200000, 100000));
}

/* The first step is 2^-11, doubled for each 12/256 that the least rate of late was below the largest,
 * without the first two; 2^-3 at most.
 */
static void test_first_step_is_by_what_changed_lately(void **state)
{
	static const struct { u32 least, step; } cases[] = {
		{ 2560, 11 }, { 2560 - 239, 11 }, { 2560 - 359, 11 }, { 2560 - 360, 10 },
		{ 2560 - 480, 9 }, { 2560 - 1200, 3 }, { 1, 3 },
	};
	struct zrtt_line line = {};
	u32 i;

	(void)state;
	assert_int_equal(zrtt_line_step(&line), 11);
	line.lately = 2560;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		line.least = cases[i].least;
		assert_int_equal(zrtt_line_step(&line), cases[i].step);
	}
}

/* The longer the queue, the longer the time between two points, but for up to 100 ms. */
static void test_points_are_farther_apart_where_there_is_a_queue(void **state)
{
	struct zrtt_line line = { .rate = 4542 * 1000 };

	(void)state;
	/* half an epoch, and three times 4 ms and three packets */
	assert_int_equal(zrtt_line_span_us(&line), 12500 + 3 * (4000 + 1000));
	line.delay.noise.us = 2000;
	assert_int_equal(zrtt_line_span_us(&line), 12500 + 3 * (2000 + 4000 + 1000));
	line.delay.us = 30000;
	assert_int_equal(zrtt_line_span_us(&line), 12500 + 3 * 7000 + 15000);
	line.delay.us = 1000000;
	assert_int_equal(zrtt_line_span_us(&line), 12500 + 3 * 7000 + 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_is_found_and_kept),
		cmocka_unit_test(test_first_queue_is_emptied),
		cmocka_unit_test(test_line_before_the_queue_is_found),
		cmocka_unit_test(test_queue_does_not_add_up),
		cmocka_unit_test(test_most_that_is_allowed_may_rise),
		cmocka_unit_test(test_line_that_falls_and_rises),
		cmocka_unit_test(test_line_that_always_changes),
		cmocka_unit_test(test_idle_line_is_remembered),
		cmocka_unit_test(test_rate_is_within_bounds),
		cmocka_unit_test(test_without_answers_the_rate_stays),
		cmocka_unit_test(test_without_answers_a_low_rate_rises),
		cmocka_unit_test(test_few_answers_are_enough),
		cmocka_unit_test(test_one_slow_host_is_not_followed),
		cmocka_unit_test(test_lone_slow_host_is_not_followed),
		cmocka_unit_test(test_queue_of_the_other_direction_is_not_followed),
		cmocka_unit_test(test_ack_that_waited_is_not_a_queue),
		cmocka_unit_test(test_longer_path_is_learnt),
		cmocka_unit_test(test_delay_that_varies_is_learnt),
		cmocka_unit_test(test_line_that_drops_is_found),
		cmocka_unit_test(test_loss_is_told),
		cmocka_unit_test(test_loss_of_a_lone_path_is_not_followed),
		cmocka_unit_test(test_loss_of_one_host_is_not_followed),
		cmocka_unit_test(test_data_that_a_host_sends_twice_are_not_followed),
		cmocka_unit_test(test_long_queue_of_few_answers_is_seen),
		cmocka_unit_test(test_loss_beside_a_long_queue_is_not_followed),
		cmocka_unit_test(test_what_comes_from_a_line_is_its_rate),
		cmocka_unit_test(test_what_comes_from_a_line_that_loses_got_through),
		cmocka_unit_test(test_what_comes_above_a_ceiling_ends_it),
		cmocka_unit_test(test_what_a_line_that_fell_loses_is_excused),
		cmocka_unit_test(test_loss_of_a_line_that_is_emptied_is_excused),
		cmocka_unit_test(test_loss_of_bursts_before_the_queue_does_not_count),
		cmocka_unit_test(test_old_burst_lowers_the_rate_once),
		cmocka_unit_test(test_queue_after_a_loss_is_seen),
		cmocka_unit_test(test_full_fifo_is_no_longer_path),
		cmocka_unit_test(test_line_that_is_hardly_used_is_not_measured),
		cmocka_unit_test(test_silence_is_not_measured),
		cmocka_unit_test(test_seldom_answers_are_kept),
		cmocka_unit_test(test_rate_that_empties_a_queue_ends_with_it),
		cmocka_unit_test(test_first_rate_that_loses_says_nothing),
		cmocka_unit_test(test_old_loss_is_forgotten),
		cmocka_unit_test(test_pauses_are_no_time_of_a_round),
		cmocka_unit_test(test_loss_of_bursts_of_a_path_is_not_followed),
		cmocka_unit_test(test_loss_of_bursts_is_forgotten),
		cmocka_unit_test(test_line_is_measured_by_answers_of_a_long_queue),
		cmocka_unit_test(test_line_that_stood_still_has_its_rate),
		cmocka_unit_test(test_without_answers_loss_is_followed),
		cmocka_unit_test(test_without_tcp_the_rate_stays),
		cmocka_unit_test(test_without_answers_even_arrivals_are_the_rate),
		cmocka_unit_test(test_without_answers_a_faster_line_is_found),
		cmocka_unit_test(test_without_answers_little_tcp_does_not_hold_the_rate),
		cmocka_unit_test(test_without_answers_a_repair_is_no_measure),
		cmocka_unit_test(test_first_loss_after_a_silence_is_not_a_mean),
		cmocka_unit_test(test_loss_after_an_idle_time_is_not_a_mean),
		cmocka_unit_test(test_queue_is_that_of_now),
		cmocka_unit_test(test_silence_ends_a_queue),
		cmocka_unit_test(test_line_is_measured_while_it_is_busy),
		cmocka_unit_test(test_little_of_an_old_rate_is_much_of_a_line_that_fell),
		cmocka_unit_test(test_rate_grows_to_twice_what_passed),
		cmocka_unit_test(test_slow_line_does_not_stand),
		cmocka_unit_test(test_first_step_is_by_what_changed_lately),
		cmocka_unit_test(test_points_are_farther_apart_where_there_is_a_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
