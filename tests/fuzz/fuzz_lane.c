// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: FIFOs of numbered packets, filled and served by lane.h, l4s.h and table.h
 * as the qdisc does. ECT(1) that comes and goes, flows that lose the low-latency lane, more
 * flows than slots, spoofed sequence numbers, tables that grow and shrink, resets, lanes
 * switched on and off, drops at either head, and more packets in bulk than a flow's 16 bits
 * can count: packets of a flow leave in the order in which they came.
 */
#include "draw.h"
#include "expect.h"
#include "unit.h"
#include <zrtt/zrtt.h>

#define SLOTS		(2 * ZRTT_WAYS)
#define MANY		(2 * ZRTT_MOVE_STEP)	/* slots: some steps to move */
#define FLOWS		(3 * SLOTS)
#define NOBODY		FLOWS	/* the flow of a run of packets whose order is not looked at */
#define ROOM		64	/* pieces in a lane; a power of two */
#define RUN_MAX		70000	/* packets, more than 2^16 */
#define BYTES_MAX	1514

/**
 * struct piece - what is queued in one piece
 * @flow: whose it is
 * @number: of the flow's packets it is this one
 * @count: packets, 1 but for NOBODY's
 * @bytes: of each of them
 * @after: in the returning lane, the number of the packet that leaves before it ...
 * @below: ... and the lane of that one
 * @came_ns: when it came
 */
struct piece {
	u32 flow;
	u32 number;
	u32 count;
	u32 bytes;
	u32 after;
	u32 below;
	u64 came_ns;
};

struct lane {
	struct piece pieces[ROOM];
	u32 head;
	u32 tail;
};

/**
 * struct queue - what a qdisc has
 * @params: parameters
 * @vars: state
 * @stats: counters, not looked at
 * @from: a table that is moved from
 * @lanes: the FIFOs
 * @came: packets of each flow
 * @left: number of the last one that left, + 1
 * @seq_high: its last sequence number
 * @overtaken: bytes that lanes of sparse flows sent ahead of older packets in bulk or the
 *	low-latency lane, less what these sent
 * @seldom: bytes that joined the lane that goes before all in this epoch
 * @ahead: bytes that the low-latency lane sent ahead of older packets in sparse or bulk since
 *	these sent their part
 * @now_ns: clock
 */
struct queue {
	struct zrtt_params params;
	struct zrtt_vars vars;
	struct zrtt_stats stats;
	struct zrtt_table from;
	struct lane lanes[ZRTT_LANES];
	u32 came[FLOWS];
	u32 left[FLOWS];
	u16 seq_high[FLOWS];
	u64 overtaken;
	u64 seldom;
	s64 ahead;
	u64 now_ns;
};

/* With homes all over the buckets. */
static u32 tag_of(u32 flow)
{
	return flow % 2 * ZRTT_WAYS | flow / 2 % ZRTT_WAYS | (flow + 1) << 8;
}

static struct piece *piece_at(struct lane *lane, u32 i)
{
	return &lane->pieces[i % ROOM];
}

/* The head of a lane, or NULL. */
static struct piece *head_of(struct queue *q, enum zrtt_lane which)
{
	struct lane *lane = &q->lanes[which];

	return lane->head != lane->tail ? piece_at(lane, lane->head) : NULL;
}

static bool has_room(const struct queue *q, enum zrtt_lane which)
{
	return q->lanes[which].tail - q->lanes[which].head < ROOM;
}

static void push(struct queue *q, enum zrtt_lane which, u32 flow, u32 count, u32 bytes)
{
	struct lane *lane = &q->lanes[which];

	*piece_at(lane, lane->tail++) = (struct piece) {
		.flow = flow,
		.number = flow == NOBODY ? 0 : q->came[flow]++,
		.count = count,
		.bytes = bytes,
		.came_ns = q->now_ns,
	};
}

/* Take a packet off a lane's head. */
static struct piece pull(struct queue *q, enum zrtt_lane which)
{
	struct piece *head = head_of(q, which), piece = *head;

	if (!--head->count)
		q->lanes[which].head++;
	q->vars.table.lanes[which].out++;
	return piece;
}

/* While a packet is in bulk, the next one of its flow must not go before it. */
static void check_waits(struct queue *q, const struct piece *piece)
{
	const struct zrtt_table *t = &q->vars.table;
	const struct zrtt_flow *f = zrtt_flow_lookup(t, tag_of(piece->flow));

	expect(f ? (f->last & ZRTT_LAST_BULK) || zrtt_flow_queued(t, f) : zrtt_table_lost(t),
	       "a flow has packets in bulk, and may overtake them");
}

static void check_lane(struct queue *q, enum zrtt_lane which)
{
	const struct zrtt_passage *passage = &q->vars.table.lanes[which];
	struct lane *lane = &q->lanes[which];
	u32 packets = 0, i;

	for (i = lane->head; i != lane->tail; i++) {
		packets += piece_at(lane, i)->count;
		if (which == ZRTT_LANE_BULK && piece_at(lane, i)->flow != NOBODY)
			check_waits(q, piece_at(lane, i));
	}
	expect(packets == passage->in - passage->out, "another number of packets in a lane");
}

static void check_lanes(struct queue *q)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		check_lane(q, i);
}

/* Packets come */

enum fate {
	QUEUED,
	REFUSED,	/* by P_i or a limit */
	TO_BULK,	/* as sparse is slow */
	FATES,
};

static bool returns(enum zrtt_lane lane)
{
	return lane == ZRTT_LANE_RETURNING || lane == ZRTT_LANE_RETURNING_LARGE;
}

/* What the packet that joined @which, a returning lane, last waits for. */
static void wait_below(struct queue *q, enum zrtt_lane which, const struct zrtt_flow *f)
{
	struct lane *lane = &q->lanes[which];
	const struct zrtt_table *t = &q->vars.table;
	struct piece *piece = piece_at(lane, lane->tail - 1);

	piece->after = t->lanes[f->lane].in - zrtt_flow_behind(t, f);
	piece->below = f->lane;
}

/* The head of a returning lane if what it waits for has left, or NULL. */
static const struct piece *returned(struct queue *q, enum zrtt_lane lane)
{
	const struct piece *head = head_of(q, lane);

	if (!head || (s32)(q->vars.table.lanes[head->below].out - head->after) < 0)
		return NULL;
	return head;
}

/* Every other flow is of a host with a large due share. */
static void arrive(struct queue *q, u32 flow, u32 bytes, u8 ecn, enum fate fate)
{
	const struct zrtt_arrival pkt = {
		.tag = tag_of(flow),
		.bytes = bytes,
		.segs = 1,
		.ecn = ecn,
		.seq_high = q->seq_high[flow],
	};
	struct zrtt_table *t = &q->vars.table;
	struct zrtt_flow *f = zrtt_arrive(&q->params, &q->vars, &q->stats, &pkt, 0, q->now_ns);
	enum zrtt_lane lane;

	lane = flow % 2 ?
	       zrtt_lane_of_host(&q->vars.lanes, t, f, ZRTT_LARGE_DUE, bytes, q->now_ns) :
	       zrtt_lane_of(&q->vars.lanes, t, f, bytes, q->now_ns);

	expect(lane == ZRTT_LANE_BULK || q->params.lanes, "there is no sparse lane");
	expect(!f->l4s || (q->params.l4s && !f->barred), "there is no low-latency lane");
	if (lane > ZRTT_LANE_L4S && f->l4s)
		lane = zrtt_lane_of_l4s(t, f, bytes, lane, returned(q, ZRTT_LANE_RETURNING));
	if (lane == ZRTT_LANE_THIN && zrtt_lane_seldom(&q->vars.lanes, f))
		lane = zrtt_lane_of_seldom(&q->vars.lanes, t, f, bytes);
	if (fate == TO_BULK)
		lane = ZRTT_LANE_BULK;
	if (fate == REFUSED || !has_room(q, lane))
		return;
	push(q, lane, flow, 1, bytes);
	if (lane == ZRTT_LANE_SELDOM)
		q->seldom += bytes;
	expect(q->seldom < q->vars.lanes.seldom_most + ZRTT_LANE_SMALL, "others have to wait");
	if (returns(lane))
		wait_below(q, lane, f);
	zrtt_lane_join(t, f, lane);
}

/* The flow sent half of a large due share lately, which takes more packets than an input has. */
static void speed_up(struct queue *q, u32 flow)
{
	struct zrtt_table *t = &q->vars.table;
	struct zrtt_flow *f = zrtt_flow_lookup(t, tag_of(flow));

	if (!f)
		return;
	if (f->live)
		zrtt_flow_discount(t, f);
	f->rate = ZRTT_LARGE_DUE / 2;
	if (f->live)
		zrtt_flow_count(t, f, f->counts ? zrtt_log2(f->rate) : 0, 1);
}

/* Some packets of a flow, or one of each of several; their sequence numbers go on, jump as
 * those of another connection or a spoofed packet, or jump and go back.
 */
static void send(struct queue *q, struct draw *d)
{
	u32 flow = draw_index(d, FLOWS), what = draw_index(d, 128);
	u32 packets = 1 + what % 8, bytes = draw_between(d, 1, BYTES_MAX);
	u16 before = q->seq_high[flow];
	u8 ecn = draw_index(d, 4);
	u32 i;

	if (what & 64)
		speed_up(q, flow);
	if (what & 8)
		q->seq_high[flow] = (u16)draw_bytes(d, 1) * 0x101;
	for (i = 0; i < packets; i++)
		arrive(q, (flow + (what & 16 ? i : 0)) % FLOWS, bytes, ecn, draw_index(d, FATES));
	if (what & 32)
		q->seq_high[flow] = before;
}

/* Many packets of others join bulk. */
static void crowd(struct queue *q, struct draw *d)
{
	u32 packets = draw_between(d, 1, RUN_MAX);

	if (!has_room(q, ZRTT_LANE_BULK))
		return;
	q->vars.table.lanes[ZRTT_LANE_BULK].in += packets;
	push(q, ZRTT_LANE_BULK, NOBODY, packets, BYTES_MAX);
}

/* Packets go */

static enum zrtt_lane older_of(struct queue *q, enum zrtt_lane first, enum zrtt_lane then)
{
	const struct piece *a = head_of(q, first), *b = head_of(q, then);

	if (!a || !b)
		return a ? first : then;
	return b->came_ns < a->came_ns ? then : first;
}

static enum zrtt_lane thin_lane(struct queue *q)
{
	return returned(q, ZRTT_LANE_RETURNING) ? ZRTT_LANE_RETURNING : ZRTT_LANE_THIN;
}

static enum zrtt_lane large_lane(struct queue *q)
{
	return returned(q, ZRTT_LANE_RETURNING_LARGE) ? ZRTT_LANE_RETURNING_LARGE :
							ZRTT_LANE_LARGE;
}

static enum zrtt_lane older_behind(struct queue *q)
{
	return older_of(q, ZRTT_LANE_LARGE, older_of(q, large_lane(q), ZRTT_LANE_BULK));
}

static enum zrtt_lane older_lane(struct queue *q)
{
	enum zrtt_lane lane = older_behind(q);

	lane = older_of(q, ZRTT_LANE_SPARSE, lane);
	lane = older_of(q, ZRTT_LANE_L4S, lane);
	lane = older_of(q, thin_lane(q), lane);
	lane = older_of(q, ZRTT_LANE_THIN, lane);
	return older_of(q, ZRTT_LANE_SELDOM, lane);
}

static enum zrtt_lane large_or_bulk(struct queue *q)
{
	enum zrtt_lane large = large_lane(q);

	if (zrtt_lanes_led(&q->vars.lanes, q->vars.lanes.large_ahead))
		return older_behind(q);
	return head_of(q, large) ? large : ZRTT_LANE_BULK;
}

static enum zrtt_lane sparse_or_other(struct queue *q)
{
	if (!head_of(q, ZRTT_LANE_SPARSE))
		return large_or_bulk(q);
	if (zrtt_lanes_led(&q->vars.lanes, q->vars.lanes.ahead))
		return older_of(q, ZRTT_LANE_SPARSE, older_behind(q));
	return ZRTT_LANE_SPARSE;
}

static enum zrtt_lane l4s_or_other(struct queue *q)
{
	if (!head_of(q, ZRTT_LANE_L4S))
		return sparse_or_other(q);
	if (q->vars.l4s.credit <= 0)
		return ZRTT_LANE_L4S;
	return older_of(q, ZRTT_LANE_L4S, sparse_or_other(q));
}

static enum zrtt_lane next_lane(struct queue *q)
{
	const struct zrtt_lanes *lanes = &q->vars.lanes;
	enum zrtt_lane thin = thin_lane(q), other;

	if (head_of(q, ZRTT_LANE_SELDOM))
		return ZRTT_LANE_SELDOM;
	if (head_of(q, thin) && !zrtt_lanes_led(lanes, lanes->thin_ahead))
		return thin;
	other = l4s_or_other(q);
	if (older_of(q, ZRTT_LANE_THIN, other) == other && older_of(q, thin, other) == other)
		return other;
	return older_lane(q);
}

static bool any_queued(struct queue *q)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		if (head_of(q, i))
			return true;
	return false;
}

/* These lanes may go first within a bound, which holds for what they send from now on, and anew if
 * it becomes less: the large lane up to the lead and a packet, sparse as far again, and thin once
 * more. What is older in the large lane pays back as bulk does.
 */
static void sparse_left(struct queue *q, enum zrtt_lane lane, const struct piece *piece)
{
	const struct piece *other = head_of(q, older_of(q, ZRTT_LANE_L4S, ZRTT_LANE_BULK));
	bool large = lane == ZRTT_LANE_LARGE || lane == ZRTT_LANE_RETURNING_LARGE;
	u32 most = 3 * q->vars.lanes.lead + 2 * BYTES_MAX;

	if (large)
		zrtt_large_left(&q->vars.lanes, piece->bytes, head_of(q, ZRTT_LANE_BULK));
	else
		zrtt_lanes_left(&q->vars.lanes, lane, piece->bytes,
				other || head_of(q, ZRTT_LANE_LARGE));
	if (!other) {
		q->overtaken = 0;
	} else if (other->came_ns < piece->came_ns && lane != ZRTT_LANE_SELDOM) {
		expect(q->overtaken <= most, "others wait too long");
		q->overtaken += piece->bytes;
	} else if (large) {
		q->overtaken -= piece->bytes < q->overtaken ? piece->bytes : q->overtaken;
	}
	if (q->overtaken > most + 1)
		q->overtaken = most + 1;
}

/* Weighted round robin: @ahead is as the credit, but for what no older packet waited for. */
static void l4s_left(struct queue *q, const struct piece *piece)
{
	const struct piece *other = head_of(q, sparse_or_other(q));

	if (!other)
		return;
	zrtt_l4s_left(&q->vars.l4s, piece->bytes);
	if (other->came_ns >= piece->came_ns)
		return;
	q->ahead += piece->bytes;
	expect(q->ahead <= BYTES_MAX, "others have less than their part of the link");
}

static void other_left(struct queue *q, enum zrtt_lane lane, const struct piece *piece)
{
	bool sparse = lane != ZRTT_LANE_BULK;

	if (head_of(q, ZRTT_LANE_L4S)) {
		zrtt_l4s_other_left(&q->vars.l4s, piece->bytes, sparse);
		q->ahead -= (sparse ? 1 : ZRTT_L4S_SHARE) * piece->bytes;
	}
}

static void others_left(struct queue *q, enum zrtt_lane lane, const struct piece *piece)
{
	if (lane == ZRTT_LANE_L4S)
		l4s_left(q, piece);
	else
		other_left(q, lane, piece);
	zrtt_bulk_left(&q->vars.lanes, piece->bytes);
	q->overtaken -= piece->bytes < q->overtaken ? piece->bytes : q->overtaken;
}

static void leave(struct queue *q)
{
	enum zrtt_lane lane = next_lane(q);
	struct piece piece;

	expect(head_of(q, lane), "packets are queued, but none comes out");
	piece = pull(q, lane);
	if (lane > ZRTT_LANE_L4S && lane < ZRTT_LANE_BULK)
		other_left(q, lane, &piece);
	if (lane == ZRTT_LANE_L4S || lane == ZRTT_LANE_BULK)
		others_left(q, lane, &piece);
	else
		sparse_left(q, lane, &piece);
	if (piece.flow == NOBODY)
		return;
	expect(piece.number >= q->left[piece.flow], "packets of a flow changed places");
	q->left[piece.flow] = piece.number + 1;
}

/* Of the run at bulk's head all but @last + 1 packets leave. */
static void shorten(struct queue *q, u32 last)
{
	struct piece *bulk = head_of(q, ZRTT_LANE_BULK);

	if (!bulk || bulk->count <= last + 1)
		return;
	q->vars.table.lanes[ZRTT_LANE_BULK].out += bulk->count - last - 1;
	bulk->count = last + 1;
}

static void serve(struct queue *q, struct draw *d)
{
	u32 packets = draw_index(d, 2 * ROOM);

	shorten(q, draw_index(d, 4));
	while (packets-- && any_queued(q))
		leave(q);
}

/* All packets leave but those of long runs. */
static void drain(struct queue *q)
{
	while (any_queued(q)) {
		shorten(q, 0);
		leave(q);
	}
}

/* The older head, as it is late or beyond a limit, or only if it is bulk's, to make room. */
static void drop(struct queue *q, struct draw *d)
{
	bool any = draw_index(d, 2);
	u32 packets = 1 + draw_index(d, 16);

	while (packets-- && any_queued(q)) {
		enum zrtt_lane lane = older_lane(q);

		if (!any && lane != ZRTT_LANE_BULK)
			return;
		pull(q, lane);
	}
}

/* Time passes, and the user comes */

static void pass(struct queue *q, struct draw *d)
{
	u32 epochs = draw_index(d, 8), i;

	q->now_ns += draw_gap_ns(d);
	for (i = 0; i < epochs; i++) {
		u32 lead = q->vars.lanes.lead;

		q->now_ns += 1 << ZRTT_EPOCH_SHIFT;
		zrtt_lanes_end_epoch(&q->vars.lanes, q->vars.law.due, draw_u64(d),
				     draw_index(d, 2));
		if (q->vars.lanes.lead < lead)
			q->overtaken = 0;
		q->seldom = 0;
		zrtt_l4s_end_epoch(&q->vars.l4s, draw_u64(d));
	}
	zrtt_tick(&q->params, &q->vars, 0, 0, q->now_ns);
}

/* As zrtt_change(), to lanes or not, or a mode that has none; and to other slots. */
static void change(struct queue *q, struct draw *d)
{
	static const u32 sizes[] = { SLOTS, 2 * SLOTS, MANY };
	u32 what = draw_index(d, 16), flows = sizes[what % ARRAY_LEN(sizes)];
	struct zrtt_table *t = &q->vars.table;

	zrtt_params_preset(&q->params, what & 4 ? ZRTT_MODE_BLUE : ZRTT_MODE_ZRTT);
	q->params.lanes &= !(what & 8);
	q->params.l4s = q->params.mode == ZRTT_MODE_ZRTT && what & 2;
	zrtt_tick(&q->params, &q->vars, 0, 0, q->now_ns);
	if (t->from || flows == t->mask + 1)
		return;
	zrtt_table_resize(t, &q->from, calloc(flows, sizeof(struct zrtt_flow)), flows);
}

/* A step of the move, if there is one. Return: whether there is more to move. */
static bool move(struct queue *q)
{
	struct zrtt_table *t = &q->vars.table;

	if (!t->from)
		return false;
	if (zrtt_table_move(t, zrtt_epoch(q->now_ns)))
		free(q->from.slots);
	return t->from;
}

/* Queue protection takes the lane from a flow, or gives it back. */
static void bar(struct queue *q, struct draw *d)
{
	struct zrtt_flow *f = zrtt_flow_lookup(&q->vars.table, tag_of(draw_index(d, FLOWS)));

	if (!f || !q->params.l4s)
		return;
	f->barred = !f->barred;
	if (f->barred)
		f->l4s = 0;
}

/* As zrtt_reset(), and the update that comes before the next packet. */
static void reset(struct queue *q)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++) {
		q->lanes[i].head = q->lanes[i].tail;
		q->vars.table.lanes[i].out = q->vars.table.lanes[i].in;
	}
	q->overtaken = 0;
	q->seldom = 0;
	q->ahead = 0;
	zrtt_vars_reset(&q->vars);
	zrtt_tick(&q->params, &q->vars, 0, 0, q->now_ns);
}

static void begin_numbers(struct zrtt_table *t, u32 at)
{
	u32 i;

	for (i = 0; i < ZRTT_LANES; i++)
		t->lanes[i] = (struct zrtt_passage) { at, at, at };
}

static void happen(struct queue *q, struct draw *d)
{
	switch (draw_index(d, 16)) {
	case 0:
		change(q, d);
		break;
	case 1:
		move(q);
		break;
	case 2:
		reset(q);
		break;
	case 3:
		crowd(q, d);
		break;
	case 4:
		drop(q, d);
		break;
	case 5:
	case 6:
		pass(q, d);
		break;
	case 7:
	case 8:
		serve(q, d);
		break;
	case 9:
		if (any_queued(q))
			leave(q);
		break;
	case 11:
		bar(q, d);
		break;
	case 10:
		q->now_ns += draw_bytes(d, 1);
		break;
	default:
		send(q, d);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	static struct queue q;

	memset(&q, 0, sizeof(q));
	zrtt_table_init(&q.vars.table, calloc(SLOTS, sizeof(struct zrtt_flow)), SLOTS);
	/* numbers that soon wrap, or do not */
	begin_numbers(&q.vars.table, draw_index(&d, 2) ? 0 : (u32)-100);
	q.now_ns = draw_start_ns(&d);
	zrtt_params_init(&q.params);
	zrtt_tick(&q.params, &q.vars, 0, 0, q.now_ns);
	while (d.left) {
		happen(&q, &d);
		check_lanes(&q);
	}
	drain(&q);
	while (move(&q))
		;
	free(q.vars.table.slots);
	return 0;
}
