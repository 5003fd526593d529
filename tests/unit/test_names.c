// SPDX-License-Identifier: GPL-2.0
/* names.h: whose packet it is, as the packet has it. */
#include "packet_check.h"
#include <zrtt/names.h>

#define TAG		0x12345679
#define ROUTER_ALERT	"\x94\x04\x00\x00"

static const u8 near_v6[] = { 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
static const u8 far_v6[] = { 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 };
static const u8 ports[] = { 0x10, 0x92, 0x00, 0x16 };

/* The name of a frame, noted from a block of its exact size over what was there. */
static struct zrtt_name name_of(const struct frame *f)
{
	struct zrtt_packet p = parse(f);
	struct zrtt_name name;
	u8 *block = malloc(f->len);

	memset(&name, 0xa5, sizeof(name));
	memcpy(block, f->bytes, f->len);
	zrtt_name_set(&name, TAG, &p, block);
	free(block);
	assert_int_equal(name.tag, TAG);
	return name;
}

static void test_ipv4(void **state)
{
	struct frame f = frame_new();
	struct zrtt_name name;

	(void)state;
	frame_ipv4(&f, ROUTER_ALERT, 4);
	memcpy(f.bytes + IP_AT + ZRTT_IPV4_ADDRESSES, "\x0a\0\0\x01\x0a\0\0\x02", 8);
	frame_l4(&f, ZRTT_PROTO_UDP);
	memcpy(f.bytes + IP_AT + ZRTT_IPV4_BYTES + 4, ports, sizeof(ports));
	name = name_of(&f);
	assert_int_equal(name.version, 4);
	assert_int_equal(name.proto, ZRTT_PROTO_UDP);
	assert_int_equal(zrtt_name_addr_bytes(&name), 4);
	assert_memory_equal(name.source, "\x0a\x00\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_equal(name.dest, "\x0a\x00\x00\x02\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_true(name.has_ports);
	assert_memory_equal(name.ports, ports, sizeof(ports));
}

static void test_ipv6(void **state)
{
	struct frame f = frame_new();
	struct zrtt_name name;

	(void)state;
	frame_ipv6(&f);
	memcpy(f.bytes + IP_AT + ZRTT_IPV6_ADDRESSES, near_v6, 16);
	memcpy(f.bytes + IP_AT + ZRTT_IPV6_ADDRESSES + 16, far_v6, 16);
	frame_tcp(&f, NULL, 0);
	memcpy(f.bytes + V6_L4_AT, ports, sizeof(ports));
	name = name_of(&f);
	assert_int_equal(name.version, 6);
	assert_int_equal(name.proto, ZRTT_PROTO_TCP);
	assert_int_equal(zrtt_name_addr_bytes(&name), 16);
	assert_memory_equal(name.source, near_v6, 16);
	assert_memory_equal(name.dest, far_v6, 16);
	assert_true(name.has_ports);
	assert_memory_equal(name.ports, ports, sizeof(ports));
}

/* ESP's SPI tells flows apart, but is no port; ICMP has neither. */
static void test_what_has_no_ports(void **state)
{
	const u8 protos[] = { ZRTT_PROTO_ESP, 1 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(protos); i++) {
		struct frame f = frame_new();
		struct zrtt_name name;

		frame_ipv4(&f, NULL, 0);
		frame_l4(&f, protos[i]);
		name = name_of(&f);
		assert_int_equal(name.proto, protos[i]);
		assert_false(name.has_ports);
	}
}

static void test_what_is_not_ip_has_none(void **state)
{
	struct frame f = frame_new();

	(void)state;
	frame_type(&f, 0x0806);
	frame_add(&f, NULL, 28);
	assert_int_equal(name_of(&f).version, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_what_has_no_ports),
		cmocka_unit_test(test_what_is_not_ip_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
