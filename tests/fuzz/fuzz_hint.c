// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the hint's three parsers on any bytes. libFuzzer hands over a
 * heap block of the input's exact size: AddressSanitizer sees each read beyond it.
 *
 * The first byte is a parameter: the operator's own IPv4 option type, and how many
 * bytes of an IPv6 header cannot be read. The rest is an option area for all three.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zrtt/hint.h>

enum carrier { IPV4, IPV6, TCP, CARRIERS };

static const char * const names[CARRIERS] = { "IPv4", "IPv6", "TCP" };
static const __u8 hint_type[CARRIERS] = { 0x9e, 0x1e, 0xfe };
static const size_t hint_len[CARRIERS] = { 4, 4, 6 };

#define PADS	32	/* bytes of padding in front of a hint that is built */

/* An option area, of which a router looks at @readable bytes. */
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

/*
 * A second opinion, written from docs/wire-format.md: a function for each rule
 * of the grammar. It shares no code with hint.h, nor its shape.
 *
 *   list   = "" | end | padding list | option list
 *   option = type length value
 */
static struct reading read_list(const struct list *list, size_t off);

static const struct reading none = { .status = ZRTT_HINT_NONE };
static const struct reading bad = { .status = ZRTT_HINT_BAD };

static struct reading read_hint(const struct list *list, size_t off, size_t len)
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

static bool is_hint(const struct list *list, size_t off, size_t len)
{
	const __u8 *option = list->bytes + off;

	if (option[0] != list->type)
		return false;
	return list->carrier != TCP ||
	       (len >= 4 && option[2] == 'Z' && option[3] == 'R');
}

static struct reading read_option(const struct list *list, size_t off)
{
	size_t claimed = list->claimed - off, readable = list->readable - off;
	size_t len;

	if (claimed < 2)
		return bad;
	if (readable < 2)
		return none;
	len = list->bytes[off + 1];
	if (list->carrier == IPV6)
		len += 2;
	if (len < 2 || len > claimed)
		return bad;
	if (len > readable)
		return none;
	if (is_hint(list, off, len))
		return read_hint(list, off, len);
	return read_list(list, off + len);
}

static struct reading read_list(const struct list *list, size_t off)
{
	if (off == list->readable)
		return none;
	if (list->bytes[off] == (list->carrier == IPV6 ? 0 : 1))
		return read_list(list, off + 1);
	if (list->bytes[off] == 0)
		return none;
	return read_option(list, off);
}

static struct reading parse(const struct list *list)
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

static void expect(bool holds, const struct list *list, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", names[list->carrier], what);
	abort();
}

/* What must hold of any reading, whatever the reference thinks. */
static void check_reading(const struct list *list, struct reading got)
{
	const __u8 *option = list->bytes + got.off;

	if (got.status != ZRTT_HINT_OK) {
		expect(!got.units || got.units == 65535, list,
		       "leaves a hint behind that it does not vouch for");
		return;
	}
	expect(got.off + got.len <= list->readable, list, "hint outside the area");
	expect(got.units > 0 && got.units < 65535, list, "reserved value");
	expect(option[0] == list->type, list, "option of another type");
	expect(got.len == hint_len[list->carrier], list, "wrong length");
	expect(option[1] == got.len - (list->carrier == IPV6 ? 2 : 0), list,
	       "length differs from the option's own");
}

static void check_parser(struct list list)
{
	struct reading got, want;

	got = parse(&list);
	if (list.readable > ZRTT_HINT_SCAN_BYTES)
		list.readable = ZRTT_HINT_SCAN_BYTES;
	check_reading(&list, got);
	want = read_list(&list, 0);
	expect(got.status == want.status, &list, "reference disagrees");
	if (want.status != ZRTT_HINT_OK)
		return;
	expect(got.units == want.units, &list, "reference reads another value");
	expect(got.off == want.off, &list, "reference finds it elsewhere");
}

static void build(enum carrier carrier, __u8 *p, __u16 units)
{
	__u8 header[8];

	switch (carrier) {
	case IPV4:
		zrtt_hint_build_ipv4(p, units);
		break;
	case IPV6:
		/* what is built is a whole header: next header, length, padding */
		zrtt_hint_build_ipv6(header, 6, units);
		memcpy(p, header + 2, hint_len[IPV6]);
		break;
	default:
		zrtt_hint_build_tcp(p, units);
	}
}

/* What is built behind @pads bytes of padding is found there. */
static void check_builder(struct list list, size_t pads, __u16 units)
{
	size_t len = pads + hint_len[list.carrier];
	__u8 *area = malloc(len);
	struct reading got;

	memset(area, list.carrier == IPV6 ? 0 : 1, len);
	build(list.carrier, area + pads, units);
	list.bytes = area;
	list.readable = len;
	list.claimed = len;
	got = parse(&list);
	if (units == 0 || units == 65535) {
		expect(got.status == ZRTT_HINT_NONE, &list, "reserved value read");
	} else {
		expect(got.status == ZRTT_HINT_OK, &list, "own hint not found");
		expect(got.units == units, &list, "value did not come back");
		expect(got.off == pads, &list, "own hint found elsewhere");
	}
	free(area);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct list list;
	enum carrier c;
	__u16 units;

	if (!size)
		return 0;
	units = (__u16)(data[0] << 8 | data[size - 1]);
	for (c = 0; c < CARRIERS; c++) {
		list = (struct list) {
			.carrier = c, .type = hint_type[c], .bytes = data + 1,
			.readable = size - 1, .claimed = size - 1,
		};
		check_parser(list);
		check_builder(list, size % PADS, units);
		if (c == IPV4)
			list.type = data[0];
		else if (c == IPV6)
			list.claimed += data[0];
		else
			continue;
		check_parser(list);
	}
	return 0;
}
