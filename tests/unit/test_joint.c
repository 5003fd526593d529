// SPDX-License-Identifier: GPL-2.0
/* joint.h, and what fair.h makes of it: a host whose flows several queues have is one host. */
#include "unit.h"
#include "joint_check.h"
#include <zrtt/hash.h>
#include <zrtt/zrtt.h>

#define SLOTS		64
#define QUEUES		4
#define FLOWS		8
#define START		1000	/* epoch at which tests begin */
#define DUE		100000	/* bytes per epoch */
#define P_Q30		(ZRTT_P_ONE / 100)
#define WEIGHT		3
#define FORGOTTEN	(ZRTT_JOINT_WINDOWS << ZRTT_JOINT_SHIFT)	/* epochs, at most */

#define FLOW(n)		(ZRTT_TAG | 0x1000 | (n))
#define HOST(n)		(ZRTT_TAG | 0x2000 | (n))

/* A queue, and its flows by number. */
struct queue {
	struct zrtt_hosts hosts;
	struct zrtt_member members[FLOWS];
};

struct device {
	struct zrtt_joint joint;
	struct queue q[QUEUES];
};

static struct device *new_device(u32 joint_slots)
{
	struct device *d = calloc(1, sizeof(*d));
	u32 i;

	zrtt_joint_take(&d->joint, calloc(joint_slots, sizeof(struct zrtt_joint_host)),
			joint_slots);
	for (i = 0; i < QUEUES; i++) {
		struct zrtt_hosts *hosts = &d->q[i].hosts;

		zrtt_table_init(&hosts->table, calloc(SLOTS, sizeof(struct zrtt_flow)), SLOTS);
		hosts->groups = calloc(SLOTS, sizeof(struct zrtt_group));
		hosts->table.parts = calloc(SLOTS, sizeof(struct zrtt_part));
		hosts->table.has_parts = true;
		hosts->law.due = DUE;
		hosts->law.log_due = zrtt_log2(DUE);
		hosts->law.gain_q16 = ZRTT_PENALTY_GAIN_MAX;
		hosts->table.due = DUE;
		zrtt_hosts_bound(hosts, 0, &(struct zrtt_ceil_params) {});
	}
	return d;
}

static void free_device(struct device *d)
{
	u32 i;

	for (i = 0; i < QUEUES; i++) {
		free(d->q[i].hosts.table.slots);
		free(d->q[i].hosts.groups);
		free(d->q[i].hosts.table.parts);
	}
	free(d->joint.slots);
	free(d);
}

/* A flow of @host in bulk sent @bytes, and is updated; it counts if it has a rate to count with. */
static void update(struct device *d, struct queue *q, u32 n, u32 host, u32 bytes, u32 rate,
		   u32 epoch)
{
	const u32 tags[ZRTT_HOST_ENDS] = { host };
	struct zrtt_member *m = &q->members[n];
	const struct zrtt_flow f = { .lane = ZRTT_LANE_BULK };

	zrtt_hosts_meet(&q->hosts, m, FLOW(n), tags, epoch, 0);
	m->host_weight = WEIGHT;
	zrtt_member_host(&q->hosts, m)->bytes += bytes;
	zrtt_member_leave(q->hosts.groups, m);
	zrtt_member_join(q->hosts.groups, m, rate ? zrtt_log2(rate) : 0);
	zrtt_host_refresh(&q->hosts, m, &f, epoch);
	if (q->hosts.news)
		zrtt_hosts_share(&q->hosts, &d->joint, epoch);
	assert_false(q->hosts.news);
}

/* The host of a queue's first flow. */
static struct zrtt_flow *host_of(struct queue *q)
{
	return zrtt_member_host(&q->hosts, &q->members[0]);
}

static struct zrtt_group *group_of(struct queue *q)
{
	return &q->hosts.groups[q->members[0].slots[0]];
}

/* HOST(1) has in each of the first @queues so many flows as its number + 1, of @rate bytes per
 * epoch each; for @epochs.
 */
static u32 run(struct device *d, u32 queues, u32 rate, u32 epoch, u32 epochs)
{
	u32 until = epoch + epochs, i, n;

	for (; epoch != until; epoch++)
		for (i = 0; i < queues; i++)
			for (n = 0; n <= i; n++)
				update(d, &d->q[i], n, HOST(1), rate, rate, epoch);
	return epoch;
}

/* What all queues make of it together. */
static struct zrtt_sums sum_up(struct device *d)
{
	struct zrtt_sums all = {}, one;
	u32 i;

	for (i = 0; i < QUEUES; i++) {
		one = zrtt_hosts_sums(&d->q[i].hosts);
		zrtt_sums_add(&all, &one);
	}
	return all;
}

static void host_is_that_of_all_queues(void **state)
{
	const u32 flows = QUEUES * (QUEUES + 1) / 2;
	struct device *d = new_device(SLOTS);
	struct zrtt_law law;
	u32 i;

	(void)state;
	run(d, QUEUES, DUE / flows, START, 60);
	for (i = 0; i < QUEUES; i++) {
		struct queue *q = &d->q[i];

		assert_near(host_of(q)->rate / (double)DUE, 1, 0.01);
		assert_int_equal(group_of(q)->counted + group_of(q)->others.counted, flows);
		assert_int_equal(group_of(q)->live + group_of(q)->others.live, flows);
		/* a tenth each, and a factor for ten of them */
		law = (struct zrtt_law) {};
		assert_near(zrtt_host_law(&q->hosts, &q->members[0], &law),
			    zrtt_log2(DUE / flows), 100);
		assert_near(law.log_norm - host_of(q)->penalty_q16,
			    zrtt_log2(flows) * 3 / 2, 2);
	}
	free_device(d);
}

/* It counts once, in each queue by its flows there, with the rate of all. */
static void host_counts_once(void **state)
{
	struct device *d = new_device(SLOTS);
	struct zrtt_sums all, one;
	struct zrtt_law law = {};
	u32 i;

	(void)state;
	run(d, QUEUES, DUE / 10, START, 60);
	all = sum_up(d);
	assert_near(all.counted, ZRTT_PART_ALL, QUEUES);
	zrtt_law_due(&law, &all, P_Q30);
	assert_near(law.due / (double)DUE, 1, 0.01);
	for (i = 0; i < QUEUES; i++) {
		one = zrtt_hosts_sums(&d->q[i].hosts);
		assert_near(one.counted, (i + 1) * ZRTT_PART_ALL / 10.0, 1);
		assert_int_equal(zrtt_hosts_dues(&d->q[i].hosts), WEIGHT * one.counted);
		assert_int_equal(one.other_rate, 0);
		assert_int_equal(d->q[i].hosts.table.counted, 1);
	}
	free_device(d);
}

/* One that does not count has its rate once, too. */
static void rate_of_who_does_not_count_is_there_once(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 i, n;

	(void)state;
	for (i = 0; i < 60; i++)
		for (n = 0; n < QUEUES; n++)
			update(d, &d->q[n], 0, HOST(1), DUE / 32, 0, START + i);
	assert_int_equal(sum_up(d).counted, 0);
	assert_near(sum_up(d).other_rate / (WEIGHT * DUE / 8.0), 1, 0.01);
	/* together they have a quarter of it */
	for (i = 0; i < 60; i++)
		for (n = 0; n < QUEUES; n++)
			update(d, &d->q[n], 0, HOST(1), DUE / 15, 0, START + 60 + i);
	assert_near(sum_up(d).counted, ZRTT_PART_ALL, QUEUES);
	assert_int_equal(sum_up(d).other_rate, 0);
	free_device(d);
}

static void queue_without_company_is_as_if_alone(void **state)
{
	struct device *d = new_device(SLOTS);
	struct queue *q = &d->q[0], *alone = &d->q[1];
	struct zrtt_sums with, without;
	u64 seed = 1;
	u32 i;

	(void)state;
	/* sums of those that do not count are of weights where there are parts */
	alone->hosts.table.has_parts = false;
	free(alone->hosts.table.parts);
	alone->hosts.table.parts = NULL;
	for (i = 0; i < 500; i++) {
		u32 bytes = unit_between(&seed, 1, 4 * DUE), epoch = START + i;

		update(d, q, 0, HOST(1), bytes, bytes, epoch);
		update(d, alone, 0, HOST(1), bytes, bytes, epoch);
		assert_int_equal(host_of(q)->rate, host_of(alone)->rate);
		with = zrtt_hosts_sums(&q->hosts);
		without = zrtt_hosts_sums(&alone->hosts);
		assert_int_equal(with.counted, without.counted);
		assert_int_equal(with.sum_log_rate, without.sum_log_rate);
		assert_int_equal(with.other_rate, WEIGHT * without.other_rate);
	}
	assert_int_equal(host_of(q)->penalty_q16, host_of(alone)->penalty_q16);
	assert_int_not_equal(host_of(q)->penalty_q16, 0);
	free_device(d);
}

/* However many queues have it, and whoever of them is there. */
static void penalty_is_one(void **state)
{
	struct device *one = new_device(SLOTS), *all = new_device(SLOTS);
	u32 i, epoch;

	(void)state;
	for (epoch = START; epoch < START + 100; epoch++) {
		update(one, &one->q[0], 0, HOST(1), 2 * DUE, DUE, epoch);
		for (i = 0; i < QUEUES; i++)
			update(all, &all->q[(i + epoch) % QUEUES], 0, HOST(1),
			       2 * DUE / QUEUES, DUE, epoch);
	}
	assert_true(host_of(&one->q[0])->penalty_q16 > (s32)ZRTT_Q16_ONE);
	for (i = 0; i < QUEUES; i++)
		assert_near(host_of(&all->q[i])->penalty_q16 /
			    (double)host_of(&one->q[0])->penalty_q16, 1, 0.1);
	free_device(one);
	free_device(all);
}

/* A queue that gets a flow of it later. */
static void late_queue_takes_the_penalty_over(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 2, DUE, START, 60);

	(void)state;
	assert_true(host_of(&d->q[0])->penalty_q16 > 0);
	update(d, &d->q[3], 0, HOST(1), 1500, 0, epoch);
	update(d, &d->q[3], 0, HOST(1), 1500, 0, epoch + 1);
	assert_near(host_of(&d->q[3])->penalty_q16 /
		    (double)host_of(&d->q[0])->penalty_q16, 1, 0.1);
	free_device(d);
}

static void hit_in_one_queue_is_one_in_all(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = (START | ((1 << ZRTT_HIT_SHIFT) - 1)) + 1 - HOST(1) % (1 << ZRTT_HIT_SHIFT);
	u32 i;

	(void)state;
	/* too little to count without */
	epoch = run(d, 2, DUE / 100, epoch, 20);
	assert_int_equal(sum_up(d).counted, 0);
	host_of(&d->q[0])->hit = 1;
	epoch = run(d, 2, DUE / 100, epoch, 3);
	assert_int_equal(host_of(&d->q[1])->hit, 1);
	assert_near(sum_up(d).counted, ZRTT_PART_ALL, 2);
	/* until all forget it */
	epoch = run(d, 2, DUE / 100, epoch, 1 << ZRTT_HIT_SHIFT);
	for (i = 0; i < 2; i++)
		assert_int_equal(host_of(&d->q[i])->hit, 0);
	free_device(d);
}

static void check_forgotten(u32 start, u32 least)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 2, DUE / 4, start, 60), since = epoch;

	assert_int_equal(group_of(&d->q[0])->others.live, 2);
	while (group_of(&d->q[0])->others.live && epoch - since <= FORGOTTEN)
		epoch = run(d, 1, DUE / 4, epoch, 1);
	assert_in_range(epoch - since, least, FORGOTTEN);
	epoch = run(d, 1, DUE / 4, epoch, 30);
	assert_near(host_of(&d->q[0])->rate / (DUE / 4.0), 1, 0.01);
	assert_int_equal(group_of(&d->q[0])->others_q8, 0);
	/* and heard of again */
	epoch = run(d, 2, DUE / 4, epoch, 20);
	assert_int_equal(group_of(&d->q[0])->others.live, 2);
	free_device(d);
}

/* It may have no packet to say so with; and the clock may wrap meanwhile, when all is forgotten. */
static void queue_that_fell_silent_is_forgotten(void **state)
{
	(void)state;
	check_forgotten(START, ZRTT_LIVE_EPOCHS);
	check_forgotten(0U - 65, 1);
	check_forgotten(0U - 30, ZRTT_LIVE_EPOCHS);
}

/* Its own last word must not stay either, where it was silent itself. */
static void who_was_silent_believes_nothing_old(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 2, DUE / 4, START, 60) + 1000;

	(void)state;
	update(d, &d->q[0], 0, HOST(1), 1500, 0, epoch);
	assert_int_equal(group_of(&d->q[0])->others.live, 0);
	assert_true(host_of(&d->q[0])->rate < DUE / 4);
	free_device(d);
}

static void host_that_lost_its_slot_is_taken_back_at_once(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 2, DUE / 4, START, 60), slot = d->q[1].members[0].slots[0];
	struct zrtt_hosts *hosts = &d->q[1].hosts;

	(void)state;
	/* another host gets the slot */
	zrtt_flow_retire(&hosts->table, &hosts->table.slots[slot]);
	hosts->table.slots[slot].tag = 0;
	assert_int_equal(zrtt_host_get(hosts, HOST(1) + SLOTS, slot, epoch, 0), slot);
	assert_int_equal(hosts->table.parts_sums.held_q8, 0);
	assert_true(hosts->news);
	zrtt_hosts_share(hosts, &d->joint, epoch);
	run(d, 1, DUE / 4, epoch, 2);
	assert_int_equal(group_of(&d->q[0])->others.live, 0);
	assert_int_equal(group_of(&d->q[0])->others.rate, 0);
	free_device(d);
}

/* Who finds no room is a host in each queue, as if there were no table; nobody is displaced. */
static void full_table_displaces_nobody(void **state)
{
	struct device *d = new_device(ZRTT_WAYS);
	u32 epoch = START, i, n;
	s32 before;

	(void)state;
	for (; epoch < START + 60; epoch++) {
		for (n = 0; n < FLOWS; n++)
			update(d, &d->q[0], n, HOST(n + 2), DUE, DUE, epoch);
		update(d, &d->q[1], 0, HOST(1), DUE, DUE, epoch);
		update(d, &d->q[2], 0, HOST(1), DUE, DUE, epoch);
	}
	for (i = 1; i <= 2; i++) {
		assert_int_equal(group_of(&d->q[i])->others.live, 0);
		assert_near(host_of(&d->q[i])->rate / (double)DUE, 1, 0.01);
		assert_int_equal(zrtt_hosts_sums(&d->q[i].hosts).counted, ZRTT_PART_ALL);
	}
	for (n = 0; n < FLOWS; n++)
		assert_int_not_equal(d->q[0].hosts.table.parts
				     [d->q[0].members[n].slots[0]].generation, 0);
	/* it has a penalty of its own there, too */
	before = host_of(&d->q[1])->penalty_q16;
	assert_near(host_of(&d->q[2])->penalty_q16, before, 1);
	for (i = 0; i < 20; i++, epoch++) {
		for (n = 0; n < FLOWS; n++)
			update(d, &d->q[0], n, HOST(n + 2), DUE, DUE, epoch);
		update(d, &d->q[1], 0, HOST(1), 2 * DUE, DUE, epoch);
		update(d, &d->q[2], 0, HOST(1), DUE, DUE, epoch);
	}
	assert_true(host_of(&d->q[1])->penalty_q16 > before + (s32)ZRTT_Q16_ONE / 4);
	assert_near(host_of(&d->q[2])->penalty_q16, before, 1000);
	/* when others fall silent there is room */
	for (i = 0; i < 2 * FORGOTTEN; i++, epoch++)
		for (n = 1; n <= 2; n++)
			update(d, &d->q[n], 0, HOST(1), DUE, DUE, epoch);
	assert_int_equal(group_of(&d->q[1])->others.live, 1);
	free_device(d);
}

static void queues_that_mean_other_hosts_do_not_share(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch;

	(void)state;
	d->q[1].hosts.salt = 0x12345678;
	epoch = run(d, 2, DUE / 4, START, 60);
	assert_int_equal(group_of(&d->q[0])->others.live, 0);
	assert_int_equal(group_of(&d->q[1])->others.live, 0);
	/* what was said under the old name is taken back */
	d->q[1].hosts.salt = 0;
	epoch = run(d, 2, DUE / 4, epoch, 3);
	assert_int_equal(group_of(&d->q[0])->others.live, 2);
	d->q[0].hosts.salt = 0x12345678;
	run(d, 2, DUE / 4, epoch, 3);
	assert_int_equal(group_of(&d->q[1])->others.live, 0);
	free_device(d);
}

static void other_slots_are_joined_anew(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 2, DUE, START, 60);
	s32 penalty = host_of(&d->q[0])->penalty_q16;

	(void)state;
	free(d->joint.slots);
	zrtt_joint_take(&d->joint, calloc(2 * SLOTS, sizeof(struct zrtt_joint_host)),
			2 * SLOTS);
	epoch = run(d, 2, DUE, epoch, 2);
	assert_int_equal(group_of(&d->q[0])->others.live, 2);
	assert_near(host_of(&d->q[0])->penalty_q16 / (double)penalty, 1, 0.1);
	/* and none, too: hosts are those of queues again */
	free(d->joint.slots);
	d->joint.slots = NULL;
	epoch = run(d, 2, DUE, epoch, 1);
	assert_int_equal(group_of(&d->q[0])->others.live, 0);
	assert_int_equal(d->q[0].hosts.table.parts[d->q[0].members[0].slots[0]].generation, 0);
	run(d, 2, DUE, epoch, 30);
	assert_near(host_of(&d->q[0])->rate / (double)DUE, 1, 0.01);
	free_device(d);
}

static void queue_that_is_alone_for_now_forgets_the_others(void **state)
{
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 2, DUE / 4, START, 60);
	struct queue *q = &d->q[0];

	(void)state;
	zrtt_host_note(&q->hosts, &q->members[0], 0, epoch);
	zrtt_hosts_share(&q->hosts, NULL, epoch);
	assert_int_equal(group_of(q)->others.live, 0);
	assert_int_equal(group_of(q)->others_q8, 0);
	assert_int_equal(q->hosts.table.parts[q->members[0].slots[0]].generation, 0);
	free_device(d);
}

/* Its sparse packets until @epoch go ahead, up to the bound or to 3 due shares. */
static u32 send_ahead(struct queue *q, u32 epoch)
{
	u32 sent = 0;

	while (sent < 3 * DUE && !zrtt_host_exceeds(&q->hosts, &q->members[0], 1000, false, epoch))
		sent += 1000;
	return sent;
}

static void hosts_sparse_flows_have_its_due_share_in_all(void **state)
{
	struct device *d = new_device(SLOTS);
	struct queue *q = &d->q[0];
	u32 epoch, i;

	(void)state;
	for (epoch = START; epoch < START + 60; epoch++)
		for (i = 0; i < QUEUES; i++) {
			update(d, &d->q[i], 0, HOST(1), 0, 0, epoch);
			send_ahead(&d->q[i], epoch);
		}
	update(d, q, 0, HOST(1), 0, 0, epoch);
	assert_near(send_ahead(q, epoch), DUE / QUEUES + 3 * 1514, 2000);
	/* the others send none ahead: it has all of it */
	for (; epoch < START + 120; epoch++)
		for (i = 0; i < QUEUES; i++)
			update(d, &d->q[i], 0, HOST(1), 0, 0, epoch);
	assert_near(send_ahead(q, epoch - 1), DUE + 3 * 1514, 2000);
	free_device(d);
}

/* The end of a flow is that which has more flows in all queues. */
static void end_is_that_with_more_flows_in_all_queues(void **state)
{
	const u32 tags[ZRTT_HOST_ENDS] = { HOST(2), HOST(1) };
	struct device *d = new_device(SLOTS);
	u32 epoch = run(d, 3, DUE, START, 10);
	struct zrtt_member *m = &d->q[3].members[0];
	struct zrtt_flow f = {};
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++, epoch++) {
		zrtt_hosts_meet(&d->q[3].hosts, m, FLOW(0), tags, epoch, 0);
		zrtt_member_leave(d->q[3].hosts.groups, m);
		zrtt_member_join(d->q[3].hosts.groups, m, 0);
		zrtt_host_refresh(&d->q[3].hosts, m, &f, epoch);
		zrtt_hosts_share(&d->q[3].hosts, &d->joint, epoch);
	}
	assert_int_equal(m->end, 1);
	free_device(d);
}

/* What is said is the sum of what queues remember to have said, whatever happens. */
static void check_said(const struct device *d)
{
	struct zrtt_told all = all_said(&d->joint), want = {};
	u32 i;

	for (i = 0; i < QUEUES; i++)
		add_remembered(&d->joint, &d->q[i].hosts, &want);
	assert_memory_equal(&all, &want, sizeof(all));
}

static void sums_hold_whatever_happens(void **state)
{
	struct device *d = new_device(2 * ZRTT_WAYS);
	u64 seed = 7;
	u32 epoch = 0U - 2000, i, n;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct queue *q = &d->q[unit_between(&seed, 0, QUEUES - 1)];
		u32 what = unit_between(&seed, 0, 999);

		if (what < 200)
			epoch++;
		else if (what < 203)
			epoch += unit_between(&seed, 0, 40);
		else if (what < 204)
			q->hosts.salt ^= 1;
		n = unit_between(&seed, 0, FLOWS - 1);
		q->hosts.groups[q->members[n].slots[0]].ahead += unit_between(&seed, 0, DUE);
		/* a clock may be behind, and a flow another host's */
		update(d, q, n, HOST(unit_between(&seed, 0, 40) << 2),
		       unit_between(&seed, 0, DUE), unit_between(&seed, 0, 1) * DUE,
		       epoch - unit_between(&seed, 0, 1));
		check_said(d);
	}
	free_device(d);
}

/* It is one of this queue's flows' other ends, too, and has no more than what these are. */
static void host_that_is_not_live_has_no_rate(void **state)
{
	const struct zrtt_part part = { .rate = DUE, .ahead = DUE };
	const struct zrtt_group g = { .live = 1 };
	struct zrtt_flow h = {};

	(void)state;
	assert_int_equal(zrtt_part_tells(&part, &g, &h).rate, 0);
	assert_int_equal(zrtt_part_tells(&part, &g, &h).ahead, 0);
	assert_int_equal(zrtt_part_tells(&part, &g, &h).live, 1);
	h.live = 1;
	assert_int_equal(zrtt_part_tells(&part, &g, &h).rate, DUE);
	assert_int_equal(zrtt_part_tells(&part, &g, &h).ahead, DUE);
}

/* Of four that count a quarter, though half of all are here; of those that do not, a half. */
static void host_counts_by_its_flows_that_count(void **state)
{
	struct zrtt_group g = {
		.live = 4, .counted = 1, .others = { .live = 4, .counted = 3 },
		.others_q8 = ZRTT_PART_ALL / 2,
	};

	(void)state;
	assert_int_equal(zrtt_group_share(&g), ZRTT_PART_ALL / 4);
	g.counted = g.others.counted = 0;
	assert_int_equal(zrtt_group_share(&g), ZRTT_PART_ALL / 2);
}

/* Also where it is updated seldom. */
static void bytes_ahead_are_those_of_an_epoch(void **state)
{
	struct device *d = new_device(SLOTS);
	struct queue *q = &d->q[0];
	const struct zrtt_part *part;

	(void)state;
	update(d, q, 0, HOST(1), DUE, DUE, START);
	part = &q->hosts.table.parts[q->members[0].slots[0]];
	group_of(q)->ahead = 4000;
	update(d, q, 0, HOST(1), DUE, DUE, START + 4);
	assert_int_equal(part->ahead, 1000);
	assert_int_equal(part->told.ahead, 1000);
	free_device(d);
}

/* 0 means that a queue said nothing. */
static void no_slot_has_the_generation_of_none(void **state)
{
	struct device *d = new_device(SLOTS);
	const struct zrtt_part *part;

	(void)state;
	d->joint.generation = ~0U;
	run(d, 1, DUE, START, 3);
	part = &d->q[0].hosts.table.parts[d->q[0].members[0].slots[0]];
	assert_int_not_equal(part->generation, 0);
	assert_ptr_equal(zrtt_joint_known(&d->joint, part), &d->joint.slots[part->slot]);
	free_device(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_is_that_of_all_queues),
		cmocka_unit_test(host_counts_once),
		cmocka_unit_test(rate_of_who_does_not_count_is_there_once),
		cmocka_unit_test(queue_without_company_is_as_if_alone),
		cmocka_unit_test(penalty_is_one),
		cmocka_unit_test(late_queue_takes_the_penalty_over),
		cmocka_unit_test(hit_in_one_queue_is_one_in_all),
		cmocka_unit_test(queue_that_fell_silent_is_forgotten),
		cmocka_unit_test(who_was_silent_believes_nothing_old),
		cmocka_unit_test(host_that_lost_its_slot_is_taken_back_at_once),
		cmocka_unit_test(full_table_displaces_nobody),
		cmocka_unit_test(queues_that_mean_other_hosts_do_not_share),
		cmocka_unit_test(other_slots_are_joined_anew),
		cmocka_unit_test(queue_that_is_alone_for_now_forgets_the_others),
		cmocka_unit_test(hosts_sparse_flows_have_its_due_share_in_all),
		cmocka_unit_test(end_is_that_with_more_flows_in_all_queues),
		cmocka_unit_test(host_that_is_not_live_has_no_rate),
		cmocka_unit_test(host_counts_by_its_flows_that_count),
		cmocka_unit_test(bytes_ahead_are_those_of_an_epoch),
		cmocka_unit_test(no_slot_has_the_generation_of_none),
		cmocka_unit_test(sums_hold_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
