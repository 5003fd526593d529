/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RTT hint on the wire: 16 bits, big-endian, the sender's minimum RTT in
 * units of 32 us, carried in one of three options. See docs/wire-format.md.
 *
 *   IPv4 option   9e 04 hh hh               RFC 791, 4727 (number 30)
 *   IPv6 option   1e 02 hh hh               RFC 8200, 4727; length without header
 *   TCP option    fe 06 5a 52 hh hh         RFC 6994, ExID 0x5a52
 *
 * Only uapi types, so that the same file serves the kernel, user space, BPF.
 */
#ifndef _ZRTT_HINT_H
#define _ZRTT_HINT_H

#include <linux/types.h>

#define ZRTT_HINT_UNIT_SHIFT	5		/* a unit is 32 us */
#define ZRTT_HINT_MAX		65534		/* 2.097 s */
#define ZRTT_HINT_MAX_US	(ZRTT_HINT_MAX << ZRTT_HINT_UNIT_SHIFT)

#define ZRTT_HINT_IPV4_TYPE	0x9e		/* copied, control, number 30 */
#define ZRTT_HINT_IPV4_LEN	4
#define ZRTT_HINT_IPV6_TYPE	0x1e		/* skip if unknown, immutable */
#define ZRTT_HINT_IPV6_LEN	4
#define ZRTT_HINT_TCP_KIND	0xfe		/* RFC 6994 experiment */
#define ZRTT_HINT_TCP_EXID	0x5a52		/* "ZR" */
#define ZRTT_HINT_TCP_LEN	6

/* Bytes of an option area that are looked at: a whole IPv4 or TCP area
 * (40), and as much of an IPv6 extension header as a hint ever needs.
 */
#define ZRTT_HINT_SCAN_BYTES	64

enum zrtt_hint_status {
	ZRTT_HINT_NONE,		/* no hint, or the values 0 and 65535 */
	ZRTT_HINT_OK,
	ZRTT_HINT_BAD,		/* malformed option area or hint */
};

/**
 * struct zrtt_hint - where a hint stands and what it says
 * @units: the value, 1 .. ZRTT_HINT_MAX, in units of 32 us
 * @off: offset of its option in the option area
 * @len: length of its option, type and length bytes included
 */
struct zrtt_hint {
	__u16 units;
	__u8 off;
	__u8 len;
};

/**
 * struct zrtt_hint_format - what differs between the three encodings
 * @type: type or kind byte of the hint's option
 * @len: whole length of that option
 * @pad: single-byte padding
 * @end: type that ends the list, or @pad where there is none
 * @len_extra: bytes of an option that its length byte does not count
 * @exid: experiment identifier in front of the value, 0 = none
 */
struct zrtt_hint_format {
	__u8 type;
	__u8 len;
	__u8 pad;
	__u8 end;
	__u8 len_extra;
	__u16 exid;
};

static inline __u16 zrtt_hint_get16(const __u8 *p)
{
	return (__u16)(p[0] << 8 | p[1]);
}

static inline void zrtt_hint_put16(__u8 *p, __u16 v)
{
	p[0] = (__u8)(v >> 8);
	p[1] = (__u8)v;
}

/* Hint units of an RTT: rounded down, at least 1, ZRTT_HINT_MAX if longer. */
static inline __u16 zrtt_hint_from_us(__u32 rtt_us)
{
	__u32 units = rtt_us >> ZRTT_HINT_UNIT_SHIFT;

	if (units > ZRTT_HINT_MAX)
		return ZRTT_HINT_MAX;
	return units ? (__u16)units : 1;
}

static inline __u32 zrtt_hint_to_us(__u16 units)
{
	return (__u32)units << ZRTT_HINT_UNIT_SHIFT;
}

/*
 * Walk a type-length-value list of @total bytes of which @have can be read.
 * Every step consumes a byte or more and @have is at most
 * ZRTT_HINT_SCAN_BYTES, so no packet makes this long.
 */
static inline enum zrtt_hint_status
zrtt_hint_walk(const __u8 *area, __u32 have, __u32 total,
	       const struct zrtt_hint_format *fmt, struct zrtt_hint *hint)
{
	__u32 off = 0;

	if (have > ZRTT_HINT_SCAN_BYTES)
		have = ZRTT_HINT_SCAN_BYTES;
	while (off < have) {
		__u8 type = area[off];
		const __u8 *value;
		__u32 len;

		if (type == fmt->pad) {
			off++;
			continue;
		}
		if (type == fmt->end)
			return ZRTT_HINT_NONE;
		if (off + 1 >= total)
			return ZRTT_HINT_BAD;
		if (off + 1 >= have)
			return ZRTT_HINT_NONE;
		len = area[off + 1] + fmt->len_extra;
		if (len < 2 || off + len > total)
			return ZRTT_HINT_BAD;
		if (off + len > have)
			return ZRTT_HINT_NONE;

		value = area + off + 2;
		if (type != fmt->type ||
		    (fmt->exid && (len < 4 || zrtt_hint_get16(value) != fmt->exid))) {
			off += len;
			continue;
		}
		if (len != fmt->len)
			return ZRTT_HINT_BAD;
		hint->units = zrtt_hint_get16(value + (fmt->exid ? 2 : 0));
		hint->off = (__u8)off;
		hint->len = (__u8)len;
		if (!hint->units || hint->units > ZRTT_HINT_MAX)
			return ZRTT_HINT_NONE;
		return ZRTT_HINT_OK;
	}
	return ZRTT_HINT_NONE;
}

/**
 * zrtt_hint_ipv4() - find the hint among IPv4 options
 * @area: the options, behind the fixed header
 * @len: their length, 0 .. 40
 * @type: option type, normally ZRTT_HINT_IPV4_TYPE
 * @hint: written when the result is ZRTT_HINT_OK
 */
static inline enum zrtt_hint_status
zrtt_hint_ipv4(const __u8 *area, __u32 len, __u8 type, struct zrtt_hint *hint)
{
	const struct zrtt_hint_format fmt = {
		.type = type, .len = ZRTT_HINT_IPV4_LEN, .pad = 1, .end = 0,
	};

	return zrtt_hint_walk(area, len, len, &fmt, hint);
}

/**
 * zrtt_hint_ipv6() - find the hint in a hop-by-hop or destination header
 * @area: the options, behind the next-header and length bytes
 * @have: how many of their bytes can be read
 * @total: how many the extension header claims
 * @hint: written when the result is ZRTT_HINT_OK
 */
static inline enum zrtt_hint_status
zrtt_hint_ipv6(const __u8 *area, __u32 have, __u32 total, struct zrtt_hint *hint)
{
	const struct zrtt_hint_format fmt = {
		.type = ZRTT_HINT_IPV6_TYPE, .len = ZRTT_HINT_IPV6_LEN,
		.len_extra = 2,
	};

	return zrtt_hint_walk(area, have, total, &fmt, hint);
}

/**
 * zrtt_hint_tcp() - find the hint among TCP options
 * @area: the options, behind the fixed header
 * @len: their length, 0 .. 40
 * @hint: written when the result is ZRTT_HINT_OK
 */
static inline enum zrtt_hint_status
zrtt_hint_tcp(const __u8 *area, __u32 len, struct zrtt_hint *hint)
{
	const struct zrtt_hint_format fmt = {
		.type = ZRTT_HINT_TCP_KIND, .len = ZRTT_HINT_TCP_LEN, .pad = 1,
		.end = 0, .exid = ZRTT_HINT_TCP_EXID,
	};

	return zrtt_hint_walk(area, len, len, &fmt, hint);
}

/* Write the ZRTT_HINT_IPV4_LEN bytes of the IPv4 option, normally of type
 * ZRTT_HINT_IPV4_TYPE.
 */
static inline void zrtt_hint_build_ipv4(__u8 *p, __u8 type, __u16 units)
{
	p[0] = type;
	p[1] = ZRTT_HINT_IPV4_LEN;
	zrtt_hint_put16(p + 2, units);
}

/* Write the 8 bytes of a hop-by-hop header with the hint and two of padding. */
static inline void zrtt_hint_build_ipv6(__u8 *p, __u8 nexthdr, __u16 units)
{
	p[0] = nexthdr;
	p[1] = 0;
	p[2] = ZRTT_HINT_IPV6_TYPE;
	p[3] = 2;
	zrtt_hint_put16(p + 4, units);
	p[6] = 1;
	p[7] = 0;
}

/* Write the ZRTT_HINT_TCP_LEN bytes of the TCP option. */
static inline void zrtt_hint_build_tcp(__u8 *p, __u16 units)
{
	p[0] = ZRTT_HINT_TCP_KIND;
	p[1] = ZRTT_HINT_TCP_LEN;
	zrtt_hint_put16(p + 2, ZRTT_HINT_TCP_EXID);
	zrtt_hint_put16(p + 4, units);
}

#endif
