// SPDX-License-Identifier: GPL-2.0
/*
 * packet.h: hints and timestamps in frames built by hand, in place and out of it.
 */
#include "packet_check.h"

/* Hints */

static void ipv4_hint_is_placed(void **state)
{
	struct frame f = frame_new();
	struct zrtt_packet p;

	(void)state;
	frame_ipv4(&f, hint_v4, sizeof(hint_v4));
	frame_tcp(&f, NULL, 0);
	p = parse(&f);
	assert_int_equal(p.hint_units, UNITS);
	assert_int_equal(p.hint_off, IP_AT + 20);
	assert_int_equal(p.hint_len, 4);
	assert_false(p.hint_in_tcp || p.hint_bad || p.sealed);
	f.bytes[f.next_at] = ZRTT_PROTO_AH;
	assert_true(parse(&f).sealed);
}

static void tcp_hint_is_placed(void **state)
{
	struct frame f = ipv4_tcp(hint_tcp, sizeof(hint_tcp));
	struct zrtt_packet p = parse(&f);

	(void)state;
	assert_int_equal(p.hint_units, UNITS);
	assert_int_equal(p.hint_off, IP_AT + 40);
	assert_int_equal(p.hint_len, 6);
	assert_true(p.hint_in_tcp);
	assert_false(p.hint_bad || p.sealed);
	assert_int_equal(p.ext_off, 0);
}

/* TCP-AO's MAC may cover the options, that of the MD5 option does not (RFC 2385, 2.0). */
static void tcp_hint_beside_an_authentication_option_is_sealed(void **state)
{
	static const u8 ao[] = { 29, 16, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 };
	static const u8 md5[18] = { 19, 18 };
	u8 options[40];
	struct frame f;
	u32 len;

	(void)state;
	memcpy(options, hint_tcp, 8);
	memcpy(options + 8, ao, sizeof(ao));
	f = ipv4_tcp(options, 24);
	assert_true(parse(&f).sealed);
	assert_int_equal(parse(&f).hint_units, UNITS);
	memcpy(options, ao, sizeof(ao));
	memcpy(options + 16, timestamps, 12);
	memcpy(options + 28, hint_tcp, 8);
	f = ipv4_tcp(options, 36);
	assert_true(parse(&f).sealed);
	/* without a hint in TCP there is nothing to seal */
	f = ipv4_tcp(ao, sizeof(ao));
	assert_false(parse(&f).sealed);
	f = ipv4_and_tcp_options(hint_v4, 4, ao, sizeof(ao));
	assert_false(parse(&f).sealed);

	memcpy(options, md5, sizeof(md5));
	memcpy(options + 18, hint_tcp, 6);
	f = ipv4_tcp(options, 24);
	assert_false(parse(&f).sealed);
	assert_int_equal(parse(&f).hint_units, UNITS);

	/* of any length behind the hint, but not behind the end of the list */
	for (len = 0; len <= 255; len++) {
		memcpy(options, hint_tcp, 8);
		memcpy(options + 8, ao, sizeof(ao));
		options[9] = (u8)len;
		f = ipv4_tcp(options, 24);
		assert_true(parse(&f).sealed);
		options[6] = 0;
		f = ipv4_tcp(options, 24);
		assert_false(parse(&f).sealed);
		/* nor behind an option without a length */
		options[6] = 5;
		options[7] = (u8)(len & 1);
		f = ipv4_tcp(options, 24);
		assert_false(parse(&f).sealed);
	}
}

/* The hint is in the @at-th of @count headers, of 8 bytes or of more. */
static void check_ipv6_hint(u32 count, u32 at, bool alone)
{
	u32 announced_at = IP_AT + 6, ext_at = V6_L4_AT, i;
	struct frame f = frame_new();
	struct zrtt_packet p;
	u8 area[14] = {};

	memcpy(area, hint_v6, sizeof(hint_v6));
	frame_ipv6(&f);
	for (i = 0; i < count; i++) {
		if (i == at) {
			announced_at = f.next_at;
			ext_at = f.len;
			frame_ext(&f, ZRTT_PROTO_DSTOPTS, area, alone ? 6 : 14);
		} else {
			frame_ext(&f, i ? ZRTT_PROTO_ROUTING : ZRTT_PROTO_HOPOPTS,
				  padding, sizeof(padding));
		}
	}
	frame_tcp(&f, NULL, 0);
	p = parse(&f);
	assert_int_equal(p.hint_units, UNITS);
	assert_int_equal(p.hint_off, ext_at + 2);
	assert_int_equal(p.hint_len, 4);
	assert_int_equal(p.ext_off, alone ? ext_at : 0);
	assert_int_equal(p.nexthdr_off, announced_at);
	assert_int_equal(p.proto, ZRTT_PROTO_TCP);
	assert_false(p.hint_in_tcp || p.hint_bad || p.sealed);
}

static void ipv6_hint_is_placed_and_announced(void **state)
{
	u32 count, at;

	(void)state;
	for (count = 1; count <= ZRTT_IPV6_HEADERS_MAX; count++)
		for (at = 0; at < count; at++) {
			check_ipv6_hint(count, at, true);
			check_ipv6_hint(count, at, false);
		}
}

/* What AH may protect must not change (docs/wire-format.md, 7.4). */
static void ipv6_hint_that_ah_may_follow_is_sealed(void **state)
{
	struct frame hop = frame_new(), f;
	u32 i;

	(void)state;
	frame_ipv6(&hop);
	frame_ext(&hop, ZRTT_PROTO_HOPOPTS, hint_v6, sizeof(hint_v6));
	f = hop;
	frame_l4(&f, ZRTT_PROTO_AH);
	assert_true(parse(&f).sealed);

	/* a fragment header says what of, if it is there */
	f = hop;
	frame_ext(&f, ZRTT_PROTO_FRAGMENT, NULL, 6);
	frame_l4(&f, ZRTT_PROTO_TCP);
	assert_false(parse(&f).sealed);
	assert_true(parse_part(&f, hop.len, &all_wanted).sealed);
	f.bytes[f.next_at] = ZRTT_PROTO_AH;
	assert_true(parse(&f).sealed);

	/* headers that are not looked at */
	f = hop;
	for (i = 1; i < ZRTT_IPV6_HEADERS_MAX; i++)
		frame_ext(&f, ZRTT_PROTO_DSTOPTS, padding, sizeof(padding));
	frame_tcp(&f, NULL, 0);
	assert_false(parse(&f).sealed);
	f.bytes[f.next_at] = ZRTT_PROTO_DSTOPTS;
	assert_true(parse(&f).sealed);
}

static void first_hint_of_a_packet_counts(void **state)
{
	const u8 other[] = { 0xfe, 6, 0x5a, 0x52, 0, 9, 1, 1 };
	const u8 nothing[] = { 0x9e, 4, 0, 0 };
	struct frame f = ipv4_and_tcp_options(hint_v4, 4, other, 8);
	struct zrtt_packet p = parse(&f);

	(void)state;
	assert_int_equal(p.hint_units, UNITS);
	assert_int_equal(p.hint_off, IP_AT + 20);
	assert_false(p.hint_in_tcp);

	f = frame_new();
	frame_ipv6(&f);
	frame_ext(&f, ZRTT_PROTO_HOPOPTS, hint_v6, sizeof(hint_v6));
	frame_ext(&f, ZRTT_PROTO_DSTOPTS, (const u8 []){ 0x1e, 2, 0, 9, 1, 0 }, 6);
	frame_tcp(&f, other, 8);
	p = parse(&f);
	assert_int_equal(p.hint_units, UNITS);
	assert_int_equal(p.ext_off, V6_L4_AT);
	assert_false(p.hint_in_tcp);

	/* none in IP: that of TCP */
	f = ipv4_and_tcp_options(nothing, 4, hint_tcp, 8);
	p = parse(&f);
	assert_int_equal(p.hint_units, UNITS);
	assert_true(p.hint_in_tcp);
	assert_false(p.hint_bad);
}

static void malformed_options_are_reported(void **state)
{
	struct frame f = ipv4_and_tcp_options(broken, 4, NULL, 0);
	struct zrtt_packet p;

	(void)state;
	assert_true(parse(&f).hint_bad);
	f = ipv4_tcp(broken, 4);
	assert_true(parse(&f).hint_bad);
	assert_false(parse(&f).hint_in_tcp);
	f = frame_new();
	frame_ipv6(&f);
	frame_ext(&f, ZRTT_PROTO_DSTOPTS, (const u8 []){ 0x1e, 3, 0, 9, 0, 0 }, 6);
	assert_true(parse(&f).hint_bad);
	/* behind them, a hint in another header is as good as ever */
	f = ipv4_and_tcp_options(broken, 4, hint_tcp, 8);
	p = parse(&f);
	assert_true(p.hint_bad);
	assert_int_equal(p.hint_units, UNITS);
	/* behind a hint, nobody looks */
	f = ipv4_and_tcp_options(hint_v4, 4, broken, 4);
	assert_false(parse(&f).hint_bad);
}

static void areas_beyond_the_packet_are_malformed(void **state)
{
	struct frame f = ipv4_tcp(NULL, 0);
	u32 words;

	(void)state;
	for (words = 0; words <= 15; words++) {
		f.bytes[IP_AT + 32] = (u8)(words << 4);
		assert_int_equal(parse(&f).hint_bad, words > 5);
		assert_int_equal(parse(&f).tcp_flags, TCP_ACK_PSH);
	}
	f = frame_new();
	frame_ipv4(&f, NULL, 0);
	f.bytes[IP_AT] = 0x46;
	assert_true(parse(&f).hint_bad);
	f = frame_new();
	frame_ipv6(&f);
	frame_ext(&f, ZRTT_PROTO_HOPOPTS, NULL, 6);
	f.bytes[f.next_at + 1] = 1;
	assert_true(parse(&f).hint_bad);
}

static void nothing_is_found_that_is_not_wanted(void **state)
{
	struct frame f = ipv4_and_tcp_options(hint_v4, 4, timestamps, 12);
	struct zrtt_wanted wanted = all_wanted;
	struct zrtt_packet p;

	(void)state;
	wanted.hint = false;
	p = parse_part(&f, f.len, &wanted);
	assert_int_equal(p.hint_units, 0);
	assert_true(p.timed);
	wanted = all_wanted;
	wanted.timestamps = false;
	p = parse_part(&f, f.len, &wanted);
	assert_int_equal(p.hint_units, UNITS);
	assert_false(p.timed);
	wanted = all_wanted;
	wanted.ipv4_option = 94;
	assert_int_equal(parse_part(&f, f.len, &wanted).hint_units, 0);
	f.bytes[IP_AT + 20] = 94;
	assert_int_equal(parse_part(&f, f.len, &wanted).hint_units, UNITS);

	/* nor is anything malformed */
	wanted.hint = false;
	f = ipv4_and_tcp_options(broken, 4, broken, 4);
	assert_false(parse_part(&f, f.len, &wanted).hint_bad);
	assert_false(parse_part(&f, f.len - 1, &wanted).hint_bad);
}

/* Timestamps */

static void timestamps_are_found_at_any_place(void **state)
{
	u8 options[40];
	u32 at;

	(void)state;
	for (at = 0; at + 10 <= sizeof(options); at++) {
		struct frame f;

		memset(options, NOP, sizeof(options));
		memcpy(options + at, timestamps + 2, 10);
		f = ipv4_tcp(options, sizeof(options));
		assert_timed(&f, true);
		if (at < 2)
			continue;
		/* behind another option, as SACK */
		options[0] = 5;
		options[1] = (u8)at;
		f = ipv4_tcp(options, sizeof(options));
		assert_timed(&f, true);
		/* behind the end of the list */
		options[0] = 0;
		f = ipv4_tcp(options, sizeof(options));
		assert_timed(&f, false);
	}
}

static void timestamps_and_a_hint_share_the_options(void **state)
{
	u8 options[20];
	struct frame f;

	(void)state;
	memcpy(options, timestamps, 12);
	memcpy(options + 12, hint_tcp, 8);
	f = ipv4_tcp(options, sizeof(options));
	assert_timed(&f, true);
	assert_int_equal(parse(&f).hint_units, UNITS);
	memcpy(options, hint_tcp, 8);
	memcpy(options + 8, timestamps, 12);
	f = ipv4_tcp(options, sizeof(options));
	assert_timed(&f, true);
	assert_int_equal(parse(&f).hint_units, UNITS);
}

static void malformed_timestamps_are_none(void **state)
{
	u8 options[sizeof(timestamps)];
	struct frame f;
	u32 len;

	(void)state;
	for (len = 0; len <= 255; len++) {
		memcpy(options, timestamps, sizeof(options));
		options[3] = (u8)len;
		f = ipv4_tcp(options, sizeof(options));
		assert_timed(&f, len == 10);
	}
	/* an option without a length, or one that runs past the area */
	memcpy(options, timestamps, sizeof(options));
	options[0] = 5;
	for (len = 0; len <= 255; len++) {
		options[1] = (u8)len;
		f = ipv4_tcp(options, sizeof(options));
		assert_timed(&f, len == 2);
	}
	/* cut off by the area, and by the packet */
	f = ipv4_tcp(timestamps, 8);
	assert_timed(&f, false);
	f = ipv4_tcp(timestamps, 12);
	f.len--;
	assert_timed(&f, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_hint_is_placed),
		cmocka_unit_test(tcp_hint_is_placed),
		cmocka_unit_test(tcp_hint_beside_an_authentication_option_is_sealed),
		cmocka_unit_test(ipv6_hint_is_placed_and_announced),
		cmocka_unit_test(ipv6_hint_that_ah_may_follow_is_sealed),
		cmocka_unit_test(first_hint_of_a_packet_counts),
		cmocka_unit_test(malformed_options_are_reported),
		cmocka_unit_test(areas_beyond_the_packet_are_malformed),
		cmocka_unit_test(nothing_is_found_that_is_not_wanted),
		cmocka_unit_test(timestamps_are_found_at_any_place),
		cmocka_unit_test(timestamps_and_a_hint_share_the_options),
		cmocka_unit_test(malformed_timestamps_are_none),
	};

	return cmocka_run_group_tests_name("packet options", tests, NULL, NULL);
}
