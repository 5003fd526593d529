// SPDX-License-Identifier: GPL-2.0
/* hash.h: what tells flows apart, and how evenly they spread. */
#include "packet_check.h"
#include <zrtt/hash.h>
#include <zrtt/table.h>

#define SETS		2048

static struct zrtt_hash_key random_key(u64 *seed)
{
	struct zrtt_hash_key key;
	u32 i;

	for (i = 0; i < ZRTT_HASH_WORDS; i++)
		key.words[i] = (u32)(unit_random(seed) >> 32);
	key.multiplier = unit_random(seed) << 1;
	zrtt_hash_init(&key);
	assert_int_equal(key.multiplier & 1, 1);
	return key;
}

static u32 tag_of(const struct zrtt_hash_key *key, const struct frame *f)
{
	struct zrtt_packet p = parse(f);

	assert_int_not_equal(p.version, 0);
	return zrtt_hash_flow(key, &p, f->bytes);
}

static void add_ip(struct frame *f, u8 version)
{
	if (version == 4)
		frame_ipv4(f, NULL, 0);
	else
		frame_ipv6(f);
}

static struct frame tcp_frame(u8 version)
{
	struct frame f = frame_new();

	add_ip(&f, version);
	frame_tcp(&f, NULL, 0);
	return f;
}

/* Every bit of addresses, ports and protocol matters, and of nothing else. */
static void check_bits(u8 version)
{
	u32 ip = IP_AT, header = version == 4 ? ZRTT_IPV4_BYTES : ZRTT_IPV6_BYTES;
	u32 addresses = ip + (version == 4 ? ZRTT_IPV4_ADDRESSES : ZRTT_IPV6_ADDRESSES);
	u32 end = ip + header + 4, i, bit;
	struct frame f = tcp_frame(version);
	u64 seed = 51;
	struct zrtt_hash_key key = random_key(&seed);
	u32 tag = tag_of(&key, &f);

	for (i = addresses; i < end; i++) {
		for (bit = 0; bit < 8; bit++) {
			f.bytes[i] ^= 1 << bit;
			assert_int_not_equal(tag_of(&key, &f), tag);
			f.bytes[i] ^= 1 << bit;
		}
	}
	f.bytes[end] ^= 0xff;				/* sequence number */
	f.bytes[ip + (version == 4 ? 8 : 7)] ^= 0xff;	/* TTL */
	assert_int_equal(tag_of(&key, &f), tag);
	f.bytes[ip + (version == 4 ? 9 : 6)] = ZRTT_PROTO_UDP;
	assert_int_not_equal(tag_of(&key, &f), tag);
}

static void tag_is_of_addresses_ports_and_protocol(void **state)
{
	(void)state;
	check_bits(4);
	check_bits(6);
}

/* TCP in a tunnel of @outer, IP in IP or with a header of GRE. */
static struct frame tunnel_frame(u8 outer, u8 inner, const u8 *gre, u32 len)
{
	struct frame f = frame_new();

	add_ip(&f, outer);
	f.bytes[f.next_at] = gre ? ZRTT_PROTO_GRE : inner == 4 ? ZRTT_PROTO_IPV4 : ZRTT_PROTO_IPV6;
	/* the type, where GRE or the Ethernet in it has it, is written by what comes next; else nowhere */
	f.next_at = gre ? frame_add(&f, gre, len) + 2 : FRAME_MAX - 2;
	if (gre && zrtt_hint_get16(gre + 2) == ZRTT_TYPE_ETHERNET)
		f.next_at = f.len - 2;
	add_ip(&f, inner);
	frame_tcp(&f, NULL, 0);
	return f;
}

/* Flows in a tunnel are as many as there are, and those of two tunnels are not the same. */
static void check_tunnel(u8 outer, u8 inner, const u8 *gre, u32 len)
{
	struct frame f = tunnel_frame(outer, inner, gre, len);
	struct zrtt_packet p = parse(&f);
	u64 seed = 54;
	struct zrtt_hash_key key = random_key(&seed);
	u32 tag = tag_of(&key, &f);
	u32 places[] = {
		IP_AT + (outer == 4 ? ZRTT_IPV4_ADDRESSES : ZRTT_IPV6_ADDRESSES),
		p.inner_off + (inner == 4 ? ZRTT_IPV4_ADDRESSES : ZRTT_IPV6_ADDRESSES),
		p.l4_off, p.l4_off + 2,
	};
	u32 inner_end = p.inner_off + (inner == 4 ? ZRTT_IPV4_BYTES : ZRTT_IPV6_BYTES);
	u32 i;

	assert_int_equal(p.ip_off, IP_AT);
	assert_int_equal(p.version, outer);
	assert_int_equal(p.inner_off,
			 IP_AT + (outer == 4 ? ZRTT_IPV4_BYTES : ZRTT_IPV6_BYTES) + len);
	assert_int_equal(zrtt_packet_version(&p), inner);
	assert_int_equal(p.proto, ZRTT_PROTO_TCP);
	assert_int_equal(p.tcp_flags, TCP_ACK_PSH);
	assert_int_equal(zrtt_packet_hosts(&p), places[0]);
	assert_int_equal(zrtt_packet_addresses(&p), places[1]);
	/* nothing is read that is not there, nor are addresses found */
	for (i = ETH_BYTES; i < f.len; i++)
		assert_int_equal(!parse_part(&f, i, &all_wanted).inner_off, i < inner_end);
	for (i = 0; i < ARRAY_LEN(places); i++) {
		f.bytes[places[i]] ^= 1;
		assert_int_not_equal(tag_of(&key, &f), tag);
		f.bytes[places[i]] ^= 1;
	}
}

static void flows_in_a_tunnel_are_told_apart(void **state)
{
	static const u8 gre[16] = {}, keyed[16] = { 0xb0 };
	static const u8 ethernet[18] = { 0, 0, 0x65, 0x58 };
	static const u8 tagged[26] = { 0x20, 0, 0x65, 0x58, [20] = 0x81, [23] = 5 };
	u8 outer, inner;

	(void)state;
	for (outer = 4; outer <= 6; outer += 2) {
		for (inner = 4; inner <= 6; inner += 2) {
			check_tunnel(outer, inner, NULL, 0);
			check_tunnel(outer, inner, gre, 4);
			check_tunnel(outer, inner, keyed, 16);
			check_tunnel(outer, inner, ethernet, 18);
			check_tunnel(outer, inner, tagged, 26);
		}
	}
}

/* GRE with routes, of PPTP, or of what is not IP: one flow, by the addresses outside */
static void other_tunnels_are_one_flow(void **state)
{
	static const u8 routed[4] = { 0x40 }, pptp[4] = { 0x20, 1 }, plain[4] = {};
	struct frame f = tunnel_frame(4, 4, routed, 4);

	(void)state;
	assert_int_equal(parse(&f).inner_off, 0);
	assert_int_equal(parse(&f).proto, ZRTT_PROTO_GRE);
	f = tunnel_frame(4, 4, pptp, 4);
	assert_int_equal(parse(&f).inner_off, 0);
	f = tunnel_frame(4, 6, plain, 4);
	zrtt_hint_put16(f.bytes + IP_AT + ZRTT_IPV4_BYTES + 2, ZRTT_TYPE_PPPOE);
	assert_int_equal(parse(&f).inner_off, 0);
	/* a fragment of one: only its first has what is inside */
	f = tunnel_frame(4, 4, NULL, 0);
	f.bytes[IP_AT + 6] = 0x20;
	assert_int_equal(parse(&f).inner_off, 0);
	f.bytes[IP_AT + 6] = 0;
	assert_int_not_equal(parse(&f).inner_off, 0);
	/* what is inside says that it is something else, or has a header that is too short */
	f.bytes[IP_AT + ZRTT_IPV4_BYTES] = 0x65;
	assert_int_equal(parse(&f).inner_off, 0);
	f.bytes[IP_AT + ZRTT_IPV4_BYTES] = 0x44;
	assert_int_equal(parse(&f).inner_off, 0);
}

/* Of one, nothing but the addresses is known, as which is the first depends on what is inside. */
static void fragments_in_a_tunnel_have_no_ports(void **state)
{
	struct frame f = tunnel_frame(4, 4, NULL, 0);
	u32 bits;

	(void)state;
	for (bits = 0; bits <= 0xffff; bits++) {
		zrtt_hint_put16(f.bytes + IP_AT + ZRTT_IPV4_BYTES + 6, (u16)bits);
		assert_int_equal(!parse(&f).l4_off, !!(bits & 0x3fff));
	}
}

static void no_tag_is_zero(void **state)
{
	const struct zrtt_hash_key zeros = { .multiplier = 1 };
	struct frame f = tcp_frame(4);

	(void)state;
	memset(f.bytes + IP_AT + ZRTT_IPV4_ADDRESSES, 0, 12);
	assert_int_not_equal(tag_of(&zeros, &f), 0);
}

/* Flows whose addresses and ports count up, as those of a network do: the sets of a
 * table are as full as if the tags were random. Returns chi squared over the sets.
 */
static double unevenness(u64 *seed, u32 flows)
{
	struct zrtt_hash_key key = random_key(seed);
	struct frame f = tcp_frame(4);
	u32 counts[SETS] = {}, i;
	double sum = 0, mean = (double)flows / SETS;
	u8 *ip = f.bytes + IP_AT;

	for (i = 0; i < flows; i++) {
		zrtt_hint_put16(ip + 14, (u16)i);			/* source */
		zrtt_hint_put16(ip + 18, (u16)i);			/* destination */
		zrtt_hint_put16(ip + ZRTT_IPV4_BYTES, (u16)(1024 + i));
		counts[tag_of(&key, &f) / 8 % SETS]++;
	}
	for (i = 0; i < SETS; i++)
		sum += (counts[i] - mean) * (counts[i] - mean) / mean;
	return sum;
}

static void networks_spread_over_the_table(void **state)
{
	double sum = 0;
	u64 seed = 52;
	u32 i;

	(void)state;
	for (i = 0; i < 50; i++)
		sum += unevenness(&seed, 4096);
	/* mean SETS - 1, standard deviation sqrt(2 (SETS - 1) / 50) = 9 if random */
	assert_near(sum / 50, SETS - 1, 0.1 * SETS);
}

static void host_is_of_its_address_and_end(void **state)
{
	const u32 words[4] = { 0x0100000a, 0, 0, 0 }, others[4] = { 0x0200000a, 0, 0, 0 };
	u64 seed = 53;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		struct zrtt_hash_key key = random_key(&seed);
		u32 tag = zrtt_hash_host(&key, 0, words, 1);

		assert_true(tag & ZRTT_TAG);
		assert_int_equal(zrtt_hash_host(&key, 0, words, 1), tag);
		assert_int_not_equal(zrtt_hash_host(&key, 0, others, 1), tag);
		assert_int_not_equal(zrtt_hash_host(&key, 1, words, 1), tag);
		assert_int_not_equal(zrtt_hash_host(&key, 0, words, 4), tag);
	}
}

static void mark_is_what_its_tag_says(void **state)
{
	u32 mark;

	(void)state;
	for (mark = 0; mark < 1U << ZRTT_FAIR_BITS; mark++) {
		u32 tag = zrtt_hash_mark(mark);

		assert_true(tag & ZRTT_TAG);
		if (zrtt_hash_unmark(tag) != mark)
			fail_msg("mark %x has tag %x", mark, tag);
	}
}

/* How many of @marks numbers, each @step more than the one before, find no room in a table. */
static u32 without_room(u32 marks, u32 step, u32 slots)
{
	static u32 buckets[(1 << 20) / ZRTT_WAYS];
	u32 most = (1U << ZRTT_FAIR_BITS) / step, none = 0, i;

	memset(buckets, 0, sizeof(buckets));
	for (i = 0; i < marks && i < most; i++)
		none += buckets[(zrtt_hash_mark(i * step) & (slots - 1)) / ZRTT_WAYS]++ >= ZRTT_WAYS;
	return none;
}

static void table_has_room_for_as_many_marks_in_a_row_as_slots(void **state)
{
	u32 slots;

	(void)state;
	for (slots = ZRTT_WAYS; slots <= 1 << 20; slots *= 2)
		assert_int_equal(without_room(slots, 1, slots), 0);
}

/* The numbers are in upper bits of the mark, as those of VLANs or an octet. */
static void table_has_room_for_half_as_many_at_any_bit(void **state)
{
	u32 slots, bit;

	(void)state;
	for (slots = 256; slots <= 1 << 20; slots *= 2)
		for (bit = 0; bit < ZRTT_FAIR_BITS; bit++)
			assert_int_equal(without_room(slots / 2, 1U << bit, slots), 0);
	assert_int_equal(without_room(4096, 0x40, 4096), 0);
	assert_int_equal(without_room(4096, 0x100, 4096), 0);
	assert_int_equal(without_room(4096, 0x1000, 4096), 0);
}

static void few_marks_of_other_steps_find_no_room(void **state)
{
	static const u32 steps[] = { 3, 5, 7, 10, 100, 1000, 0x101, 0x10001, 0x300, 0xff00 };
	u32 slots, i;

	(void)state;
	for (slots = 1024; slots <= 1 << 18; slots *= 2)
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			assert_true(without_room(slots / 4, steps[i], slots) <= slots / 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tag_is_of_addresses_ports_and_protocol),
		cmocka_unit_test(flows_in_a_tunnel_are_told_apart),
		cmocka_unit_test(other_tunnels_are_one_flow),
		cmocka_unit_test(fragments_in_a_tunnel_have_no_ports),
		cmocka_unit_test(no_tag_is_zero),
		cmocka_unit_test(networks_spread_over_the_table),
		cmocka_unit_test(host_is_of_its_address_and_end),
		cmocka_unit_test(mark_is_what_its_tag_says),
		cmocka_unit_test(table_has_room_for_as_many_marks_in_a_row_as_slots),
		cmocka_unit_test(table_has_room_for_half_as_many_at_any_bit),
		cmocka_unit_test(few_marks_of_other_steps_find_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
