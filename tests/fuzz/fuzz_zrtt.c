// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the whole algorithm as the qdisc drives it. Packets of few flows
 * that compete for few sets, with any RTTs and hints, judged at any P_b; ticks,
 * overflows, idle links, clocks that jump and wrap, parameters and a size of the table
 * that change meanwhile.
 */
#include "draw.h"
#include "draw_params.h"
#include "expect.h"
#include "table_check.h"

#define SETS		2	/* or twice as many */
#define FLOWS		(SETS * ZRTT_WAYS)

struct queue {
	struct zrtt_params params;
	struct zrtt_vars vars;
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

/* check_table() compares epochs as numbers: shift them so that now is the largest. */
static void check_flows(const struct queue *q)
{
	u32 shift = zrtt_epoch(q->now_ns) + 1;
	struct zrtt_flow slots[2 * FLOWS];
	struct zrtt_table copy = q->vars.table;
	u32 i;

	for (i = 0; i < table_slots(&copy); i++) {
		slots[i] = copy.slots[i];
		slots[i].epoch -= shift;
	}
	copy.slots = slots;
	check_table(&copy);
	expect(copy.live <= table_slots(&copy), "more flows than slots");
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
	expect(law->fit_q16 >= 0, "the regression's alpha below 0");
	expect(abs(law->log_norm) <= ZRTT_WEIGHT_LOG_MAX, "mean weight out of range");
	expect(law->usual_q13 >= 0 && law->usual_q13 <= ZRTT_PRICE_MAX,
	       "usual price out of range");
	expect(law->rtt_avg_us <= ZRTT_HINT_MAX_US * 1.001,
	       "RTT_avg above all RTTs");
}

static void check_state(const struct queue *q)
{
	const struct zrtt_ctl *ctl = &q->vars.ctl;

	expect(ctl->p_q30 <= ZRTT_P_ONE && ctl->p_avg_q30 <= ZRTT_P_ONE, "P_b above 1");
	expect(q->vars.delay_q8 >> ZRTT_DELAY_FRAC <= ZRTT_SOJOURN_MAX_US,
	       "smoothed sojourn above all sojourns");
}

static void check_flow(const struct zrtt_flow *f, u32 tag)
{
	expect(f->tag == tag, "another flow's slot");
	expect(f->weight_q16 >= ZRTT_Q16_ONE >> 15 && f->weight_q16 <= 1U << 31,
	       "weight out of range");
	expect(f->threshold_q30 >= ZRTT_P_ONE / 2 &&
	       f->threshold_q30 < ZRTT_P_ONE / 2 * 3, "threshold out of range");
	expect(f->acc_q30 < f->threshold_q30, "credit piles up");
	expect(f->price_q13 <= ZRTT_PRICE_MAX, "price out of range");
	expect(f->age <= ZRTT_LIVE_EPOCHS, "too old");
	expect(!f->rtt_us == (f->source == ZRTT_RTT_NONE), "RTT from nowhere");
	expect(!f->rtt_us || (f->rtt_us >= 32 && f->rtt_us <= ZRTT_HINT_MAX_US),
	       "RTT out of range");
}

static void check_verdict(const struct queue *q, const struct zrtt_arrival *pkt,
			  u64 p_q30, enum zrtt_verdict verdict)
{
	const struct zrtt_law_params *params = &q->params.law;

	expect(verdict != ZRTT_MARK || (pkt->ect && q->params.ecn),
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
	u32 what = draw_index(d, 64);

	return (struct zrtt_arrival) {
		.tag = tag_of(draw_index(d, 2 * FLOWS)),
		.bytes = draw_between(d, 1, 1 << 16),
		.segs = what & 1 ? draw_between(d, 1, 65535) : 1,
		.ect = what & 2,
		.handshake = q->params.handshake && what & 4,
		.rtt_us = what & 8 && q->params.hint != ZRTT_HINT_IGNORE ?
			  draw_rtt_us(d) : 0,
		.mark_us = what & 16 ?
			   zrtt_mark_to_us(&q->params, (u32)draw_bytes(d, 4)) : 0,
		/* two halves at the least, see zrtt_conn_rtt_us() */
		.timed_us = what & 32 ? draw_between(d, 64, ZRTT_HINT_MAX_US) : 0,
	};
}

static void arrive(struct queue *q, const struct zrtt_arrival *pkt, u32 rnd)
{
	enum zrtt_verdict verdict;
	struct zrtt_flow *f;
	u64 p_q30;

	zrtt_idle_go_on(&q->params, &q->vars, q->now_ns);
	f = zrtt_arrive(&q->params, &q->vars, &q->stats, pkt, rnd, q->now_ns);
	check_flow(f, pkt->tag);
	p_q30 = zrtt_probability(&q->vars, f);
	verdict = zrtt_judge(&q->params, &q->vars, f, pkt, rnd);
	check_flow(f, pkt->tag);
	check_verdict(q, pkt, p_q30, verdict);
	if (verdict == ZRTT_DROP)
		return;
	zrtt_idle_end(&q->vars);
	if (pkt->handshake)
		zrtt_flow_syn_left(f, zrtt_us(q->now_ns));
}

/* After which books stay open as long as with thousands of flows, if @d says so. */
static void tick(struct queue *q, struct draw *d, u32 sojourn_us)
{
	zrtt_tick(&q->params, &q->vars, sojourn_us, TC_ZRTT_LIMIT_MAX, q->now_ns);
	q->vars.table.books_epochs = 1 + draw_index(d, ZRTT_BOOKS_EPOCHS);
	check_law(q);
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

/* As zrtt_change(): what was learnt is carried over. */
static void change(struct queue *q, struct draw *d)
{
	u32 flows = draw_index(d, 2) ? FLOWS : 2 * FLOWS;
	struct zrtt_table to, *from = &q->vars.table;

	draw_changes(d, &q->params);
	if (flows == table_slots(from))
		return;
	to = new_table(flows);
	zrtt_table_move(&to, from, zrtt_epoch(q->now_ns));
	free(from->slots);
	*from = to;
	check_flows(q);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct queue q = {
		.vars.table = new_table(FLOWS),
		.now_ns = draw_start_ns(&d),
	};

	zrtt_params_init(&q.params);
	draw_changes(&d, &q.params);
	while (d.left) {
		switch (draw_index(&d, 9)) {
		case 0:
			change(&q, &d);
			break;
		case 1:
			zrtt_overflow(&q.params, &q.vars, &q.stats, q.now_ns);
			break;
		case 2:
			zrtt_idle_begin(&q.params, &q.vars, &q.stats, q.now_ns);
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
		default:
			send(&q, &d);
			break;
		}
		check_state(&q);
	}
	check_flows(&q);
	free(q.vars.table.slots);
	return 0;
}
