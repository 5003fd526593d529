// SPDX-License-Identifier: GPL-2.0
/* packet.h: which packets take the quick way; that it leads to the same place is
 * checked for every frame of these tests.
 */
#include "packet_check.h"

#define DNS_BYTES	12	/* of the shortest message */

static bool frame_is_plain(const struct frame *f, const struct zrtt_wanted *wanted)
{
	const struct zrtt_bytes bytes = { .data = f->bytes, .len = f->len };
	struct zrtt_packet p;

	return is_plain(&p, &bytes, zrtt_hint_get16(f->bytes + ETH_TYPE), ETH_BYTES,
			wanted);
}

/* Whether the payload is in one piece with the headers makes no difference. */
static void assert_plain(struct frame f, bool plain)
{
	static const u8 payload[100];
	const struct zrtt_wanted hints = {
		.hint = true, .ipv4_option = ZRTT_HINT_IPV4_TYPE,
	};
	u32 len;

	assert_int_equal(frame_is_plain(&f, &hints), plain);
	for (len = ETH_BYTES; len <= f.len; len++)
		parse_part(&f, len, &hints);
	frame_add(&f, payload, sizeof(payload));
	assert_int_equal(frame_is_plain(&f, &hints), plain);
	parse(&f);
	parse_part(&f, f.len, &hints);
}

static struct frame ipv4_udp(void)
{
	struct frame f = frame_new();

	frame_ipv4(&f, NULL, 0);
	frame_l4(&f, ZRTT_PROTO_UDP);
	frame_add(&f, NULL, DNS_BYTES);
	return f;
}

/* The beginning of QUIC of @version. */
static struct frame ipv4_quic(u8 first, u32 version)
{
	const u8 begin[DNS_BYTES] = {
		first, (u8)(version >> 24), (u8)(version >> 16), (u8)(version >> 8), (u8)version,
	};
	struct frame f = frame_new();

	frame_ipv4(&f, NULL, 0);
	frame_l4(&f, ZRTT_PROTO_UDP);
	frame_add(&f, begin, sizeof(begin));
	return f;
}

static struct frame ipv6_tcp(const void *options, u32 len)
{
	struct frame f = frame_new();

	frame_ipv6(&f);
	frame_tcp(&f, options, len);
	return f;
}

static void most_packets_are_plain(void **state)
{
	(void)state;
	assert_plain(ipv4_tcp(NULL, 0), true);
	assert_plain(ipv4_tcp(timestamps, sizeof(timestamps)), true);
	assert_plain(ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), NULL, 0), true);
	assert_plain(ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), timestamps,
					  sizeof(timestamps)), true);
	assert_plain(ipv4_udp(), true);
	assert_plain(ipv6_tcp(NULL, 0), true);
	assert_plain(ipv6_tcp(timestamps, sizeof(timestamps)), true);
}

/* With the fixed bit or without. The packets behind are plain. */
static void what_begins_quic_is_looked_at(void **state)
{
	const struct zrtt_wanted quic = { .quic = true }, nothing = {};
	const u32 versions[] = { ZRTT_QUIC_V1, ZRTT_QUIC_V2 };
	struct frame f;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		f = ipv4_quic(0xc3, versions[i]);
		assert_false(frame_is_plain(&f, &quic));
		assert_true(frame_is_plain(&f, &nothing));
		f = ipv4_quic(0x83, versions[i]);
		assert_false(frame_is_plain(&f, &quic));
		f = ipv4_quic(0x43, versions[i]);
		assert_true(frame_is_plain(&f, &quic));
		f = ipv4_quic(0xc3, versions[i] + 1);
		assert_true(frame_is_plain(&f, &quic));
	}
}

/* Of a plain packet of TCP, all headers are needed, and not a byte more. */
static void headers_are_enough(void **state)
{
	const struct frame frames[] = {
		ipv4_tcp(NULL, 0), ipv4_tcp(timestamps, sizeof(timestamps)),
		ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), NULL, 0),
		ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), timestamps,
				     sizeof(timestamps)),
		ipv6_tcp(NULL, 0), ipv6_tcp(timestamps, sizeof(timestamps)),
	};
	const struct zrtt_wanted hints = {
		.hint = true, .ipv4_option = ZRTT_HINT_IPV4_TYPE,
	};
	struct frame part;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		part = frames[i];
		for (part.len = ETH_BYTES; part.len < frames[i].len; part.len++)
			assert_false(frame_is_plain(&part, &hints));
		assert_true(frame_is_plain(&part, &hints));
	}
}

static void what_may_need_a_closer_look_is_not(void **state)
{
	const u8 no_hint[] = { 0x9e, 4, 0, 0 };

	(void)state;
	assert_plain(ipv4_tcp(hint_tcp, sizeof(hint_tcp)), false);
	assert_plain(ipv4_and_tcp_options(broken, sizeof(broken), NULL, 0), false);
	assert_plain(ipv4_and_tcp_options(padding, 4, NULL, 0), false);
	assert_plain(ipv4_and_tcp_options(no_hint, sizeof(no_hint), NULL, 0), false);
}

/* The quick way reads them by itself. */
static void plain_packets_have_their_ect(void **state)
{
	struct frame v4 = ipv4_tcp(NULL, 0), v6 = ipv6_tcp(NULL, 0);
	struct frame hinted = ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), NULL, 0);
	u32 class;

	(void)state;
	for (class = 0; class <= 255; class++) {
		v4.bytes[IP_AT + 1] = (u8)class;
		assert_plain(v4, true);
		hinted.bytes[IP_AT + 1] = (u8)class;
		assert_plain(hinted, true);
		zrtt_hint_put16(v6.bytes + IP_AT, (u16)(0x600f | class << 4));
		assert_plain(v6, true);
	}
}

/* All but those that may not be fragmented are looked at, whatever their number is. */
static void fragments_are_not_plain(void **state)
{
	const struct zrtt_wanted nothing = {};
	struct frame f = ipv4_tcp(NULL, 0);
	u32 bits;

	(void)state;
	for (bits = 0; bits <= 0xffff; bits++) {
		zrtt_hint_put16(f.bytes + IP_AT + 4, (u16)~bits);
		zrtt_hint_put16(f.bytes + IP_AT + 6, (u16)bits);
		f.bytes[IP_AT + 8] = (u8)~bits;
		assert_int_equal(frame_is_plain(&f, &nothing), !(bits & 0x3fff));
	}
}

/* What is said of another packet is not left but for what is not read. */
static void plain_packet_is_no_tunnel(void **state)
{
	const struct frame f = ipv4_tcp(NULL, 0);
	const struct zrtt_bytes bytes = { .data = f.bytes, .len = f.len };
	const struct zrtt_wanted nothing = {};
	struct zrtt_packet p, want = parse(&f);

	(void)state;
	memset(&p, 0xff, sizeof(p));
	assert_true(zrtt_packet_plain(&p, &bytes, ZRTT_TYPE_IPV4, ETH_BYTES, &nothing));
	assert_int_equal(p.inner_off, 0);
	assert_int_equal(p.hint_units, 0);
	assert_int_equal(p.ip_off, want.ip_off);
	assert_int_equal(p.l4_off, want.l4_off);
	assert_int_equal(p.version, want.version);
	assert_int_equal(p.proto, want.proto);
	assert_int_equal(p.tcp_flags, want.tcp_flags);
	assert_int_equal(p.ecn, want.ecn);
}

/* And where there are none, that is of interest, too. */
static void timestamps_are_looked_at_if_wanted(void **state)
{
	struct frame f = ipv4_tcp(timestamps, sizeof(timestamps)), without = ipv4_tcp(NULL, 0);
	static const u8 payload[100];

	(void)state;
	assert_false(frame_is_plain(&without, &all_wanted));
	assert_timed(&without, false);
	frame_add(&f, payload, sizeof(payload));
	assert_false(frame_is_plain(&f, &all_wanted));
	assert_timed(&f, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_packets_are_plain),
		cmocka_unit_test(what_begins_quic_is_looked_at),
		cmocka_unit_test(headers_are_enough),
		cmocka_unit_test(what_may_need_a_closer_look_is_not),
		cmocka_unit_test(plain_packets_have_their_ect),
		cmocka_unit_test(fragments_are_not_plain),
		cmocka_unit_test(plain_packet_is_no_tunnel),
		cmocka_unit_test(timestamps_are_looked_at_if_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
