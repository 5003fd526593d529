// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the hint's three parsers on any bytes. libFuzzer hands over a
 * heap block of the input's exact size: AddressSanitizer sees each read beyond it.
 *
 * The first byte is a parameter: the operator's own IPv4 option type, and how many
 * bytes of an IPv6 header cannot be read. The rest is an option area for all three.
 */
#include "expect.h"
#include "hint_carriers.h"

#define PADS	32	/* bytes of padding in front of a hint that is built */

/* What must hold whatever the second opinion is. */
static void check_hint(const struct list *list, struct reading got)
{
	const __u8 *option = list->bytes + got.off;

	expect(got.off + got.len <= list->readable, "hint outside the area");
	expect(got.units > 0 && got.units < 65535, "reserved value");
	expect(option[0] == list->type, "option of another type");
	expect(got.len == hint_len[list->carrier], "wrong length");
	expect(option[1] + uncounted[list->carrier] == got.len,
	       "length differs from the option's own");
}

static void check_parser(struct list list)
{
	struct reading got = parse_list(&list);

	if (got.status == ZRTT_HINT_OK)
		check_hint(&list, got);
	else
		expect(!got.units || got.units == 65535,
		       "leaves a hint behind that it does not vouch for");
	expect(opinions_agree(list, got), "second opinion differs");
}

/* What is built behind @pads bytes of padding is found there. */
static void check_builder(struct list list, size_t pads, __u16 units)
{
	size_t len = pads + hint_len[list.carrier];
	__u8 *area = malloc(len);
	struct reading got;

	memset(area, padding[list.carrier], len);
	build_option(list.carrier, area + pads, units);
	list.bytes = area;
	list.readable = len;
	list.claimed = len;
	got = parse_list(&list);
	if (units == 0 || units == 65535) {
		expect(got.status == ZRTT_HINT_NONE, "reserved value read");
	} else {
		expect(got.status == ZRTT_HINT_OK, "own hint not found");
		expect(got.units == units, "value did not come back");
		expect(got.off == pads, "own hint found elsewhere");
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
