// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "report.h"
#include "scope.h"
#include "zrtt_agent.h"

#define REFILL_US	10000
#define REFILL_TRIES	20

/*
 * Not 100.64.0.0/10: that is the provider's side of a carrier-grade NAT
 * (RFC 6598), hence another domain than the sender's.
 */
static const char *const private_prefixes[] = {
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",	/* RFC 1918 */
	"169.254.0.0/16",					/* RFC 3927 */
	"127.0.0.0/8",						/* RFC 1122 */
	"fc00::/7",						/* RFC 4193 */
	"fe80::/10", "::1/128",					/* RFC 4291 */
};

static unsigned int address_bits(int family)
{
	return family == AF_INET ? 32 : 128;
}

static bool same_bits(const unsigned char *a, const unsigned char *b,
		      unsigned int bits)
{
	unsigned int bytes = bits / 8;
	unsigned char mask = 0xff00 >> bits % 8;

	if (memcmp(a, b, bytes))
		return false;
	return bits % 8 == 0 || !((a[bytes] ^ b[bytes]) & mask);
}

static void clear_host_bits(struct prefix *prefix)
{
	unsigned int bytes = prefix->bits / 8;

	if (prefix->bits % 8)
		prefix->address[bytes++] &= 0xff00 >> prefix->bits % 8;
	memset(prefix->address + bytes, 0, sizeof(prefix->address) - bytes);
}

static bool covers(const struct prefix *wide, const struct prefix *narrow)
{
	return wide->family == narrow->family && wide->bits <= narrow->bits &&
	       same_bits(wide->address, narrow->address, wide->bits);
}

void scope_add(struct scope *scope, struct prefix prefix)
{
	size_t i;

	clear_host_bits(&prefix);
	for (i = 0; i < scope->count; i++) {
		if (covers(&scope->prefixes[i], &prefix))
			return;
	}
	scope->prefixes = realloc(scope->prefixes,
				  (i + 1) * sizeof(*scope->prefixes));
	if (!scope->prefixes)
		out_of_memory();
	scope->prefixes[scope->count++] = prefix;
}

static void scope_add_any(struct scope *scope)
{
	scope_add(scope, (struct prefix){ .family = AF_INET });
	scope_add(scope, (struct prefix){ .family = AF_INET6 });
}

static int parse_bits(const char *text, unsigned int max, unsigned int *bits)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	value = strtoul(text, &end, 10);
	if (*end || value > max)
		return -1;
	*bits = value;
	return 0;
}

int scope_parse(struct scope *scope, const char *text)
{
	const char *slash = strchrnul(text, '/');
	char address[INET6_ADDRSTRLEN] = "";
	struct prefix prefix = { };

	if (!strcmp(text, "any")) {
		scope_add_any(scope);
		return 0;
	}
	if ((size_t)(slash - text) >= sizeof(address))
		return -1;
	memcpy(address, text, slash - text);
	prefix.family = strchr(address, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(prefix.family, address, prefix.address) != 1)
		return -1;
	prefix.bits = address_bits(prefix.family);
	if (*slash && parse_bits(slash + 1, prefix.bits, &prefix.bits))
		return -1;
	scope_add(scope, prefix);
	return 0;
}

void scope_add_private(struct scope *scope)
{
	size_t i;

	for (i = 0; i < sizeof(private_prefixes) / sizeof(*private_prefixes); i++)
		scope_parse(scope, private_prefixes[i]);
}

size_t scope_count(const struct scope *scope, int family)
{
	size_t i, count = 0;

	for (i = 0; i < scope->count; i++)
		count += scope->prefixes[i].family == family;
	return count;
}

/*
 * The allocator of a trie refills asynchronously, on a real-time kernel in a
 * thread; until then it reports -ENOMEM.
 */
static int store(int map_fd, const void *key)
{
	const __u8 value = 1;
	int err, tries = REFILL_TRIES;

	while ((err = bpf_map_update_elem(map_fd, key, &value, BPF_ANY)) == -ENOMEM &&
	       tries--)
		usleep(REFILL_US);
	return err;
}

int scope_store(const struct scope *scope, int map4_fd, int map6_fd)
{
	size_t i;

	for (i = 0; i < scope->count; i++) {
		const struct prefix *prefix = &scope->prefixes[i];
		struct zrtt_agent_prefix4 key4 = { .bits = prefix->bits };
		struct zrtt_agent_prefix6 key6 = { .bits = prefix->bits };
		int err;

		memcpy(&key4.address, prefix->address, sizeof(key4.address));
		memcpy(&key6.address, prefix->address, sizeof(key6.address));
		if (prefix->family == AF_INET)
			err = store(map4_fd, &key4);
		else
			err = store(map6_fd, &key6);
		if (err)
			return err;
	}
	return 0;
}

int scope_load(struct scope *scope, int map4_fd, int map6_fd)
{
	struct zrtt_agent_prefix4 key4, *last4 = NULL;
	struct zrtt_agent_prefix6 key6, *last6 = NULL;
	struct prefix prefix;
	int err;

	while (!(err = bpf_map_get_next_key(map4_fd, last4, &key4))) {
		prefix = (struct prefix){ .family = AF_INET, .bits = key4.bits };
		memcpy(prefix.address, &key4.address, sizeof(key4.address));
		scope_add(scope, prefix);
		last4 = &key4;
	}
	if (err != -ENOENT)
		return err;
	while (!(err = bpf_map_get_next_key(map6_fd, last6, &key6))) {
		prefix = (struct prefix){ .family = AF_INET6, .bits = key6.bits };
		memcpy(prefix.address, &key6.address, sizeof(key6.address));
		scope_add(scope, prefix);
		last6 = &key6;
	}
	return err == -ENOENT ? 0 : err;
}

void prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT_MAX])
{
	char address[INET6_ADDRSTRLEN];

	inet_ntop(prefix->family, prefix->address, address, sizeof(address));
	snprintf(text, PREFIX_TEXT_MAX, "%s/%u", address, prefix->bits);
}

void scope_free(struct scope *scope)
{
	free(scope->prefixes);
	*scope = (struct scope){ };
}
