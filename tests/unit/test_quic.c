// SPDX-License-Identifier: GPL-2.0
/* quic.h: which packets are in a datagram, and what is none of QUIC. */
#include "unit.h"
#include <zrtt/quic.h>

#define V1	ZRTT_QUIC_V1
#define V2	ZRTT_QUIC_V2
#define MTU	1500

/* A datagram that is being written. */
struct gram {
	u8 p[2 * MTU];
	u32 len;
};

static void put(struct gram *g, u32 value, u32 bytes)
{
	while (bytes--)
		g->p[g->len++] = (u8)(value >> 8 * bytes);
}

/* As QUIC numbers v1's types; the low bits are as if protected. */
static void put_header(struct gram *g, u32 version, u8 type, u8 dcid, u8 scid)
{
	put(g, 0xcd | (u32)(((version == V2) + type) & 3) << 4, 1);
	put(g, version, 4);
	put(g, dcid, 1);
	g->len += dcid;
	put(g, scid, 1);
	g->len += scid;
}

static void put_packet(struct gram *g, u32 version, u8 type, u8 dcid, u8 scid, u32 len)
{
	put_header(g, version, type, dcid, scid);
	if (type == ZRTT_QUIC_TYPE_INITIAL)
		put(g, 0, 1);
	put(g, 0x4000 | len, 2);
	g->len += len;
}

static enum zrtt_quic_kind kind(const struct gram *g)
{
	return zrtt_quic_kind(g->p, g->len, g->len);
}

/* An Initial of @len, which a packet of @next may follow. */
static struct gram datagram(u32 version, u8 dcid, u32 len, int next)
{
	struct gram g = {};

	put_packet(&g, version, ZRTT_QUIC_TYPE_INITIAL, dcid, 5, len);
	if (next >= 0)
		put_packet(&g, version, (u8)next, dcid, 5, 100);
	return g;
}

static void kinds_of_datagrams_are_told_apart(void **state)
{
	const u32 versions[] = { V1, V2 };
	struct gram g;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(versions); i++) {
		g = datagram(versions[i], 8, 1200, -1);
		assert_int_equal(kind(&g), ZRTT_QUIC_HELLO);
		/* a client has more to say of its first destination, and pads */
		g = datagram(versions[i], 7, 1200, -1);
		assert_int_equal(kind(&g), ZRTT_QUIC_INITIAL);
		g = datagram(versions[i], 8, 1000, -1);
		assert_int_equal(kind(&g), ZRTT_QUIC_INITIAL);
		g = datagram(versions[i], 8, 1000, ZRTT_QUIC_TYPE_HANDSHAKE);
		assert_int_equal(kind(&g), ZRTT_QUIC_INITIAL_HANDSHAKE);
		g = datagram(versions[i], 8, 1200, ZRTT_QUIC_TYPE_0RTT);
		assert_int_equal(kind(&g), ZRTT_QUIC_HELLO);
		g = (struct gram) {};
		put_packet(&g, versions[i], ZRTT_QUIC_TYPE_HANDSHAKE, 8, 8, 50);
		assert_int_equal(kind(&g), ZRTT_QUIC_HANDSHAKE);
		g = (struct gram) {};
		put_packet(&g, versions[i], ZRTT_QUIC_TYPE_0RTT, 8, 8, 50);
		assert_int_equal(kind(&g), ZRTT_QUIC_OTHER);
		g = (struct gram) {};
		put_header(&g, versions[i], ZRTT_QUIC_TYPE_RETRY, 8, 8);
		g.len += 50;
		assert_int_equal(kind(&g), ZRTT_QUIC_OTHER);
	}
}

/* Behind an Initial with a token, and one with a length of each size. */
static void handshake_behind_an_initial_is_found(void **state)
{
	struct gram g = {};
	u32 bytes;

	(void)state;
	for (bytes = 1; bytes <= 4; bytes *= 2) {
		g = (struct gram) {};
		put_header(&g, V1, ZRTT_QUIC_TYPE_INITIAL, 20, 20);
		put(&g, 60, 1);
		g.len += 60;
		put(&g, (u32[]) { 0, 0, 0x4000, 0, 0x80000000U }[bytes] | 40, bytes);
		g.len += 40;
		put_packet(&g, V1, ZRTT_QUIC_TYPE_HANDSHAKE, 20, 20, 30);
		assert_int_equal(kind(&g), ZRTT_QUIC_INITIAL_HANDSHAKE);
	}
	/* 0-RTT between them */
	g = datagram(V1, 8, 40, ZRTT_QUIC_TYPE_0RTT);
	put_packet(&g, V1, ZRTT_QUIC_TYPE_HANDSHAKE, 8, 5, 30);
	assert_int_equal(kind(&g), ZRTT_QUIC_INITIAL_HANDSHAKE);
}

static void short_headers_have_a_kind(void **state)
{
	const u8 first[] = { 0x40, 0x60, 0x00, 0x7f };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(first); i++)
		assert_int_equal(zrtt_quic_kind(&first[i], 1, 40), ZRTT_QUIC_SHORT);
}

/* Servers do that in their first packet. */
static void fixed_bit_may_be_greased(void **state)
{
	struct gram g = datagram(V1, 8, 1200, -1);

	(void)state;
	g.p[0] &= 0xbf;
	assert_true(zrtt_quic_begins(g.p));
	assert_int_equal(kind(&g), ZRTT_QUIC_HELLO);
}

static void what_is_not_quic_is_nothing(void **state)
{
	struct gram g = datagram(V1 + 1, 8, 1200, -1);
	/* RTP, DTLS, DNS, WireGuard */
	const u8 others[][5] = {
		{ 0x80, 0x60, 0x12, 0x34, 0x00 }, { 0x16, 0xfe, 0xfd, 0x00, 0x00 },
		{ 0x9c, 0x11, 0x01, 0x20, 0x00 }, { 0x04, 0x00, 0x00, 0x00, 0x01 },
	};
	u32 i;

	(void)state;
	assert_int_equal(kind(&g), ZRTT_QUIC_NOTHING);
	assert_false(zrtt_quic_begins(g.p));
	for (i = 0; i < ARRAY_LEN(others); i++)
		assert_false(zrtt_quic_begins(others[i]));
	/* version negotiation */
	g = datagram(0, 8, 1200, -1);
	assert_int_equal(kind(&g), ZRTT_QUIC_NOTHING);
}

static void malformed_headers_are_nothing(void **state)
{
	struct gram g = datagram(V1, 21, 1200, -1);

	(void)state;
	assert_int_equal(kind(&g), ZRTT_QUIC_NOTHING);
	g = datagram(V1, 8, 1200, -1);
	g.p[6 + 8] = 21;
	assert_int_equal(kind(&g), ZRTT_QUIC_NOTHING);
	/* longer than the datagram, by its length or by its token */
	g = datagram(V1, 8, 1200, -1);
	g.len--;
	assert_int_equal(kind(&g), ZRTT_QUIC_NOTHING);
	g = (struct gram) {};
	put_header(&g, V1, ZRTT_QUIC_TYPE_INITIAL, 8, 0);
	put(&g, 0x7fff, 2);
	g.len += 1300;
	assert_int_equal(kind(&g), ZRTT_QUIC_HELLO);
	g = (struct gram) {};
	put_header(&g, V1, ZRTT_QUIC_TYPE_INITIAL, 8, 8);
	assert_int_equal(kind(&g), ZRTT_QUIC_NOTHING);
}

/* Each byte is in memory of its own, so that ASan sees one too many. */
static void nothing_is_read_behind_the_end(void **state)
{
	struct gram g = datagram(V1, 20, 60, ZRTT_QUIC_TYPE_HANDSHAKE);
	u32 have;

	(void)state;
	for (have = 0; have <= g.len; have++) {
		u8 *copy = malloc(have + !have);
		enum zrtt_quic_kind found;

		assert_non_null(copy);
		memcpy(copy, g.p, have);
		found = zrtt_quic_kind(copy, have, g.len);
		/* what is not there is not guessed */
		assert_true(found == ZRTT_QUIC_NOTHING || found == ZRTT_QUIC_INITIAL ||
			    found == ZRTT_QUIC_INITIAL_HANDSHAKE);
		if (have == g.len)
			assert_int_equal(found, ZRTT_QUIC_INITIAL_HANDSHAKE);
		free(copy);
	}
}

static void length_of_udp_is_that_of_its_payload(void **state)
{
	const u8 udp[] = { 1, 187, 1, 187, 0x04, 0xb8, 0, 0 };
	const u8 none[] = { 1, 187, 1, 187, 0, 7, 0, 0 };

	(void)state;
	assert_int_equal(zrtt_udp_payload(udp), 1200);
	assert_int_equal(zrtt_udp_payload(none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_datagrams_are_told_apart),
		cmocka_unit_test(handshake_behind_an_initial_is_found),
		cmocka_unit_test(short_headers_have_a_kind),
		cmocka_unit_test(fixed_bit_may_be_greased),
		cmocka_unit_test(what_is_not_quic_is_nothing),
		cmocka_unit_test(malformed_headers_are_nothing),
		cmocka_unit_test(nothing_is_read_behind_the_end),
		cmocka_unit_test(length_of_udp_is_that_of_its_payload),
	};

	return cmocka_run_group_tests_name("quic", tests, NULL, NULL);
}
