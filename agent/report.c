// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"

bool is_plain(char byte)
{
	return isascii(byte) && isprint(byte);
}

void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fprintf(out, is_plain(*name) ? "%c" : "\\x%02x", (unsigned char)*name);
}

int refuse(const char *what, const char *format, ...)
{
	va_list args;

	fputs("zrtt-agent: ", stderr);
	print_name(stderr, what);
	fputs(": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

void out_of_memory(void)
{
	fputs("zrtt-agent: out of memory\n", stderr);
	exit(EXIT_REFUSED);
}
