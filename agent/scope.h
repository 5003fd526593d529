/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The destinations that may see hints.
 */
#ifndef _AGENT_SCOPE_H
#define _AGENT_SCOPE_H

#include <stddef.h>

#define PREFIX_TEXT_MAX	64	/* bytes of "address/bits" */

struct prefix {
	int family;			/* AF_INET or AF_INET6 */
	unsigned int bits;
	unsigned char address[16];	/* big-endian, zero behind @bits */
};

struct scope {
	struct prefix *prefixes;
	size_t count;
};

/**
 * scope_parse() - add what the user typed
 * @text: ADDRESS, ADDRESS/BITS or "any"
 *
 * Return: 0, or -1 if that is no prefix
 */
int scope_parse(struct scope *scope, const char *text);

/* Add a prefix, unless another one covers it. */
void scope_add(struct scope *scope, struct prefix prefix);

/* Add the prefixes of private networks. */
void scope_add_private(struct scope *scope);

/* How many prefixes of a family there are. */
size_t scope_count(const struct scope *scope, int family);

/* Write the scope to the maps of the programs, or read it. 0 or -errno. */
int scope_store(const struct scope *scope, int map4_fd, int map6_fd);
int scope_load(struct scope *scope, int map4_fd, int map6_fd);

void prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT_MAX]);

void scope_free(struct scope *scope);

#endif
