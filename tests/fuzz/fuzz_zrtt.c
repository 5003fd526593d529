// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the whole algorithm as the qdisc drives it. Packets of few flows
 * that compete for few sets, with any RTTs and hints, judged at any P_b; ticks,
 * overflows, idle links, clocks that jump and wrap, parameters that change meanwhile, and
 * a table that does, whose flows are moved step by step between packets and resets.
 */
#include "draw.h"
#include "draw_params.h"
#include "expect.h"
#include "table_check.h"
#include "weight.h"

#define SETS		2	/* or twice as many */
#define FLOWS		(SETS * ZRTT_WAYS)
#define MANY		(2 * ZRTT_MOVE_STEP)	/* slots: some steps to move */

struct queue {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_table from;
	struct zrtt_stats stats;
	u64 now_ns;
};

/* In a heap block of its exact size, as the kernel's. */
static struct zrtt_table new_table(u32 flows)
{
	struct zrtt_table t;

	zrtt_table_init(&t, calloc(flows, sizeof(struct zrtt_flow)), flows);
	return t;
}

/* A copy of @t in @slots, with epochs as of an epoch @shift. */
static struct zrtt_table shifted(const struct zrtt_table *t, struct zrtt_flow *slots, u32 shift)
{
	struct zrtt_table copy = *t;
	u32 i;

	copy.slots = slots;
	for (i = 0; i < table_slots(t); i++) {
		slots[i] = t->slots[i];
		slots[i].epoch -= shift;
	}
	return copy;
}

/* check_table() compares epochs as numbers: shift them so that now is the largest. */
static void check_flows(const struct queue *q)
{
	static struct zrtt_flow slots[MANY], from_slots[MANY];
	u32 shift = zrtt_epoch(q->now_ns) + 1, room = table_slots(&q->vars.table);
	struct zrtt_table copy = shifted(&q->vars.table, slots, shift), from;

	if (copy.from) {
		from = shifted(copy.from, from_slots, shift);
		room += table_slots(&from);
		copy.from = &from;
	}
	check_table(&copy);
	expect(copy.live <= room, "more flows than slots");
}

/* Rates and logarithms that count: the largest, the smallest, and their number. */
struct counted {
	u32 flows;
	u32 least;
	u32 most;
};

static void count_rates(const struct zrtt_table *t, struct counted *c)
{
	u32 i;

	for (i = 0; i < table_slots(t); i++) {
		const struct zrtt_flow *f = &t->slots[i];

		if (!f->live || !f->counts)
			continue;
		c->flows++;
		if (f->rate < c->least)
			c->least = f->rate;
		if (f->rate > c->most)
			c->most = f->rate;
	}
}

/* A mean is neither above nor below all that it is of; integers may be 0.1 % off. */
static void check_due(const struct queue *q)
{
	const struct zrtt_table *t = &q->vars.table;
	struct counted c = { .least = ~0U };
	u64 due = q->vars.law.due;

	count_rates(t, &c);
	if (t->from)
		count_rates(t->from, &c);
	expect(c.flows == t->counted, "another number of flows that count");
	expect(!c.flows || (due <= c.most + c.most / 1024ULL + 1 &&
			    due + due / 1024 + 1 >= c.least),
	       "due share beyond all rates");
}

/* The parameters are those that it was set by. */
static void check_aim(const struct queue *q)
{
	const struct zrtt_ctl_params *params = &q->params.ctl;
	u32 least_us = params->target_us / 2;

	expect(q->vars.ctl.aim_us >= least_us &&
	       (q->vars.ctl.aim_us <= ZRTT_FOLLOW_TARGETS * params->target_us),
	       "aim out of range");
	expect(q->vars.ctl.aim_us <= ZRTT_SOJOURN_MAX_US, "aim above all sojourns");
}

static void check_law(const struct queue *q)
{
	const struct zrtt_law_params *params = &q->params.law;
	const struct zrtt_law *law = &q->vars.law;

	switch (params->alpha_kind) {
	case ZRTT_ALPHA_FIXED:
		expect(law->alpha_q16 == params->alpha_q16, "another alpha");
		break;
	case ZRTT_ALPHA_PAPER:
		expect(law->alpha_q16 <= ZRTT_ALPHA_PAPER_MAX, "alpha above eq. (5)");
		break;
	default:
		expect(law->alpha_q16 <= params->alpha_max_q16, "alpha above its cap");
	}
	expect(abs(law->log_norm) <= ZRTT_NORM_LOG_MAX, "mean weight out of range");
	expect(law->gain_q16 <= zrtt_due_gain_max(law->counted ? law->p_q30 : ZRTT_P_ONE),
	       "gain of the penalty out of range");
	expect(law->log_due >= 0 && law->log_due < 32 << ZRTT_Q16, "due share out of range");
	expect(!law->log_due || law->due, "a due share of nothing");
	expect(q->vars.table.due == law->due, "another due share");
	check_due(q);
	expect(law->rtt_avg_us <= ZRTT_HINT_MAX_US * 1.001,
	       "RTT_avg above all RTTs");
}

static void check_state(const struct queue *q)
{
	const struct zrtt_ctl *ctl = &q->vars.ctl;

	expect(ctl->p_q30 <= ZRTT_P_ONE && ctl->p_avg_q30 <= ZRTT_P_ONE, "P_b above 1");
	expect(ctl->at < ZRTT_STANDING_TICKS, "no place for a sojourn");
	expect(q->vars.delay_q8 >> ZRTT_DELAY_FRAC <= ZRTT_SOJOURN_MAX_US,
	       "smoothed sojourn above all sojourns");
}

static void check_flow(const struct queue *q, const struct zrtt_flow *f, u32 tag)
{
	expect(f->tag == tag || (q->params.law.tuned && f->tag == (tag ^ ZRTT_SPOOFED)),
	       "another flow's slot");
	expect(weight_in_range(f->weight), "weight out of range");
	expect(f->threshold_q30 >= ZRTT_P_ONE / 2 &&
	       f->threshold_q30 < ZRTT_P_ONE / 2 * 3, "threshold out of range");
	expect(f->acc_q30 <= ZRTT_CREDIT_MAX + ZRTT_SPACE_MAX, "credit piles up");
	expect(f->penalty_q16 >= ZRTT_PENALTY_MIN && f->penalty_q16 <= ZRTT_PENALTY_MAX,
	       "penalty out of range");
	expect(!f->live || !f->counts || (zrtt_flow_mature(f) && f->rate),
	       "counts without a rate");
	expect(f->age <= ZRTT_LIVE_EPOCHS, "too old");
	expect(!f->rtt_us == (f->source == ZRTT_RTT_NONE), "RTT from nowhere");
	expect(!f->rtt_us || (f->rtt_us >= 32 && f->rtt_us <= ZRTT_HINT_MAX_US),
	       "RTT out of range");
}

static void check_verdict(const struct queue *q, const struct zrtt_arrival *pkt,
			  u64 p_q30, enum zrtt_verdict verdict)
{
	const struct zrtt_law_params *params = &q->params.law;

	expect(verdict != ZRTT_MARK || (pkt->ecn && q->params.ecn),
	       "marks what cannot be marked");
	expect(verdict != ZRTT_MARK || p_q30 <= params->mark_max_q30 ||
	       params->mark_max_q30 == ZRTT_P_ONE, "marks above mark_max");
	if (params->tuned)
		return;
	expect(p_q30 || verdict == ZRTT_PASS, "hit at P_i = 0");
	expect(p_q30 < ZRTT_P_ONE || verdict != ZRTT_PASS, "spared at P_i = 1");
}

/* Of twice as many flows as fit in, with homes all over their sets. */
static u32 tag_of(u32 i)
{
	return i % SETS * ZRTT_WAYS | i / SETS % ZRTT_WAYS | (i + 1) << 8;
}

/* A hint as parsers let it in, or none. */
static u32 draw_rtt_us(struct draw *d)
{
	return zrtt_hint_to_us((__u16)draw_between(d, 0, ZRTT_HINT_MAX));
}

static struct zrtt_arrival draw_packet(struct queue *q, struct draw *d)
{
	u32 what = draw_index(d, 128);
	bool handshake = q->params.handshake && what & 4;

	return (struct zrtt_arrival) {
		.tag = tag_of(draw_index(d, 2 * FLOWS)),
		.bytes = draw_between(d, 1, 1 << 16),
		.segs = what & 1 ? draw_between(d, 1, 65535) : 1,
		.ecn = what & 2 ? 1 + what % 3 : ZRTT_NOT_ECT,
		.handshake = handshake,
		/* few, so that answers meet their SYNs */
		.seq = (what >> 6 & 1) + !handshake,
		.ack = what >> 5 & 1,
		/* near each other, and far off */
		.seq_high = what & 1 ? 0 : (u16)draw_bytes(d, 1) * 0x101,
		.rtt_info = what & (4 | 8 | 16 | 32),
		.rtt_us = what & 8 && q->params.hint != ZRTT_HINT_IGNORE ?
			  draw_rtt_us(d) : 0,
		.mark_us = what & 16 ?
			   zrtt_mark_to_us(&q->params, (u32)draw_bytes(d, 4)) : 0,
		/* two halves at the least, see zrtt_conn_rtt_us() */
		.timed_us = what & 32 ? draw_between(d, 64, ZRTT_HINT_MAX_US) : 0,
	};
}

/* ECT(1) in the low-latency lane, which it leaves after up to 2 ms. Return: whether it is. */
static bool check_l4s(struct queue *q, struct zrtt_flow *f, const struct zrtt_arrival *pkt,
		      u32 rnd)
{
	u32 sojourn_us = rnd >> 21;
	bool mark;

	expect(!f->l4s || (q->params.l4s && !f->barred), "ECT(1) where there is no lane for it");
	expect(!f->l4s || pkt->ecn != ZRTT_ECT_0, "ECT(0) in the lane of ECT(1)");
	if (!f->l4s || zrtt_l4s_overloaded(&q->params, &q->vars, f, pkt))
		return false;
	zrtt_l4s_end_epoch(&q->vars.l4s, (u64)rnd << 8);
	mark = zrtt_l4s_verdict(&q->vars.l4s, &q->vars.ctl, f, &q->vars.law,
				zrtt_log_due(&q->vars, f), sojourn_us, rnd);
	expect(!mark || q->vars.ctl.root_q30 || sojourn_us > q->vars.l4s.from_us ||
	       f->acc_q30, "marked for nothing");
	expect(!mark || (f->hit && f->marks), "a mark is not remembered");
	check_flow(q, f, pkt->tag);
	return true;
}

/* @f stays as it is while its next packet does not leave for long. */
static void check_credit(const struct zrtt_flow *f)
{
	struct zrtt_flow waits = *f;
	u32 i;

	for (i = 0; i < 8; i++) {
		zrtt_flow_charge(&waits, ZRTT_SPACE_MAX);
		expect(waits.acc_q30 <= ZRTT_CREDIT_MAX + ZRTT_SPACE_MAX, "credit piles up");
	}
}

/* A packet that is hit as it leaves, if at all; some wait for longer. Return: whether it is one. */
static bool check_later(struct queue *q, struct zrtt_flow *f, const struct zrtt_arrival *pkt,
			u32 rnd)
{
	u64 p_q30 = zrtt_probability(&q->vars, f);
	u32 credit_q30 = f->acc_q30, bytes = f->bytes;
	bool owed;

	if (pkt->bytes & 1 || !zrtt_owes_later(&q->params, &q->vars, f, pkt, q->now_ns))
		return false;
	expect(p_q30 <= q->params.law.mark_max_q30, "hits later what is to be dropped now");
	expect(q->params.law.tuned && !q->vars.hosts.ceils,
	       "a reproduction or a ceiling judges later");
	expect(!q->vars.ctl.falls || f->acc_q30 == credit_q30, "charged while the queue falls");
	check_flow(q, f, pkt->tag);
	check_credit(f);
	if (pkt->bytes & 2)
		return true;
	owed = zrtt_flow_owes(f);
	if (owed)
		zrtt_settle(f, pkt->bytes, rnd);
	expect(!owed || f->hit, "a hit is not remembered");
	if (owed && pkt->bytes & 4)
		zrtt_dropped_leaving(&q->vars, f, pkt->bytes);
	expect(f->bytes <= bytes, "a drop adds bytes");
	check_flow(q, f, pkt->tag);
	return true;
}

static void arrive(struct queue *q, const struct zrtt_arrival *pkt, u32 rnd)
{
	enum zrtt_verdict verdict;
	struct zrtt_flow *f;
	bool policed;
	u32 bytes;
	u64 p_q30;

	zrtt_idle(&q->params, &q->vars, q->now_ns);
	f = zrtt_arrive(&q->params, &q->vars, &q->stats, pkt, rnd, q->now_ns);
	check_flow(q, f, pkt->tag);
	if (f->syn == ZRTT_SYN_LEFT && !pkt->handshake)
		zrtt_answer(&q->params, &q->vars, f, pkt, q->now_ns, q->now_ns);
	check_flow(q, f, pkt->tag);
	if (check_l4s(q, f, pkt, rnd))
		return;
	if (check_later(q, f, pkt, rnd))
		return;
	p_q30 = zrtt_probability(&q->vars, f);
	bytes = f->bytes;
	policed = q->vars.police.on && !f->seq && !pkt->seq_high &&
		  zrtt_police_exceeds(&q->vars.law, &q->vars.table, f, pkt->bytes,
				      q->now_ns);
	verdict = zrtt_mark_or_drop(&q->params, &q->vars, f, pkt, rnd, q->now_ns);
	check_flow(q, f, pkt->tag);
	if (policed && q->params.law.tuned)
		expect(verdict == ZRTT_DROP, "more than a bucket has");
	else
		check_verdict(q, pkt, p_q30, verdict);
	expect(verdict == ZRTT_DROP ? f->bytes <= bytes : f->bytes == bytes,
	       "a verdict adds bytes");
	expect(verdict == ZRTT_PASS || f->hit, "a hit is not remembered");
	if (verdict == ZRTT_DROP)
		return;
	zrtt_idle_end(&q->vars);
	if (pkt->handshake)
		zrtt_syn_left(f, zrtt_us(q->now_ns));
}

/* After which updates are as rare as with thousands of flows, if @d says so. */
static void tick(struct queue *q, struct draw *d, u32 sojourn_us)
{
	zrtt_tick(&q->params, &q->vars, sojourn_us, TC_ZRTT_LIMIT_MAX, q->now_ns);
	q->vars.table.update_epochs = 1 + draw_index(d, ZRTT_UPDATE_EPOCHS);
	check_law(q);
	check_aim(q);
}

/* A packet, or one in each of some epochs, with ticks between them. */
static void send(struct queue *q, struct draw *d)
{
	struct zrtt_arrival pkt = draw_packet(q, d);
	u32 more = draw_index(d, 64);
	u32 rnd = (u32)draw_bytes(d, 1) << 24;

	arrive(q, &pkt, rnd);
	if (more > 2 * ZRTT_MATURE_EPOCHS)
		return;
	while (more--) {
		q->now_ns += 1 << ZRTT_EPOCH_SHIFT;
		tick(q, d, q->params.ctl.target_us);
		arrive(q, &pkt, rnd);
	}
}

/* A flow that sends for up to a minute while nobody ticks: what the last tick learnt of
 * others is what it is compared with.
 */
static void go_on(struct queue *q, struct draw *d)
{
	struct zrtt_arrival pkt = draw_packet(q, d);
	u32 more = draw_index(d, 64), epochs = 1 + draw_index(d, ZRTT_LIVE_EPOCHS);

	while (more--) {
		arrive(q, &pkt, (u32)-1);
		q->now_ns += (u64)epochs << ZRTT_EPOCH_SHIFT;
	}
}

/* Some flows send a packet each, and again in the next epoch: a full table. */
static void crowd(struct queue *q, struct draw *d)
{
	struct zrtt_arrival pkt = draw_packet(q, d);
	u32 flows = draw_index(d, 2 * FLOWS), i;

	for (i = 0; i < 2 * flows; i++) {
		pkt.tag = tag_of(i % flows);
		arrive(q, &pkt, 0);
		if (i + 1 == flows)
			q->now_ns += 1 << ZRTT_EPOCH_SHIFT;
	}
}

/* As zrtt_change(): what was learnt is carried over, though not at once. The next change
 * is not before that.
 */
static void change(struct queue *q, struct draw *d)
{
	static const u32 sizes[] = { FLOWS, 2 * FLOWS, MANY };
	u32 flows = sizes[draw_index(d, ARRAY_LEN(sizes))];
	struct zrtt_table *t = &q->vars.table;
	u32 live = t->live;

	draw_changes(d, &q->params);
	if (t->from || flows == table_slots(t))
		return;
	zrtt_table_resize(t, &q->from, calloc(flows, sizeof(struct zrtt_flow)), flows);
	expect(t->live == live, "resizing changes the number of flows");
	check_flows(q);
}

/* A step of the move, if there is one. Return: whether there is more to move. */
static bool move(struct queue *q)
{
	struct zrtt_table *t = &q->vars.table;

	if (!t->from)
		return false;
	if (zrtt_table_move(t, zrtt_epoch(q->now_ns)))
		free(q->from.slots);
	check_flows(q);
	return t->from;
}

/* As zrtt_reset(), at any time: flows stay, in whichever table they are. */
static void reset(struct queue *q)
{
	u32 live = q->vars.table.live;

	zrtt_vars_reset(&q->vars);
	expect(q->vars.table.live == live, "flows were lost");
	expect(!q->vars.ctl.p_q30 && !q->vars.delay_q8 && !q->vars.idle_ns,
	       "something else was not");
	check_flows(q);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct queue q = {
		.vars.table = new_table(FLOWS),
		/* few ticks pass */
		.vars.police.ticks = ZRTT_POLICE_BELIEVE,
		.now_ns = draw_start_ns(&d),
	};

	zrtt_params_init(&q.params);
	draw_changes(&d, &q.params);
	while (d.left) {
		switch (draw_index(&d, 11)) {
		case 0:
			change(&q, &d);
			break;
		case 1:
			zrtt_overflow(&q.params, &q.vars, &q.stats, q.now_ns);
			break;
		case 2:
			zrtt_idle(&q.params, &q.vars, q.now_ns);
			break;
		case 3:
			q.now_ns += draw_gap_ns(&d);
			break;
		case 4:
			tick(&q, &d, (u32)draw_u64(&d));
			break;
		case 5:
			crowd(&q, &d);
			break;
		case 6:
			move(&q);
			break;
		case 7:
			reset(&q);
			break;
		case 8:
			go_on(&q, &d);
			break;
		default:
			send(&q, &d);
			break;
		}
		check_state(&q);
	}
	while (move(&q))
		;
	check_flows(&q);
	free(q.vars.table.slots);
	return 0;
}
