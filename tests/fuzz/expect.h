/* SPDX-License-Identifier: GPL-2.0 */
/* What a fuzz target asserts: a broken promise is a crash, with its name. */
#ifndef _FUZZ_EXPECT_H
#define _FUZZ_EXPECT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void expect(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

#endif
