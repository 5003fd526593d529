// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: connections timed by timestamps. More of them than their set holds,
 * packets of both directions with any timestamps, in any order, some of which begin a
 * probe and leave their queue at any time, are dropped or sent again; clocks that wrap. What
 * their answers say of each way. Others without timestamps, whose data are acknowledged.
 */
#include <linux/types.h>
#include <zrtt/flow.h>
#include <zrtt/halves.h>
#include <zrtt/acks.h>
#include <zrtt/oneway.h>

#include "draw.h"
#include "expect.h"

#define TAGS	(ZRTT_CONN_WAYS + 2)
#define EVENTS	128
#define SPREAD	4	/* of the timestamps of one moment */
#define PAIRS	(ZRTT_CONN_WAYS + 1)	/* of hosts that the connections are of */

/* Something that happened to packets of direction @way; @again: it is sent again. */
struct event {
	u32 tag;
	u8 way;
	bool again;
	u32 stamp;
	u32 us;
	u32 epoch;
};

struct events {
	struct event list[EVENTS];
	u32 n;
};

struct router {
	struct zrtt_conn *set;
	struct zrtt_oneway oneway[2];	/* of the set's answers, by direction */
	struct zrtt_conn *pairs;
	struct zrtt_conn *untimed;	/* connections without timestamps */
	u64 now_ns;
	u32 clock;		/* of the senders */
	struct events queued;	/* packets that began a probe: their TSval */
	struct events left;	/* those of them that left */
	struct events echoes;	/* acknowledgments: their TSecr */
	struct events answers;	/* of pairs: how long they took */
	struct events sent;	/* data of those without timestamps, since some were sent again */
};

static struct event event_now(const struct router *r, const struct zrtt_echo *pkt,
			      u32 stamp)
{
	return (struct event) {
		.tag = pkt->tag, .way = pkt->way, .stamp = stamp,
		.us = (u32)(r->now_ns / 1000), .epoch = zrtt_epoch(r->now_ns),
	};
}

static void note(struct events *events, struct event event)
{
	if (events->n < EVENTS)
		events->list[events->n++] = event;
}

/* Did @echo, now or in the window before, end a gap of @us that @left began? Windows
 * are told apart by 8 bits. A connection that lost its slot and came back takes a
 * packet of before, whose stamp may be newer, for its probe.
 */
static bool explains(const struct router *r, const struct event *left,
		     const struct event *echo, u32 us)
{
	u32 windows = (zrtt_epoch(r->now_ns) >> ZRTT_WINDOW_SHIFT) -
		      (echo->epoch >> ZRTT_WINDOW_SHIFT);
	u32 gap_us = echo->us - left->us + (left->again ? ZRTT_PROBE_TICK_US : 0);

	return left->tag == echo->tag && left->way != echo->way &&
	       gap_us <= ZRTT_HINT_MAX_US &&
	       zrtt_hint_to_us(zrtt_hint_from_us(gap_us)) == us &&
	       (s32)(echo->stamp - left->stamp) > -SPREAD &&
	       /* of this window or the one before; a silence of 65535 epochs looks like a
		* clock that lags, and is as much as one window off
		*/
	       (u8)(windows + 1) <= 3;
}

/* Is it the TSval of a packet that began a probe, or was sent again? */
static bool was_timed(const struct events *events, const struct event *echo)
{
	bool found = false;
	u32 i;

	for (i = 0; i < events->n && !found; i++)
		found = events->list[i].tag == echo->tag && events->list[i].way != echo->way &&
			events->list[i].stamp == echo->stamp;
	return found;
}

/* What is known of half a path was seen: from a departure to an echo of what was timed. */
static void check_half(const struct router *r, const struct zrtt_conn *conn, u8 way)
{
	u32 us = zrtt_half_us(&conn->half[way]);
	bool seen = !us;
	u32 i, j;

	for (i = 0; i < r->left.n && !seen; i++)
		for (j = 0; j < r->echoes.n && !seen; j++)
			seen = r->left.list[i].tag == conn->tag &&
			       r->left.list[i].way == way &&
			       (was_timed(&r->queued, &r->echoes.list[j]) ||
				was_timed(&r->left, &r->echoes.list[j])) &&
			       explains(r, &r->left.list[i], &r->echoes.list[j], us);
	expect(seen, "half an RTT that was never seen");
}

static const struct zrtt_conn *find(const struct router *r, u32 tag)
{
	const struct zrtt_conn *found = NULL;
	u32 i;

	for (i = 0; i < ZRTT_CONN_WAYS; i++) {
		if (r->set[i].tag != tag)
			continue;
		expect(!found, "connection has two slots");
		found = &r->set[i];
	}
	return found;
}

/* Was the answer @excess_us longer than another one of its pair, of this window or the one before? */
static void check_pair(struct router *r, u32 pair, u32 gap_us, u32 counts_us, u32 excess_us)
{
	struct event now = { .tag = pair, .us = counts_us, .epoch = zrtt_epoch(r->now_ns) };
	bool found = !excess_us || r->answers.n == EVENTS;
	u32 i;

	note(&r->answers, now);
	for (i = 0; i < r->answers.n; i++) {
		const struct event *event = &r->answers.list[i];
		u32 us = zrtt_hint_to_us(zrtt_hint_from_us(event->us));

		if (event->tag != pair || event->us > ZRTT_HINT_MAX_US)
			continue;
		found |= us == gap_us - excess_us &&
			 (u8)((now.epoch >> ZRTT_WINDOW_SHIFT) -
			      (event->epoch >> ZRTT_WINDOW_SHIFT) + 1) <= 3;
	}
	expect(found, "path of a pair that was never seen");
}

/* What all connections of its hosts say of the answer, too. */
static void read_pair(struct router *r, const struct zrtt_echo *pkt, struct zrtt_excess *excess)
{
	u32 pair = 1 + pkt->tag % PAIRS, gap_us = pkt->answer.gap_us, there_us = excess->there_us;
	u32 pair_us = zrtt_pair_excess(r->pairs, pair, pkt, zrtt_epoch(r->now_ns));

	expect(pair_us < gap_us || !pair_us, "all of an answer's time is excess");
	check_pair(r, pair, gap_us, zrtt_echo_us(pkt, gap_us), pair_us);
	zrtt_oneway_begun_late(excess, pkt->answer.excess_us, pair_us);
	expect(excess->there_us >= there_us, "less than the connection knows of");
	expect(excess->there_us == there_us || excess->there_us <= pair_us, "a way takes longer than both");
	expect(!excess->apart || excess->there_us == there_us, "way of another queue is known");
}

/* Neither way took longer than both, and another connection's answer says nothing. */
static void read_answer(struct router *r, const struct zrtt_echo *pkt)
{
	struct zrtt_oneway *oneway = &r->oneway[pkt->way];
	u32 most_us = pkt->answer.gap_us + ZRTT_ONEWAY_SLACK_US;
	bool known = oneway->tag == pkt->tag;
	struct zrtt_excess excess;

	if (!zrtt_oneway_answer(oneway, pkt->tag, pkt->tsval, &pkt->answer, &excess))
		return;
	expect(known && oneway->tag == pkt->tag, "answer of another connection");
	expect((u64)excess.there_us + excess.back_us <= most_us ||
	       (!excess.apart && excess.there_us <= most_us), "a way takes longer than both");
	expect(excess.apart || oneway->wrong == ZRTT_ONEWAY_WRONG, "clock is given up too soon");
	read_pair(r, pkt, &excess);
}

static void arrive(struct router *r, struct draw *d)
{
	struct zrtt_echo pkt = {
		.tag = 1 + draw_index(d, TAGS),
		.tsval = r->clock + draw_index(d, SPREAD),
		.tsecr = r->clock - draw_index(d, SPREAD),
		.way = draw_index(d, 2),
		.ack = draw_index(d, 4),
	};
	const struct event event = event_now(r, &pkt, pkt.tsval);
	const struct zrtt_conn *conn;
	u32 rtt_us;
	bool begins;

	if (pkt.ack)
		note(&r->echoes, event_now(r, &pkt, pkt.tsecr));
	begins = zrtt_conn_arrive(r->set, &pkt, event.us, event.epoch, &rtt_us);
	if (begins)
		note(&r->queued, event);
	conn = find(r, pkt.tag);
	if (pkt.answers)
		read_answer(r, &pkt);
	expect(conn, "connection has no slot");
	expect(rtt_us == zrtt_conn_rtt_us(conn), "another connection's RTT");
	expect(!rtt_us || (rtt_us >= 64 && rtt_us <= ZRTT_HINT_MAX_US),
	       "RTT out of range");
	check_half(r, conn, 0);
	check_half(r, conn, 1);
}

/* A packet that is sent again leaves, or one that began a probe is dropped. */
static void send_again_or_drop(struct router *r, struct draw *d)
{
	const struct zrtt_echo pkt = {
		.tag = 1 + draw_index(d, TAGS),
		.way = draw_index(d, 2),
		.tsval = r->clock + draw_index(d, SPREAD),
	};
	struct event event = event_now(r, &pkt, pkt.tsval);

	if (draw_index(d, 2)) {
		zrtt_conn_dropped(r->set, pkt.tag, pkt.way);
		return;
	}
	zrtt_conn_again(r->set, &pkt, event.us);
	event.again = true;
	note(&r->left, event);
}

/* Data of that direction are sent again. */
static void forget(struct events *events, u32 tag, u8 way)
{
	u32 i, n = 0;

	for (i = 0; i < events->n; i++)
		if (events->list[i].tag != tag || events->list[i].way != way)
			events->list[n++] = events->list[i];
	events->n = n;
}

/* Data of a connection without timestamps leave, mostly for the first time. */
static void send_data(struct router *r, struct draw *d)
{
	const struct zrtt_echo pkt = {
		.tag = 1 + draw_index(d, TAGS),
		.way = draw_index(d, 2),
		.tsval = r->clock + draw_index(d, SPREAD),
	};
	const struct event event = event_now(r, &pkt, pkt.tsval);

	if (draw_index(d, 4) && r->sent.n < EVENTS) {
		zrtt_acks_send(r->untimed, &pkt, event.us, event.epoch);
		note(&r->sent, event);
		return;
	}
	zrtt_acks_give_up(r->untimed, pkt.tag, pkt.way);
	forget(&r->sent, pkt.tag, pkt.way);
}

/* They are acknowledged: an answer is that of data which left once, and at that time. */
static void acknowledge(struct router *r, struct draw *d)
{
	struct zrtt_echo pkt = {
		.tag = 1 + draw_index(d, TAGS),
		.way = draw_index(d, 2),
		.tsecr = r->clock - draw_index(d, SPREAD),
		.ack = draw_index(d, 4),
	};
	u32 i, number = pkt.tsecr, now_us = (u32)(r->now_ns / 1000);
	bool found = false;

	zrtt_acks_arrive(r->untimed, &pkt, now_us);
	for (i = 0; i < r->sent.n; i++) {
		const struct event *event = &r->sent.list[i];

		found |= event->tag == pkt.tag && event->way != pkt.way &&
			 (s32)(number - event->stamp) >= 0 &&
			 pkt.answer.left_us == event->us &&
			 pkt.answer.gap_us == now_us - event->us;
	}
	expect(found || !pkt.answers, "data were not sent then, or sent again");
}

static void send_or_acknowledge(struct router *r, struct draw *d)
{
	if (draw_index(d, 2))
		send_data(r, d);
	else
		acknowledge(r, d);
}

static void leave(struct router *r, struct draw *d)
{
	struct event event;

	if (!r->queued.n)
		return;
	event = r->queued.list[draw_index(d, r->queued.n)];
	event.us = (u32)(r->now_ns / 1000);
	zrtt_conn_left(r->set, event.tag, event.way, event.us);
	note(&r->left, event);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct router r = {
		.set = calloc(ZRTT_CONN_WAYS, sizeof(*r.set)),
		.pairs = calloc(ZRTT_CONN_WAYS, sizeof(*r.pairs)),
		.untimed = calloc(ZRTT_CONN_WAYS, sizeof(*r.untimed)),
		.now_ns = draw_start_ns(&d),
		.clock = (u32)draw_bytes(&d, 1) << 24,
	};

	while (d.left) {
		switch (draw_index(&d, 8)) {
		case 0:
			r.now_ns += draw_gap_ns(&d);
			break;
		case 1:
			r.clock += draw_index(&d, 8);
			break;
		case 2:
			leave(&r, &d);
			break;
		case 3:
			send_again_or_drop(&r, &d);
			break;
		case 4:
			send_or_acknowledge(&r, &d);
			break;
		default:
			arrive(&r, &d);
			break;
		}
	}
	free(r.set);
	free(r.pairs);
	free(r.untimed);
	return 0;
}
