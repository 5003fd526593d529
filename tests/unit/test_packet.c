// SPDX-License-Identifier: GPL-2.0
/*
 * packet.h: the headers of frames built by hand, and that of a part of one it says
 * no more than is there. Each stands in a block of its exact size.
 */
#include <netinet/in.h>

#include "packet_check.h"

static struct frame ipv6_tcp(void)
{
	struct frame f = frame_new();

	frame_ipv6(&f);
	frame_tcp(&f, timestamps, sizeof(timestamps));
	return f;
}

/* What frame.h writes by the same names; the limits are docs/wire-format.md's, 6.1. */
static void numbers_are_those_of_the_standards(void **state)
{
	(void)state;
	assert_int_equal(ZRTT_PACKET_BYTES, 512);
	assert_int_equal(ZRTT_VLAN_TAGS_MAX, 2);
	assert_int_equal(ZRTT_IPV6_HEADERS_MAX, 6);
	assert_int_equal(ZRTT_TYPE_IPV4, 0x0800);	/* IEEE 802 numbers */
	assert_int_equal(ZRTT_TYPE_IPV6, 0x86dd);
	assert_int_equal(ZRTT_TYPE_VLAN, 0x8100);
	assert_int_equal(ZRTT_TYPE_QINQ, 0x88a8);
	assert_int_equal(ZRTT_TYPE_PPPOE, 0x8864);
	assert_int_equal(ZRTT_PPP_IPV4, 0x0021);	/* RFC 1332 */
	assert_int_equal(ZRTT_PPP_IPV6, 0x0057);	/* RFC 5072 */
	assert_int_equal(ZRTT_PROTO_HOPOPTS, IPPROTO_HOPOPTS);
	assert_int_equal(ZRTT_PROTO_ROUTING, IPPROTO_ROUTING);
	assert_int_equal(ZRTT_PROTO_FRAGMENT, IPPROTO_FRAGMENT);
	assert_int_equal(ZRTT_PROTO_DSTOPTS, IPPROTO_DSTOPTS);
	assert_int_equal(ZRTT_PROTO_AH, IPPROTO_AH);
}

/* Link layer */

static void check_link(u32 tags, bool pppoe, bool v6)
{
	struct frame f = frame_new();
	struct zrtt_packet p;
	u32 ip_at, i;

	for (i = 0; i < tags; i++)
		frame_tag(&f, i % 2 ? ZRTT_TYPE_VLAN : ZRTT_TYPE_QINQ);
	if (pppoe)
		frame_pppoe(&f);
	ip_at = f.len;
	if (v6)
		frame_ipv6(&f);
	else
		frame_ipv4(&f, NULL, 0);
	frame_tcp(&f, NULL, 0);
	p = parse(&f);
	if (tags > ZRTT_VLAN_TAGS_MAX) {
		assert_int_equal(p.version, 0);
		return;
	}
	assert_int_equal(p.version, v6 ? 6 : 4);
	assert_int_equal(p.ip_off, ip_at);
	assert_int_equal(p.l4_off, ip_at + (v6 ? 40 : 20));
	assert_int_equal(p.proto, ZRTT_PROTO_TCP);
	assert_int_equal(p.tcp_flags, TCP_ACK_PSH);
	assert_int_equal(p.pppoe, pppoe);
}

static void headers_stand_behind_tags_and_pppoe(void **state)
{
	u32 tags;

	(void)state;
	for (tags = 0; tags <= ZRTT_VLAN_TAGS_MAX + 1; tags++) {
		check_link(tags, false, false);
		check_link(tags, false, true);
		check_link(tags, true, false);
		check_link(tags, true, true);
	}
}

static void other_types_are_nothing(void **state)
{
	struct frame f = ipv4_tcp(NULL, 0);
	u32 type;

	(void)state;
	for (type = 0; type <= 0xffff; type++) {
		zrtt_hint_put16(f.bytes + ETH_TYPE, (u16)type);
		assert_int_equal(parse(&f).version, type == ZRTT_TYPE_IPV4 ? 4 : 0);
	}
	f = frame_new();
	frame_pppoe(&f);
	frame_ipv4(&f, NULL, 0);
	for (type = 0; type <= 0xffff; type++) {
		zrtt_hint_put16(f.bytes + ETH_BYTES + 6, (u16)type);
		assert_int_equal(parse(&f).version, type == ZRTT_PPP_IPV4 ? 4 : 0);
	}
}

/* IP */

static void impossible_ip_headers_are_nothing(void **state)
{
	struct frame v4 = ipv4_tcp(NULL, 0), v6 = ipv6_tcp();
	u32 byte;

	(void)state;
	for (byte = 0; byte <= 255; byte++) {
		v4.bytes[IP_AT] = (u8)byte;
		assert_int_equal(parse(&v4).version,
				 byte >> 4 == 4 && (byte & 15) >= 5 ? 4 : 0);
		v6.bytes[IP_AT] = (u8)byte;
		assert_int_equal(parse(&v6).version, byte >> 4 == 6 ? 6 : 0);
	}
}

/* RFC 3168, 5: the two low bits, and all but 00 can be marked */
static void ect_is_read_from_the_traffic_class(void **state)
{
	struct frame v4 = ipv4_tcp(NULL, 0), v6 = ipv6_tcp();
	u32 class;

	(void)state;
	for (class = 0; class <= 255; class++) {
		v4.bytes[IP_AT + 1] = (u8)class;
		assert_int_equal(parse(&v4).ecn, class & 3);
		zrtt_hint_put16(v6.bytes + IP_AT, (u16)(0x600f | class << 4));
		assert_int_equal(parse(&v6).ecn, class & 3);
	}
}

/* Ports, or the SPI of ESP, where there are any; flags of TCP alone. */
static void ports_are_those_of_protocols_that_have_some(void **state)
{
	struct frame v4 = ipv4_tcp(NULL, 0), v6 = ipv6_tcp();
	u32 proto;

	(void)state;
	for (proto = 0; proto <= 255; proto++) {
		bool ports = proto == 6 || proto == 17 || proto == 33 ||
			     proto == 50 || proto == 132 || proto == 136;
		struct zrtt_packet p;

		v4.bytes[v4.next_at] = (u8)proto;
		p = parse(&v4);
		assert_int_equal(p.proto, proto);
		assert_int_equal(p.l4_off, ports ? IP_AT + 20 : 0);
		assert_int_equal(p.tcp_flags, proto == 6 ? TCP_ACK_PSH : 0);
		if (proto == 0 || proto == 43 || proto == 60)
			continue;	/* extension headers of IPv6 */
		v6.bytes[v6.next_at] = (u8)proto;
		p = parse(&v6);
		assert_int_equal(p.proto, proto);
		assert_int_equal(p.l4_off, ports ? V6_L4_AT : 0);
		assert_int_equal(p.timed, proto == 6);
	}
}

static void ipv4_options_of_any_length_are_passed(void **state)
{
	u8 nops[40];
	u32 len;

	(void)state;
	memset(nops, NOP, sizeof(nops));
	for (len = 0; len <= sizeof(nops); len += 4) {
		struct frame f = frame_new();

		frame_ipv4(&f, nops, len);
		frame_tcp(&f, timestamps, sizeof(timestamps));
		assert_int_equal(parse(&f).l4_off, IP_AT + 20 + len);
		assert_timed(&f, true);
	}
}

/* Else the first one would be another flow than the rest. */
static void fragments_have_no_ports(void **state)
{
	u32 bits;

	(void)state;
	for (bits = 0; bits <= 0xffff; bits++) {
		struct frame f = frame_new();
		struct zrtt_packet p;

		frame_ipv4(&f, hint_v4, sizeof(hint_v4));
		frame_tcp(&f, timestamps, sizeof(timestamps));
		zrtt_hint_put16(f.bytes + IP_AT + 6, (u16)bits);
		p = parse(&f);
		assert_int_equal(p.hint_units, UNITS);
		assert_int_equal(p.proto, ZRTT_PROTO_TCP);
		/* the two upper bits are reserved and "don't fragment" */
		assert_int_equal(p.l4_off, bits & 0x3fff ? 0 : IP_AT + 24);
		assert_int_equal(p.tcp_flags, bits & 0x3fff ? 0 : TCP_ACK_PSH);
		assert_int_equal(p.timed, !(bits & 0x3fff));
	}
}

static void nothing_is_read_behind_an_ipv6_fragment_header(void **state)
{
	struct frame f = frame_new();
	struct zrtt_packet p;

	(void)state;
	frame_ipv6(&f);
	frame_ext(&f, ZRTT_PROTO_HOPOPTS, hint_v6, sizeof(hint_v6));
	frame_ext(&f, ZRTT_PROTO_FRAGMENT, NULL, 6);
	frame_tcp(&f, timestamps, sizeof(timestamps));
	p = parse(&f);
	assert_int_equal(p.proto, ZRTT_PROTO_FRAGMENT);
	assert_int_equal(p.l4_off, 0);
	assert_false(p.timed);
	assert_int_equal(p.hint_units, UNITS);
}

static void six_extension_headers_are_passed(void **state)
{
	static const u8 kinds[] = {
		ZRTT_PROTO_HOPOPTS, ZRTT_PROTO_DSTOPTS, ZRTT_PROTO_ROUTING,
	};
	u32 count, i;

	(void)state;
	for (count = 0; count <= ZRTT_IPV6_HEADERS_MAX + 1; count++) {
		bool passed = count <= ZRTT_IPV6_HEADERS_MAX;
		struct frame f = frame_new();
		struct zrtt_packet p;

		frame_ipv6(&f);
		for (i = 0; i < count; i++)	/* of 8, 16, 24 ... bytes */
			frame_ext(&f, kinds[i % 3], NULL, 6 + 8 * i);
		frame_tcp(&f, timestamps, sizeof(timestamps));
		p = parse(&f);
		assert_int_equal(p.proto, passed ? ZRTT_PROTO_TCP : kinds[(count - 1) % 3]);
		assert_int_equal(p.l4_off, passed ? V6_L4_AT + 4 * count * (count + 1) : 0);
		assert_timed(&f, passed);
	}
}

/* The ends */

/* What is said of a part is true of the whole, or that there is nothing. */
static void check_part(const struct frame *f, u32 len, const struct zrtt_packet *whole)
{
	struct zrtt_packet p = parse_part(f, len, &all_wanted);

	assert_true(p.version == whole->version || !p.version);
	assert_true(p.ip_off == (p.version ? whole->ip_off : 0));
	assert_true(p.ip_off + (p.version == 4 ? 20U : p.version ? 40U : 0U) <= len);
	assert_true(p.ecn == (p.version ? whole->ecn : 0));
	assert_true(p.pppoe == whole->pppoe || !p.version);
	assert_true(p.l4_off == whole->l4_off || !p.l4_off);
	assert_true(!p.l4_off || p.l4_off + 4U <= len);
	assert_true(p.proto == whole->proto || !p.l4_off);
	assert_true(p.tcp_flags == whole->tcp_flags || !p.tcp_flags);
	assert_true(!p.tcp_flags || p.l4_off + 20U <= len);
	if (p.hint_units) {
		assert_int_equal(p.hint_units, whole->hint_units);
		assert_int_equal(p.hint_off, whole->hint_off);
		assert_int_equal(p.ext_off, whole->ext_off);
		assert_int_equal(p.nexthdr_off, whole->nexthdr_off);
		assert_true(p.hint_off + p.hint_len <= len);
		assert_true(p.sealed || !whole->sealed);
	}
	if (p.timed) {
		assert_int_equal(p.tsval, whole->tsval);
		assert_int_equal(p.tsecr, whole->tsecr);
		assert_true(p.l4_off + 20U + 10 <= len);
	}
	/* nothing is malformed but what the cut goes through */
	assert_true(!p.hint_bad || len < f->len);
}

static void check_all_parts(const struct frame *f)
{
	struct zrtt_packet whole = parse(f);
	u32 len;

	assert_int_equal(whole.hint_units, UNITS);
	assert_false(whole.hint_bad);
	for (len = ETH_BYTES; len <= f->len; len++)
		check_part(f, len, &whole);
}

static void part_of_a_frame_says_no_more_than_is_there(void **state)
{
	static const u8 between[] = { NOP, 0x44, 3, 0, 0x9e, 4, UNITS >> 8, UNITS & 255 };
	struct frame f = ipv4_and_tcp_options(between, 8, timestamps, 12);
	struct frame link;
	u32 v6;

	(void)state;
	check_all_parts(&f);
	f = ipv4_tcp(hint_tcp, 8);
	check_all_parts(&f);
	for (v6 = 0; v6 <= 1; v6++) {
		link = frame_new();
		frame_tag(&link, ZRTT_TYPE_QINQ);
		frame_tag(&link, ZRTT_TYPE_VLAN);
		frame_pppoe(&link);
		if (v6) {
			frame_ipv6(&link);
			frame_ext(&link, ZRTT_PROTO_HOPOPTS, padding, 6);
			frame_ext(&link, ZRTT_PROTO_ROUTING, NULL, 22);
			frame_ext(&link, ZRTT_PROTO_DSTOPTS, hint_v6, 6);
		} else {
			frame_ipv4(&link, hint_v4, 4);
		}
		f = link;
		frame_tcp(&f, timestamps, 12);
		check_all_parts(&f);
		f = link;
		frame_l4(&f, ZRTT_PROTO_ESP);
		check_all_parts(&f);
		f = link;
		frame_l4(&f, ZRTT_PROTO_AH);
		check_all_parts(&f);
	}
}

/* Behind options of IP, before those of TCP. */
static void numbers_of_tcp_stand_where_they_stand(void **state)
{
	struct frame f = ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), timestamps, sizeof(timestamps));
	const u32 tcp = IP_AT + ZRTT_IPV4_BYTES + sizeof(hint_v4);
	struct zrtt_packet p;
	u16 high;

	(void)state;
	zrtt_hint_put16(f.bytes + tcp + 4, 0x1234);
	zrtt_hint_put16(f.bytes + tcp + 6, 0x5678);
	zrtt_hint_put16(f.bytes + tcp + 8, 0x9abc);
	zrtt_hint_put16(f.bytes + tcp + 10, 0xdef0);
	p = parse(&f);
	assert_int_equal(zrtt_tcp_seq(&p, f.bytes), 0x12345678);
	assert_int_equal(zrtt_tcp_ack(&p, f.bytes), 0x9abcdef0);
	assert_int_equal(zrtt_tcp_header_bytes(&p, f.bytes), 20 + sizeof(timestamps));
	high = zrtt_tcp_seq_high(&p, f.bytes);
	assert_memory_equal(&high, f.bytes + tcp + 4, 2);
	p.tcp_flags = 0;
	assert_int_equal(zrtt_tcp_seq_high(&p, f.bytes), 0);
}

/* Routes may look like one: only options are. */
static void routing_header_has_no_hint(void **state)
{
	struct frame f = frame_new();

	(void)state;
	frame_ipv6(&f);
	frame_ext(&f, ZRTT_PROTO_ROUTING, hint_v6, sizeof(hint_v6));
	frame_tcp(&f, NULL, 0);
	assert_int_equal(parse(&f).hint_units, 0);
	assert_int_equal(parse(&f).proto, ZRTT_PROTO_TCP);
}

/* Frames are padded to 60 bytes; of a jumbogram the header does not say how long it is. */
static void packet_ends_where_its_header_says(void **state)
{
	struct frame v4 = frame_new(), v6 = ipv6_tcp();
	struct zrtt_packet p;

	(void)state;
	frame_ipv4(&v4, NULL, 0);
	frame_tcp(&v4, NULL, 0);
	p = parse(&v4);
	assert_int_equal(zrtt_packet_end(&p, v4.bytes), ~0U);
	zrtt_hint_put16(v4.bytes + p.ip_off + 2, 40);
	assert_int_equal(zrtt_packet_end(&p, v4.bytes), ETH_BYTES + 40);
	p = parse(&v6);
	assert_int_equal(zrtt_packet_end(&p, v6.bytes), ~0U);
	zrtt_hint_put16(v6.bytes + p.ip_off + 4, 32);
	assert_int_equal(zrtt_packet_end(&p, v6.bytes), ETH_BYTES + 40 + 32);
}

/* TCP's header is moved, by 8 bytes at a time, over the end of what is looked at. */
static void nothing_is_read_behind_the_bytes_that_are_looked_at(void **state)
{
	u32 fill, tcp_at, found = 0, cut = 0, missed = 0;

	(void)state;
	for (fill = 6; fill <= 510; fill += 8) {
		struct frame f = frame_new();
		struct zrtt_packet p;

		frame_ipv6(&f);
		frame_ext(&f, ZRTT_PROTO_DSTOPTS, NULL, fill);
		tcp_at = f.len;
		frame_tcp(&f, hint_tcp, sizeof(hint_tcp));
		p = parse(&f);
		assert_int_equal(p.l4_off, tcp_at + 4 <= ZRTT_PACKET_BYTES ? tcp_at : 0);
		assert_int_equal(p.tcp_flags, tcp_at + ZRTT_TCP_BYTES <= ZRTT_PACKET_BYTES ?
				 TCP_ACK_PSH : 0);
		assert_int_equal(p.hint_units, f.len <= ZRTT_PACKET_BYTES ? UNITS : 0);
		found += !!p.hint_units;
		cut += p.tcp_flags && p.hint_bad;
		missed += !p.l4_off;
	}
	assert_true(found && cut && missed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_the_standards),
		cmocka_unit_test(headers_stand_behind_tags_and_pppoe),
		cmocka_unit_test(other_types_are_nothing),
		cmocka_unit_test(impossible_ip_headers_are_nothing),
		cmocka_unit_test(ect_is_read_from_the_traffic_class),
		cmocka_unit_test(ports_are_those_of_protocols_that_have_some),
		cmocka_unit_test(ipv4_options_of_any_length_are_passed),
		cmocka_unit_test(fragments_have_no_ports),
		cmocka_unit_test(nothing_is_read_behind_an_ipv6_fragment_header),
		cmocka_unit_test(six_extension_headers_are_passed),
		cmocka_unit_test(part_of_a_frame_says_no_more_than_is_there),
		cmocka_unit_test(nothing_is_read_behind_the_bytes_that_are_looked_at),
		cmocka_unit_test(numbers_of_tcp_stand_where_they_stand),
		cmocka_unit_test(routing_header_has_no_hint),
		cmocka_unit_test(packet_ends_where_its_header_says),
	};

	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
