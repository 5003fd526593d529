// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_zrtt.h>

#include "text.h"

#define US_PER_MS	1e3
#define US_PER_S	1e6
#define BITS_PER_BYTE	8

/* Three digits of a number below 1000, which rounding must not make a fourth. */
static const char *three_digits(char *text, double number, const char *prefix,
				const char *unit)
{
	int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;

	snprintf(text, TEXT_MAX, "%.*f%s%s", decimals, number, prefix, unit);
	return text;
}

const char *text_number(char *text, double number, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t i = 0;

	for (; number >= 999.5 && i + 1 < sizeof(prefixes) / sizeof(*prefixes); i++)
		number /= 1000;
	if (!i && number == (__u64)number) {
		snprintf(text, TEXT_MAX, "%.0f%s", number, unit);
		return text;
	}
	return three_digits(text, number, prefixes[i], unit);
}

const char *text_time(char *text, __u32 us)
{
	if (us >= US_PER_S)
		return three_digits(text, us / US_PER_S, "", " s");
	if (us >= US_PER_MS)
		return three_digits(text, us / US_PER_MS, "", " ms");
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
