// SPDX-License-Identifier: GPL-2.0
/* lane.h: who is sparse, how far lanes get ahead, and which packets of a flow are queued. */
#include "unit.h"
#include <zrtt/zrtt.h>

#define FLOWS		64
#define START		1000	/* epoch at which tests begin */
#define DUE		100000	/* bytes per epoch */
#define LARGE		(ZRTT_LANE_SMALL + 1)

static const u64 epoch_ns = 1ULL << ZRTT_EPOCH_SHIFT;

static struct zrtt_table new_table(u32 flows)
{
	struct zrtt_table t;

	zrtt_table_init(&t, calloc(flows, sizeof(struct zrtt_flow)), flows);
	return t;
}

/* A flow that is in the sums. */
static struct zrtt_flow *live_flow(struct zrtt_table *t, u32 tag)
{
	struct zrtt_flow *f = zrtt_flow_get(t, tag, START, 0);

	zrtt_flow_update(t, f, START);
	return f;
}

static struct zrtt_lanes new_lanes(u32 due, u64 sent)
{
	struct zrtt_lanes lanes = { .ticks = ZRTT_LANE_TICKS };

	zrtt_lanes_tick(&lanes, true, false, 1, due);
	zrtt_lanes_end_epoch(&lanes, due, sent, false);
	return lanes;
}

/* The lane of a packet of @bytes at the begin of the epoch of @f's last update. */
static enum zrtt_lane lane_of(struct zrtt_lanes *lanes, const struct zrtt_table *t,
			      const struct zrtt_flow *f, u32 bytes)
{
	enum zrtt_lane lane = zrtt_lane_of(lanes, t, f, bytes, START * epoch_ns);

	return lane == ZRTT_LANE_THIN && zrtt_lane_seldom(lanes, f) ?
	       zrtt_lane_of_seldom(lanes, t, f, bytes) : lane;
}

static void leave(struct zrtt_table *t, enum zrtt_lane lane, u32 packets)
{
	t->lanes[lane].out += packets;
}

/* Who is sparse */

static void without_lanes_all_is_bulk(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);

	(void)state;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_SPARSE);
	assert_int_equal(lane_of(&lanes, &t, f, ZRTT_LANE_SMALL), ZRTT_LANE_THIN);
	zrtt_lanes_tick(&lanes, false, false, 1, DUE);
	assert_int_equal(lanes.rate, 0);
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	assert_int_equal(lane_of(&lanes, &t, f, 1), ZRTT_LANE_BULK);
	free(t.slots);
}

static void sparse_flow_sends_less_than_its_due(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);

	(void)state;
	f->rate = DUE - 1;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_SPARSE);
	f->rate = DUE;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	/* half of it, once it was marked */
	f->hit = 1;
	f->rate = DUE / 2;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	f->rate--;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_SPARSE);
	/* small packets up to all of it */
	f->rate = DUE - 1;
	assert_int_equal(lane_of(&lanes, &t, f, ZRTT_LANE_SMALL), ZRTT_LANE_THIN);
	f->rate = DUE;
	assert_int_equal(lane_of(&lanes, &t, f, ZRTT_LANE_SMALL), ZRTT_LANE_BULK);
	free(t.slots);
}

/* Where the due share is large, all of it, hit or not. */
static void flow_of_a_large_due_share_is_sparse_while_it_is_hit(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(ZRTT_LARGE_DUE - 1, DUE);
	u32 i;

	(void)state;
	assert_near(ZRTT_LARGE_DUE * 8 / (epoch_ns / 1e9), 11.6e6, 1e5);
	f->hit = 1;
	f->rate = ZRTT_LARGE_DUE - 2;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	lanes = new_lanes(ZRTT_LARGE_DUE, DUE);
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_LARGE);
	f->rate = ZRTT_LARGE_DUE;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	/* behind those with less than half of it */
	for (i = 0; i < 2; i++) {
		f->hit = i;
		f->rate = ZRTT_LARGE_DUE / 2;
		assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_LARGE);
		assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
		f->rate--;
		assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_SPARSE);
	}
	/* a host's flow: by its own */
	lanes = new_lanes(ZRTT_LARGE_DUE - 1, DUE);
	f->rate = ZRTT_LARGE_DUE - 1;
	assert_int_equal(zrtt_lane_of_host(&lanes, &t, f, ZRTT_LARGE_DUE, LARGE,
					   START * epoch_ns), ZRTT_LANE_LARGE);
	/* with the low-latency lane none is large */
	zrtt_lanes_tick(&lanes, true, true, 1, ZRTT_LARGE_DUE);
	f->rate = ZRTT_LARGE_DUE / 2;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	/* nor where marks are not few */
	zrtt_lanes_tick(&lanes, true, false, ZRTT_LANE_LARGE_P, ZRTT_LARGE_DUE);
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_LARGE);
	zrtt_lanes_tick(&lanes, true, false, ZRTT_LANE_LARGE_P + 1, ZRTT_LARGE_DUE);
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	free(t.slots);
}

static void rate_is_a_constant_until_the_due_share_is_known(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(0, 0);

	(void)state;
	assert_near(ZRTT_LANE_RATE * 8 / (epoch_ns / 1e9), 361e3, 1e3);
	f->rate = ZRTT_LANE_RATE - 1;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_SPARSE);
	f->rate++;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_BULK);
	free(t.slots);
}

static void due_share_is_believed_after_some_updates(void **state)
{
	struct zrtt_lanes lanes = {};
	u32 i;

	(void)state;
	for (i = 1; i < ZRTT_LANE_TICKS; i++) {
		zrtt_lanes_tick(&lanes, true, false, 1, 1000);
		assert_int_equal(lanes.rate, ZRTT_LANE_RATE);
		assert_int_equal(zrtt_lanes_rate(&lanes, 1), ZRTT_LANE_RATE);
	}
	zrtt_lanes_tick(&lanes, true, false, 1, 1000);
	assert_int_equal(lanes.rate, 1000);
	/* a flow of a host has a share of its own */
	assert_int_equal(zrtt_lanes_rate(&lanes, 1), 1);
	assert_int_equal(zrtt_lanes_rate(&lanes, 0), ZRTT_LANE_RATE);
	/* nobody is held back: begin anew */
	zrtt_lanes_tick(&lanes, true, false, 0, 1000);
	assert_int_equal(lanes.rate, ZRTT_LANE_RATE);
	zrtt_lanes_tick(&lanes, true, false, 1, 10 * ZRTT_LANE_RATE);
	assert_int_equal(lanes.rate, 10 * ZRTT_LANE_RATE);
}

/* A burst, half of what the flow leaves of its due share, which is bounded, and what the rate
 * gives in the time since the flow's last update.
 */
static void burst_grows_with_time_and_with_what_is_left(void **state)
{
	static const u32 rates[] = { 0, DUE / 4, DUE - 2000, DUE - 1 };
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);
	u32 eighths, i;

	(void)state;
	for (eighths = 0; eighths <= 8 * ZRTT_UPDATE_EPOCHS; eighths++) {
		u64 now_ns = START * epoch_ns + eighths * epoch_ns / 8;

		for (i = 0; i < ARRAY_LEN(rates); i++) {
			u32 left = (DUE - rates[i]) / 2;

			left = left < ZRTT_LANE_LEFT_MAX ? left : ZRTT_LANE_LEFT_MAX;
			f->rate = rates[i];
			f->bytes = ZRTT_LANE_BURST + left + DUE * eighths / 8;
			assert_int_equal(zrtt_lane_of(&lanes, &t, f, LARGE, now_ns),
					 ZRTT_LANE_SPARSE);
			f->bytes++;
			assert_int_equal(zrtt_lane_of(&lanes, &t, f, LARGE, now_ns),
					 ZRTT_LANE_BULK);
		}
	}
	free(t.slots);
}

/* Also where epochs wrap, and at any due share. */
static void burst_does_not_overflow(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(UINT32_MAX, UINT64_MAX);
	u64 now_ns = (1ULL << (32 + ZRTT_EPOCH_SHIFT)) + ZRTT_UPDATE_EPOCHS / 2 * epoch_ns;

	(void)state;
	f->epoch = UINT32_MAX - ZRTT_UPDATE_EPOCHS / 2;
	f->bytes = UINT32_MAX;
	assert_int_equal(zrtt_lane_of(&lanes, &t, f, LARGE, now_ns), ZRTT_LANE_SPARSE);
	lanes = new_lanes(1, 0);
	f->bytes = ZRTT_LANE_BURST + ZRTT_UPDATE_EPOCHS + 2;
	assert_int_equal(zrtt_lane_of(&lanes, &t, f, LARGE, now_ns), ZRTT_LANE_BULK);
	free(t.slots);
}

/* What new flows send in small packets is bounded in an epoch. */
static void flood_of_new_flows_is_not_thin(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_lanes lanes = new_lanes(DUE, 32 * ZRTT_LANE_LEAD);
	struct zrtt_flow *f = zrtt_flow_get(&t, 7, START, 0);
	u32 packets = 0;

	(void)state;
	assert_false(f->live);
	while (lane_of(&lanes, &t, f, 64) == ZRTT_LANE_THIN)
		assert_true(++packets < ZRTT_LANE_LEAD);
	assert_int_equal(packets, ZRTT_LANE_LEAD / 64 + 1);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_SPARSE);
	assert_int_equal(lane_of(&lanes, &t, live_flow(&t, 8), 64), ZRTT_LANE_THIN);
	zrtt_lanes_end_epoch(&lanes, DUE, 0, false);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	/* on a slow link a sixteenth: with the lead, they would have all of 2 Mbit/s */
	zrtt_lanes_end_epoch(&lanes, DUE, 2 * ZRTT_LANE_LEAD, false);
	for (packets = 0; lane_of(&lanes, &t, f, 64) == ZRTT_LANE_THIN; packets++)
		assert_true(packets < ZRTT_LANE_LEAD);
	assert_int_equal(packets, ZRTT_LANE_LEAD / 8 / 64 + 1);
	free(t.slots);
}

/* Bounds */

/* The least until an epoch has ended, and then what that says. */
static void bounds_are_those_of_the_last_epoch(void **state)
{
	struct zrtt_lanes lanes = {}, before;

	(void)state;
	zrtt_lanes_tick(&lanes, true, false, 1, DUE);
	assert_int_equal(lanes.lead, ZRTT_LANE_LEAD);
	assert_int_equal(lanes.new_most, ZRTT_LANE_NEW);
	assert_int_equal(lanes.seldom_most, ZRTT_LANE_SELDOM_LEAST);
	zrtt_lanes_end_epoch(&lanes, DUE, 1 << 20, false);
	before = lanes;
	assert_true(before.lead > ZRTT_LANE_LEAD);
	zrtt_lanes_tick(&lanes, true, false, 1, DUE);
	assert_int_equal(lanes.lead, before.lead);
	assert_int_equal(lanes.new_most, before.new_most);
	assert_int_equal(lanes.seldom_most, before.seldom_most);
}

static void bounds_follow_the_link(void **state)
{
	static const u64 sent[] = { 0, 1, 8000, 20000, 60000, 200000, 1 << 20, ZRTT_LANE_BYTES_MAX,
				    1ULL << 40, UINT64_MAX };
	u32 i;

	(void)state;
	assert_near(ZRTT_LANE_CALL * 8 / (epoch_ns / 1e9), 160e3, 1e3);
	for (i = 0; i < ARRAY_LEN(sent); i++) {
		double most = sent[i] < ZRTT_LANE_BYTES_MAX ? (double)sent[i] : 1 << 29;
		struct zrtt_lanes lanes = { .thin_bytes = 1000, .new_bytes = 1, .spilt_bytes = 1,
					    .seldom_bytes = 1 };
		double small = fmax(floor(most / 8), fmin(2 * floor(most / 8), ZRTT_LANE_CALL));
		double left = fmax(small - 1000, 0);
		double part = fmax(left / 8, fmin(left, ZRTT_LANE_CALL));

		zrtt_lanes_end_epoch(&lanes, 500, sent[i], true);
		assert_near(lanes.lead, fmax(most / 32, fmin(fmax(most / 2, 1514), 16384)), 1);
		assert_int_equal(zrtt_lanes_return_most(&lanes), lanes.lead / 256);
		/* who is idle at times may have a faster link */
		lanes.thin_bytes = 1000;
		zrtt_lanes_end_epoch(&lanes, 500, sent[i], false);
		assert_near(lanes.lead, fmax(most / 32, 16384), 1);
		assert_near(lanes.new_most, fmin(fmax(most / 16, ZRTT_LANE_NEW), lanes.lead), 1);
		assert_near(lanes.seldom_most, fmin(fmax(most / 8, 2 * 378), 16 * 378), 1);
		assert_near(lanes.small_rate, fmax(part, 500), 1);
		assert_near(lanes.stay_rate, fmax(lanes.small_rate, left ? ZRTT_LANE_CALL : 0), 1);
		assert_int_equal(lanes.thin_bytes | lanes.new_bytes | lanes.spilt_bytes |
				 lanes.seldom_bytes, 0);
		assert_int_equal(zrtt_lanes_return_most(&lanes), lanes.lead / 256);
	}
}

/* A game of 145 kbit/s on 2.4 Mbit/s, where others leave 290 and it leaves itself 144. */
static void what_a_flow_sends_in_thin_is_left_to_it(void **state)
{
	const u32 sent = 40200, others = sent / 8 - 2425, game = 2432;
	struct zrtt_lanes lanes = new_lanes(960, sent);
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);

	(void)state;
	lanes.thin_bytes = others;
	zrtt_lanes_end_epoch(&lanes, 960, sent, false);
	f->rate = game;
	f->lane = ZRTT_LANE_BULK;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
	f->lane = ZRTT_LANE_RETURNING;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	f->lane = ZRTT_LANE_THIN;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	f->rate = ZRTT_LANE_CALL;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
	/* nothing is left */
	f->rate = game;
	lanes.thin_bytes = sent / 8;
	zrtt_lanes_end_epoch(&lanes, 960, sent, false);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
	free(t.slots);
}

/* ACKs of a download that exceed their share are held back as its data would be; voice is not. */
static void acks_that_are_hit_are_a_transfer(void **state)
{
	struct zrtt_lanes lanes = new_lanes(DUE, 64 * DUE);
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	u32 i;

	(void)state;
	f->lane = ZRTT_LANE_BULK;
	f->rate = DUE / 2;
	for (i = 0; i < 4; i++) {
		f->hit = i & 1;
		f->seq = i & 2;
		assert_int_equal(lane_of(&lanes, &t, f, 66), i == 3 ? ZRTT_LANE_BULK : ZRTT_LANE_THIN);
	}
	f->rate--;
	assert_int_equal(lane_of(&lanes, &t, f, 66), ZRTT_LANE_THIN);
	/* before that they may have more than the due share, as others */
	lanes = new_lanes(DUE, 128 * DUE);
	f->rate = DUE;
	assert_int_equal(lane_of(&lanes, &t, f, 66), ZRTT_LANE_BULK);
	f->hit = 0;
	assert_int_equal(lane_of(&lanes, &t, f, 66), ZRTT_LANE_THIN);
	free(t.slots);
}

/* What others leave to small packets is no bound for a flow whose host leaves it more. */
static void small_packets_have_the_due_share_of_their_host(void **state)
{
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);

	(void)state;
	f->rate = 2 * DUE;
	assert_int_equal(zrtt_lane_of_host(&lanes, &t, f, 3 * DUE, 66, START * epoch_ns),
			 ZRTT_LANE_THIN);
	assert_int_equal(zrtt_lane_of_host(&lanes, &t, f, 2 * DUE, 66, START * epoch_ns),
			 ZRTT_LANE_BULK);
	free(t.slots);
}

static void older_head_goes_first_above_the_lead(void **state)
{
	struct zrtt_lanes lanes = new_lanes(DUE, 0);
	u32 lead = lanes.lead;

	(void)state;
	zrtt_lanes_left(&lanes, ZRTT_LANE_SPARSE, lead, true);
	assert_false(zrtt_lanes_led(&lanes, lanes.ahead));
	zrtt_lanes_left(&lanes, ZRTT_LANE_SPARSE, 1, true);
	assert_true(zrtt_lanes_led(&lanes, lanes.ahead));
	/* thin still goes first */
	assert_int_equal(lanes.thin_ahead, 0);
	zrtt_lanes_left(&lanes, ZRTT_LANE_THIN, 400, true);
	zrtt_lanes_left(&lanes, ZRTT_LANE_RETURNING, 100, true);
	assert_int_equal(lanes.thin_ahead, 500);
	assert_int_equal(lanes.thin_bytes, 500);
	/* twice as much, and no more, is remembered */
	zrtt_lanes_left(&lanes, ZRTT_LANE_THIN, 10 * lead, true);
	assert_int_equal(lanes.ahead, 2 * lead);
	assert_int_equal(lanes.thin_ahead, 2 * lead);
	zrtt_bulk_left(&lanes, lead - 1);
	assert_true(zrtt_lanes_led(&lanes, lanes.ahead));
	zrtt_bulk_left(&lanes, 1);
	assert_false(zrtt_lanes_led(&lanes, lanes.ahead));
	assert_int_equal(lanes.thin_ahead, lead);
	zrtt_bulk_left(&lanes, 2 * lead);
	assert_int_equal(lanes.ahead, 0);
	assert_int_equal(lanes.thin_ahead, 0);
	/* nobody waits */
	zrtt_lanes_left(&lanes, ZRTT_LANE_THIN, lead, true);
	zrtt_lanes_left(&lanes, ZRTT_LANE_THIN, 300, false);
	assert_int_equal(lanes.ahead, 0);
	assert_int_equal(lanes.thin_ahead, 0);
}

/* What leaves it pays back what sparse is ahead if bulk, which would do that, is empty. */
static void large_lane_has_a_lead_of_its_own(void **state)
{
	struct zrtt_lanes lanes = new_lanes(DUE, 0);
	u32 lead = lanes.lead, before;

	(void)state;
	zrtt_lanes_left(&lanes, ZRTT_LANE_SPARSE, lead, true);
	zrtt_lanes_left(&lanes, ZRTT_LANE_THIN, 500, true);
	zrtt_large_left(&lanes, 400, true);
	assert_int_equal(lanes.large_ahead, 400);
	assert_int_equal(lanes.ahead, lead + 500);
	zrtt_bulk_left(&lanes, 300);
	assert_int_equal(lanes.large_ahead, 100);
	assert_int_equal(lanes.ahead, lead + 200);
	assert_int_equal(lanes.thin_ahead, 200);
	/* twice as much, and no more, is remembered */
	zrtt_large_left(&lanes, 10 * lead, true);
	assert_int_equal(lanes.large_ahead, 2 * lead);
	zrtt_bulk_left(&lanes, lead - 1);
	assert_true(zrtt_lanes_led(&lanes, lanes.large_ahead));
	zrtt_bulk_left(&lanes, 1);
	assert_false(zrtt_lanes_led(&lanes, lanes.large_ahead));
	/* bulk pays back no more than there is */
	zrtt_bulk_left(&lanes, lead + 1);
	assert_int_equal(lanes.large_ahead, 0);
	zrtt_large_left(&lanes, lead, true);
	/* bulk does not wait */
	zrtt_lanes_left(&lanes, ZRTT_LANE_THIN, 1000, true);
	zrtt_lanes_left(&lanes, ZRTT_LANE_SPARSE, lead, true);
	before = lanes.ahead;
	zrtt_large_left(&lanes, 400, false);
	assert_int_equal(lanes.large_ahead, 0);
	assert_int_equal(lanes.ahead, before - 400);
	assert_int_equal(lanes.thin_ahead, 600);
}

/* Order within a flow */

/* The lane of a packet of a flow, whose rate is @rate and whose due share @due, while one in @below
 * is still there, and once it has left.
 */
static void check_up(u32 due, u32 rate, enum zrtt_lane below, u32 bytes, enum zrtt_lane waits,
		     enum zrtt_lane after)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7), *other = live_flow(&t, 8);
	struct zrtt_lanes lanes = new_lanes(due, DUE);

	f->rate = rate;
	zrtt_lane_join(&t, other, below);
	zrtt_lane_join(&t, f, below);
	zrtt_lane_join(&t, other, below);
	leave(&t, below, 1);
	assert_int_equal(lane_of(&lanes, &t, f, bytes), waits);
	leave(&t, below, 1);
	assert_int_equal(lane_of(&lanes, &t, f, bytes), after);
	free(t.slots);
}

static void flow_goes_up_once_its_last_packet_has_left(void **state)
{
	const u32 small = ZRTT_LARGE_DUE - 1, large = ZRTT_LARGE_DUE;
	u32 lane;

	(void)state;
	check_up(small, 0, ZRTT_LANE_BULK, LARGE, ZRTT_LANE_BULK, ZRTT_LANE_SPARSE);
	check_up(small, 0, ZRTT_LANE_BULK, 64, ZRTT_LANE_RETURNING, ZRTT_LANE_THIN);
	check_up(small, 0, ZRTT_LANE_SPARSE, LARGE, ZRTT_LANE_SPARSE, ZRTT_LANE_SPARSE);
	check_up(small, 0, ZRTT_LANE_SPARSE, 64, ZRTT_LANE_SPARSE, ZRTT_LANE_THIN);
	check_up(small, 0, ZRTT_LANE_THIN, LARGE, ZRTT_LANE_SPARSE, ZRTT_LANE_SPARSE);
	check_up(small, 0, ZRTT_LANE_THIN, 64, ZRTT_LANE_THIN, ZRTT_LANE_THIN);
	check_up(small, 0, ZRTT_LANE_RETURNING, LARGE, ZRTT_LANE_BULK, ZRTT_LANE_SPARSE);
	check_up(small, 0, ZRTT_LANE_RETURNING, 64, ZRTT_LANE_RETURNING, ZRTT_LANE_THIN);
	check_up(small, 0, ZRTT_LANE_SELDOM, LARGE, ZRTT_LANE_SPARSE, ZRTT_LANE_SPARSE);
	check_up(small, 0, ZRTT_LANE_SELDOM, 64, ZRTT_LANE_THIN, ZRTT_LANE_THIN);
	for (lane = 0; lane < ZRTT_LANES; lane++) {
		bool before = lane == ZRTT_LANE_SPARSE || lane == ZRTT_LANE_THIN ||
			      lane == ZRTT_LANE_SELDOM;
		bool in_large = lane == ZRTT_LANE_LARGE;

		check_up(large, large / 2 - 1, lane, LARGE, before ? ZRTT_LANE_SPARSE :
			 in_large ? ZRTT_LANE_LARGE : ZRTT_LANE_RETURNING_LARGE, ZRTT_LANE_SPARSE);
		check_up(large, large / 2, lane, LARGE, before || in_large ? ZRTT_LANE_LARGE :
			 ZRTT_LANE_RETURNING_LARGE, ZRTT_LANE_LARGE);
	}
	check_up(large, 0, ZRTT_LANE_RETURNING_LARGE, 64, ZRTT_LANE_RETURNING, ZRTT_LANE_THIN);
	check_up(large, 0, ZRTT_LANE_LARGE, 64, ZRTT_LANE_LARGE, ZRTT_LANE_THIN);
}

/* Small packets of flows that send less than one in an epoch go before thin, up to an eighth of what
 * the link sent.
 */
static void who_seldom_sends_goes_first(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_lanes lanes = new_lanes(DUE, 10000);
	struct zrtt_flow *f = live_flow(&t, 1);

	(void)state;
	f->rate = ZRTT_LANE_SMALL;
	f->age = ZRTT_MATURE_EPOCHS;
	assert_int_equal(lane_of(&lanes, &t, f, LARGE), ZRTT_LANE_SPARSE);
	f->rate++;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	assert_int_equal(lanes.seldom_bytes, 0);
	f->rate--;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_SELDOM);
	/* one that is new may be a flood */
	f->age--;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	f->age++;
	f->l4s = 1;
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	f->l4s = 0;
	/* behind its own */
	zrtt_lane_join(&t, f, ZRTT_LANE_THIN);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	leave(&t, ZRTT_LANE_THIN, 1);
	zrtt_lane_join(&t, f, ZRTT_LANE_SELDOM);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_SELDOM);
	assert_int_equal(lanes.seldom_bytes, 5 * 64);
	while (lanes.seldom_bytes < 1250)
		assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_SELDOM);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	zrtt_lanes_end_epoch(&lanes, DUE, DUE, false);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_SELDOM);
	free(t.slots);
}

/* It does not count in the due share for that. */
static void who_goes_first_is_not_held_back(void **state)
{
	struct zrtt_table t = { .due = 1000, .update_epochs = 1 };
	struct zrtt_flow f = {
		.rate = 300, .age = ZRTT_MATURE_EPOCHS, .updates = ZRTT_MATURE_EPOCHS,
	};
	u32 lane;

	(void)state;
	for (lane = 0; lane < ZRTT_LANES; lane++) {
		f.lane = lane;
		assert_int_equal(zrtt_flow_counts(&t, &f), lane == ZRTT_LANE_BULK);
	}
}

/* Large and small packets by turns: none of them goes to bulk. */
static void flow_of_mixed_sizes_stays_in_sparse(void **state)
{
	static const u32 bytes[] = { 64, LARGE, 64, LARGE, LARGE, 64 };
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bytes); i++) {
		enum zrtt_lane lane = lane_of(&lanes, &t, f, bytes[i]);

		assert_int_equal(lane, i ? ZRTT_LANE_SPARSE : ZRTT_LANE_THIN);
		zrtt_lane_join(&t, f, lane);
	}
	/* once all have left, each has its own lane */
	leave(&t, ZRTT_LANE_SPARSE, ARRAY_LEN(bytes) - 1);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	free(t.slots);
}

/* With more packets behind it than a flow's number counts, and with counters that wrap. */
static void queued_packet_is_never_taken_for_gone(void **state)
{
	static const u32 begins[] = { 0, 0x7fff, 0xffff, UINT32_MAX - 1000, UINT32_MAX };
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_flow *f = live_flow(&t, 7);
	u32 i, behind;

	(void)state;
	for (i = 0; i < ARRAY_LEN(begins); i++) {
		struct zrtt_passage *bulk = &t.lanes[ZRTT_LANE_BULK];

		*bulk = (struct zrtt_passage) { begins[i], begins[i], begins[i] };
		zrtt_lane_join(&t, f, ZRTT_LANE_BULK);
		assert_true(zrtt_flow_queued(&t, f));
		for (behind = 0; behind < 200000; behind++, bulk->in++)
			assert_true(zrtt_flow_queued(&t, f));
		bulk->out = bulk->in;
		assert_false(zrtt_flow_queued(&t, f));
		/* its number is not taken for the bit of those that go to bulk */
		assert_false(f->last & ZRTT_LAST_BULK);
	}
	free(t.slots);
}

/* A flow that comes back after it lost its slot joins bulk as long as one is queued. */
static void lost_flow_begins_in_bulk(void **state)
{
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);
	u32 lane, i;

	(void)state;
	for (lane = 0; lane < ZRTT_LANES; lane++) {
		struct zrtt_table t = new_table(FLOWS);
		struct zrtt_flow *f = live_flow(&t, FLOWS);

		zrtt_lane_join(&t, f, lane);
		zrtt_flow_update(&t, f, START);
		for (i = 2; i <= 2 * ZRTT_WAYS; i++)
			zrtt_flow_update(&t, zrtt_flow_get(&t, i * FLOWS, START + 1, 0), START + 1);
		assert_null(zrtt_flow_find(&t, FLOWS));
		f = zrtt_flow_get(&t, FLOWS, START + 1, 0);
		assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
		leave(&t, lane, 1);
		/* until it joined it */
		assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
		zrtt_lane_join(&t, f, ZRTT_LANE_BULK);
		leave(&t, ZRTT_LANE_BULK, t.lanes[ZRTT_LANE_BULK].in - t.lanes[ZRTT_LANE_BULK].out);
		assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
		f = zrtt_flow_get(&t, 100 * FLOWS, START + 1, 0);
		assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
		free(t.slots);
	}
}

/* What was lost 2^31 packets ago is not ahead. */
static void lost_packets_are_forgotten(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	u32 i;

	(void)state;
	zrtt_lanes_lose(&t);
	for (i = 0; i < 5; i++) {
		t.lanes[ZRTT_LANE_THIN].in += 1U << 30;
		t.lanes[ZRTT_LANE_THIN].out += 1U << 30;
		zrtt_table_tick(&t, START);
		assert_false(zrtt_table_lost(&t));
	}
	free(t.slots);
}

static void flows_are_lost_at_a_resize(void **state)
{
	struct zrtt_table t = new_table(FLOWS), from;
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);
	struct zrtt_flow *f = live_flow(&t, 7);

	(void)state;
	zrtt_lane_join(&t, f, ZRTT_LANE_SPARSE);
	zrtt_table_resize(&t, &from, calloc(FLOWS, sizeof(*f)), FLOWS);
	f = zrtt_flow_get(&t, 8, START, 0);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
	/* one that is moved knows better */
	f = zrtt_flow_get(&t, 7, START, 0);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_SPARSE);
	leave(&t, ZRTT_LANE_SPARSE, 1);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	while (!zrtt_table_move(&t, START))
		;
	free(from.slots);
	free(t.slots);
}

/* A packet that may be the flow's joins bulk, and the flow's next one behind it, also if the
 * flow loses its slot meanwhile. Once it has left, no one waits for it.
 */
static void spoofed_packets_stay_in_order(void **state)
{
	struct zrtt_table t = new_table(FLOWS);
	struct zrtt_lanes lanes = new_lanes(DUE, DUE);
	struct zrtt_flow *f = live_flow(&t, 7), *spoofed;

	(void)state;
	spoofed = zrtt_flow_spoofed(&t, f, 7, START, 0);
	assert_ptr_not_equal(spoofed, f);
	assert_int_equal(lane_of(&lanes, &t, spoofed, 64), ZRTT_LANE_BULK);
	zrtt_lane_join(&t, spoofed, ZRTT_LANE_BULK);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_BULK);
	zrtt_flow_lose(&t, f);
	assert_true(zrtt_table_lost(&t));
	zrtt_lane_join(&t, f, ZRTT_LANE_BULK);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_RETURNING);
	leave(&t, ZRTT_LANE_BULK, 2);
	assert_int_equal(lane_of(&lanes, &t, f, 64), ZRTT_LANE_THIN);
	assert_false(zrtt_table_lost(&t));
	zrtt_lane_join(&t, zrtt_flow_spoofed(&t, f, 7, START, 0), ZRTT_LANE_BULK);
	leave(&t, ZRTT_LANE_BULK, 1);
	zrtt_lane_join(&t, live_flow(&t, 8), ZRTT_LANE_BULK);
	zrtt_flow_lose(&t, f);
	assert_false(zrtt_table_lost(&t));
	free(t.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_lanes_all_is_bulk),
		cmocka_unit_test(sparse_flow_sends_less_than_its_due),
		cmocka_unit_test(flow_of_a_large_due_share_is_sparse_while_it_is_hit),
		cmocka_unit_test(rate_is_a_constant_until_the_due_share_is_known),
		cmocka_unit_test(due_share_is_believed_after_some_updates),
		cmocka_unit_test(burst_grows_with_time_and_with_what_is_left),
		cmocka_unit_test(burst_does_not_overflow),
		cmocka_unit_test(flood_of_new_flows_is_not_thin),
		cmocka_unit_test(bounds_are_those_of_the_last_epoch),
		cmocka_unit_test(bounds_follow_the_link),
		cmocka_unit_test(what_a_flow_sends_in_thin_is_left_to_it),
		cmocka_unit_test(acks_that_are_hit_are_a_transfer),
		cmocka_unit_test(small_packets_have_the_due_share_of_their_host),
		cmocka_unit_test(older_head_goes_first_above_the_lead),
		cmocka_unit_test(large_lane_has_a_lead_of_its_own),
		cmocka_unit_test(flow_goes_up_once_its_last_packet_has_left),
		cmocka_unit_test(who_seldom_sends_goes_first),
		cmocka_unit_test(who_goes_first_is_not_held_back),
		cmocka_unit_test(flow_of_mixed_sizes_stays_in_sparse),
		cmocka_unit_test(queued_packet_is_never_taken_for_gone),
		cmocka_unit_test(lost_flow_begins_in_bulk),
		cmocka_unit_test(lost_packets_are_forgotten),
		cmocka_unit_test(flows_are_lost_at_a_resize),
		cmocka_unit_test(spoofed_packets_stay_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
