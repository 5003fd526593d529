// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: hosts. Packets of few flows, of few hosts at either end, that compete for
 * few slots; flows that change hosts, tables that change size, hosts that are meant otherwise.
 * What hosts sum up to is that of their flows, and no flow is counted twice or for ever.
 */
#include "draw.h"
#include "expect.h"
#include "table_check.h"
#include "weight.h"
#include <zrtt/hash.h>
#include <zrtt/zrtt.h>

#define FLOWS		(2 * ZRTT_WAYS)
#define MANY		(2 * ZRTT_MOVE_STEP)
#define HOST_SLOTS	ZRTT_WAYS
#define HOSTS		(2 * HOST_SLOTS)
#define BYTES_MAX	65535

struct queue {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_table from;
	struct zrtt_stats stats;
	u64 now_ns;
};

/* As zrtt_take_hosts(), with members that know of none. */
static void take_hosts(struct queue *q, u32 fair)
{
	struct zrtt_vars *vars = &q->vars;

	free(vars->table.members);
	free(vars->hosts.table.slots);
	free(vars->hosts.groups);
	vars->hosts = (struct zrtt_hosts) {};
	vars->table.members = NULL;
	q->params.fair = fair;
	if (fair != ZRTT_FAIR_FLOW) {
		zrtt_table_init(&vars->hosts.table,
				calloc(HOST_SLOTS, sizeof(struct zrtt_flow)), HOST_SLOTS);
		vars->hosts.groups = calloc(HOST_SLOTS, sizeof(struct zrtt_group));
		vars->table.members = calloc(table_slots(&vars->table),
					     sizeof(struct zrtt_member));
	}
	vars->table.groups = vars->hosts.groups;
}

static void sum_members(const struct zrtt_table *t, const struct queue *q,
			struct zrtt_group *want)
{
	const struct zrtt_group *groups = q->vars.hosts.groups;
	u32 i, end;

	for (i = 0; i < table_slots(t); i++) {
		struct zrtt_member *m = &t->members[i];

		/* what was moved away is a copy */
		if (!m->joined || !t->slots[i].tag)
			continue;
		expect(t->slots[i].live && m->tag == t->slots[i].tag, "a member that is gone");
		expect(!m->log_rate || t->slots[i].counts, "counts for its host alone");
		for (end = 0; end < ZRTT_HOST_ENDS; end++) {
			if (!zrtt_member_group(q->vars.hosts.groups, m, end))
				continue;
			want[m->slots[end]].live++;
			if (end != m->end || !m->log_rate)
				continue;
			want[m->slots[end]].counted++;
			want[m->slots[end]].sum_log_rate += m->log_rate;
			expect(groups[m->slots[end]].counted, "a mean of nobody");
		}
	}
}

static void check_groups(const struct queue *q)
{
	const struct zrtt_table *t = &q->vars.table;
	const struct zrtt_group *groups = q->vars.hosts.groups;
	struct zrtt_group want[HOST_SLOTS] = {};
	u32 i;

	if (!groups)
		return;
	sum_members(t, q, want);
	if (t->from && t->from->members)
		sum_members(t->from, q, want);
	for (i = 0; i < HOST_SLOTS; i++) {
		expect(groups[i].live == want[i].live, "another number of flows");
		expect(groups[i].counted == want[i].counted, "another number that counts");
		expect(groups[i].sum_log_rate == want[i].sum_log_rate, "another sum");
	}
}

/* As in the target of the whole algorithm: epochs are compared as numbers. */
static void check_hosts(const struct queue *q)
{
	static struct zrtt_flow slots[HOST_SLOTS];
	struct zrtt_table copy = q->vars.hosts.table;
	u32 i;

	if (!q->vars.hosts.groups)
		return;
	for (i = 0; i < HOST_SLOTS; i++) {
		slots[i] = copy.slots[i];
		slots[i].epoch -= zrtt_epoch(q->now_ns) + 1;
		expect(slots[i].penalty_q16 >= ZRTT_PENALTY_MIN &&
		       slots[i].penalty_q16 <= ZRTT_PENALTY_MAX, "penalty out of range");
	}
	copy.slots = slots;
	check_table(&copy);
}

static u32 host_tag(u32 i)
{
	return i % (HOSTS + 1) ? ZRTT_TAG | i % (HOSTS + 1) << 4 : 0;
}

static void arrive(struct queue *q, const struct zrtt_arrival *pkt, u32 rnd)
{
	struct zrtt_table *t = &q->vars.table;
	struct zrtt_flow *f, *h = NULL;
	struct zrtt_member *m;
	u32 bytes = 0;

	f = zrtt_arrive(&q->params, &q->vars, &q->stats, pkt, rnd, q->now_ns);
	expect(weight_in_range(f->weight), "weight out of range");
	if (t->groups) {
		m = zrtt_flow_member(t, f);
		expect(m->tag == f->tag, "another flow's hosts");
		expect(!pkt->hosts[0] || (m->hosts[0] == pkt->hosts[0] &&
					  m->hosts[1] == pkt->hosts[1]), "another host");
		expect(!m->log_due == !m->due, "a due share of nothing");
		h = zrtt_member_host(&q->vars.hosts, m);
		expect(!m->hosts[m->end] || h->tag == m->hosts[m->end], "another host's slot");
		expect(h->bytes >= pkt->host_bytes, "bytes that no host has");
		bytes = h->bytes;
	}
	/* one of its flow left, and was dropped, whatever it and its host are now */
	if (pkt->bytes & 1) {
		zrtt_dropped_leaving(&q->vars, f, pkt->bytes);
		expect(!h || h->bytes <= bytes, "a drop adds bytes");
	} else if (zrtt_mark_or_drop(&q->params, &q->vars, f, pkt, rnd,
			      q->now_ns) == ZRTT_DROP && h)
		expect(h->bytes == bytes - pkt->host_bytes, "a host pays for what was dropped");
	else if (h)
		expect(h->bytes == bytes, "a verdict adds bytes");
}

static void tick(struct queue *q, struct draw *d)
{
	u32 epochs = 1 + draw_index(d, ZRTT_UPDATE_EPOCHS);

	zrtt_tick(&q->params, &q->vars, (u32)draw_u64(d), 1, q->now_ns);
	q->vars.table.update_epochs = epochs;
	expect(!q->vars.hosts.groups || q->vars.hosts.table.due == q->vars.hosts.law.due,
	       "another due share");
	if (q->vars.hosts.groups)
		q->vars.hosts.table.update_epochs = epochs;
}

/* A flow of the hosts that it has, or of others, and as long as a fifth of a minute. */
static void send(struct queue *q, struct draw *d)
{
	u32 what = draw_index(d, 256), more = draw_index(d, 96);
	u32 bytes = draw_between(d, 1, BYTES_MAX);
	struct zrtt_arrival pkt = {
		.tag = ZRTT_TAG | (what % (2 * FLOWS)) << 2,
		.bytes = bytes,
		.host_bytes = bytes,
		.segs = 1,
		.ecn = what & 1,
		.seq_high = what & 0x40 ? 0 : (u16)draw_bytes(d, 1) * 0x101,
		.weight_q8 = ZRTT_WEIGHT_ONE,
		.host_weight = 1,
	};

	if (what & 0x80 || !q->vars.table.groups ||
	    !zrtt_member_known(&q->vars.table, zrtt_flow_known(&q->vars.table, pkt.tag))) {
		pkt.hosts[0] = host_tag(1 + draw_index(d, HOSTS));
		pkt.hosts[1] = q->params.fair == ZRTT_FAIR_DUALHOST ?
			       host_tag(draw_index(d, HOSTS + 1)) : 0;
	}
	do {
		arrive(q, &pkt, (u32)draw_bytes(d, 1) << 24);
		q->now_ns += 1 << ZRTT_EPOCH_SHIFT;
		if (more % 4 == 0)
			tick(q, d);
	} while (more-- && d->left);
}

/* Flows that send a packet each, of one host: they take each other's slots. */
static void crowd(struct queue *q, struct draw *d)
{
	struct zrtt_arrival pkt = {
		.bytes = 1500,
		.host_bytes = 1500,
		.segs = 1,
		.hosts = { host_tag(1 + draw_index(d, HOSTS)) },
		.weight_q8 = ZRTT_WEIGHT_ONE,
		.host_weight = 1,
	};
	u32 first = draw_index(d, 2 * FLOWS), i;

	for (i = 0; i < 2 * FLOWS; i++) {
		pkt.tag = ZRTT_TAG | (first + i) % (2 * FLOWS) << 2;
		arrive(q, &pkt, 0);
	}
}

static void resize(struct queue *q)
{
	struct zrtt_table *t = &q->vars.table;
	u32 flows = table_slots(t) == MANY ? FLOWS : MANY;

	if (t->from)
		return;
	zrtt_table_resize(t, &q->from, calloc(flows, sizeof(struct zrtt_flow)), flows);
	if (t->members)
		t->members = calloc(flows, sizeof(struct zrtt_member));
	check_groups(q);
}

static bool move(struct queue *q)
{
	struct zrtt_table *t = &q->vars.table;

	if (!t->from)
		return false;
	if (zrtt_table_move(t, zrtt_epoch(q->now_ns))) {
		free(q->from.slots);
		free(q->from.members);
	}
	return t->from;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 fairs[] = {
		ZRTT_FAIR_FLOW, ZRTT_FAIR_SRCHOST, ZRTT_FAIR_DUALHOST, ZRTT_FAIR_DUALHOST,
	};
	struct draw d = { .at = data, .left = size };
	struct queue q = { .now_ns = draw_start_ns(&d) };

	zrtt_params_init(&q.params);
	zrtt_table_init(&q.vars.table, calloc(FLOWS, sizeof(struct zrtt_flow)), FLOWS);
	take_hosts(&q, ZRTT_FAIR_DUALHOST);
	while (d.left) {
		check_groups(&q);
		check_hosts(&q);
		switch (draw_index(&d, 13)) {
		case 0:
			/* never while flows are moved */
			if (!q.vars.table.from)
				take_hosts(&q, fairs[draw_index(&d, 4)]);
			break;
		case 1:
			resize(&q);
			break;
		case 2:
			move(&q);
			break;
		case 3:
			q.now_ns += draw_gap_ns(&d);
			break;
		case 4:
			tick(&q, &d);
			break;
		case 5:
			zrtt_vars_reset(&q.vars);
			break;
		case 6:
			crowd(&q, &d);
			break;
		default:
			send(&q, &d);
			break;
		}
	}
	while (move(&q))
		;
	check_groups(&q);
	take_hosts(&q, ZRTT_FAIR_FLOW);
	free(q.vars.table.slots);
	return 0;
}
