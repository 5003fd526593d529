/* SPDX-License-Identifier: GPL-2.0 */
/* What packet.h says of a frame that stands in a block of its exact size. */
#ifndef _UNIT_PACKET_CHECK_H
#define _UNIT_PACKET_CHECK_H

#include "unit.h"
#include "frame.h"
#include "packet_plain.h"

#define UNITS		1250	/* of a hint: 40 ms */
#define TSVAL		0x11223344
#define TSECR		0x55667788
#define NOP		1
#define IP_AT		ETH_BYTES
#define V6_L4_AT	(IP_AT + ZRTT_IPV6_BYTES)

static const struct zrtt_wanted all_wanted = {
	.hint = true, .timestamps = true, .ipv4_option = ZRTT_HINT_IPV4_TYPE,
};

static const u8 timestamps[] = {
	NOP, NOP, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
};

static const u8 hint_v4[] = { 0x9e, 4, UNITS >> 8, UNITS & 255 };
static const u8 hint_v6[] = { 0x1e, 2, UNITS >> 8, UNITS & 255, 1, 0 };
static const u8 hint_tcp[] = { 0xfe, 6, 0x5a, 0x52, UNITS >> 8, UNITS & 255, 1, 1 };
static const u8 broken[] = { 0x44, 40, 0, 0 };	/* longer than its area */
static const u8 padding[] = { 1, 4, 0, 0, 0, 0 };

/* The first @len bytes of a frame. */
static inline struct zrtt_packet parse_part(const struct frame *f, u32 len,
					    const struct zrtt_wanted *wanted)
{
	const struct zrtt_bytes whole = { .data = f->bytes, .len = f->len };
	u8 *block = malloc(len);
	const struct zrtt_bytes bytes = { .data = block, .len = len };
	u16 type = zrtt_hint_get16(f->bytes + ETH_TYPE);
	struct zrtt_packet p;

	memcpy(block, f->bytes, len);
	if (zrtt_packet_parse(&p, &bytes, type, ETH_BYTES, wanted))
		assert_true(parse_agrees(&p, &whole, type, ETH_BYTES, wanted));
	assert_true(plain_agrees(&p, &bytes, type, ETH_BYTES, wanted));
	free(block);
	return p;
}

static inline struct zrtt_packet parse(const struct frame *f)
{
	return parse_part(f, f->len, &all_wanted);
}

static inline struct frame ipv4_and_tcp_options(const void *ip, u32 ip_len,
						const void *tcp, u32 tcp_len)
{
	struct frame f = frame_new();

	frame_ipv4(&f, ip, ip_len);
	frame_tcp(&f, tcp, tcp_len);
	return f;
}

static inline struct frame ipv4_tcp(const void *options, u32 len)
{
	return ipv4_and_tcp_options(NULL, 0, options, len);
}

static inline void assert_timed(const struct frame *f, bool timed)
{
	struct zrtt_packet p = parse(f);

	assert_int_equal(p.timed, timed);
	assert_int_equal(p.tsval, timed ? TSVAL : 0);
	assert_int_equal(p.tsecr, timed ? TSECR : 0);
}

#endif
