// SPDX-License-Identifier: GPL-2.0
/*
 * uml_seed: makes a user-mode Linux repeatable.
 *
 * The kernel asks its host for random numbers with getrandom(3) and for nothing
 * else that could differ between two runs in virtual time. Preloaded, this answers
 * with splitmix64 (Steele, Lea, Flood 2014) seeded from ZRTT_SEED.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define SPLITMIX_STEP	0x9e3779b97f4a7c15ULL
#define SPLITMIX_MUL_1	0xbf58476d1ce4e5b9ULL
#define SPLITMIX_MUL_2	0x94d049bb133111ebULL

static uint64_t state;

__attribute__((constructor)) static void read_seed(void)
{
	const char *seed = getenv("ZRTT_SEED");

	state = seed ? strtoull(seed, NULL, 10) : 0;
}

static uint64_t next(void)
{
	uint64_t z = state += SPLITMIX_STEP;

	z = (z ^ (z >> 30)) * SPLITMIX_MUL_1;
	z = (z ^ (z >> 27)) * SPLITMIX_MUL_2;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < length; i++)
		bytes[i] = next();
	return length;
}
