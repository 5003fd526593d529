/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What flows are called: their addresses and ports, beside the table that needs none of
 * them, for who lists the flows.
 */
#ifndef _ZRTT_NAMES_H
#define _ZRTT_NAMES_H

#include <linux/types.h>
#include "packet.h"

#define ZRTT_IPV4_ADDR_BYTES	4
#define ZRTT_IPV6_ADDR_BYTES	16

/**
 * struct zrtt_name - of the flow in the slot of the same number
 * @source: address as it lies in the packet, ZRTT_IPV4_ADDR_BYTES or all of it
 * @dest: address
 * @ports: both as they lie in the packet, source first
 * @tag: whose name it is; a slot changes hands
 * @version: 4, 6, or 0 for what is not IP: it has no name
 * @proto: IP protocol
 * @has_ports: @ports are some
 */
struct zrtt_name {
	u8 source[ZRTT_IPV6_ADDR_BYTES];
	u8 dest[ZRTT_IPV6_ADDR_BYTES];
	u8 ports[4];
	u32 tag;
	u8 version;
	u8 proto;
	bool has_ports;
};

static inline u32 zrtt_name_addr_bytes(const struct zrtt_name *name)
{
	return name->version == 4 ? ZRTT_IPV4_ADDR_BYTES : ZRTT_IPV6_ADDR_BYTES;
}

/**
 * zrtt_name_set() - note the flow of a packet
 * @name: set
 * @tag: its flow
 * @p: what zrtt_packet_parse() found
 * @data: the packet's bytes
 */
static inline void zrtt_name_set(struct zrtt_name *name, u32 tag,
				 const struct zrtt_packet *p, const u8 *data)
{
	const u8 *ip;
	u32 len;

	*name = (struct zrtt_name) { .tag = tag, .version = zrtt_packet_version(p) };
	if (!name->version)
		return;
	ip = data + zrtt_packet_addresses(p);
	len = zrtt_name_addr_bytes(name);
	__builtin_memcpy(name->source, ip, len);
	__builtin_memcpy(name->dest, ip + len, len);
	name->proto = p->proto;
	name->has_ports = p->l4_off && p->proto != ZRTT_PROTO_ESP;
	if (name->has_ports)
		__builtin_memcpy(name->ports, data + p->l4_off, sizeof(name->ports));
}

#endif
