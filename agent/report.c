// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"

int refuse(const char *what, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "zrtt-agent: %s: ", what);
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
