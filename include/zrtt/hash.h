/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A keyed hash of what tells flows apart: NH (UMAC, RFC 4418 section 5.2.2) and a
 * multiplication that spreads its 64 bits (multiply-shift, Dietzfelbinger et al.
 * 1997). Who does not know the key makes two flows collide with a probability of
 * at most 2^-29, at a third of what jhash costs.
 */
#ifndef _ZRTT_HASH_H
#define _ZRTT_HASH_H

#include <linux/types.h>
#include "packet.h"

#define ZRTT_TAG		(1U << 31)	/* set in all tags: none is 0 */
#define ZRTT_HASH_WORDS		10	/* two IPv6 addresses, ports, protocol */

/* The field of the mark that says whose a packet is, and how it is folded. */
#define ZRTT_FAIR_BITS		24
#define ZRTT_FAIR_FOLD_1	4
#define ZRTT_FAIR_FOLD_2	6
#define ZRTT_FAIR_FOLD_3	9

/**
 * struct zrtt_hash_key - secret of a queue, all of it random
 * @words: added to the words of the input
 * @multiplier: odd
 */
struct zrtt_hash_key {
	u32 words[ZRTT_HASH_WORDS];
	u64 multiplier;
};

/* To be called when @key was filled with random bytes. */
static inline void zrtt_hash_init(struct zrtt_hash_key *key)
{
	key->multiplier |= 1;
}

/* The four bytes at @p as they lie in memory. */
static inline u32 zrtt_hash_load(const u8 *p)
{
	u32 word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}

static inline u64 zrtt_hash_pair(const u32 *key, u32 one, u32 other)
{
	return (u64)(u32)(one + key[0]) * (u32)(other + key[1]);
}

/* The eight bytes at @p, two words of the input. */
static inline u64 zrtt_hash_bytes(const u32 *key, const u8 *p)
{
	return zrtt_hash_pair(key, zrtt_hash_load(p), zrtt_hash_load(p + 4));
}

static inline u32 zrtt_hash_finish(const struct zrtt_hash_key *key, u64 sum)
{
	sum ^= sum >> 32;
	return (u32)((sum * key->multiplier) >> 32) | ZRTT_TAG;
}

/* What zrtt_hash_flow() returns for a packet of IPv4 with ports. */
static inline u32 zrtt_hash_ipv4(const struct zrtt_hash_key *key,
				 const struct zrtt_packet *p, const u8 *data)
{
	const u8 *ip = data + p->ip_off + ZRTT_IPV4_ADDRESSES;
	u32 ports = zrtt_hash_load(data + p->l4_off);

	return zrtt_hash_finish(key, zrtt_hash_pair(key->words, ports, 4 << 8 | p->proto) +
				     zrtt_hash_bytes(key->words + 2, ip));
}

/* The tag of @ports, as they lie in memory, @proto, and the addresses in the header at @ip. */
static inline u32 zrtt_hash_ip(const struct zrtt_hash_key *key, u32 ports, u8 proto, u32 version,
			       const u8 *ip)
{
	u64 sum = zrtt_hash_pair(key->words, ports, version << 8 | proto);
	u32 i;

	if (version == 4) {
		sum += zrtt_hash_bytes(key->words + 2, ip + ZRTT_IPV4_ADDRESSES);
	} else {
		ip += ZRTT_IPV6_ADDRESSES;
		for (i = 2; i < ZRTT_HASH_WORDS; i += 2, ip += 8)
			sum += zrtt_hash_bytes(key->words + i, ip);
	}
	return zrtt_hash_finish(key, sum);
}

/**
 * zrtt_hash_flow() - the flow of a packet
 * @key: secret
 * @p: what zrtt_packet_parse() found, of version 4 or 6
 * @data: the packet's bytes
 *
 * Addresses, protocol, and ports where there are any; of a tunnel, those inside, too. Return: its
 * tag, never 0.
 */
static inline u32 zrtt_hash_flow(const struct zrtt_hash_key *key,
				 const struct zrtt_packet *p, const u8 *data)
{
	u32 ports = p->l4_off ? zrtt_hash_load(data + p->l4_off) : 0;

	if (p->inner_off)
		ports = zrtt_hash_ip(key, ports, p->proto, p->inner_version, data + p->inner_off);
	return zrtt_hash_ip(key, ports, p->proto, p->version, data + p->ip_off);
}

/**
 * zrtt_hash_host() - a host, by its address
 * @key: secret
 * @end: 0 = a source, 1 = a destination: the same address is another host there
 * @words: the address as it lies in memory, what is not the host's being 0
 * @count: of these, 1 or 4
 *
 * Return: its tag, never 0.
 */
static inline u32 zrtt_hash_host(const struct zrtt_hash_key *key, u32 end, const u32 *words,
				 u32 count)
{
	u64 sum = zrtt_hash_pair(key->words, count, end);
	u32 i;

	for (i = 0; i < count; i += 2)
		sum += zrtt_hash_pair(key->words + 2 + i, words[i],
				      i + 1 < count ? words[i + 1] : 0);
	return zrtt_hash_finish(key, sum);
}

/**
 * zrtt_hash_mark() - a subscriber
 * @field: of the mark, up to ZRTT_FAIR_BITS
 *
 * There is no key: the operator sets marks. They are numbers in a row, also at an upper bit where
 * they are a VLAN or an octet: a table has room for as many as it has slots, or half as many there.
 * Of as many hashes as slots, one in seven would find none.
 *
 * Return: its tag, never 0.
 */
static inline u32 zrtt_hash_mark(u32 field)
{
	field ^= field >> ZRTT_FAIR_FOLD_1;
	field ^= field >> ZRTT_FAIR_FOLD_2;
	field ^= field >> ZRTT_FAIR_FOLD_3;
	return field | ZRTT_TAG;
}

static inline u32 zrtt_hash_unfold(u32 field, u32 shift)
{
	for (; shift < ZRTT_FAIR_BITS; shift *= 2)
		field ^= field >> shift;
	return field;
}

/* The field of the mark that has this tag. */
static inline u32 zrtt_hash_unmark(u32 tag)
{
	u32 field = zrtt_hash_unfold(tag & ~ZRTT_TAG, ZRTT_FAIR_FOLD_3);

	field = zrtt_hash_unfold(field, ZRTT_FAIR_FOLD_2);
	return zrtt_hash_unfold(field, ZRTT_FAIR_FOLD_1);
}

#endif
