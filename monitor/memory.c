// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>

#include "exit.h"
#include "memory.h"

void *grow(void *array, size_t count, size_t size)
{
	void *grown = reallocarray(array, count, size);

	if (!grown)
		errx(EXIT_TROUBLE, "out of memory");
	return grown;
}
