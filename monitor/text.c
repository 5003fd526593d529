// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdbool.h>

#include <linux/pkt_sched.h>

#include "text.h"

#define US_PER_MS	1e3
#define US_PER_S	1e6
#define BITS_PER_BYTE	8

const char *const text_lanes[] = {
	[TC_ZRTT_LANE_SPARSE] = "sparse",
	[TC_ZRTT_LANE_BULK]   = "bulk",
	[TC_ZRTT_LANE_L4S]    = "l4s",
};

static const char *const lines[] = {
	[TC_ZRTT_LINE_OFF]   = "off",
	[TC_ZRTT_LINE_START] = "start",
	[TC_ZRTT_LINE_HOLD]  = "hold",
	[TC_ZRTT_LINE_GROW]  = "grow",
	[TC_ZRTT_LINE_QUEUE] = "queue",
	[TC_ZRTT_LINE_BLIND] = "blind",
	[TC_ZRTT_LINE_LOSS]  = "loss",
};

const char *text_line(__u32 state)
{
	return state < __TC_ZRTT_LINE_MAX ? lines[state] : "unknown";
}

/* Decimals for three significant digits below 1000; rounding never gives four. */
static int decimals(double number)
{
	return number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
}

const char *text_number(char *text, double number, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	const char *gap = isalpha(*unit) ? " " : "";
	size_t i = 0;
	bool whole;

	for (; number >= 999.5 && i + 1 < sizeof(prefixes) / sizeof(*prefixes); i++)
		number /= 1000;
	whole = !i && number == (__u64)number;
	snprintf(text, TEXT_MAX, "%.*f%s%s%s", whole ? 0 : decimals(number), number,
		 gap, prefixes[i], unit);
	return text;
}

const char *text_time(char *text, __u32 us)
{
	if (us >= US_PER_S)
		snprintf(text, TEXT_MAX, "%.*f s", decimals(us / US_PER_S), us / US_PER_S);
	else if (us >= US_PER_MS)
		snprintf(text, TEXT_MAX, "%.*f ms", decimals(us / US_PER_MS), us / US_PER_MS);
	else
		snprintf(text, TEXT_MAX, "%u us", us);
	return text;
}

const char *text_rate(char *text, double bytes_per_s)
{
	return text_number(text, bytes_per_s * BITS_PER_BYTE, "bit/s");
}

const char *text_prob(char *text, __u32 prob)
{
	snprintf(text, TEXT_MAX, "%.2f%%", 100.0 * prob / TC_ZRTT_P_ONE);
	return text;
}

const char *text_handle(char *text, __u32 handle)
{
	unsigned int major = TC_H_MAJ(handle) >> 16, minor = TC_H_MIN(handle);

	if (handle == TC_H_ROOT)
		snprintf(text, TEXT_MAX, "root");
	else if (!major && minor)
		snprintf(text, TEXT_MAX, ":%x", minor);
	else if (!minor)
		snprintf(text, TEXT_MAX, "%x:", major);
	else
		snprintf(text, TEXT_MAX, "%x:%x", major, minor);
	return text;
}

void text_escape(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}
