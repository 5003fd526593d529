// SPDX-License-Identifier: GPL-2.0
/*
 * hint.h: what is built is found, what is malformed is refused, and nothing is
 * read outside the option area: every area stands in a block of its exact size.
 */
#include "unit.h"
#include "hint_carriers.h"

/* noinline: else gcc warns of paths it cannot see are never taken */
static noinline struct reading
parse(enum carrier c, const u8 *area, u32 have, u32 total)
{
	const struct list list = {
		.carrier = c, .type = hint_type[c], .bytes = area,
		.readable = have, .claimed = total,
	};

	return parse_list(&list);
}

static void check_status(enum carrier c, const u8 *bytes, u32 len,
			 enum zrtt_hint_status want)
{
	/* one byte in front: a block of no bytes has no end to run over */
	u8 *block = malloc(len + 1);

	memcpy(block + 1, bytes, len);
	assert_int_equal(parse(c, block + 1, len, len).status, want);
	free(block);
}

static void wire_format_is_the_documented_one(void **state)
{
	const u8 ipv4[] = { 0x9e, 4, 0x12, 0x34 };
	const u8 ipv6[] = { 6, 0, 0x1e, 2, 0x12, 0x34, 1, 0 };
	const u8 tcp[] = { 0xfe, 6, 0x5a, 0x52, 0x12, 0x34 };
	u8 p[8];

	(void)state;
	zrtt_hint_build_ipv4(p, ZRTT_HINT_IPV4_TYPE, 0x1234);
	assert_memory_equal(p, ipv4, sizeof(ipv4));
	zrtt_hint_build_ipv6(p, 6, 0x1234);
	assert_memory_equal(p, ipv6, sizeof(ipv6));
	zrtt_hint_build_tcp(p, 0x1234);
	assert_memory_equal(p, tcp, sizeof(tcp));
}

/* RFC 4727, section 8; RFC 791, 3.1; RFC 8200, 4.2 */
static void types_are_for_experiments(void **state)
{
	(void)state;
	assert_int_equal(ZRTT_HINT_IPV4_TYPE >> 7, 1);		/* copied */
	assert_int_equal(ZRTT_HINT_IPV4_TYPE >> 5 & 3, 0);	/* control */
	assert_int_equal(ZRTT_HINT_IPV4_TYPE & 31, 30);
	assert_int_equal(ZRTT_HINT_IPV6_TYPE >> 6, 0);		/* skip */
	assert_int_equal(ZRTT_HINT_IPV6_TYPE >> 5 & 1, 0);	/* immutable */
	assert_int_equal(ZRTT_HINT_IPV6_TYPE & 31, 30);
	assert_in_range(ZRTT_HINT_TCP_KIND, 253, 254);
}

static void built_ipv6_header_is_whole(void **state)
{
	struct reading a;
	u8 header[8];

	(void)state;
	zrtt_hint_build_ipv6(header, 6, 1000);
	assert_int_equal(8 * (header[1] + 1), sizeof(header));
	a = parse(IPV6, header + 2, sizeof(header) - 2, sizeof(header) - 2);
	assert_int_equal(a.status, ZRTT_HINT_OK);
	assert_int_equal(a.off % 2, 0);
	/* behind it PadN, to the last byte */
	assert_int_equal(header[2 + a.off + a.len], 1);
	assert_int_equal(2 + a.off + a.len + 2 + header[7], sizeof(header));
}

static void every_value_comes_back(void **state)
{
	enum carrier c;
	u32 units;

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		u8 *area = malloc(hint_len[c]);

		for (units = 0; units <= 0xffff; units++) {
			bool valid = units && units <= ZRTT_HINT_MAX;
			struct reading a;

			build_option(c, area, (u16)units);
			a = parse(c, area, hint_len[c], hint_len[c]);
			assert_int_equal(a.status,
					 valid ? ZRTT_HINT_OK : ZRTT_HINT_NONE);
			if (!valid)
				continue;
			assert_int_equal(a.units, units);
			assert_int_equal(a.off, 0);
			assert_int_equal(a.len, hint_len[c]);
		}
		free(area);
	}
}

static void microseconds_round_down_by_a_unit_at_most(void **state)
{
	u32 us;

	(void)state;
	assert_int_equal(zrtt_hint_from_us(0), 1);
	assert_int_equal(zrtt_hint_from_us(UINT32_MAX), ZRTT_HINT_MAX);
	for (us = 32; us <= ZRTT_HINT_MAX_US; us++) {
		u32 back = zrtt_hint_to_us(zrtt_hint_from_us(us));

		assert_true(back <= us && us - back < 32);
	}
}

static void range_is_32_us_to_2_s(void **state)
{
	(void)state;
	assert_int_equal(zrtt_hint_to_us(1), 32);
	assert_int_equal(zrtt_hint_to_us(ZRTT_HINT_MAX), 2097088);
	assert_int_equal(zrtt_hint_from_us(3000000), ZRTT_HINT_MAX);
}

static void truncated_hint_is_bad(void **state)
{
	enum carrier c;
	u8 option[8];
	u32 len;

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		build_option(c, option, 1000);
		check_status(c, option, 0, ZRTT_HINT_NONE);
		for (len = 1; len < hint_len[c]; len++)
			check_status(c, option, len, ZRTT_HINT_BAD);
		check_status(c, option, hint_len[c], ZRTT_HINT_OK);
	}
}

/* An extension header that goes on beyond what could be read is not malformed. */
static void unreadable_rest_is_no_hint(void **state)
{
	u8 option[8], *block;
	u32 have;

	(void)state;
	build_option(IPV6, option, 1000);
	for (have = 0; have < ZRTT_HINT_IPV6_LEN; have++) {
		block = malloc(have + 1);
		memcpy(block + 1, option, have);
		assert_int_equal(parse(IPV6, block + 1, have, 2046).status,
				 ZRTT_HINT_NONE);
		free(block);
	}
}

static void scan_ends_after_a_bounded_number_of_bytes(void **state)
{
	u8 *area = calloc(1, 2048);

	(void)state;
	build_option(IPV6, area + ZRTT_HINT_SCAN_BYTES - ZRTT_HINT_IPV6_LEN, 1000);
	assert_int_equal(parse(IPV6, area, 2046, 2046).status, ZRTT_HINT_OK);
	memset(area, 0, 2048);
	build_option(IPV6, area + ZRTT_HINT_SCAN_BYTES, 1000);
	assert_int_equal(parse(IPV6, area, 2046, 2046).status, ZRTT_HINT_NONE);
	free(area);
}

static void looping_lengths_are_bad(void **state)
{
	enum carrier c;
	u8 option[8], len;

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		u8 other[] = { 0x44, 0, 0x44, 0 };

		if (c == IPV6) {
			/* its length leaves out two bytes: 0 is well-formed */
			check_status(c, other, sizeof(other), ZRTT_HINT_NONE);
			continue;
		}
		check_status(c, other, sizeof(other), ZRTT_HINT_BAD);
		other[1] = 1;
		check_status(c, other, sizeof(other), ZRTT_HINT_BAD);
		for (len = 0; len < 2; len++) {
			build_option(c, option, 1000);
			option[1] = len;
			check_status(c, option, hint_len[c], ZRTT_HINT_BAD);
		}
	}
}

static void overlong_options_are_bad(void **state)
{
	enum carrier c;
	u32 len;

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		u32 extra = uncounted[c];

		for (len = 2; len + extra <= 255; len++) {
			u8 bytes[40] = { 0x44, (u8)len };

			memset(bytes + 2, padding[c], sizeof(bytes) - 2);
			check_status(c, bytes, sizeof(bytes),
				     len + extra <= sizeof(bytes) ?
				     ZRTT_HINT_NONE : ZRTT_HINT_BAD);
		}
	}
}

static void hint_of_wrong_length_is_bad(void **state)
{
	enum carrier c;
	u32 len;

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		u32 extra = uncounted[c];

		/* shorter than an ExID, kind 254 is someone else's option */
		for (len = c == TCP ? 4 : 2; len <= 16; len++) {
			u8 bytes[16];

			memset(bytes, padding[c], sizeof(bytes));
			build_option(c, bytes, 1000);
			bytes[1] = (u8)(len - extra);
			check_status(c, bytes, sizeof(bytes),
				     len == hint_len[c] ? ZRTT_HINT_OK :
							    ZRTT_HINT_BAD);
		}
	}
}

static void hint_is_found_behind_anything_well_formed(void **state)
{
	enum carrier c;
	u32 pads, other;

	(void)state;
	for (c = 0; c < CARRIERS; c++)
		for (pads = 0; pads < 8; pads++)
			for (other = 0; other < 24; other++) {
				u32 off = pads + (other < 2 ? 0 : other);
				u32 len = off + hint_len[c];
				u8 *area = malloc(len);
				struct reading a;

				memset(area, padding[c], len);
				if (other >= 2) {
					/* bytes that would end or fool a walk */
					memset(area + pads, 0xfe, other);
					area[pads] = 0x44;
					area[pads + 1] =
						(u8)(other - uncounted[c]);
				}
				build_option(c, area + off, 777);
				a = parse(c, area, len, len);
				assert_int_equal(a.status, ZRTT_HINT_OK);
				assert_int_equal(a.units, 777);
				assert_int_equal(a.off, off);
				free(area);
			}
}

static void hint_inside_another_option_is_not_seen(void **state)
{
	enum carrier c;
	u8 bytes[16];

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		/* an option that covers the hint, to the byte */
		memset(bytes, padding[c], sizeof(bytes));
		bytes[0] = 0x44;
		bytes[1] = (u8)(2 + hint_len[c] - uncounted[c]);
		build_option(c, bytes + 2, 1000);
		check_status(c, bytes, sizeof(bytes), ZRTT_HINT_NONE);

		/* one that overlaps its first byte: what follows is read anew */
		memset(bytes, padding[c], sizeof(bytes));
		build_option(c, bytes + 2, 0x0101);
		bytes[0] = 0x44;
		bytes[1] = c == IPV6 ? 1 : 3;
		bytes[3] = padding[c];
		if (c == TCP)
			memset(bytes + 4, 1, 2);
		if (c == IPV6)
			memset(bytes + 4, 0, 2);
		check_status(c, bytes, sizeof(bytes), ZRTT_HINT_NONE);
	}
}

static void nothing_counts_behind_the_end_of_the_list(void **state)
{
	const enum carrier with_end[] = { IPV4, TCP };
	u8 bytes[8] = {};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(with_end); i++) {
		build_option(with_end[i], bytes + 1, 1000);
		check_status(with_end[i], bytes, sizeof(bytes), ZRTT_HINT_NONE);
	}
}

static void first_of_two_hints_counts(void **state)
{
	enum carrier c;

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		u32 len = 2 * hint_len[c];
		u8 *area = malloc(len);
		struct reading a;

		build_option(c, area, 11);
		build_option(c, area + hint_len[c], 22);
		a = parse(c, area, len, len);
		assert_int_equal(a.status, ZRTT_HINT_OK);
		assert_int_equal(a.units, 11);
		assert_int_equal(a.off, 0);
		free(area);
	}
}

static void first_hint_counts_even_if_it_says_nothing(void **state)
{
	enum carrier c;
	u8 bytes[16];

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		build_option(c, bytes, 0);
		build_option(c, bytes + hint_len[c], 22);
		check_status(c, bytes, 2 * hint_len[c], ZRTT_HINT_NONE);
		build_option(c, bytes, 0xffff);
		check_status(c, bytes, 2 * hint_len[c], ZRTT_HINT_NONE);
	}
}

static void what_stands_behind_the_hint_is_not_looked_at(void **state)
{
	enum carrier c;
	u8 bytes[16];

	(void)state;
	for (c = 0; c < CARRIERS; c++) {
		build_option(c, bytes, 1000);
		/* an option that runs past the area */
		memset(bytes + hint_len[c], 0x44, 2);
		check_status(c, bytes, hint_len[c] + 2, ZRTT_HINT_OK);
	}
}

static void other_experiments_are_skipped(void **state)
{
	/* foreign ExID, then kinds 254 too short for one, then ours */
	const u8 bytes[] = {
		0xfe, 6, 0xf9, 0x89, 0, 1, 0xfe, 2, 0xfe, 3, 9,
		0xfe, 6, 0x5a, 0x52, 0, 7,
	};
	struct reading a = parse(TCP, bytes, sizeof(bytes), sizeof(bytes));

	(void)state;
	assert_int_equal(a.status, ZRTT_HINT_OK);
	assert_int_equal(a.units, 7);
	assert_int_equal(a.off, 11);
}

static void ipv4_option_number_is_the_callers(void **state)
{
	struct zrtt_hint hint;
	u8 option[4];

	(void)state;
	zrtt_hint_build_ipv4(option, ZRTT_HINT_IPV4_TYPE, 1000);
	assert_int_equal(zrtt_hint_ipv4(option, 4, 0x5e, &hint), ZRTT_HINT_NONE);
	option[0] = 0x5e;
	assert_int_equal(zrtt_hint_ipv4(option, 4, 0x5e, &hint), ZRTT_HINT_OK);
	assert_int_equal(zrtt_hint_ipv4(option, 4, ZRTT_HINT_IPV4_TYPE, &hint),
			 ZRTT_HINT_NONE);
}

static void check_second_opinion(const u8 *area, u32 len)
{
	enum carrier c;

	for (c = 0; c < CARRIERS; c++) {
		const struct list list = {
			.carrier = c, .type = hint_type[c], .bytes = area,
			.readable = len, .claimed = len,
		};
		struct reading got = parse_list(&list);

		/* not the asserts of cmocka: they would take minutes here */
		if (!opinions_agree(list, got))
			fail_msg("carrier %d, %u bytes: status %d", c, len,
				 got.status);
	}
}

/* All areas of 1 .. 3 bytes, and longer ones of the bytes that mean something. */
static void all_small_areas_agree_with_the_second_opinion(void **state)
{
	static const u8 telling[] = {
		0, 1, 2, 3, 4, 5, 6, 0x1e, 0x52, 0x5a, 0x9e, 0xfe, 0xff,
	};
	u32 len, i, j, count, rest;

	(void)state;
	for (len = 1; len <= 3; len++) {
		u8 *area = malloc(len);

		for (i = 0; i < 1U << (8 * len); i++) {
			memcpy(area, &i, len);
			check_second_opinion(area, len);
		}
		free(area);
	}
	for (len = 4; len <= 6; len++) {
		u8 *area = malloc(len);

		count = (u32)pow(ARRAY_LEN(telling), len);
		for (i = 0; i < count; i++) {
			for (j = 0, rest = i; j < len; j++) {
				area[j] = telling[rest % ARRAY_LEN(telling)];
				rest /= ARRAY_LEN(telling);
			}
			check_second_opinion(area, len);
		}
		free(area);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_format_is_the_documented_one),
		cmocka_unit_test(types_are_for_experiments),
		cmocka_unit_test(built_ipv6_header_is_whole),
		cmocka_unit_test(every_value_comes_back),
		cmocka_unit_test(microseconds_round_down_by_a_unit_at_most),
		cmocka_unit_test(range_is_32_us_to_2_s),
		cmocka_unit_test(truncated_hint_is_bad),
		cmocka_unit_test(unreadable_rest_is_no_hint),
		cmocka_unit_test(scan_ends_after_a_bounded_number_of_bytes),
		cmocka_unit_test(looping_lengths_are_bad),
		cmocka_unit_test(overlong_options_are_bad),
		cmocka_unit_test(hint_of_wrong_length_is_bad),
		cmocka_unit_test(hint_is_found_behind_anything_well_formed),
		cmocka_unit_test(hint_inside_another_option_is_not_seen),
		cmocka_unit_test(nothing_counts_behind_the_end_of_the_list),
		cmocka_unit_test(first_of_two_hints_counts),
		cmocka_unit_test(first_hint_counts_even_if_it_says_nothing),
		cmocka_unit_test(what_stands_behind_the_hint_is_not_looked_at),
		cmocka_unit_test(other_experiments_are_skipped),
		cmocka_unit_test(ipv4_option_number_is_the_callers),
		cmocka_unit_test(all_small_areas_agree_with_the_second_opinion),
	};

	return cmocka_run_group_tests_name("hint", tests, NULL, NULL);
}
