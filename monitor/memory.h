/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_MEMORY_H
#define _MONITOR_MEMORY_H

#include <stddef.h>

/* As reallocarray(), but ends the program if there is no memory. */
void *grow(void *array, size_t count, size_t size);

#endif
