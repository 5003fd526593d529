// SPDX-License-Identifier: GPL-2.0
/* host.h, fair.h: whose a flow is, what hosts sum up to, and what the law makes of that. */
#include "unit.h"
#include <zrtt/hash.h>
#include <zrtt/zrtt.h>

#define SLOTS		64
#define START		1000	/* epoch at which tests begin */
#define DUE		100000	/* bytes per epoch */
#define OCTAVE		(1 << ZRTT_Q16)

/* A flow's tag, and those of the hosts that it comes from and goes to. */
#define FLOW(n)		(ZRTT_TAG | 0x1000 | (n))
#define HOST(n)		(ZRTT_TAG | 0x2000 | (n))

static const struct zrtt_ceil_params no_ceil;

static struct zrtt_hosts new_hosts(void)
{
	struct zrtt_hosts hosts = {};

	zrtt_table_init(&hosts.table, calloc(SLOTS, sizeof(struct zrtt_flow)), SLOTS);
	hosts.groups = calloc(SLOTS, sizeof(struct zrtt_group));
	return hosts;
}

static void free_hosts(struct zrtt_hosts *hosts)
{
	free(hosts->table.slots);
	free(hosts->groups);
}

/* A table whose flows are of hosts. */
static struct zrtt_table new_table(const struct zrtt_hosts *hosts)
{
	struct zrtt_table t;

	zrtt_table_init(&t, calloc(SLOTS, sizeof(struct zrtt_flow)), SLOTS);
	t.members = calloc(SLOTS, sizeof(struct zrtt_member));
	t.groups = hosts->groups;
	return t;
}

static void free_table(struct zrtt_table *t)
{
	free(t->slots);
	free(t->members);
}

static bool meet(struct zrtt_hosts *hosts, struct zrtt_member *m, u32 flow, u32 source, u32 dest)
{
	const u32 tags[ZRTT_HOST_ENDS] = { source, dest };

	return zrtt_hosts_meet(hosts, m, flow, tags, START, 0);
}

static struct zrtt_group *group_of(struct zrtt_hosts *hosts, const struct zrtt_member *m, u32 end)
{
	return &hosts->groups[m->slots[end]];
}

/* A flow of a host, updated with that rate. */
static struct zrtt_member joined(struct zrtt_hosts *hosts, u32 flow, u32 source, u32 dest,
				 s32 log_rate)
{
	struct zrtt_member m = {};

	meet(hosts, &m, flow, source, dest);
	zrtt_member_join(hosts->groups, &m, log_rate);
	return m;
}

/* Give the host of @m a rate that counts, and all hosts a due share. */
static struct zrtt_flow *rate_host(struct zrtt_hosts *hosts, const struct zrtt_member *m, u32 rate)
{
	struct zrtt_flow *h = zrtt_member_host(hosts, m);

	h->age = ZRTT_MATURE_EPOCHS;
	h->rate = rate;
	hosts->law.due = DUE;
	hosts->law.log_due = zrtt_log2(DUE);
	return h;
}

/* Whose a flow is */

static void flow_is_new_to_its_hosts_once(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = { .weight_q8 = 512, .host_weight = 2 };

	(void)state;
	assert_true(meet(&hosts, &m, FLOW(1), HOST(1), 0));
	assert_int_equal(m.tag, FLOW(1));
	assert_int_equal(group_of(&hosts, &m, 0)->tag, HOST(1));
	/* the packet's weight is no older than the packet */
	assert_int_equal(m.weight_q8, 512);
	assert_int_equal(m.host_weight, 2);
	assert_false(meet(&hosts, &m, FLOW(1), HOST(1), 0));
	/* addresses of a known flow are not looked at */
	assert_false(meet(&hosts, &m, FLOW(1), 0, 0));
	assert_int_equal(m.hosts[0], HOST(1));
	free_hosts(&hosts);
}

static void flow_leaves_the_host_that_it_had(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 5 * OCTAVE);
	struct zrtt_group *g = group_of(&hosts, &m, 0);

	(void)state;
	assert_int_equal(g->live, 1);
	assert_int_equal(g->counted, 1);
	assert_int_equal(g->sum_log_rate, 5 * OCTAVE);
	assert_true(meet(&hosts, &m, FLOW(1), HOST(2), 0));
	assert_int_equal(g->live, 0);
	assert_int_equal(g->counted, 0);
	assert_int_equal(g->sum_log_rate, 0);
	assert_int_equal(group_of(&hosts, &m, 0)->tag, HOST(2));
	/* it has none at its other end, and leaves none there */
	assert_int_equal(group_of(&hosts, &m, 1)->tag, 0);
	assert_int_equal(group_of(&hosts, &m, 1)->live, 0);
	free_hosts(&hosts);
}

/* What is behind an address may change at either end. */
static void flow_leaves_the_host_at_either_end(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), HOST(2), OCTAVE);
	struct zrtt_group *source = group_of(&hosts, &m, 0), *dest = group_of(&hosts, &m, 1);

	(void)state;
	assert_false(meet(&hosts, &m, FLOW(1), HOST(1), HOST(2)));
	assert_true(meet(&hosts, &m, FLOW(1), HOST(1), HOST(3)));
	assert_int_equal(m.looked, START);
	assert_int_equal(source->live + source->counted + dest->live + dest->counted, 0);
	zrtt_member_join(hosts.groups, &m, OCTAVE);
	assert_int_equal(source->live, 1);
	assert_int_equal(dest->live, 0);
	assert_int_equal(group_of(&hosts, &m, 1)->tag, HOST(3));
	assert_int_equal(group_of(&hosts, &m, 1)->live, 1);
	free_hosts(&hosts);
}

/* How often the hosts of a flow are looked up, if a packet comes in each of so many epochs. */
static u32 looks(struct zrtt_table *t, u32 begin, u32 epochs, bool spoofed)
{
	struct zrtt_flow *f = zrtt_flow_find(t, FLOW(1));
	u32 i, packet, count = 0;

	for (i = 0; i < epochs; i++) {
		for (packet = 0; packet < 5; packet++) {
			count += zrtt_member_look(t, f, begin + i);
			if (!spoofed && zrtt_flow_update_due(t, f, begin + i))
				zrtt_flow_update(t, f, begin + i);
		}
	}
	return count;
}

static void hosts_are_looked_up_once_per_update(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_table t = new_table(&hosts);

	(void)state;
	t.update_epochs = 4;
	meet(&hosts, zrtt_own_member(&t, zrtt_flow_add(&t, FLOW(1), START, 0)), FLOW(1), HOST(1), 0);
	assert_true(zrtt_member_known(&t, zrtt_flow_find(&t, FLOW(1))));
	assert_false(zrtt_member_known(&t, zrtt_flow_add(&t, FLOW(2), START, 0)));
	assert_false(zrtt_member_known(&t, NULL));
	/* its first update is soon */
	assert_int_equal(looks(&t, START, 1, false), 0);
	assert_int_equal(looks(&t, START + 1, 1, false), 1);
	assert_int_equal(looks(&t, START + 2, 40, false), 10);
	/* what is spoofed in its name does not update it */
	assert_int_equal(looks(&t, START + 42, 40, true), 10);
	/* between updates it could not join the groups of others */
	zrtt_flow_update(&t, zrtt_flow_find(&t, FLOW(1)), START + 90);
	assert_int_equal(looks(&t, START + 91, 3, false), 0);
	assert_int_equal(looks(&t, START + 94, 1, false), 1);
	free_table(&t);
	free_hosts(&hosts);
}

/* A host's flow that is moved to another table is in its group all the time, once. */
static void flow_is_of_its_host_while_it_is_moved(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_table t = new_table(&hosts), from;
	struct zrtt_group *g;
	struct zrtt_flow *f;

	(void)state;
	f = zrtt_flow_get(&t, FLOW(1), START, 0);
	meet(&hosts, zrtt_own_member(&t, f), FLOW(1), HOST(1), 0);
	g = group_of(&hosts, zrtt_own_member(&t, f), 0);
	f->age = ZRTT_MATURE_EPOCHS;
	f->updates = ZRTT_MATURE_EPOCHS;
	f->bytes = 100000;
	f->hit = 1;
	zrtt_flow_update(&t, f, START + 1);
	assert_int_equal(g->live, 1);
	assert_int_equal(g->counted, 1);
	assert_int_equal(g->sum_log_rate, zrtt_log2(f->rate));

	zrtt_table_resize(&t, &from, calloc(SLOTS, sizeof(*f)), SLOTS);
	t.members = calloc(SLOTS, sizeof(struct zrtt_member));
	assert_ptr_equal(zrtt_flow_member(&t, f), zrtt_own_member(&from, f));
	/* it falls silent, and is back */
	zrtt_table_expire(&t, START + 2 + ZRTT_LIVE_EPOCHS, 1);
	assert_int_equal(g->live + g->counted + g->sum_log_rate, 0);
	f = zrtt_flow_get(&t, FLOW(1), START + 2 + ZRTT_LIVE_EPOCHS, 0);
	assert_int_equal(zrtt_own_member(&t, f)->tag, FLOW(1));
	zrtt_flow_update(&t, f, START + 2 + ZRTT_LIVE_EPOCHS);
	assert_int_equal(g->live, 1);
	/* it began anew, and does not count for now */
	f->bytes = 100000;
	zrtt_flow_update(&t, f, START + 3 + ZRTT_LIVE_EPOCHS);
	assert_true(f->rate);
	assert_int_equal(g->live, 1);
	assert_int_equal(g->counted, 0);
	assert_int_equal(g->sum_log_rate, 0);
	zrtt_flow_retire(&t, f);
	assert_int_equal(g->live, 0);
	free_table(&from);
	free_table(&t);
	free_hosts(&hosts);
}

/* Where the table before had no members, what a slot's member was before says nothing of it. */
static void flow_from_a_table_without_members_is_of_no_host(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_table t, from;
	struct zrtt_flow *f;

	(void)state;
	zrtt_table_init(&t, calloc(SLOTS, sizeof(*f)), SLOTS);
	zrtt_flow_update(&t, zrtt_flow_get(&t, FLOW(1), START, 0), START);
	zrtt_table_resize(&t, &from, calloc(SLOTS, sizeof(*f)), SLOTS);
	t.members = malloc(SLOTS * sizeof(struct zrtt_member));
	memset(t.members, 0xff, SLOTS * sizeof(struct zrtt_member));
	t.groups = hosts.groups;
	f = zrtt_flow_get(&t, FLOW(1), START + 1, 0);
	assert_int_equal(t.live, 0);
	assert_int_equal(zrtt_own_member(&t, f)->tag, 0);
	assert_false(zrtt_member_known(&t, f));
	assert_false(zrtt_own_member(&t, f)->joined);
	free(from.slots);
	free_table(&t);
	free_hosts(&hosts);
}

static void slot_of_another_flow_leaves_nothing_behind(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 5 * OCTAVE);

	(void)state;
	assert_true(meet(&hosts, &m, FLOW(2), HOST(1), 0));
	assert_int_equal(group_of(&hosts, &m, 0)->live, 0);
	assert_int_equal(m.log_rate, 0);
	free_hosts(&hosts);
}

static void host_whose_slot_was_taken_is_not_missed(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 5 * OCTAVE);
	struct zrtt_group *g = group_of(&hosts, &m, 0);

	(void)state;
	*g = (struct zrtt_group) { .tag = HOST(1), .generation = g->generation + 1, .live = 7 };
	zrtt_member_leave(hosts.groups, &m);
	assert_int_equal(g->live, 7);
	assert_false(m.joined);
	free_hosts(&hosts);
}

/* A host in bucket 0, not yet live, that has a packet at @epoch. */
static u32 host_at(struct zrtt_hosts *hosts, u32 n, u32 epoch)
{
	return zrtt_host_get(hosts, ZRTT_TAG | n * SLOTS, n % SLOTS, epoch, 0);
}

/* It may be one that never becomes live, as others take its slot from it. */
static void host_that_loses_its_slot_within_2s_is_counted(void **state)
{
	u32 later = START + ZRTT_LIVE_EPOCHS, i, slot;
	struct zrtt_hosts hosts = new_hosts();

	(void)state;
	for (i = 1; i <= ZRTT_WAYS; i++)
		host_at(&hosts, i, i == 3 ? START : START + 1);
	assert_int_equal(hosts.table.evicted, 0);
	assert_int_equal(hosts.table.unused, SLOTS - ZRTT_WAYS);
	/* the one seen longest ago */
	slot = host_at(&hosts, 3, later);
	assert_int_equal(host_at(&hosts, ZRTT_WAYS + 1, later), slot);
	assert_int_equal(hosts.table.evicted, 1);
	/* none of those that are left had a packet in the last 2 s */
	host_at(&hosts, ZRTT_WAYS + 2, later + 2);
	assert_int_equal(hosts.table.evicted, 1);
	free_hosts(&hosts);
}

static void live_host_loses_its_slot_last(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	u32 i, slot = 0;

	(void)state;
	for (i = 1; i <= ZRTT_WAYS; i++) {
		slot = host_at(&hosts, i, START + i);
		if (i < ZRTT_WAYS)
			zrtt_flow_update(&hosts.table, &hosts.table.slots[slot], START + i + 1);
	}
	/* though it was seen last */
	assert_int_equal(host_at(&hosts, ZRTT_WAYS + 1, START + 10), slot);
	zrtt_flow_update(&hosts.table, &hosts.table.slots[slot], START + 11);
	assert_int_equal(hosts.table.live, ZRTT_WAYS);
	host_at(&hosts, ZRTT_WAYS + 2, START + 11);
	assert_int_equal(hosts.table.live, ZRTT_WAYS - 1);
	assert_int_equal(hosts.table.evicted, 2);
	free_hosts(&hosts);
}

/* Marks are an octet, at its place in an address say. */
static void subscribers_keep_their_slots(void **state)
{
	enum { SUBSCRIBERS = 250, HOSTS = 4096 };
	struct zrtt_member m[SUBSCRIBERS] = {};
	struct zrtt_hosts hosts = {};
	u32 round, i;

	(void)state;
	zrtt_table_init(&hosts.table, calloc(HOSTS, sizeof(struct zrtt_flow)), HOSTS);
	hosts.groups = calloc(HOSTS, sizeof(struct zrtt_group));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < SUBSCRIBERS; i++)
			assert_int_equal(meet(&hosts, &m[i], FLOW(i), zrtt_hash_mark(i << 16), 0), !round);
		for (i = 0; i < SUBSCRIBERS; i++)
			assert_true(zrtt_host_stands(&hosts, &m[i], 0));
	}
	assert_int_equal(hosts.table.unused, HOSTS - SUBSCRIBERS);
	assert_int_equal(hosts.table.evicted, 0);
	free_hosts(&hosts);
}

static void flow_belongs_to_the_end_with_more_flows(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member many[5], m = {};
	u32 i;

	(void)state;
	/* a server that sends to five clients, one of which has one more flow */
	for (i = 0; i < ARRAY_LEN(many); i++)
		many[i] = joined(&hosts, FLOW(i), HOST(0), HOST(100 + i), OCTAVE);
	assert_int_equal(many[4].end, 0);
	meet(&hosts, &m, FLOW(9), HOST(7), HOST(104));
	zrtt_member_join(hosts.groups, &m, OCTAVE);
	assert_int_equal(m.end, 1);
	/* it counts at that end, and is there at both */
	assert_int_equal(group_of(&hosts, &m, 0)->counted, 0);
	assert_int_equal(group_of(&hosts, &m, 0)->live, 1);
	assert_int_equal(group_of(&hosts, &m, 1)->counted, 1);
	assert_int_equal(group_of(&hosts, &m, 1)->live, 2);
	free_hosts(&hosts);
}

/* By its flows in all queues; and to its source if both have as many, or there is no other. */
static void flow_belongs_to_its_source_unless_the_other_end_has_more(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), HOST(2), OCTAVE), one = {};
	struct zrtt_group *source = group_of(&hosts, &m, 0), *dest = group_of(&hosts, &m, 1);

	(void)state;
	assert_int_equal(m.end, 0);
	dest->others.live = 1;
	assert_int_equal(zrtt_member_end(hosts.groups, &m), 1);
	source->others.live = 1;
	assert_int_equal(zrtt_member_end(hosts.groups, &m), 0);
	/* another host has the slot */
	dest->others.live = 9;
	dest->tag = HOST(3);
	assert_int_equal(zrtt_member_end(hosts.groups, &m), 0);
	dest->tag = HOST(2);
	source->tag = HOST(3);
	source->live = 99;
	assert_int_equal(zrtt_member_end(hosts.groups, &m), 1);
	meet(&hosts, &one, FLOW(2), HOST(4), 0);
	group_of(&hosts, &one, 0)->tag = HOST(5);
	assert_int_equal(zrtt_member_end(hosts.groups, &one), 0);
	free_hosts(&hosts);
}

/* Of a packet of weight w, 1 / w of the bytes, and never none. */
static void packet_counts_by_its_weight(void **state)
{
	(void)state;
	assert_int_equal(zrtt_weighed(1500, ZRTT_WEIGHT_ONE), 1500);
	assert_int_equal(zrtt_weighed(1500, 3 * ZRTT_WEIGHT_ONE), 500);
	assert_int_equal(zrtt_weighed(1500, ZRTT_WEIGHT_ONE / 4), 6000);
	assert_int_equal(zrtt_weighed(100, 0xffff), 1);
	/* as long as a GSO packet of a tap may say that it is */
	assert_int_equal(zrtt_weighed(1U << 24, ZRTT_WEIGHT_ONE), 1U << 24);
}

/* What the law makes of it */

static void price_is_a_power_of_the_weight(void **state)
{
	const struct { u16 weight_q8; double log; } cases[] = {
		{ 0, 0 }, { 256, 0 }, { 512, 1.5 }, { 1024, 3 }, { 64, -3 }, { 16, -6 },
		{ 0xffff, 12 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_near((double)zrtt_log_price(cases[i].weight_q8) / OCTAVE, cases[i].log,
			    0.001);
}

static void host_at_its_due_share_changes_nothing(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, zrtt_log2(DUE));
	struct zrtt_law law = {};

	(void)state;
	rate_host(&hosts, &m, DUE);
	assert_int_equal(zrtt_host_law(&hosts, &m, &law), zrtt_log2(DUE));
	assert_int_equal(law.log_norm, 0);
	assert_int_equal(law.log_due, zrtt_log2(DUE));
	assert_near(law.due, DUE, DUE / 1000.0);
	assert_int_equal(m.due, law.due);
	free_hosts(&hosts);
}

static void flows_of_a_host_pay_for_their_number(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = {};
	struct zrtt_law law = { .log_norm = OCTAVE };
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		m = joined(&hosts, FLOW(i), HOST(1), 0, zrtt_log2(DUE / 4));
	rate_host(&hosts, &m, DUE)->penalty_q16 = OCTAVE / 2;
	zrtt_host_law(&hosts, &m, &law);
	/* 4^1.5, the host's penalty, and what was there */
	assert_int_equal(law.log_norm, 3 * OCTAVE + OCTAVE / 2 + OCTAVE);
	assert_near(law.due, DUE / 4, DUE / 1000.0);
	free_hosts(&hosts);
}

static void due_share_of_flows_follows_that_of_the_host(void **state)
{
	const struct { u32 rate; double due; } cases[] = {
		{ DUE * 2, 0.5 }, { DUE / 2, 2 },
		/* and is bounded */
		{ DUE * 100, 1.0 / 16 }, { DUE / 100, 8 },
	};
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, zrtt_log2(DUE));
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct zrtt_law law = {};

		rate_host(&hosts, &m, cases[i].rate);
		zrtt_host_law(&hosts, &m, &law);
		assert_near(law.due, cases[i].due * DUE, DUE / 500.0);
	}
	free_hosts(&hosts);
}

static void host_of_which_nothing_is_known_has_its_due_share(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_law law = {};

	(void)state;
	/* of its rate alone nothing follows */
	rate_host(&hosts, &m, 4 * DUE);
	hosts.law = (struct zrtt_law) {};
	assert_int_equal(zrtt_host_law(&hosts, &m, &law), 0);
	assert_int_equal(law.due, 0);
	assert_int_equal(law.log_first, 0);
	/* nor of a rate that it has not had for long, or that is none yet */
	rate_host(&hosts, &m, 4 * DUE)->age = 0;
	zrtt_host_law(&hosts, &m, &law);
	assert_int_equal(law.log_due, zrtt_log2(DUE));
	rate_host(&hosts, &m, 0);
	zrtt_host_law(&hosts, &m, &law);
	assert_int_equal(law.log_due, zrtt_log2(DUE));
	free_hosts(&hosts);
}

/* What it may send until @epoch, in packets of 1000 bytes, though that is not small. */
static u32 ahead_until(struct zrtt_hosts *hosts, const struct zrtt_member *m, bool small,
		       u32 epoch)
{
	while (!zrtt_host_exceeds(hosts, m, 1000, small, epoch))
		;
	return hosts->groups[m->slots[m->end]].ahead;
}

static void sparse_flows_of_a_host_have_its_due_share(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow f = {};

	(void)state;
	/* no bound while the due share is not known */
	zrtt_hosts_bound(&hosts, 1000, &no_ceil);
	assert_false(zrtt_host_exceeds(&hosts, &m, 10 * DUE, false, START));
	assert_false(zrtt_host_exceeds(&hosts, &m, 1000, false, START));
	group_of(&hosts, &m, 0)->ahead = 0;
	rate_host(&hosts, &m, DUE);
	zrtt_hosts_bound(&hosts, 1000, &no_ceil);
	assert_near(ahead_until(&hosts, &m, false, START), DUE + 3 * 1514, 1000);
	/* small packets have a part of the next in advance */
	assert_near(ahead_until(&hosts, &m, true, START), DUE * 5 / 4 + 3 * 1514, 1000);
	assert_true(zrtt_host_exceeds(&hosts, &m, 1000, false, START));
	/* until the host is updated: what they had is of that */
	zrtt_host_refresh(&hosts, &m, &f, START + 1);
	assert_near(group_of(&hosts, &m, 0)->ahead, DUE / 4, 1000);
	assert_near(ahead_until(&hosts, &m, false, START + 1), DUE + 3 * 1514, 1000);
	zrtt_host_refresh(&hosts, &m, &f, START + 2);
	assert_in_range(group_of(&hosts, &m, 0)->ahead, 0, 1000);
	assert_near(ahead_until(&hosts, &m, false, START + 2), DUE + 3 * 1514, 1000);
	/* so much each may have that is not believed to be held back */
	zrtt_hosts_bound(&hosts, 2 * DUE, &no_ceil);
	assert_near(ahead_until(&hosts, &m, false, START + 2), 2 * DUE + 3 * 1514, 1000);
	/* more than a part of the next is not owed, as after GSO packets or where there was no bound */
	group_of(&hosts, &m, 0)->ahead = 100 * DUE;
	zrtt_host_refresh(&hosts, &m, &f, START + 3);
	assert_int_equal(group_of(&hosts, &m, 0)->ahead, 2 * DUE / 4);
	free_hosts(&hosts);
}

/* With thousands of flows these are updated seldom, and so are hosts: then they have what they are
 * due in each epoch.
 */
static void due_share_of_a_host_goes_on_between_its_updates(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow *h = rate_host(&hosts, &m, DUE), f = {};
	u32 i;

	(void)state;
	zrtt_hosts_expire(&hosts, 5, START);
	zrtt_hosts_bound(&hosts, 0, &no_ceil);
	zrtt_host_refresh(&hosts, &m, &f, START + 5);
	for (i = 0; i < 5; i++) {
		h->bytes += 1000;
		zrtt_host_refresh(&hosts, &m, &f, START + 5 + i);
		assert_int_equal(h->epoch, START + 5);
		assert_near(ahead_until(&hosts, &m, false, START + 5 + i), (1 + i) * DUE + 3 * 1514, 1000);
	}
	/* new flows do not bring about an update, and no longer time gives more */
	assert_near(ahead_until(&hosts, &m, false, START + 100), 6 * DUE + 3 * 1514, 1000);
	zrtt_host_refresh(&hosts, &m, &f, START + 10);
	assert_int_equal(h->epoch, START + 10);
	assert_near(ahead_until(&hosts, &m, false, START + 10), DUE + 3 * 1514, 1000);
	free_hosts(&hosts);
}

/* Many short flows are held back by what their host is due, as no flow of them is known for long. */
static void new_flow_of_a_host_above_its_due_share_is_marked_more(void **state)
{
	const struct zrtt_law_params params = { .feedback = 2, .tuned = true };
	const struct zrtt_law before = { .log_norm = -OCTAVE / 2, .log_steady = -OCTAVE };
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow *h = rate_host(&hosts, &m, 2 * DUE), f = {};
	struct zrtt_law law = before;

	(void)state;
	h->penalty_q16 = 3 * OCTAVE;
	group_of(&hosts, &m, 0)->counted = 16;
	zrtt_host_law(&hosts, &m, &law);
	/* its P_i is that of the EWMA of P_b */
	assert_near(law.log_first, 5 * OCTAVE - OCTAVE / 2 - OCTAVE, OCTAVE / 100);
	assert_int_equal(zrtt_weight(&params, &law, &f), zrtt_weight_pack(law.log_first));
	/* at its due share and below no more than others leave */
	h->rate = DUE / 4;
	law = before;
	zrtt_host_law(&hosts, &m, &law);
	assert_int_equal(zrtt_weight(&params, &law, &f), ZRTT_WEIGHT_ONE_PACKED);
	free_hosts(&hosts);
}

/* With thousands of flows a host is updated seldom: what it sends meanwhile may have more than 32 bits. */
static void fast_host_is_known_to_be_fast(void **state)
{
	const u32 rate = 1U << 31;	/* 128 Gbit/s */
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow *h = zrtt_member_host(&hosts, &m), f = {};
	u32 epoch;

	(void)state;
	hosts.table.update_epochs = ZRTT_UPDATE_EPOCHS;
	for (epoch = START + 1; epoch < START + 100; epoch++) {
		h->bytes += rate;
		zrtt_host_refresh(&hosts, &m, &f, epoch);
	}
	assert_near(h->rate, rate, rate / 100.0);
	/* but not twice in an epoch */
	h->bytes = rate;
	zrtt_host_refresh(&hosts, &m, &f, h->epoch);
	assert_int_equal(h->bytes, rate);
	free_hosts(&hosts);
}

/* Each host's flows have a mean, whatever their number, and that of all is a mean of these. */
static void one_host_of_many_flows_does_not_lengthen_the_queue(void **state)
{
	const struct zrtt_sums flows = { .counted = 101, .sum_rate = 101 * 3 };
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member few = joined(&hosts, FLOW(1), HOST(1), 0, 20 * OCTAVE), m;
	struct zrtt_flow f = { .lane = ZRTT_LANE_BULK };
	struct zrtt_sums sums;
	u32 epoch = START, i;

	(void)state;
	for (i = 0; i < 100; i++)
		m = joined(&hosts, FLOW(2 + i), HOST(2), 0, 10 * OCTAVE);
	sums = zrtt_hosts_sums(&hosts);
	assert_int_equal(zrtt_mean_rate_of_hosts(&flows, &sums), 3);
	rate_host(&hosts, &few, DUE)->hit = 1;
	for (i = 0; i < 500; i++) {
		zrtt_member_host(&hosts, &few)->bytes = DUE;
		zrtt_member_host(&hosts, &m)->bytes = DUE;
		epoch++;
		zrtt_host_refresh(&hosts, &few, &f, epoch);
		zrtt_host_refresh(&hosts, &m, &f, epoch);
	}
	sums = zrtt_hosts_sums(&hosts);
	assert_int_equal(sums.counted, 2 * ZRTT_PART_ALL);
	assert_near(zrtt_mean_rate_of_hosts(&flows, &sums), 1 << 15, (1 << 15) / 10);
	zrtt_hosts_reset(&hosts);
	sums = zrtt_hosts_sums(&hosts);
	assert_int_equal(zrtt_mean_rate_of_hosts(&flows, &sums), 3);
	free_hosts(&hosts);
}

/* Update the host of @f with half of its due share. Return: whether it counts. */
static bool counts_with_half(struct zrtt_hosts *hosts, const struct zrtt_member *m,
			     const struct zrtt_flow *f, u32 *epoch)
{
	struct zrtt_flow *h = zrtt_member_host(hosts, m);
	u32 i;

	for (i = 0; i < ZRTT_MATURE_EPOCHS; i++) {
		h->bytes = DUE / 2;
		zrtt_host_refresh(hosts, m, f, ++*epoch);
	}
	return h->counts;
}

/* A host that is not hit counts from a quarter of its due share on if it has packets in bulk. */
static void host_of_streams_below_its_share_does_not_count(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow f = { .lane = ZRTT_LANE_SPARSE };
	u32 epoch = START;

	(void)state;
	hosts.table.due = DUE;
	assert_false(counts_with_half(&hosts, &m, &f, &epoch));
	f.lane = ZRTT_LANE_BULK;
	assert_true(counts_with_half(&hosts, &m, &f, &epoch));
	/* any of its flows will do, until the host is updated */
	f.lane = ZRTT_LANE_THIN;
	zrtt_host_refresh(&hosts, &m, &f, epoch);
	assert_false(counts_with_half(&hosts, &m, &f, &epoch));
	f.lane = ZRTT_LANE_BULK;
	zrtt_host_refresh(&hosts, &m, &f, epoch);
	f.lane = ZRTT_LANE_THIN;
	zrtt_host_refresh(&hosts, &m, &f, ++epoch);
	assert_true(zrtt_member_host(&hosts, &m)->counts);
	free_hosts(&hosts);
}

/* The first host that counts says what a flow has, and 64 updates of others change that by 1 - 1/e. */
static void mean_of_what_flows_have_follows_in_64_updates(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 10 * OCTAVE);
	struct zrtt_flow f = { .lane = ZRTT_LANE_SPARSE, .rate = DUE / 2 };
	u32 epoch = START, i;

	(void)state;
	hosts.table.due = DUE;
	assert_false(counts_with_half(&hosts, &m, &f, &epoch));
	assert_int_equal(hosts.log_flow, 0);
	f.hit = 1;
	assert_true(counts_with_half(&hosts, &m, &f, &epoch));
	assert_int_equal(hosts.log_flow, 10 * OCTAVE);
	group_of(&hosts, &m, 0)->sum_log_rate = 20 * OCTAVE;
	for (i = 0; i < 64; i += ZRTT_MATURE_EPOCHS)
		assert_true(counts_with_half(&hosts, &m, &f, &epoch));
	assert_near(hosts.log_flow, (20 - 10 * exp(-1)) * OCTAVE, OCTAVE / 10);
	free_hosts(&hosts);
}

/* It counts, then, however little it has. */
static void host_is_held_back_if_a_flow_is(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow f = { .lane = ZRTT_LANE_SPARSE, .rate = DUE / 2 };
	u32 epoch = START;

	(void)state;
	hosts.table.due = DUE;
	assert_false(counts_with_half(&hosts, &m, &f, &epoch));
	f.hit = 1;
	assert_true(counts_with_half(&hosts, &m, &f, &epoch));
	/* unless its own ceiling holds it */
	hosts.ceils = calloc(SLOTS, sizeof(struct zrtt_ceil));
	zrtt_member_host(&hosts, &m)->hit = 0;
	zrtt_host_ceil(&hosts, &m)->held = true;
	zrtt_host_refresh(&hosts, &m, &f, epoch);
	assert_int_equal(zrtt_member_host(&hosts, &m)->hit, 0);
	zrtt_host_ceil(&hosts, &m)->held = false;
	zrtt_host_refresh(&hosts, &m, &f, epoch);
	assert_int_equal(zrtt_member_host(&hosts, &m)->hit, 1);
	free(hosts.ceils);
	free_hosts(&hosts);
}

/* As a flow is, if none of its own was there for 2 s. */
static void silent_host_is_in_no_sum(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member silent = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_member other = joined(&hosts, FLOW(2), HOST(2), 0, 0);
	struct zrtt_flow f = { .lane = ZRTT_LANE_BULK };
	u32 epoch = START + 1;

	(void)state;
	zrtt_host_refresh(&hosts, &silent, &f, epoch);
	assert_int_equal(hosts.table.live, 1);
	zrtt_hosts_expire(&hosts, 1, epoch + ZRTT_LIVE_EPOCHS);
	assert_int_equal(hosts.table.live, 1);
	zrtt_hosts_expire(&hosts, 1, epoch + ZRTT_LIVE_EPOCHS + 1);
	assert_int_equal(hosts.table.live, 0);
	/* or whenever another is updated */
	epoch += 100;
	zrtt_host_refresh(&hosts, &silent, &f, epoch);
	epoch += ZRTT_LIVE_EPOCHS + 1;
	zrtt_host_refresh(&hosts, &other, &f, epoch);
	assert_int_equal(hosts.table.live, 1);
	free_hosts(&hosts);
}

/* With another `fair`, or weights of other marks, a host is another. */
static void nothing_is_left_of_other_hosts(void **state)
{
	struct zrtt_hosts hosts = new_hosts();

	(void)state;
	hosts.law = (struct zrtt_law) { .due = DUE, .log_due = OCTAVE };
	hosts.log_ceil = hosts.log_flow = OCTAVE;
	hosts.ahead_most = DUE;
	hosts.salt = 7;
	hosts.news = true;
	hosts.told[0] = hosts.told[1] = 1;
	hosts.gone[0].generation = hosts.gone[1].generation = 1;
	zrtt_hosts_begin(&hosts);
	assert_int_equal(hosts.law.due | hosts.law.log_due, 0);
	assert_int_equal(hosts.log_ceil | hosts.log_flow, 0);
	assert_int_equal(hosts.ahead_most, 0);
	assert_false(hosts.news);
	assert_int_equal(hosts.told[0] | hosts.told[1], 0);
	assert_int_equal(hosts.gone[0].generation | hosts.gone[1].generation, 0);
	/* who they are is for others to say */
	assert_int_equal(hosts.salt, 7);
	assert_int_equal(hosts.table.mask, SLOTS - 1);
	free_hosts(&hosts);
}

/* Each host that counts is to have one due share where no other queue has hosts. */
static void dues_of_a_lone_queue_are_its_hosts(void **state)
{
	struct zrtt_hosts hosts = new_hosts();

	(void)state;
	hosts.table.counted = 3;
	assert_int_equal(zrtt_hosts_dues(&hosts), 3 * ZRTT_PART_ALL);
	free_hosts(&hosts);
}

/* Who is held back elsewhere, or spoofed, is not what the others of the host are compared with. */
static void flow_below_its_share_counts_if_others_have_no_more_than_twice_as_much(void **state)
{
	const u32 due = 2 * ZRTT_LARGE_DUE;
	/* the mean of the others */
	const struct { u8 lane; u16 seq; u32 others; bool counts; } cases[] = {
		{ ZRTT_LANE_SPARSE, 1, due / 4 * 5, false },
		{ ZRTT_LANE_RETURNING_LARGE, 1, due / 4 * 5, false },
		{ ZRTT_LANE_SPARSE, 1, due / 4 * 3, true }, { ZRTT_LANE_SPARSE, 1, 0, true },
		{ ZRTT_LANE_BULK, 1, due / 4 * 5, true },
		{ ZRTT_LANE_BULK, 0, due / 4 * 3, false }, { ZRTT_LANE_SPARSE, 0, due / 4 * 3, false },
	};
	struct zrtt_member m = { .due = due };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct zrtt_flow f = { .age = ZRTT_MATURE_EPOCHS, .updates = ZRTT_MATURE_EPOCHS,
				       .lane = cases[i].lane, .seq = cases[i].seq, .rate = due / 2 };
		struct zrtt_group g = { .counted = cases[i].others ? 2 : 0,
					.sum_log_rate = 2LL * zrtt_log2(cases[i].others) };
		struct zrtt_table t = { .slots = &f, .members = &m, .groups = &g,
					.update_epochs = 1 };

		assert_int_equal(zrtt_flow_counts(&t, &f), cases[i].counts);
		f.hit = 1;
		assert_true(zrtt_flow_counts(&t, &f));
		f.hit = 0;
		f.rate = due + due / 100;
		assert_true(zrtt_flow_counts(&t, &f));
	}
}

/* The rate from which on a flow of a host counts that is not hit; @others is the mean of those that do. */
static u32 counts_from(u32 due, u8 lane, bool tcp, u32 others)
{
	struct zrtt_flow f = { .lane = lane, .seq = tcp };
	struct zrtt_group g = { .counted = !!others, .sum_log_rate = zrtt_log2(others) };
	struct zrtt_member m = { .due = due };
	const struct zrtt_table t = { .slots = &f, .members = &m, .groups = &g };

	return (u32)zrtt_flow_counts_from(&t, &f);
}

static void flow_counts_from_a_quarter_of_its_share_to_all_of_it(void **state)
{
	const u32 large = ZRTT_LARGE_DUE, small = large - 1, dues[] = { small, large };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(dues); i++) {
		u32 due = dues[i];

		assert_int_equal(counts_from(due, ZRTT_LANE_BULK, true, 4 * due), due / 4);
		assert_int_equal(counts_from(due, ZRTT_LANE_BULK, false, 0), due);
		assert_int_equal(counts_from(due, ZRTT_LANE_SPARSE, false, 0), due);
	}
	/* before bulk TCP has to have half of what the others have, where shares are large */
	assert_int_equal(counts_from(small, ZRTT_LANE_SPARSE, true, 0), small);
	assert_int_equal(counts_from(small, ZRTT_LANE_SPARSE, true, 4 * small), small);
	assert_int_equal(counts_from(large, ZRTT_LANE_SPARSE, true, 0), large / 4);
	assert_int_equal(counts_from(large, ZRTT_LANE_SPARSE, true, large / 16 * 7), large / 4);
	assert_near(counts_from(large, ZRTT_LANE_SPARSE, true, large / 8 * 5), large / 16 * 5,
		    large / 1000);
	assert_near(counts_from(large, ZRTT_LANE_SPARSE, true, large), large / 2, large / 1000);
	assert_near(counts_from(large, ZRTT_LANE_SPARSE, true, 4 * large), 2 * large, large / 500);
}

static void dropped_bytes_are_not_a_hosts(void **state)
{
	struct zrtt_hosts hosts = new_hosts();
	struct zrtt_member m = joined(&hosts, FLOW(1), HOST(1), 0, 0);
	struct zrtt_flow *h = zrtt_member_host(&hosts, &m);

	(void)state;
	h->bytes = 1500;
	zrtt_host_dropped(&hosts, &m, 1000);
	assert_int_equal(h->bytes, 500);
	zrtt_host_dropped(&hosts, &m, 1000);
	assert_int_equal(h->bytes, 0);
	free_hosts(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flow_is_new_to_its_hosts_once),
		cmocka_unit_test(flow_leaves_the_host_that_it_had),
		cmocka_unit_test(flow_leaves_the_host_at_either_end),
		cmocka_unit_test(hosts_are_looked_up_once_per_update),
		cmocka_unit_test(flow_is_of_its_host_while_it_is_moved),
		cmocka_unit_test(flow_from_a_table_without_members_is_of_no_host),
		cmocka_unit_test(slot_of_another_flow_leaves_nothing_behind),
		cmocka_unit_test(host_whose_slot_was_taken_is_not_missed),
		cmocka_unit_test(host_that_loses_its_slot_within_2s_is_counted),
		cmocka_unit_test(live_host_loses_its_slot_last),
		cmocka_unit_test(subscribers_keep_their_slots),
		cmocka_unit_test(flow_belongs_to_the_end_with_more_flows),
		cmocka_unit_test(flow_belongs_to_its_source_unless_the_other_end_has_more),
		cmocka_unit_test(packet_counts_by_its_weight),
		cmocka_unit_test(price_is_a_power_of_the_weight),
		cmocka_unit_test(host_at_its_due_share_changes_nothing),
		cmocka_unit_test(flows_of_a_host_pay_for_their_number),
		cmocka_unit_test(due_share_of_flows_follows_that_of_the_host),
		cmocka_unit_test(host_of_which_nothing_is_known_has_its_due_share),
		cmocka_unit_test(host_of_streams_below_its_share_does_not_count),
		cmocka_unit_test(mean_of_what_flows_have_follows_in_64_updates),
		cmocka_unit_test(host_is_held_back_if_a_flow_is),
		cmocka_unit_test(silent_host_is_in_no_sum),
		cmocka_unit_test(nothing_is_left_of_other_hosts),
		cmocka_unit_test(dues_of_a_lone_queue_are_its_hosts),
		cmocka_unit_test(sparse_flows_of_a_host_have_its_due_share),
		cmocka_unit_test(due_share_of_a_host_goes_on_between_its_updates),
		cmocka_unit_test(new_flow_of_a_host_above_its_due_share_is_marked_more),
		cmocka_unit_test(fast_host_is_known_to_be_fast),
		cmocka_unit_test(one_host_of_many_flows_does_not_lengthen_the_queue),
		cmocka_unit_test(flow_below_its_share_counts_if_others_have_no_more_than_twice_as_much),
		cmocka_unit_test(flow_counts_from_a_quarter_of_its_share_to_all_of_it),
		cmocka_unit_test(dropped_bytes_are_not_a_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
