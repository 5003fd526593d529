// SPDX-License-Identifier: GPL-2.0
/*
 * hint.h: what is built is found, what is malformed is refused, and nothing is
 * read outside the option area: every area stands in a block of its exact size.
 */
#include "unit.h"
#include <zrtt/hint.h>

enum encoding { IPV4, IPV6, TCP, ENCODINGS };

/* What a parser said, everything in one comparable number. */
struct answer {
	enum zrtt_hint_status status;
	struct zrtt_hint hint;
};

static const u32 option_len[ENCODINGS] = {
	ZRTT_HINT_IPV4_LEN, ZRTT_HINT_IPV6_LEN, ZRTT_HINT_TCP_LEN,
};

/* Single-byte padding of each encoding. */
static const u8 padding[ENCODINGS] = { 1, 0, 1 };

/* noinline: else gcc warns of paths it cannot see are never taken */
static __attribute__((noinline)) struct answer
parse(enum encoding e, const u8 *area, u32 have, u32 total)
{
	struct answer a = {};

	if (e == IPV4)
		a.status = zrtt_hint_ipv4(area, have, ZRTT_HINT_IPV4_TYPE, &a.hint);
	else if (e == IPV6)
		a.status = zrtt_hint_ipv6(area, have, total, &a.hint);
	else
		a.status = zrtt_hint_tcp(area, have, &a.hint);
	return a;
}

/* Write the option alone; the IPv6 builder makes a whole header of it. */
static void build(enum encoding e, u8 *p, u16 units)
{
	u8 header[8];

	if (e == IPV4)
		zrtt_hint_build_ipv4(p, units);
	else if (e == TCP)
		zrtt_hint_build_tcp(p, units);
	else {
		zrtt_hint_build_ipv6(header, 6, units);
		memcpy(p, header + 2, ZRTT_HINT_IPV6_LEN);
	}
}

static void check_status(enum encoding e, const u8 *bytes, u32 len,
			 enum zrtt_hint_status want)
{
	/* one byte in front: a block of no bytes has no end to run over */
	u8 *block = malloc(len + 1);

	memcpy(block + 1, bytes, len);
	assert_int_equal(parse(e, block + 1, len, len).status, want);
	free(block);
}

static void wire_format_is_the_documented_one(void **state)
{
	const u8 ipv4[] = { 0x9e, 4, 0x12, 0x34 };
	const u8 ipv6[] = { 6, 0, 0x1e, 2, 0x12, 0x34, 1, 0 };
	const u8 tcp[] = { 0xfe, 6, 0x5a, 0x52, 0x12, 0x34 };
	u8 p[8];

	(void)state;
	zrtt_hint_build_ipv4(p, 0x1234);
	assert_memory_equal(p, ipv4, sizeof(ipv4));
	zrtt_hint_build_ipv6(p, 6, 0x1234);
	assert_memory_equal(p, ipv6, sizeof(ipv6));
	zrtt_hint_build_tcp(p, 0x1234);
	assert_memory_equal(p, tcp, sizeof(tcp));
}

static void every_value_comes_back(void **state)
{
	enum encoding e;
	u32 units;

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		u8 *area = malloc(option_len[e]);

		for (units = 0; units <= 0xffff; units++) {
			bool valid = units && units <= ZRTT_HINT_MAX;
			struct answer a;

			build(e, area, (u16)units);
			a = parse(e, area, option_len[e], option_len[e]);
			assert_int_equal(a.status,
					 valid ? ZRTT_HINT_OK : ZRTT_HINT_NONE);
			if (!valid)
				continue;
			assert_int_equal(a.hint.units, units);
			assert_int_equal(a.hint.off, 0);
			assert_int_equal(a.hint.len, option_len[e]);
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

static void truncated_hint_is_bad(void **state)
{
	enum encoding e;
	u8 option[8];
	u32 len;

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		build(e, option, 1000);
		check_status(e, option, 0, ZRTT_HINT_NONE);
		for (len = 1; len < option_len[e]; len++)
			check_status(e, option, len, ZRTT_HINT_BAD);
		check_status(e, option, option_len[e], ZRTT_HINT_OK);
	}
}

/* An extension header that goes on beyond what could be read is not malformed. */
static void unreadable_rest_is_no_hint(void **state)
{
	u8 option[8], *block;
	u32 have;

	(void)state;
	build(IPV6, option, 1000);
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
	build(IPV6, area + ZRTT_HINT_SCAN_BYTES - ZRTT_HINT_IPV6_LEN, 1000);
	assert_int_equal(parse(IPV6, area, 2046, 2046).status, ZRTT_HINT_OK);
	memset(area, 0, 2048);
	build(IPV6, area + ZRTT_HINT_SCAN_BYTES, 1000);
	assert_int_equal(parse(IPV6, area, 2046, 2046).status, ZRTT_HINT_NONE);
	free(area);
}

static void looping_lengths_are_bad(void **state)
{
	enum encoding e;
	u8 option[8], len;

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		u8 other[] = { 0x44, 0, 0x44, 0 };

		if (e == IPV6) {
			/* its length leaves out two bytes: 0 is well-formed */
			check_status(e, other, sizeof(other), ZRTT_HINT_NONE);
			continue;
		}
		check_status(e, other, sizeof(other), ZRTT_HINT_BAD);
		other[1] = 1;
		check_status(e, other, sizeof(other), ZRTT_HINT_BAD);
		for (len = 0; len < 2; len++) {
			build(e, option, 1000);
			option[1] = len;
			check_status(e, option, option_len[e], ZRTT_HINT_BAD);
		}
	}
}

static void overlong_options_are_bad(void **state)
{
	enum encoding e;
	u32 len;

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		u32 extra = e == IPV6 ? 2 : 0;

		for (len = 2; len + extra <= 255; len++) {
			u8 bytes[40] = { 0x44, (u8)len };

			memset(bytes + 2, padding[e], sizeof(bytes) - 2);
			check_status(e, bytes, sizeof(bytes),
				     len + extra <= sizeof(bytes) ?
				     ZRTT_HINT_NONE : ZRTT_HINT_BAD);
		}
	}
}

static void hint_of_wrong_length_is_bad(void **state)
{
	enum encoding e;
	u32 len;

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		u32 extra = e == IPV6 ? 2 : 0;

		/* shorter than an ExID, kind 254 is someone else's option */
		for (len = e == TCP ? 4 : 2; len <= 16; len++) {
			u8 bytes[16];

			memset(bytes, padding[e], sizeof(bytes));
			build(e, bytes, 1000);
			bytes[1] = (u8)(len - extra);
			check_status(e, bytes, sizeof(bytes),
				     len == option_len[e] ? ZRTT_HINT_OK :
							    ZRTT_HINT_BAD);
		}
	}
}

static void hint_is_found_behind_anything_well_formed(void **state)
{
	enum encoding e;
	u32 pads, other;

	(void)state;
	for (e = 0; e < ENCODINGS; e++)
		for (pads = 0; pads < 8; pads++)
			for (other = 0; other < 24; other++) {
				u32 off = pads + (other < 2 ? 0 : other);
				u32 len = off + option_len[e];
				u8 *area = malloc(len);
				struct answer a;

				memset(area, padding[e], len);
				if (other >= 2) {
					/* bytes that would end or fool a walk */
					memset(area + pads, 0xfe, other);
					area[pads] = 0x44;
					area[pads + 1] =
						(u8)(other - (e == IPV6 ? 2 : 0));
				}
				build(e, area + off, 777);
				a = parse(e, area, len, len);
				assert_int_equal(a.status, ZRTT_HINT_OK);
				assert_int_equal(a.hint.units, 777);
				assert_int_equal(a.hint.off, off);
				free(area);
			}
}

static void hint_inside_another_option_is_not_seen(void **state)
{
	enum encoding e;
	u8 bytes[16];

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		/* an option that covers the hint, to the byte */
		memset(bytes, padding[e], sizeof(bytes));
		bytes[0] = 0x44;
		bytes[1] = (u8)(2 + option_len[e] - (e == IPV6 ? 2 : 0));
		build(e, bytes + 2, 1000);
		check_status(e, bytes, sizeof(bytes), ZRTT_HINT_NONE);

		/* one that overlaps its first byte: what follows is read anew */
		memset(bytes, padding[e], sizeof(bytes));
		build(e, bytes + 2, 0x0101);
		bytes[0] = 0x44;
		bytes[1] = e == IPV6 ? 1 : 3;
		bytes[3] = padding[e];
		if (e == TCP)
			memset(bytes + 4, 1, 2);
		if (e == IPV6)
			memset(bytes + 4, 0, 2);
		check_status(e, bytes, sizeof(bytes), ZRTT_HINT_NONE);
	}
}

static void nothing_counts_behind_the_end_of_the_list(void **state)
{
	const enum encoding with_end[] = { IPV4, TCP };
	u8 bytes[8] = {};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(with_end); i++) {
		build(with_end[i], bytes + 1, 1000);
		check_status(with_end[i], bytes, sizeof(bytes), ZRTT_HINT_NONE);
	}
}

static void first_of_two_hints_counts(void **state)
{
	enum encoding e;

	(void)state;
	for (e = 0; e < ENCODINGS; e++) {
		u32 len = 2 * option_len[e];
		u8 *area = malloc(len);
		struct answer a;

		build(e, area, 11);
		build(e, area + option_len[e], 22);
		a = parse(e, area, len, len);
		assert_int_equal(a.status, ZRTT_HINT_OK);
		assert_int_equal(a.hint.units, 11);
		assert_int_equal(a.hint.off, 0);
		free(area);
	}
}

static void other_experiments_are_skipped(void **state)
{
	/* foreign ExID, then kinds 254 too short for one, then ours */
	const u8 bytes[] = {
		0xfe, 6, 0xf9, 0x89, 0, 1, 0xfe, 2, 0xfe, 3, 9,
		0xfe, 6, 0x5a, 0x52, 0, 7,
	};
	struct answer a = parse(TCP, bytes, sizeof(bytes), sizeof(bytes));

	(void)state;
	assert_int_equal(a.status, ZRTT_HINT_OK);
	assert_int_equal(a.hint.units, 7);
	assert_int_equal(a.hint.off, 11);
}

static void ipv4_option_number_is_the_callers(void **state)
{
	struct zrtt_hint hint;
	u8 option[4];

	(void)state;
	zrtt_hint_build_ipv4(option, 1000);
	assert_int_equal(zrtt_hint_ipv4(option, 4, 0x5e, &hint), ZRTT_HINT_NONE);
	option[0] = 0x5e;
	assert_int_equal(zrtt_hint_ipv4(option, 4, 0x5e, &hint), ZRTT_HINT_OK);
	assert_int_equal(zrtt_hint_ipv4(option, 4, ZRTT_HINT_IPV4_TYPE, &hint),
			 ZRTT_HINT_NONE);
}

/*
 * A second opinion, written from the wire format alone: length of the option at
 * @off, 0 if the list ends there, -1 if it is malformed.
 */
static int reference_step(enum encoding e, const u8 *area, u32 len, u32 off)
{
	u32 step;

	if (off >= len || (area[off] == 0 && e != IPV6))
		return 0;
	if (area[off] == padding[e])
		return 1;
	if (off + 2 > len)
		return -1;
	step = area[off + 1] + (e == IPV6 ? 2u : 0);
	return step < 2 || off + step > len ? -1 : (int)step;
}

static struct answer reference(enum encoding e, const u8 *area, u32 len)
{
	static const u8 ours[ENCODINGS] = { 0x9e, 0x1e, 0xfe };
	struct answer a = {};
	u32 off = 0;
	int step;

	while ((step = reference_step(e, area, len, off)) > 0) {
		const u8 *p = area + off;
		bool match = p[0] == ours[e];

		if (match && e == TCP)
			match = step >= 4 && p[2] == 0x5a && p[3] == 0x52;
		if (match) {
			if ((u32)step != option_len[e]) {
				a.status = ZRTT_HINT_BAD;
				return a;
			}
			a.hint.units = (u16)(p[step - 2] << 8 | p[step - 1]);
			a.hint.off = (u8)off;
			a.hint.len = (u8)step;
			a.status = a.hint.units && a.hint.units < 0xffff ?
				   ZRTT_HINT_OK : ZRTT_HINT_NONE;
			return a;
		}
		off += step;
	}
	a.status = step < 0 ? ZRTT_HINT_BAD : ZRTT_HINT_NONE;
	return a;
}

static void check_against_reference(const u8 *area, u32 len)
{
	enum encoding e;

	for (e = 0; e < ENCODINGS; e++) {
		struct answer got = parse(e, area, len, len);
		struct answer want = reference(e, area, len);

		/* not the asserts of cmocka: they would take minutes here */
		if (got.status == want.status &&
		    (got.status != ZRTT_HINT_OK ||
		     !memcmp(&got.hint, &want.hint, sizeof(got.hint))))
			continue;
		fail_msg("encoding %d, %u bytes: status %d, not %d", e, len,
			 got.status, want.status);
	}
}

/* All areas of 1 .. 3 bytes, and longer ones of the bytes that mean something. */
static void all_small_areas_agree_with_the_reference(void **state)
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
			check_against_reference(area, len);
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
			check_against_reference(area, len);
		}
		free(area);
	}
}

/* Lists of options around a hint, then some bytes of them changed. */
static void mutated_areas_agree_with_the_reference(void **state)
{
	u64 seed = 5;
	u32 i, j;

	(void)state;
	for (i = 0; i < 300000; i++) {
		enum encoding e = i % ENCODINGS;
		u32 len = unit_between(&seed, option_len[e], 40);
		u32 off = unit_between(&seed, 0, len - option_len[e]);
		u8 *area = malloc(len);

		memset(area, padding[e], len);
		if (off >= 2) {
			area[0] = 0x44;
			area[1] = (u8)unit_between(&seed, 0, off);
		}
		build(e, area + off, (u16)unit_random(&seed));
		for (j = unit_between(&seed, 0, 3); j; j--)
			area[unit_between(&seed, 0, len - 1)] =
				(u8)unit_random(&seed);
		check_against_reference(area, len);
		free(area);
	}
}

/* Extension headers of any length, of which any part can be read. */
static void no_extension_header_is_read_outside(void **state)
{
	u64 seed = 6;
	u32 i, j;

	(void)state;
	for (i = 0; i < 300000; i++) {
		u32 total = 8 * unit_between(&seed, 1, 256) - 2;
		u32 have = unit_between(&seed, 0, total < 70 ? total : 70);
		u8 *block = malloc(have + 1), *area = block + 1;
		struct answer a;

		for (j = 0; j < have; j++)
			area[j] = (u8)(unit_random(&seed) &
				       (unit_random(&seed) & 7 ? 7 : 255));
		if (have >= 4)
			build(IPV6, area + unit_between(&seed, 0, have - 4), 9);
		a = parse(IPV6, area, have, total);
		if (a.status == ZRTT_HINT_OK)
			assert_true(a.hint.off + a.hint.len <= have);
		free(block);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_format_is_the_documented_one),
		cmocka_unit_test(every_value_comes_back),
		cmocka_unit_test(microseconds_round_down_by_a_unit_at_most),
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
		cmocka_unit_test(other_experiments_are_skipped),
		cmocka_unit_test(ipv4_option_number_is_the_callers),
		cmocka_unit_test(all_small_areas_agree_with_the_reference),
		cmocka_unit_test(mutated_areas_agree_with_the_reference),
		cmocka_unit_test(no_extension_header_is_read_outside),
	};

	return cmocka_run_group_tests_name("hint", tests, NULL, NULL);
}
