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

static void timestamps_are_looked_at_if_wanted(void **state)
{
	struct frame f = ipv4_tcp(timestamps, sizeof(timestamps));
	static const u8 payload[100];

	(void)state;
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
		cmocka_unit_test(timestamps_are_looked_at_if_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
