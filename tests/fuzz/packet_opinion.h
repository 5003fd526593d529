/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion on what tells the flows of packets apart, on timestamps and TCP-AO:
 * a function for each layer, which shares no code with packet.h, nor its numbers.
 */
#ifndef _FUZZ_PACKET_OPINION_H
#define _FUZZ_PACKET_OPINION_H

#include <stdbool.h>

#include <linux/types.h>

/* The bytes that can be read, and what is in them; 0 = not there. */
struct opinion {
	const u8 *bytes;
	u32 len;
	u32 version;
	u32 ip_at;
	u32 inner_at;
	u32 proto;
	u32 l4_at;
	u32 tcp_flags;
	bool timed;
	bool authenticated;
	u32 tsval;
	u32 tsecr;
};

static inline u32 opinion_number(const struct opinion *o, u32 at, u32 bytes)
{
	u32 number = 0;

	while (bytes--)
		number = number << 8 | o->bytes[at++];
	return number;
}

/* RFC 7323, 3.2, in a list of options (RFC 9293, 3.1) that ends at @end */
static inline void opinion_timestamps(struct opinion *o, u32 at, u32 end)
{
	u32 kind, len;

	if (at + 10 > end)
		return;
	kind = o->bytes[at];
	len = kind == 1 ? 1 : o->bytes[at + 1];
	if (kind == 0 || (kind != 1 && len < 2))
		return;
	if (kind != 8 || len != 10) {
		opinion_timestamps(o, at + len, end);
		return;
	}
	o->timed = true;
	o->tsval = opinion_number(o, at + 2, 4);
	o->tsecr = opinion_number(o, at + 6, 4);
}

/* RFC 5925, 2.2, in such a list */
static inline bool opinion_authenticated(const struct opinion *o, u32 at, u32 end)
{
	u32 kind;

	if (at >= end || end - at < 2)
		return false;
	kind = o->bytes[at];
	if (kind == 0 || kind == 29)
		return kind == 29;
	if (kind == 1)
		return opinion_authenticated(o, at + 1, end);
	return o->bytes[at + 1] >= 2 &&
	       opinion_authenticated(o, at + o->bytes[at + 1], end);
}

static inline void opinion_ports(struct opinion *o, u32 at, u32 proto)
{
	bool ports = proto == 6 || proto == 17 || proto == 33 || proto == 50 ||
		     proto == 132 || proto == 136;
	u32 end;

	o->proto = proto;
	if (!ports || at + 4 > o->len)
		return;
	o->l4_at = at;
	if (proto != 6 || at + 20 > o->len)
		return;
	o->tcp_flags = o->bytes[at + 13];
	end = at + o->bytes[at + 12] / 16 * 4;
	if (end > o->len)
		return;
	opinion_timestamps(o, at + 20, end);
	o->authenticated = opinion_authenticated(o, at + 20, end);
}

/* A tunnel's packet of one version: extension headers in there are not followed. */
static inline void opinion_inner(struct opinion *o, u32 at, u32 version)
{
	u32 words = version == 4 ? 5 : 10;

	if (at + 4 * words > o->len || o->bytes[at] / 16 != version)
		return;
	if (version == 4 && o->bytes[at] % 16 < 5)
		return;
	o->inner_at = at;
	o->proto = o->bytes[at + (version == 4 ? 9 : 6)];
	if (version == 6)
		opinion_ports(o, at + 40, o->proto);
	else if (opinion_number(o, at + 6, 2) % 0x4000 == 0)
		opinion_ports(o, at + o->bytes[at] % 16 * 4, o->proto);
}

/* RFC 2784 and 2890: a checksum, a key and a number may precede the packet, or an Ethernet header. */
static inline void opinion_gre(struct opinion *o, u32 at)
{
	u32 bits, type, tags = 2;

	if (at + 4 > o->len)
		return;
	bits = opinion_number(o, at, 2);
	type = opinion_number(o, at + 2, 2);
	at += 4 + (bits / 0x8000 % 2 + bits / 0x2000 % 2 + bits / 0x1000 % 2) * 4;
	if (bits % 0x1000 || bits / 0x4000 % 2)
		return;
	if (type == 0x6558 && at + 14 <= o->len) {	/* Ethernet, with up to two tags */
		type = opinion_number(o, at + 12, 2);
		for (at += 14; tags && (type == 0x8100 || type == 0x88a8); tags--) {
			if (at + 4 > o->len)
				return;
			type = opinion_number(o, at + 2, 2);
			at += 4;
		}
	}
	if (type == 0x0800)
		opinion_inner(o, at, 4);
	else if (type == 0x86dd)
		opinion_inner(o, at, 6);
}

static inline void opinion_l4(struct opinion *o, u32 at, u32 proto)
{
	o->proto = proto;
	if (proto == 4)
		opinion_inner(o, at, 4);
	else if (proto == 41)
		opinion_inner(o, at, 6);
	else if (proto == 47)
		opinion_gre(o, at);
	else
		opinion_ports(o, at, proto);
}

static inline void opinion_ipv4(struct opinion *o, u32 at)
{
	u32 words;

	if (at + 20 > o->len || o->bytes[at] < 0x45 || o->bytes[at] > 0x4f)
		return;
	words = o->bytes[at] - 0x40;
	o->version = 4;
	o->ip_at = at;
	o->proto = o->bytes[at + 9];
	if (opinion_number(o, at + 6, 2) % 0x4000 == 0)
		opinion_l4(o, at + 4 * words, o->proto);
}

/* What follows an IPv6 header, through at most @more extension headers. */
static inline void opinion_ipv6_next(struct opinion *o, u32 at, u32 proto, u32 more)
{
	bool extension = proto == 0 || proto == 43 || proto == 60;

	if (extension && more && at + 2 <= o->len)
		opinion_ipv6_next(o, at + 8 + 8 * o->bytes[at + 1], o->bytes[at],
				  more - 1);
	else
		opinion_l4(o, at, proto);
}

static inline void opinion_ipv6(struct opinion *o, u32 at)
{
	if (at + 40 > o->len || o->bytes[at] < 0x60 || o->bytes[at] > 0x6f)
		return;
	o->version = 6;
	o->ip_at = at;
	opinion_ipv6_next(o, at + 40, o->bytes[at + 6], 6);
}

/* What follows an EtherType, through at most @more VLAN tags. */
static inline void opinion_link(struct opinion *o, u32 at, u32 type, u32 more)
{
	if (type == 0x0800) {
		opinion_ipv4(o, at);
	} else if (type == 0x86dd) {
		opinion_ipv6(o, at);
	} else if (type == 0x8100 || type == 0x88a8) {
		if (more && at + 4 <= o->len)
			opinion_link(o, at + 4, opinion_number(o, at + 2, 2), more - 1);
	} else if (type == 0x8864 && at + 8 <= o->len) {
		if (opinion_number(o, at + 6, 2) == 0x21)
			opinion_ipv4(o, at + 8);
		else if (opinion_number(o, at + 6, 2) == 0x57)
			opinion_ipv6(o, at + 8);
	}
}

/* Of an Ethernet frame of which @len bytes can be read. */
static inline struct opinion opinion_of(const u8 *bytes, u32 len)
{
	struct opinion o = { .bytes = bytes, .len = len };

	opinion_link(&o, 14, opinion_number(&o, 12, 2), 2);
	return o;
}

#endif
