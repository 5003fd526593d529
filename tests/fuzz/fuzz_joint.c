// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: hosts whose flows several queues have. Packets of few flows, of few hosts,
 * to one queue or another, whose clocks differ; queues that mean other hosts, are alone for a
 * while, or find another table. What all have of a host is what each says it has, none is
 * counted twice, and no more hosts count than there are.
 */
#include "draw.h"
#include "expect.h"
#include "joint_check.h"
#include "table_check.h"
#include "weight.h"
#include <zrtt/hash.h>
#include <zrtt/zrtt.h>

#define QUEUES		3
#define FLOWS		(2 * ZRTT_WAYS)
#define HOST_SLOTS	ZRTT_WAYS
#define HOSTS		(2 * HOST_SLOTS)
#define BYTES_MAX	65535

struct device {
	struct zrtt_params params;
	struct zrtt_vars q[QUEUES];
	struct zrtt_stats stats;
	struct zrtt_joint joint;
	u64 now_ns;
};

static void begin(struct zrtt_vars *vars)
{
	struct zrtt_hosts *hosts = &vars->hosts;

	zrtt_table_init(&vars->table, calloc(FLOWS, sizeof(struct zrtt_flow)), FLOWS);
	zrtt_table_init(&hosts->table, calloc(HOST_SLOTS, sizeof(struct zrtt_flow)), HOST_SLOTS);
	hosts->groups = calloc(HOST_SLOTS, sizeof(struct zrtt_group));
	hosts->table.parts = calloc(HOST_SLOTS, sizeof(struct zrtt_part));
	hosts->table.has_parts = true;
	vars->table.members = calloc(FLOWS, sizeof(struct zrtt_member));
	vars->table.groups = hosts->groups;
}

static void end(struct zrtt_vars *vars)
{
	free(vars->table.slots);
	free(vars->table.members);
	free(vars->hosts.table.slots);
	free(vars->hosts.table.parts);
	free(vars->hosts.groups);
}

/* Room for one bucket, or for two. */
static void take_joint(struct device *d, bool more)
{
	u32 hosts = ZRTT_WAYS << more;

	free(d->joint.slots);
	zrtt_joint_take(&d->joint, calloc(hosts, sizeof(struct zrtt_joint_host)), hosts);
}

/* Parts sum up to what the table of a queue says. */
static void check_parts(const struct zrtt_hosts *hosts)
{
	struct zrtt_parts want = {};
	u32 i;

	for (i = 0; i < HOST_SLOTS; i++) {
		const struct zrtt_part *part = &hosts->table.parts[i];
		const struct zrtt_flow *h = &hosts->table.slots[i];

		if (!h->live)
			continue;
		expect(part->held_q8 <= ZRTT_PART_ALL, "more than a host");
		expect(h->counts || !part->held_q8, "a host counts that does not");
		want.held_q8 += part->held_q8;
		want.dues_q8 += part->held_q8 * part->held_weight;
		want.sum_log_rate += (s64)part->held_q8 * part->log_rate;
		want.other_rate += (u64)part->other_rate * part->held_weight;
	}
	expect(!memcmp(&want, &hosts->table.parts_sums, sizeof(want)), "another sum of parts");
}

/* What was said is what queues remember to have said. */
static void check_said(const struct device *d, bool complete)
{
	struct zrtt_told said = all_said(&d->joint), want = {};
	u32 i;

	for (i = 0; i < QUEUES; i++)
		add_remembered(&d->joint, &d->q[i].hosts, &want);
	expect(!complete || !memcmp(&said, &want, sizeof(said)), "what nobody said");
	expect(said.rate >= want.rate && said.live >= want.live && said.counted >= want.counted,
	       "less than was said");
}

static u32 host_tag(u32 i)
{
	return i ? ZRTT_TAG | i << 3 : 0;
}

static void arrive(struct device *d, struct zrtt_vars *vars, const struct zrtt_arrival *pkt,
		   u32 rnd, u64 now_ns, bool alone)
{
	struct zrtt_flow *f = zrtt_arrive(&d->params, vars, &d->stats, pkt, rnd, now_ns);

	expect(weight_in_range(f->weight), "weight out of range");
	if (vars->hosts.news)
		zrtt_hosts_share(&vars->hosts, alone ? NULL : &d->joint, zrtt_epoch(now_ns));
	expect(!vars->hosts.news, "news that stay");
	zrtt_mark_or_drop(&d->params, vars, f, pkt, rnd, now_ns);
}

static void send(struct device *d, struct zrtt_vars *vars, struct draw *draw, bool alone)
{
	u32 what = draw_index(draw, 256), more = draw_index(draw, 48);
	u32 bytes = draw_between(draw, 1, BYTES_MAX);
	u64 behind_ns = (u64)(what >> 7) << ZRTT_EPOCH_SHIFT;
	struct zrtt_arrival pkt = {
		.tag = ZRTT_TAG | (what % (2 * FLOWS)) << 2,
		.bytes = bytes,
		.host_bytes = bytes,
		.segs = 1,
		.hosts = { host_tag(1 + draw_index(draw, HOSTS)),
			   host_tag(draw_index(draw, HOSTS + 1)) },
		.weight_q8 = ZRTT_WEIGHT_ONE,
		.host_weight = (u8)(1 + what % 5),
	};

	do {
		arrive(d, vars, &pkt, (u32)draw_bytes(draw, 1) << 24,
		       d->now_ns > behind_ns ? d->now_ns - behind_ns : 0, alone);
		d->now_ns += 1ULL << ZRTT_EPOCH_SHIFT;
		if (more % 4 == 0)
			zrtt_tick(&d->params, vars, (u32)draw_bytes(draw, 2), 1, d->now_ns);
	} while (more-- && draw->left);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw draw = { .at = data, .left = size };
	struct device d = { .now_ns = draw_start_ns(&draw) };
	bool complete = true;
	u32 i, what;

	zrtt_params_init(&d.params);
	d.params.fair = ZRTT_FAIR_DUALHOST;
	for (i = 0; i < QUEUES; i++)
		begin(&d.q[i]);
	take_joint(&d, false);
	while (draw.left) {
		struct zrtt_vars *vars = &d.q[draw_index(&draw, QUEUES)];

		what = draw_index(&draw, 16);
		if (what == 0)
			take_joint(&d, draw_index(&draw, 2));
		else if (what == 1)
			d.now_ns += draw_gap_ns(&draw);
		else if (what == 2)
			vars->hosts.salt ^= 1;
		else if (what == 3)
			zrtt_vars_reset(vars);
		/* who is alone does not take back what it said */
		if (what == 4)
			complete = false;
		send(&d, vars, &draw, what == 4);
		for (i = 0; i < QUEUES; i++)
			check_parts(&d.q[i].hosts);
		check_said(&d, complete);
	}
	for (i = 0; i < QUEUES; i++)
		end(&d.q[i]);
	free(d.joint.slots);
	return 0;
}
