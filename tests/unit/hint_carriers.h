/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The three carriers of a hint under one roof, for unit tests and for fuzzing:
 * what hint.h reads and writes, and a second opinion on what it reads.
 */
#ifndef _UNIT_HINT_CARRIERS_H
#define _UNIT_HINT_CARRIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <zrtt/hint.h>

enum carrier { IPV4, IPV6, TCP, CARRIERS };

static const __u8 hint_type[CARRIERS] = { 0x9e, 0x1e, 0xfe };
static const size_t hint_len[CARRIERS] = { 4, 4, 6 };

/* Single-byte padding. */
static const __u8 padding[CARRIERS] = { 1, 0, 1 };

/* Bytes of an option that its length byte does not count. */
static const size_t uncounted[CARRIERS] = { 0, 2, 0 };

/* An option area of @claimed bytes, of which @readable can be read. */
struct list {
	enum carrier carrier;
	__u8 type;
	const __u8 *bytes;
	size_t readable;
	size_t claimed;
};

/* What an area says. */
struct reading {
	enum zrtt_hint_status status;
	size_t off;
	size_t len;
	unsigned int units;
};

/* What hint.h says of it. */
static inline struct reading parse_list(const struct list *list)
{
	struct zrtt_hint hint = {};
	struct reading got = {};

	switch (list->carrier) {
	case IPV4:
		got.status = zrtt_hint_ipv4(list->bytes, list->claimed,
					    list->type, &hint);
		break;
	case IPV6:
		got.status = zrtt_hint_ipv6(list->bytes, list->readable,
					    list->claimed, &hint);
		break;
	default:
		got.status = zrtt_hint_tcp(list->bytes, list->claimed, &hint);
	}
	got.units = hint.units;
	got.off = hint.off;
	got.len = hint.len;
	return got;
}

/* Write the option alone; the builder for IPv6 makes a whole header of it. */
static inline void build_option(enum carrier carrier, __u8 *p, __u16 units)
{
	__u8 header[8];

	switch (carrier) {
	case IPV4:
		zrtt_hint_build_ipv4(p, ZRTT_HINT_IPV4_TYPE, units);
		break;
	case IPV6:
		zrtt_hint_build_ipv6(header, 6, units);
		memcpy(p, header + 2, hint_len[IPV6]);
		break;
	default:
		zrtt_hint_build_tcp(p, units);
	}
}

/*
 * The second opinion, written from docs/wire-format.md alone: a function for each
 * rule of the grammar. It shares no code with hint.h, nor its shape.
 *
 *   list   = "" | end | padding list | option list
 *   option = type length value
 */
static inline struct reading read_list(const struct list *list, size_t off);

static const struct reading none = { .status = ZRTT_HINT_NONE };
static const struct reading bad = { .status = ZRTT_HINT_BAD };

static inline struct reading read_hint(const struct list *list, size_t off,
				       size_t len)
{
	const __u8 *end = list->bytes + off + len;
	struct reading hint = {
		.status = ZRTT_HINT_OK, .off = off, .len = len,
	};

	if (len != hint_len[list->carrier])
		return bad;
	hint.units = end[-2] * 256 + end[-1];
	return hint.units == 0 || hint.units == 65535 ? none : hint;
}

static inline bool is_hint(const struct list *list, size_t off, size_t len)
{
	const __u8 *option = list->bytes + off;

	if (option[0] != list->type)
		return false;
	return list->carrier != TCP ||
	       (len >= 4 && option[2] == 'Z' && option[3] == 'R');
}

static inline struct reading read_option(const struct list *list, size_t off)
{
	size_t claimed = list->claimed - off, readable = list->readable - off;
	size_t len;

	if (claimed < 2)
		return bad;
	if (readable < 2)
		return none;
	len = list->bytes[off + 1] + uncounted[list->carrier];
	if (len < 2 || len > claimed)
		return bad;
	if (len > readable)
		return none;
	if (is_hint(list, off, len))
		return read_hint(list, off, len);
	return read_list(list, off + len);
}

static inline struct reading read_list(const struct list *list, size_t off)
{
	if (off == list->readable)
		return none;
	if (list->bytes[off] == padding[list->carrier])
		return read_list(list, off + 1);
	if (list->bytes[off] == 0)
		return none;
	return read_option(list, off);
}

/* Do the two agree? No more than ZRTT_HINT_SCAN_BYTES are ever looked at. */
static inline bool opinions_agree(struct list list, struct reading got)
{
	struct reading want;

	if (list.readable > ZRTT_HINT_SCAN_BYTES)
		list.readable = ZRTT_HINT_SCAN_BYTES;
	want = read_list(&list, 0);
	return got.status == want.status &&
	       (got.status != ZRTT_HINT_OK ||
		(got.units == want.units && got.off == want.off &&
		 got.len == want.len));
}

#endif
