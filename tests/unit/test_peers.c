// SPDX-License-Identifier: GPL-2.0
/* peers.h: queues of a device as one, what they say and what each has of the rate. */
#include "unit.h"
#include <zrtt/zrtt.h>

#define MS		1000000ULL
#define S		(1000 * MS)
#define START		(77 * S)
#define PERIOD		(16 * MS)
#define FRAME		1514
#define QUEUES		5
#define RATE		2500000		/* bytes per second: 20 Mbit/s */

/* A queue with its flows' sums, and those it says them to. */
struct queue {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_peer peer;
};

static void queue_init(struct queue *q)
{
	static struct zrtt_flow slots[ZRTT_WAYS];

	*q = (struct queue) {};
	zrtt_params_init(&q->params);
	zrtt_table_init(&q->vars.table, slots, ZRTT_WAYS);
}

/* It has @flows, each with @rate bytes per epoch and that RTT. */
static void queue_has(struct queue *q, u32 flows, u32 rate, u32 rtt_us)
{
	struct zrtt_table *t = &q->vars.table;

	t->live = flows;
	t->by_source[ZRTT_RTT_HINT] = flows;
	t->counted = flows;
	t->sum_rate = (u64)flows * rate;
	t->sum_log_rate = (s64)flows * zrtt_log2(rate);
	t->sum_rtt_us = (u64)flows * rtt_us;
}

static void queue_tick_with(struct zrtt_device *d, struct queue *q, u32 sojourn_us, u32 packets,
			    u64 now_ns)
{
	zrtt_tick_begin(&q->params, &q->vars, sojourn_us, now_ns);
	zrtt_tick_with_peers(&q->params, &q->vars, d, &q->peer, sojourn_us, packets, now_ns);
	zrtt_tick_end(&q->params, &q->vars);
}

static void queue_tick(struct zrtt_device *d, struct queue *q, u32 sojourn_us, u64 now_ns)
{
	queue_tick_with(d, q, sojourn_us, 1000, now_ns);
}

/* Who has no company goes on as if nobody had heard of any. */
static void one_queue_is_as_without_peers(void **state)
{
	struct zrtt_device d = {};
	struct queue alone, one;
	u64 seed = 1, now = START;
	u32 i, rises = 0, falls = 0;

	(void)state;
	queue_init(&alone);
	queue_init(&one);
	zrtt_peer_join(&d, &one.peer);
	for (i = 0; i < 2000; i++) {
		u32 sojourn_us = i % 500 < 250 ? unit_between(&seed, 1, 60000) :
						 unit_between(&seed, 1, 500);
		u32 flows = unit_between(&seed, 0, 9), rate = unit_between(&seed, 1, 90000);
		u32 packets = unit_between(&seed, 1, 100);

		queue_has(&alone, flows, rate, 50000);
		queue_has(&one, flows, rate, 50000);
		zrtt_count_weight(&alone.vars.law, 3 * ZRTT_Q16_ONE, true);
		zrtt_count_weight(&one.vars.law, 3 * ZRTT_Q16_ONE, true);
		zrtt_tick(&alone.params, &alone.vars, sojourn_us, packets, now);
		queue_tick_with(&d, &one, sojourn_us, packets, now);
		assert_int_equal(one.vars.ctl.p_q30, alone.vars.ctl.p_q30);
		assert_int_equal(one.vars.ctl.aim_us, alone.vars.ctl.aim_us);
		/* where nobody counts, nobody says what a packet takes */
		if (flows)
			assert_int_equal(one.vars.ctl.falls, alone.vars.ctl.falls);
		assert_int_equal(one.vars.law.log_norm, alone.vars.law.log_norm);
		assert_int_equal(one.vars.law.alpha_q16, alone.vars.law.alpha_q16);
		assert_int_equal(one.vars.law.rtt_avg_us, alone.vars.law.rtt_avg_us);
		assert_int_equal(one.vars.law.gain_q16, alone.vars.law.gain_q16);
		assert_int_equal(one.vars.table.due, alone.vars.table.due);
		assert_int_equal(one.vars.lanes.rate, alone.vars.lanes.rate);
		rises += alone.vars.ctl.p_q30 > 0;
		falls += alone.vars.ctl.falls;
		now += PERIOD + unit_between(&seed, 0, 8 * MS);
	}
	assert_in_range(rises, 500, 2000);
	assert_in_range(falls, 100, 1000);
}

/* All get what follows from the sums of all; where one waits far longer, half of that counts. */
static void queues_have_one_law(void **state)
{
	struct zrtt_device d = {};
	struct queue q[QUEUES];
	struct zrtt_sums sums = {};
	struct queue whole;
	double logs = 0;
	u32 flows = 0;
	u32 i, round;

	(void)state;
	queue_init(&whole);
	for (i = 0; i < QUEUES; i++) {
		queue_init(&q[i]);
		zrtt_peer_join(&d, &q[i].peer);
		queue_has(&q[i], i, 1000 << i, 10000 * i);
		q[i].vars.table.other_rate = i * (500 << i);
		q[i].vars.table.young_rate = q[i].vars.table.other_rate;
		zrtt_sums_add(&sums, &(struct zrtt_sums) { .sum_rate = i * (1000 << i) });
		logs += i * log2(1000 << i);
		flows += i;
	}
	queue_has(&whole, flows, (u32)exp2(logs / flows), 30000);
	whole.vars.table.sum_rate = sums.sum_rate;
	whole.vars.table.other_rate = sums.sum_rate / 2;
	whole.vars.table.young_rate = sums.sum_rate / 2;
	for (round = 0; round < 200; round++)
		for (i = 0; i < QUEUES; i++)
			queue_tick(&d, &q[i], i == 2 ? 40000 : 1000,
				   START + round * PERIOD + i * 3 * MS);
	for (round = 0; round < 200; round++)
		zrtt_tick(&whole.params, &whole.vars, 20000, 1000, START + round * PERIOD);
	assert_true(whole.vars.ctl.p_q30 > 0);
	/* the first tick of all had nobody's sojourn but the first one's */
	assert_near(q[0].vars.ctl.p_q30 / (double)whole.vars.ctl.p_q30, 1, 0.05);
	assert_near(d.ctl.young_q16 / (double)whole.vars.ctl.young_q16, 1, 0.05);
	for (i = 0; i < QUEUES; i++) {
		assert_int_equal(q[i].vars.ctl.p_q30, d.ctl.p_q30);
		assert_near(q[i].vars.table.due / exp2(logs / flows), 1, 1e-3);
		assert_near(q[i].vars.table.rtt_avg_us, 30000, 60);
	}
}

static void flows_of_all_hosts_have_one_mean(void **state)
{
	const struct zrtt_sums flows = {};
	struct zrtt_sums hosts = {};

	(void)state;
	zrtt_sums_add(&hosts, &(struct zrtt_sums) { .counted = 1, .sum_log_flow = 10 << ZRTT_Q16 });
	zrtt_sums_add(&hosts, &(struct zrtt_sums) {});
	zrtt_sums_add(&hosts, &(struct zrtt_sums) { .counted = 3, .sum_log_flow = 42 << ZRTT_Q16 });
	assert_int_equal(zrtt_mean_rate_of_hosts(&flows, &hosts), 1 << 13);
}

/* Of a rate of 2^10 in one queue and of 2^12 in another. */
static void hosts_of_all_queues_have_one_due_share(void **state)
{
	struct zrtt_peer peers[2] = {};
	struct zrtt_device d = {};
	struct zrtt_law none = {};
	struct zrtt_params params;
	u32 i;

	(void)state;
	zrtt_params_init(&params);
	for (i = 0; i < 2; i++) {
		zrtt_peer_join(&d, &peers[i]);
		peers[i].hosts.counted = ZRTT_PART_ALL;
		peers[i].hosts.sum_log_rate = ZRTT_PART_ALL * ((10LL + 2 * i) << ZRTT_Q16);
	}
	for (i = 0; i < 4; i++)
		zrtt_peer_tick(&params.ctl, &params.law, &d, &peers[i % 2], &none, 30000, 100,
			       START + i * PERIOD);
	assert_int_equal(d.hosts_law.log_due, 11 << ZRTT_Q16);
}

/* More than a mean can be taken of are not taken. */
static void sums_do_not_wrap(void **state)
{
	struct zrtt_sums all = { .counted = ZRTT_COUNTED_MAX - 2, .sum_rate = 5 };

	(void)state;
	zrtt_sums_add(&all, &(struct zrtt_sums) { .counted = 3, .sum_rate = 7 });
	assert_int_equal(all.counted, ZRTT_COUNTED_MAX - 2);
	assert_int_equal(all.sum_rate, 5);
	zrtt_sums_add(&all, &(struct zrtt_sums) { .counted = 2, .sum_rate = 7 });
	assert_int_equal(all.counted, ZRTT_COUNTED_MAX);
	assert_int_equal(all.sum_rate, 12);
}

/* Queues wait as long as their flows do in the mean. */
static void sojourn_is_the_mean_over_flows(void **state)
{
	struct zrtt_device d = {};
	struct queue q[3], alone;
	u32 round, i;

	(void)state;
	queue_init(&alone);
	queue_has(&alone, 20, 90000, 30000);
	for (i = 0; i < 3; i++) {
		queue_init(&q[i]);
		zrtt_peer_join(&d, &q[i].peer);
		queue_has(&q[i], i ? 7 * i - 1 : 1, 90000, 30000);
	}
	/* (1 x 50 + 6 x 30 + 13 x 20) / 20 */
	for (round = 0; round < 200; round++) {
		for (i = 0; i < 3; i++)
			queue_tick(&d, &q[i], i ? 40000 - 10000 * i : 50000,
				   START + round * PERIOD + i);
		zrtt_tick(&alone.params, &alone.vars, 24500 + 5000 * !round, 1000,
			  START + round * PERIOD);
	}
	assert_true(alone.vars.ctl.p_q30 > 0);
	assert_near(d.ctl.root_q30 / (double)alone.vars.ctl.root_q30, 1, 0.05);
}

/* However many queues tick, the controller does once per period. */
static void queues_do_not_hasten_the_controller(void **state)
{
	struct zrtt_device d = {};
	struct queue q[QUEUES], alone;
	u32 i, round;

	(void)state;
	queue_init(&alone);
	for (i = 0; i < QUEUES; i++) {
		queue_init(&q[i]);
		zrtt_peer_join(&d, &q[i].peer);
	}
	for (round = 0; round < 50; round++) {
		zrtt_tick(&alone.params, &alone.vars, 30000, 1000, START + round * PERIOD);
		for (i = 0; i < QUEUES; i++)
			queue_tick(&d, &q[i], 30000, START + round * PERIOD + i);
	}
	assert_int_equal(d.ctl.p_q30, alone.vars.ctl.p_q30);
}

/* The mean weight is of the packets of all queues: where few flows are, each is marked more. */
static void weights_are_normalised_together(void **state)
{
	struct zrtt_device d = {};
	struct queue q[2];
	u32 round, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		queue_init(&q[i]);
		zrtt_peer_join(&d, &q[i].peer);
	}
	/* P_b grows until its half is exact enough, and is held by half of the target */
	for (round = 0; round < 500; round++)
		for (i = 0; i < 2; i++)
			queue_tick(&d, &q[i], 30000, START + round * PERIOD);
	assert_true(d.ctl.p_q30 > ZRTT_P_ONE / 10);
	/* the first update would be of one queue's packets alone, and count for much */
	d.law.norm_ticks = ZRTT_NORM_TICKS;
	for (; round < 1000; round++) {
		for (i = 0; i < 3; i++)
			zrtt_count_weight(&q[0].vars.law, q[0].vars.ctl.p_q30 / 2, true);
		zrtt_count_weight(&q[1].vars.law, q[1].vars.ctl.p_q30 * 5ULL / 2, true);
		for (i = 0; i < 2; i++)
			queue_tick(&d, &q[i], 7500, START + round * PERIOD);
	}
	assert_int_equal(q[0].vars.law.log_norm, q[1].vars.law.log_norm);
	assert_in_range(abs(q[0].vars.law.log_norm), 0, 500);
	assert_int_equal(q[0].vars.law.weighed + q[1].vars.law.weighed, 0);
}

/* So is the mean length of packets: what a queue says between two updates is there at the next. */
static void bytes_of_all_queues_are_summed_up(void **state)
{
	const struct zrtt_law law = { .sum_bytes = 1000, .sum_squares = 1000 * 1000 };
	struct zrtt_peer peers[3] = {};
	struct zrtt_device d = {};
	struct zrtt_params params;
	u32 i;

	(void)state;
	zrtt_params_init(&params);
	for (i = 0; i < 3; i++)
		zrtt_peer_join(&d, &peers[i]);
	zrtt_peer_tick(&params.ctl, &params.law, &d, &peers[0], &(struct zrtt_law) {}, 30000, 100,
		       START);
	for (i = 1; i < 3; i++)
		zrtt_peer_tick(&params.ctl, &params.law, &d, &peers[i], &law, 30000, 100, START + i);
	assert_int_equal(d.law.sum_bytes, 2000);
	assert_int_equal(d.law.sum_squares, 2 * 1000 * 1000);
}

/* What a queue said is forgotten: its sojourn soon, its flows as if they were silent. */
static void silent_queue_is_forgotten(void **state)
{
	struct zrtt_device d = {};
	struct queue q[2];
	u64 now = START;
	u32 i, due;

	(void)state;
	for (i = 0; i < 2; i++) {
		queue_init(&q[i]);
		zrtt_peer_join(&d, &q[i].peer);
		queue_has(&q[i], 1, i ? 64000 : 1000, 10000);
	}
	for (i = 0; i < 100; i++, now += PERIOD) {
		queue_tick(&d, &q[0], 100, now);
		queue_tick(&d, &q[1], 80000, now);
	}
	assert_true(d.ctl.p_q30 > 0);
	due = d.law.due;
	assert_near(due, 8000, 10);
	for (i = 0; i < 60; i++, now += PERIOD)
		queue_tick(&d, &q[0], 100, now);
	/* PI2 decays where nothing waits */
	assert_in_range(d.ctl.p_q30, 0, ZRTT_P_ONE / 1000);
	assert_int_equal(d.law.due, due);
	for (i = 0; i < 80; i++, now += PERIOD)
		queue_tick(&d, &q[0], 100, now);
	assert_near(d.law.due, 1000, 2);
}

/* A device that was idle comes back with a lower P_b, as a queue does. */
static void idle_device_forgets(void **state)
{
	struct zrtt_device d = {};
	struct queue q;
	u64 now = START;
	u32 i, before;

	(void)state;
	queue_init(&q);
	zrtt_peer_join(&d, &q.peer);
	for (i = 0; i < 200; i++, now += PERIOD)
		queue_tick(&d, &q, 60000, now);
	before = d.ctl.root_q30;
	assert_true(before > 0);
	now += 2 * S;
	queue_tick(&d, &q, 0, now);
	assert_in_range(d.ctl.root_q30, 0, before / 8);
}

/* The root of P_b, 1/2, 537 ms after the last update, when @sojourn_us is seen. */
static double root_after_a_while(u32 sojourn_us)
{
	struct zrtt_device d = { .tick_ns = START };
	struct zrtt_peer peer = {};
	struct zrtt_params params;

	zrtt_params_init(&params);
	zrtt_params_derive(&params);
	zrtt_peer_join(&d, &peer);
	zrtt_ctl_set_root(&d.ctl, ZRTT_P_ONE / 2);
	zrtt_peer_tick(&params.ctl, &params.law, &d, &peer, &(struct zrtt_law) {}, sojourn_us, 1000,
		       START + (1ULL << ZRTT_IDLE_HALVING_SHIFT));
	return d.ctl.root_q30 / (double)ZRTT_P_ONE;
}

static void device_forgets_what_it_was_idle_for(void **state)
{
	(void)state;
	assert_near(root_after_a_while(0), 0.25, 0.01);
	/* where something waits it was not idle */
	assert_in_range(100 * root_after_a_while(7500), 47, 53);
}

/* Queues come and go in any order, and each is there once. */
static void queues_come_and_go(void **state)
{
	struct zrtt_peer peers[QUEUES], *peer;
	struct zrtt_device d = {};
	bool there[QUEUES] = {};
	u64 seed = 3;
	u32 i, n, found, expected;

	(void)state;
	for (n = 0; n < 10000; n++) {
		i = unit_between(&seed, 0, QUEUES - 1);
		if (there[i] || unit_between(&seed, 0, 9) == 0)
			zrtt_peer_leave(&d, &peers[i]);
		else
			zrtt_peer_join(&d, &peers[i]);
		there[i] = !there[i] && d.peers == &peers[i];
		for (found = 0, peer = d.peers; peer; peer = peer->next, found++) {
			assert_true(there[peer - peers]);
			assert_in_range(found, 0, QUEUES - 1);
		}
		for (expected = 0, i = 0; i < QUEUES; i++)
			expected += there[i];
		assert_int_equal(found, expected);
	}
}

static void dues_are_those_of_the_flows(void **state)
{
	const u64 nine = 9 * ZRTT_DUES_ONE;

	(void)state;
	assert_int_equal(zrtt_peer_dues(0, 0, 0, ZRTT_DUES_ONE), ZRTT_DUES_ONE);
	assert_int_equal(zrtt_peer_dues(0, 0, 5000, ZRTT_DUES_ONE), ZRTT_DUES_ONE);
	assert_int_equal(zrtt_peer_dues(nine, 0, 0, ZRTT_DUES_ONE), nine);
	/* shares of hosts */
	assert_int_equal(zrtt_peer_dues(nine / 4, 0, 0, ZRTT_DUES_ONE), nine / 4);
	assert_int_equal(zrtt_peer_dues(nine / 10, 0, 0, ZRTT_DUES_PART), nine / 10);
	assert_int_equal(zrtt_peer_dues(1, 0, 0, ZRTT_DUES_PART), ZRTT_DUES_PART);
	assert_int_equal(zrtt_peer_dues(nine, 12500, 5000, ZRTT_DUES_ONE),
			 nine + 5 * ZRTT_DUES_ONE / 2);
	assert_int_equal(zrtt_peer_dues(nine, 1ULL << 54, 1, ZRTT_DUES_ONE), ZRTT_DUES_MAX);
	assert_int_equal(zrtt_peer_dues(1ULL << 40, 0, 0, ZRTT_DUES_ONE), ZRTT_DUES_MAX);
	/* as many flows as a table has */
	assert_int_equal(zrtt_peer_dues(4194304ULL * ZRTT_DUES_ONE, 0, 0, ZRTT_DUES_ONE),
			 4194304ULL * ZRTT_DUES_ONE);
}

/* A queue with a shaper, as the qdisc has it. */
struct shaped {
	struct zrtt_peer peer;
	struct zrtt_shaper shaper;
	struct zrtt_shaper_params link;
	u64 split_ns;
	u64 unsaid;
	u64 sent;
	u64 since;
	u32 burst;
	bool waits;
};

/* Packets come, as many as leave or a burst of them, or none is left. */
static void shaped_wait(struct shaped *q, bool waits, u64 now)
{
	q->since = now;
	q->waits = waits;
}

static void shaped_split(struct zrtt_device *d, struct shaped *q, u64 now)
{
	u64 rate;

	zrtt_peer_took(d, &q->peer, &q->link, q->unsaid,
		       zrtt_shaper_begin_ns(&q->shaper, q->since));
	rate = zrtt_peer_split(d, &q->peer, q->unsaid, now);
	zrtt_split_take(&q->shaper, &q->link, rate, now);
	q->peer.begin_ns = zrtt_shaper_begin_ns(&q->shaper, q->since);
	q->peer.active_until_ns = zrtt_split_until_ns(&q->shaper, &q->link, FRAME, now);
	q->unsaid = 0;
	q->split_ns = now + ZRTT_SPLIT_NS;
}

/* What is queued goes, as far as the shaper lets it. */
static void shaped_run(struct zrtt_device *d, struct shaped *q, u64 now)
{
	while (q->waits) {
		if (zrtt_split_due(&q->shaper, &q->link, FRAME, q->split_ns, now))
			shaped_split(d, q, now);
		if (!zrtt_shaper_ready(&q->shaper, now))
			return;
		zrtt_shaper_leave(&q->link, &q->shaper, FRAME, q->since, now);
		q->sent += FRAME;
		q->unsaid += FRAME;
		if (q->burst && !--q->burst)
			q->waits = false;
	}
}

static void shaped_init(struct zrtt_device *d, struct shaped *q, u64 rate, u32 dues)
{
	*q = (struct shaped) { .link = { .rate = rate, .raw = true } };
	shaped_wait(q, true, START);
	zrtt_shaper_derive(&q->link);
	zrtt_peer_join(d, &q->peer);
	q->peer.rate = rate;
	q->peer.dues_q8 = dues * ZRTT_DUES_ONE;
}

/* All of them, in steps that a timer may have. */
static u64 run_all(struct zrtt_device *d, struct shaped *q, u32 queues, u64 now, u64 time)
{
	u64 until = now + time;
	u32 i;

	for (; now < until; now += 50000)
		for (i = 0; i < queues; i++)
			shaped_run(d, &q[i], now);
	return now;
}

static u64 sent_by(struct shaped *q, u32 queues)
{
	u64 sum = 0;

	while (queues--) {
		sum += q[queues].sent;
		q[queues].sent = 0;
	}
	return sum;
}

static const u32 DUES[] = { 2, 4, 5, 9 };
#define SHAPED		ARRAY_LEN(DUES)

static u64 shaped_start(struct zrtt_device *d, struct shaped *q, u64 rate)
{
	u64 now;
	u32 i;

	for (i = 0; i < SHAPED; i++)
		shaped_init(d, &q[i], rate, DUES[i]);
	now = run_all(d, q, SHAPED, START, S);
	sent_by(q, SHAPED);
	return now;
}

/* The rate is split by what flows are due, and all of it is used. */
static void rate_is_split_by_dues(void **state)
{
	const u64 rates[] = { 125000, RATE, 125000000 };
	struct shaped q[SHAPED];
	u32 i, r;

	(void)state;
	for (r = 0; r < ARRAY_LEN(rates); r++) {
		struct zrtt_device d = {};
		u64 now = shaped_start(&d, q, rates[r]), sum = 0;

		run_all(&d, q, SHAPED, now, 20 * S);
		for (i = 0; i < SHAPED; i++) {
			assert_near(q[i].sent / (20.0 * rates[r]) * 20 / DUES[i], 1, 0.015);
			sum += q[i].sent;
		}
		assert_near(sum / (20.0 * rates[r]), 1, 0.005);
	}
}

/* The share of a queue that empties is used by the others within ticks, and it has it back at
 * once when it wakes; the sum stays what it is.
 */
static void share_of_an_empty_queue_is_used(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = shaped_start(&d, q, RATE), sum;
	u32 i;

	(void)state;
	q[3].waits = false;
	now = run_all(&d, q, SHAPED, now, 100 * MS);
	assert_near(sent_by(q, SHAPED) / (0.1 * RATE), 1, 0.03);
	shaped_wait(&q[3], true, now);
	now = run_all(&d, q, SHAPED, now, 100 * MS);
	assert_near(q[3].sent / (0.1 * RATE * 9 / 20), 1, 0.1);
	assert_near(sent_by(q, SHAPED) / (0.1 * RATE), 1, 0.06);
	/* and on, and off */
	for (i = 0, sum = 0; i < 100; i++) {
		shaped_wait(&q[1 + i % 3], !q[1 + i % 3].waits, now);
		now = run_all(&d, q, SHAPED, now, 30 * MS);
		sum += sent_by(q, SHAPED);
	}
	assert_near(sum / (3.0 * RATE), 1, 0.01);
}

/* A queue that wakes is counted with its first packet, whenever the others looked. */
static void waking_queue_has_its_share_at_once(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	const u64 now = START;
	u32 i;

	(void)state;
	for (i = 0; i < SHAPED; i++)
		shaped_init(&d, &q[i], RATE, DUES[i]);
	/* a quarter of the span was not used before */
	assert_int_equal(zrtt_peer_split(&d, &q[3].peer, 0, now), RATE);
	q[3].peer.active_until_ns = START + S;
	assert_near(zrtt_peer_split(&d, &q[0].peer, 0, now + 1) / (RATE * 1.25),
		    2 / 11.0, 1e-3);
	q[0].peer.active_until_ns = START + S;
	assert_near(zrtt_peer_split(&d, &q[1].peer, 0, now + 2) / (RATE * 1.25),
		    4 / 15.0, 1e-3);
}

/* The rest of a packet goes on at the rate of now, where that is quite another. */
static void packet_on_the_link_goes_on_faster(void **state)
{
	struct zrtt_shaper_params link = { .rate = RATE / 10, .raw = true };
	struct zrtt_shaper s = {};

	(void)state;
	zrtt_shaper_derive(&link);
	zrtt_shaper_leave(&link, &s, FRAME, START, START);
	zrtt_split_take(&s, &link, RATE / 9, START);
	assert_int_equal(link.rate, RATE / 9);
	assert_near(s.next_ns - START, FRAME * 10e9 / RATE, 1);
	zrtt_split_take(&s, &link, RATE, START);
	assert_int_equal(link.rate, RATE);
	assert_near(s.next_ns - START, FRAME * 1e9 / RATE * 10 / 9, 500);
	/* one that is not busy does not become so */
	zrtt_split_take(&s, &link, RATE / 10, START + S);
	assert_true(zrtt_shaper_ready(&s, START + S));
}

/* It asks each millisecond, and before a packet that takes longer than that. Until then, and a
 * millisecond more, the others know that it has something to send.
 */
static void queue_that_sends_is_not_forgotten(void **state)
{
	struct zrtt_shaper_params link = { .rate = RATE / 10, .raw = true };
	struct zrtt_shaper s = { .next_ns = START };
	const u64 frame_ns = FRAME * 10 * S / RATE, short_ns = 200 * 10 * S / RATE;

	(void)state;
	zrtt_shaper_derive(&link);
	assert_true(frame_ns > MS && short_ns < MS);
	assert_true(zrtt_split_due(&s, &link, FRAME, START + MS, START));
	assert_false(zrtt_split_due(&s, &link, FRAME, START + MS, START - 1));
	assert_false(zrtt_split_due(&s, &link, 200, START + MS, START + MS - 1));
	assert_true(zrtt_split_due(&s, &link, 200, START + MS, START + MS));
	assert_near(zrtt_split_until_ns(&s, &link, FRAME, START + 5) - START, 5 + frame_ns + 2 * MS, 1);
	s.next_ns = START + 7 * MS;
	assert_int_equal(zrtt_split_until_ns(&s, &link, FRAME, START), START + 9 * MS);
}

/* A queue that takes less than its share leaves the rest, whatever it is due. */
static void rest_of_a_share_is_used(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = shaped_start(&d, q, RATE), sum = 0, little = 0;
	u32 i;

	(void)state;
	q[3].waits = false;
	for (i = 0; i < 500; i++) {
		/* a packet in 10 ms is 1.2 of the 9 Mbit/s that it might have */
		shaped_split(&d, &q[3], now);
		zrtt_shaper_leave(&q[3].link, &q[3].shaper, FRAME, now, now);
		q[3].unsaid += FRAME;
		little += FRAME;
		now = run_all(&d, q, SHAPED, now, 10 * MS);
		sum += sent_by(q, SHAPED);
	}
	assert_near((sum + little) / (5.0 * RATE), 1, 0.01);
}

/* A packet comes to a queue that has no other, and leaves. */
static void shaped_packet(struct zrtt_device *d, struct shaped *q, u64 now)
{
	shaped_wait(q, false, now);
	if (zrtt_split_due(&q->shaper, &q->link, FRAME, q->split_ns, now))
		shaped_split(d, q, now);
	assert_true(zrtt_shaper_ready(&q->shaper, now));
	zrtt_shaper_leave(&q->link, &q->shaper, FRAME, now, now);
	q->sent += FRAME;
	q->unsaid += FRAME;
}

/* So do queues that have a packet in each millisecond, and 18 of 20 dues: one waits for all that
 * these do not take.
 */
static void rest_of_busy_queues_is_used(void **state)
{
	const u64 rates[] = { 12500000, 125000000, 1250000000 };
	struct shaped q[SHAPED];
	u32 i, r, n;

	(void)state;
	for (r = 0; r < ARRAY_LEN(rates); r++) {
		struct zrtt_device d = {};
		u64 now = shaped_start(&d, q, rates[r]);

		for (i = 1; i < SHAPED; i++)
			q[i].waits = false;
		now = run_all(&d, q, SHAPED, now, 20 * MS);
		for (n = 0; n < 1000; n++) {
			for (i = 1; i < SHAPED; i++)
				shaped_packet(&d, &q[i], now);
			now = run_all(&d, q, SHAPED, now, MS);
			if (n == 19)
				sent_by(q, SHAPED);
		}
		assert_near(sent_by(q, SHAPED) / (0.98 * rates[r]), 1, 0.01);
	}
}

/* And of queues that come in bursts, and take all of their part while one lasts. */
static void rest_of_bursts_is_used(void **state)
{
	const u64 rate = 12500000, every[SHAPED] = { 0, 10, 5, 2 };
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = shaped_start(&d, q, rate), from = 0;
	u32 i, n;

	(void)state;
	for (i = 1; i < SHAPED; i++)
		q[i].waits = false;
	for (n = 0; n < 4000; n++) {
		for (i = 1; i < SHAPED; i++) {
			if (n % every[i])
				continue;
			if (!q[i].waits)
				shaped_wait(&q[i], true, now);
			q[i].burst += 6;
		}
		if (n == 100) {
			sent_by(q, SHAPED);
			from = now;
		}
		now = run_all(&d, q, SHAPED, now, 750000);
	}
	assert_near(sent_by(q, SHAPED) / ((double)(now - from) / S * rate), 1, 0.005);
}

/* What is left is theirs again when they want it: all at once, they send little more than
 * their parts before the others see it.
 */
static void queues_have_their_parts_back_at_once(void **state)
{
	struct zrtt_peer *peer;
	struct zrtt_device d = {};
	struct shaped q[16];
	u64 rate = 125000000, now = START, sum;
	u32 i, n;

	(void)state;
	for (i = 0; i < ARRAY_LEN(q); i++) {
		shaped_init(&d, &q[i], rate, 1);
		q[i].waits = !i;
	}
	for (n = 0; n < 100; n++) {
		for (i = 1; i < ARRAY_LEN(q); i++)
			shaped_packet(&d, &q[i], now);
		now = run_all(&d, q, ARRAY_LEN(q), now, MS);
	}
	for (peer = d.peers; peer; peer = peer->next)
		assert_true(zrtt_peer_active(peer, now));
	for (i = 1; i < ARRAY_LEN(q); i++)
		shaped_wait(&q[i], true, now);
	sent_by(q, ARRAY_LEN(q));
	now = run_all(&d, q, ARRAY_LEN(q), now, MS);
	sum = sent_by(q, ARRAY_LEN(q));
	assert_in_range(sum, rate / 1000, 3 * rate / 1000);
	now = run_all(&d, q, ARRAY_LEN(q), now, 19 * MS);
	sum += sent_by(q, ARRAY_LEN(q));
	assert_in_range(sum, 0.02 * rate, 0.025 * rate);
	run_all(&d, q, ARRAY_LEN(q), now, 100 * MS);
	for (i = 0; i < ARRAY_LEN(q); i++)
		assert_near(q[i].sent / (0.1 * rate / ARRAY_LEN(q)), 1, 0.1);
}

/* Nobody saves up an idle second. */
static void idle_time_is_not_saved(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = shaped_start(&d, q, RATE);
	u32 i;

	(void)state;
	now += S;
	for (i = 0; i < SHAPED; i++)
		shaped_wait(&q[i], true, now);
	run_all(&d, q, SHAPED, now, 100 * MS);
	/* a frame of each, and what the clock may be behind */
	assert_in_range(sent_by(q, SHAPED), 0.1 * RATE,
			0.1 * RATE + SHAPED * FRAME + 0.006 * RATE);
}

/* Where queues were told different rates, the least is the device's. */
static void least_rate_counts(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = shaped_start(&d, q, RATE);

	(void)state;
	q[1].peer.rate = RATE / 4;
	now = run_all(&d, q, SHAPED, now, S);
	sent_by(q, SHAPED);
	run_all(&d, q, SHAPED, now, 10 * S);
	assert_near(sent_by(q, SHAPED) / (10.0 * RATE / 4), 1, 0.01);
}

/* Of queues below one device, one that does not shape has no part in the rate. */
static void who_does_not_shape_has_no_part(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = shaped_start(&d, q, RATE);

	(void)state;
	q[3].peer.rate = 0;
	q[3].peer.active_until_ns = ~0ULL;
	q[3].waits = false;
	now = run_all(&d, q, SHAPED, now, S);
	sent_by(q, SHAPED);
	run_all(&d, q, SHAPED, now, 10 * S);
	assert_near(q[2].sent / (10.0 * RATE * 5 / 11), 1, 0.02);
	assert_near(sent_by(q, SHAPED) / (10.0 * RATE), 1, 0.01);
}

/* Of many flows, and at the highest rate that there is. */
static void many_flows_have_what_they_are_due(void **state)
{
	const u32 dues[] = { 1, 65536, 1048576, 4194304 };
	const u64 rate = 125000000000ULL;
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	double sum = 0;
	u32 i;

	(void)state;
	for (i = 0; i < SHAPED; i++) {
		shaped_init(&d, &q[i], rate, dues[i]);
		q[i].peer.active_until_ns = START + S;
		sum += dues[i];
	}
	d.busy_ns = START;
	for (i = 0; i < SHAPED; i++)
		assert_near(zrtt_peer_split(&d, &q[i].peer, 0, START) / (rate * dues[i] / sum),
			    1, i ? 1e-4 : 0.1);
}

/* What goes in a millisecond at any rate counts, and lead is what follows. */
static void all_that_is_sent_counts(void **state)
{
	const u64 rates[] = { 1000, RATE, 8000000000ULL, 12500000000ULL, 125000000000ULL };
	u32 r;

	(void)state;
	for (r = 0; r < ARRAY_LEN(rates); r++) {
		struct zrtt_device d = {};
		struct shaped q;
		u64 now = START, before;

		shaped_init(&d, &q, rates[r], 1);
		zrtt_peer_split(&d, &q.peer, 0, now);
		q.peer.active_until_ns = START + S;
		before = d.busy_ns;
		/* before the next look, which bounds it */
		zrtt_peer_split(&d, &q.peer, rates[r] * 16 / 1000, now);
		assert_near((d.busy_ns - before) / (rates[r] * 16 / 1000 * 1e9 / rates[r]), 1, 1e-3);
		/* any number fits */
		before = d.busy_ns;
		zrtt_peer_split(&d, &q.peer, ~0ULL, now);
		assert_true((s64)(d.busy_ns - before) >= (s64)S * 999 / 1000);
	}
}

/* Who goes on alone leaves no rate, no flows and no sojourn to the others. */
static void muted_queue_is_forgotten_at_once(void **state)
{
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	struct queue waits;
	u64 now = shaped_start(&d, q, RATE);

	(void)state;
	queue_init(&waits);
	zrtt_peer_join(&d, &waits.peer);
	queue_has(&waits, 7, 1000, 10000);
	queue_tick(&d, &waits, 40000, now);
	queue_tick(&d, &waits, 40000, now + PERIOD);
	waits.peer.rate = RATE / 4;
	assert_true(d.law.due);
	zrtt_peer_mute(&waits.peer);
	q[1].peer.rate = RATE / 2;
	zrtt_peer_mute(&q[1].peer);
	q[1].waits = false;
	now = run_all(&d, q, SHAPED, now, S);
	sent_by(q, SHAPED);
	now = run_all(&d, q, SHAPED, now, 10 * S);
	assert_near(sent_by(q, SHAPED) / (10.0 * RATE), 1, 0.01);
	/* it is still there, and may come back */
	assert_ptr_equal(d.peers, &waits.peer);
	q[1].peer.rate = RATE;
	q[1].peer.dues_q8 = ZRTT_DUES_ONE;
	shaped_wait(&q[1], true, now);
	now = run_all(&d, q, SHAPED, now, S);
	sent_by(q, SHAPED);
	run_all(&d, q, SHAPED, now, 10 * S);
	assert_near(q[1].sent / (10.0 * RATE / 17), 1, 0.05);
}

/* So on a slow link, where a packet takes longer than all that: the sum of queues that wake one
 * after the other is soon the rate.
 */
static void queues_that_wake_keep_to_a_slow_rate(void **state)
{
	const u64 rate = 125000;
	struct zrtt_device d = {};
	struct shaped q[SHAPED];
	u64 now = START;
	u32 i;

	(void)state;
	for (i = 0; i < SHAPED; i++) {
		shaped_init(&d, &q[i], rate, 1);
		q[i].waits = !i;
	}
	now = run_all(&d, q, SHAPED, now, S);
	sent_by(q, SHAPED);
	for (i = 1; i < SHAPED; i++) {
		shaped_wait(&q[i], true, now);
		now = run_all(&d, q, SHAPED, now, 5 * MS);
	}
	now = run_all(&d, q, SHAPED, now, 85 * MS);
	assert_in_range(sent_by(q, SHAPED), 0.1 * rate, 0.125 * rate);
}

/* Anything may come: a part is no more than the whole, and never nothing. */
static void part_is_within_bounds(void **state)
{
	struct shaped q[QUEUES];
	struct zrtt_device d = {};
	u64 seed = 5, now = 0, least;
	u32 i, n;

	(void)state;
	for (i = 0; i < QUEUES; i++)
		shaped_init(&d, &q[i], RATE, 1);
	for (n = 0; n < 300000; n++) {
		struct zrtt_peer *peer = &q[unit_between(&seed, 0, QUEUES - 1)].peer;
		u64 rate;

		now += unit_spread(&seed, 1, UINT32_MAX);
		if (!unit_between(&seed, 0, 9))
			peer->rate = 1000 + (unit_random(&seed) >> unit_between(&seed, 27, 50));
		if (!unit_between(&seed, 0, 9))
			peer->dues_q8 = unit_spread(&seed, ZRTT_DUES_ONE, ZRTT_DUES_MAX);
		rate = zrtt_peer_split(&d, peer, unit_random(&seed) >> unit_between(&seed, 0, 63),
				       now);
		peer->active_until_ns = now + unit_spread(&seed, 0, UINT32_MAX);
		for (least = ~0ULL, i = 0; i < QUEUES; i++)
			least = q[i].peer.rate < least ? q[i].peer.rate : least;
		assert_in_range(rate, ZRTT_SPLIT_RATE_LEAST, d.rate);
		/* the others may have been told since it was looked */
		if (d.split_ns != now + ZRTT_SPLIT_NS)
			continue;
		assert_int_equal(d.rate, least);
		assert_true((s64)(d.busy_ns - now) <= (s64)zrtt_device_span_ns(&d));
		assert_in_range(d.to_split, 0, d.rate + d.rate / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_queue_is_as_without_peers),
		cmocka_unit_test(queues_have_one_law),
		cmocka_unit_test(flows_of_all_hosts_have_one_mean),
		cmocka_unit_test(hosts_of_all_queues_have_one_due_share),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(sojourn_is_the_mean_over_flows),
		cmocka_unit_test(queues_do_not_hasten_the_controller),
		cmocka_unit_test(weights_are_normalised_together),
		cmocka_unit_test(bytes_of_all_queues_are_summed_up),
		cmocka_unit_test(silent_queue_is_forgotten),
		cmocka_unit_test(idle_device_forgets),
		cmocka_unit_test(device_forgets_what_it_was_idle_for),
		cmocka_unit_test(queues_come_and_go),
		cmocka_unit_test(dues_are_those_of_the_flows),
		cmocka_unit_test(rate_is_split_by_dues),
		cmocka_unit_test(share_of_an_empty_queue_is_used),
		cmocka_unit_test(waking_queue_has_its_share_at_once),
		cmocka_unit_test(queues_that_wake_keep_to_a_slow_rate),
		cmocka_unit_test(packet_on_the_link_goes_on_faster),
		cmocka_unit_test(queue_that_sends_is_not_forgotten),
		cmocka_unit_test(rest_of_a_share_is_used),
		cmocka_unit_test(rest_of_busy_queues_is_used),
		cmocka_unit_test(rest_of_bursts_is_used),
		cmocka_unit_test(queues_have_their_parts_back_at_once),
		cmocka_unit_test(idle_time_is_not_saved),
		cmocka_unit_test(least_rate_counts),
		cmocka_unit_test(who_does_not_shape_has_no_part),
		cmocka_unit_test(many_flows_have_what_they_are_due),
		cmocka_unit_test(all_that_is_sent_counts),
		cmocka_unit_test(muted_queue_is_forgotten_at_once),
		cmocka_unit_test(part_is_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
