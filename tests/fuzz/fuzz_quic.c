// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: bytes that may be QUIC, cut off anywhere, against a second reading; and a
 * flow of QUIC packets that come and leave at any time, against a record with 64-bit clocks.
 */
#include <string.h>

#include <linux/types.h>
#include <zrtt/spin.h>

#include "draw.h"
#include "expect.h"

#define EDGES_BEFORE	7
#define PACKETS_SAME	4
#define UNITS_MIN	16
#define UNITS_MAX	32000
#define KINDS		(ZRTT_QUIC_OTHER + 1)

/* What came so far of a flow, in units of 2^16 ns. */
struct record {
	u64 now_ns;
	u64 last_ns;
	u64 left;	/* the departure that a gap counts from */
	u64 since;	/* the first packet with the present spin bit */
	u32 same;	/* packets with it */
	u32 edges;	/* in a row without doubt */
	u64 period;	/* between the last two */
	bool any_left;
	bool spin;
};

/* Parsing */

/* The part of a datagram that can be read, and how long it says that it is. */
struct gram {
	const u8 *p;
	long long have;
	long long len;
};

/* A number of QUIC at @*at, which is moved behind it; -1 = it is not there, or no length. */
static long long second_number(const struct gram *g, long long *at)
{
	long long value, end;

	if (*at >= g->have)
		return -1;
	value = g->p[*at] % 64;
	end = *at + (1 << (g->p[*at] / 64));
	if (end > g->have || g->p[*at] >= 192)
		return -1;
	for (++*at; *at < end; ++*at)
		value = value * 256 + g->p[*at];
	return value;
}

/* The type of the long header at @*at, -1 if there is none. @*at is moved behind its packet, or
 * is -1 if that is not known.
 */
static int second_header(const struct gram *g, long long *at, u8 *dcid)
{
	const u8 *p = g->p + *at;
	long long end = *at + 6, number;
	int type = p[0] / 16 % 4;

	if (end >= g->have || p[0] < 128)
		return -1;
	if (!memcmp(p + 1, "\x6b\x33\x43\xcf", 4))
		type = (type + 3) % 4;
	else if (memcmp(p + 1, "\0\0\0\1", 4))
		return -1;
	*dcid = p[5];
	end += *dcid;
	if (*dcid > 20 || end >= g->have || g->p[end] > 20)
		return -1;
	end += 1 + g->p[end];
	if (end >= g->len)
		return -1;
	*at = -1;
	if (type == ZRTT_QUIC_TYPE_INITIAL) {
		number = second_number(g, &end);
		if (number < 0 || end + number > g->have)
			return type;
		end += number;
	}
	number = type == ZRTT_QUIC_TYPE_RETRY ? -1 : second_number(g, &end);
	if (number < 0)
		return type;
	*at = end + number;
	return *at > g->len ? -1 : type;
}

static void check_gram(const struct gram *g, enum zrtt_quic_kind kind)
{
	long long at = 0;
	u8 dcid, other;
	int i, type;

	if (g->have < 7) {
		expect(kind == ZRTT_QUIC_NOTHING, "a header without its bytes");
		return;
	}
	type = second_header(g, &at, &dcid);
	expect((kind == ZRTT_QUIC_NOTHING) == (type < 0), "QUIC to one reader only");
	expect((kind == ZRTT_QUIC_HANDSHAKE) == (type == ZRTT_QUIC_TYPE_HANDSHAKE), "another type");
	expect((kind == ZRTT_QUIC_OTHER) == (type % 2 == 1), "another type");
	if (kind == ZRTT_QUIC_HELLO)
		expect(g->len >= 1200 && dcid >= 8, "no client sends that");
	if (type != ZRTT_QUIC_TYPE_INITIAL)
		return;
	for (i = 0; i < ZRTT_QUIC_COALESCED && type != ZRTT_QUIC_TYPE_HANDSHAKE; i++) {
		if (at < 0 || at >= g->have || type < 0)
			break;
		type = second_header(g, &at, &other);
	}
	expect((kind == ZRTT_QUIC_INITIAL_HANDSHAKE) == (type == ZRTT_QUIC_TYPE_HANDSHAKE),
	       "a Handshake, or none");
}

static void check_kind(const u8 *data, size_t size)
{
	struct gram g = { .have = (long long)size - 2 };
	enum zrtt_quic_kind kind;
	u8 *copy;

	if (g.have < 0)
		return;
	g.len = data[0] << 8 | data[1];
	/* so that ASan sees a byte too many */
	copy = malloc(size - 2 + !(size - 2));
	memcpy(copy, data + 2, size - 2);
	g.p = copy;
	kind = zrtt_quic_kind(copy, (u32)g.have, (u32)g.len);
	if (g.have > g.len)
		g.have = g.len;
	if (g.have && copy[0] < 128)
		expect(kind == ZRTT_QUIC_SHORT, "not a short header");
	else
		check_gram(&g, kind);
	free(copy);
}

/* Timing */

static u64 units(u64 ns)
{
	return ns >> ZRTT_SPIN_SHIFT;
}

static bool is_us(u32 us, u64 gap)
{
	return us == gap * 65536 / 1000 || us + 1 == gap * 65536 / 1000 ||
	       us == gap * 65536 / 1000 + 1;
}

/* Note a spin bit. Return: whether it shows an RTT. */
static bool record_spin(struct record *r, bool spin)
{
	u64 now = units(r->now_ns);

	if (spin != r->spin) {
		r->period = now - r->since;
		if (r->same < PACKETS_SAME || r->period < UNITS_MIN || r->period > UNITS_MAX)
			r->edges = 0;
		r->since = now;
		r->spin = spin;
		r->same = 1;
		return false;
	}
	if (r->same >= PACKETS_SAME || ++r->same < PACKETS_SAME)
		return false;
	if (r->edges < EDGES_BEFORE) {
		r->edges++;
		return false;
	}
	return true;
}

/* The handshake is over: spin bits are to be seen anew. */
static void record_over(struct record *r, const struct zrtt_flow *f, u64 since)
{
	r->edges = 0;
	r->same = PACKETS_SAME;
	r->since = since;
	r->spin = f->spin;
}

static void arrive(struct zrtt_flow *f, struct record *r, enum zrtt_quic_kind kind, bool spin)
{
	struct zrtt_flow before = *f;
	bool shows = false, learnt;
	u64 gap;

	/* as zrtt_flow_update() */
	if (zrtt_epoch(r->now_ns) - zrtt_epoch(r->last_ns) > ZRTT_LIVE_EPOCHS) {
		zrtt_flow_interrupt(f);
		r->edges = 0;
		r->same = PACKETS_SAME;
		if (before.quic != ZRTT_QUIC_SPIN)
			record_over(r, f, r->since);
		before = *f;
	}
	r->last_ns = r->now_ns;
	if (f->quic == ZRTT_QUIC_SPIN && kind == ZRTT_QUIC_SHORT)
		shows = record_spin(r, spin);
	f->passive_us = 0;
	learnt = zrtt_quic_seen(f, kind, spin, zrtt_spin_clock(r->now_ns),
				zrtt_epoch(r->now_ns));
	expect(learnt == !!f->passive_us, "says that it learnt, and did not");
	if (before.quic == ZRTT_QUIC_SPIN) {
		expect(learnt == shows, "takes other edges");
		expect(!learnt || f->passive_us <= zrtt_spin_to_us((u16)r->period) + 1,
		       "longer than between two edges");
	} else if (learnt) {
		gap = units(r->now_ns) - r->left;
		expect(r->any_left && is_us(f->passive_us, gap), "no gap of a handshake");
		expect(gap > UNITS_MIN && gap <= ZRTT_QUIC_GAP_MOST, "a timer's, or too short");
		expect(f->quic == ZRTT_QUIC_SPIN, "and times on");
	}
	if (!learnt)
		f->passive_us = before.passive_us;
	expect(f->spin_least, "least of a packet without a sequence number");
	if (before.quic != ZRTT_QUIC_SPIN && f->quic == ZRTT_QUIC_SPIN)
		record_over(r, f, r->left);
	if (f->quic == ZRTT_QUIC_SPIN && f->spin_run == ZRTT_SPIN_RUN)
		expect(f->spin_good <= EDGES_BEFORE, "more edges than there were");
}

static void leave(struct zrtt_flow *f, struct record *r)
{
	bool first = f->quic == ZRTT_QUIC_CLIENT && r->any_left;

	if (zrtt_quic_shakes(f) && !first) {
		r->left = units(r->now_ns);
		r->any_left = true;
	}
	zrtt_quic_left(f, r->now_ns);
}

static void check_timing(struct draw *d)
{
	struct zrtt_flow f = {};
	struct record r = { .now_ns = draw_start_ns(d) };
	enum zrtt_quic_kind first = draw_index(d, KINDS);
	u32 n;

	r.last_ns = r.now_ns;
	zrtt_quic_arrived(&f, true, first);
	expect((f.syn == ZRTT_SYN_QUIC) == (first >= ZRTT_QUIC_INITIAL), "QUIC, or not");
	if (f.syn != ZRTT_SYN_QUIC)
		return;
	record_over(&r, &f, 0);
	while (d->left) {
		u32 what = draw_index(d, 4), kind = draw_index(d, KINDS);
		u64 gap_ns = draw_gap_ns(d);

		switch (what) {
		case 0:
			r.now_ns += gap_ns;
			leave(&f, &r);
			break;
		case 1:
			r.now_ns += gap_ns;
			arrive(&f, &r, kind, gap_ns & 1);
			break;
		default:
			for (n = 0; n <= kind; n++) {
				arrive(&f, &r, ZRTT_QUIC_SHORT, what & 1);
				r.now_ns += gap_ns;
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };

	if (draw_index(&d, 2))
		check_kind(d.at, d.left);
	else
		check_timing(&d);
	return 0;
}
