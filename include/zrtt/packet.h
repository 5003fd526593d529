/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One pass over the first bytes of a packet: where its headers stand, the hint,
 * TCP timestamps, and what the queue must know of ECN, fragments and handshakes.
 *
 * Through two VLAN tags, PPPoE (RFC 2516), six IPv6 extension headers, and one tunnel of IP in IP
 * (RFC 2003, 2473, 4213) or GRE (RFC 2784, 2890), with IP or Ethernet (RFC 7637) in it. Bytes are
 * given as they lie in memory, numbers are returned in host order.
 */
#ifndef _ZRTT_PACKET_H
#define _ZRTT_PACKET_H

#include <linux/types.h>
#include "hint.h"

#define ZRTT_PACKET_BYTES	512	/* looked at, of any packet */
#define ZRTT_VLAN_TAGS_MAX	2
#define ZRTT_IPV6_HEADERS_MAX	6

/* ECN codepoints (RFC 3168, RFC 9331) */
#define ZRTT_NOT_ECT		0
#define ZRTT_ECT_1		1
#define ZRTT_ECT_0		2
#define ZRTT_CE			3

/* EtherTypes, and PPP's protocol numbers */
#define ZRTT_TYPE_IPV4		0x0800
#define ZRTT_TYPE_IPV6		0x86dd
#define ZRTT_TYPE_VLAN		0x8100
#define ZRTT_TYPE_QINQ		0x88a8
#define ZRTT_TYPE_PPPOE		0x8864
#define ZRTT_TYPE_ETHERNET	0x6558	/* in GRE */
#define ZRTT_PPP_IPV4		0x0021
#define ZRTT_PPP_IPV6		0x0057

/* IP protocols and IPv6 extension headers */
#define ZRTT_PROTO_HOPOPTS	0
#define ZRTT_PROTO_IPV4		4	/* in a tunnel */
#define ZRTT_PROTO_TCP		6
#define ZRTT_PROTO_UDP		17
#define ZRTT_PROTO_DCCP		33
#define ZRTT_PROTO_IPV6		41
#define ZRTT_PROTO_ROUTING	43
#define ZRTT_PROTO_FRAGMENT	44
#define ZRTT_PROTO_GRE		47
#define ZRTT_PROTO_ESP		50
#define ZRTT_PROTO_AH		51
#define ZRTT_PROTO_DSTOPTS	60
#define ZRTT_PROTO_SCTP		132
#define ZRTT_PROTO_UDPLITE	136

#define ZRTT_ETHERNET_BYTES	14
#define ZRTT_ETHERNET_TYPE	12	/* offset of the EtherType */
#define ZRTT_VLAN_BYTES		4
#define ZRTT_PPPOE_BYTES	8	/* with PPP's protocol number */
#define ZRTT_PPPOE_LENGTH	4	/* offset of the payload's length */
#define ZRTT_PPPOE_PROTOCOL	6	/* offset of PPP's protocol number */
#define ZRTT_IPV4_BYTES		20
#define ZRTT_IPV6_BYTES		40
#define ZRTT_IPV4_PLAIN		0x45	/* first byte of a header without options */
#define ZRTT_TCP_BYTES		20
#define ZRTT_TCP_TIMED_BYTES	32	/* with timestamps and nothing else */
#define ZRTT_PLAIN_OFF_MAX	64	/* network header of a plain packet */
#define ZRTT_IPV6_OPT_BYTES	2	/* in front of an extension header's options */
#define ZRTT_IPV6_EXT_MIN	8	/* bytes of the shortest extension header */

#define ZRTT_IPV6_NEXTHDR	6	/* offset in the header */
#define ZRTT_IPV4_ADDRESSES	12	/* offset in the header, source first */
#define ZRTT_IPV6_ADDRESSES	8

#define ZRTT_IPV4_FRAGMENT	0x3fff	/* more fragments, or not the first */
#define ZRTT_TCP_SYN		0x02
#define ZRTT_TCP_ACK		0x10

/* Flags of GRE: each says that there are four bytes more. All others, and the version, are to be 0. */
#define ZRTT_GRE_CHECKSUM	0x8000
#define ZRTT_GRE_KEY		0x2000
#define ZRTT_GRE_SEQUENCE	0x1000
#define ZRTT_GRE_BYTES		4

/* Timestamps as all stacks send them: two NOPs, kind 8, length 10 (RFC 7323, A) */
#define ZRTT_TIMESTAMPS_WORD	0x0101080a
#define ZRTT_TIMESTAMPS_KIND	8
#define ZRTT_TIMESTAMPS_LEN	10
#define ZRTT_TCP_AO_KIND	29	/* RFC 5925 */

#define ZRTT_UDP_BYTES		8
#define ZRTT_UDP_LENGTH		4	/* offset of the length, with the header's */

/* A bit of QUIC's first byte (RFC 9000 sec. 17), and the versions whose headers are known: v1,
 * and v2 (RFC 9369)
 */
#define ZRTT_QUIC_LONG		0x80
#define ZRTT_QUIC_V1		0x00000001U
#define ZRTT_QUIC_V2		0x6b3343cfU

/**
 * struct zrtt_wanted - what to look for
 * @hint: the RTT hint
 * @timestamps: TCP timestamps
 * @quic: packets that begin QUIC
 * @ipv4_option: type of the hint's IPv4 option, 2 or more
 */
struct zrtt_wanted {
	bool hint;
	bool timestamps;
	bool quic;
	u8 ipv4_option;
};

/**
 * struct zrtt_packet - what was found; offsets are from the first byte, 0 = none
 * @ip_off: IP header, of a tunnel the outer one
 * @l4_off: header with ports (or the SPI) in its first four bytes, of a tunnel the inner one
 * @hint_off: option that carries the hint
 * @ext_off: IPv6 extension header that may hold nothing but the hint
 * @inner_off: IP header in a tunnel
 * @hint_units: the hint, 0 = none
 * @version: 4, 6, or 0 for anything else
 * @proto: of what follows the IP headers
 * @tcp_flags: flags byte of the TCP header, 0 = not TCP
 * @ecn: ECN codepoint; any but 0 can be marked
 * @nexthdr_off: byte that announces the extension header of the hint
 * @inner_version: 4 or 6 where there is @inner_off
 * @hint_len: length of the hint's option
 * @pppoe: a PPPoE header stands before the IP header
 * @sealed: AH or TCP-AO may cover the hint, which thus must not change
 * @hint_in_tcp: the hint is a TCP option
 * @hint_bad: malformed options, or a malformed hint
 * @timed: @tsval and @tsecr were found
 * @tsval: TCP timestamp
 * @tsecr: the one it echoes
 */
struct zrtt_packet {
	u16 ip_off;
	u16 l4_off;
	u16 hint_off;
	u16 ext_off;
	u16 inner_off;
	u16 hint_units;
	u8 version;
	u8 proto;
	u8 tcp_flags;
	u8 ecn;
	u16 nexthdr_off;
	u8 inner_version;
	u8 hint_len;
	bool pppoe;
	bool sealed;
	bool hint_in_tcp;
	bool hint_bad;
	bool timed;
	u32 tsval;
	u32 tsecr;
};

/* The version of the addresses of a packet's flow: in a tunnel, those inside. */
static inline u32 zrtt_packet_version(const struct zrtt_packet *p)
{
	return p->inner_off ? p->inner_version : p->version;
}

/* The offset of addresses in an IP header at @ip_off, the source's first; @version is 4 or 6. */
static inline u32 zrtt_ip_addresses(u32 ip_off, u32 version)
{
	return ip_off + (version == 4 ? ZRTT_IPV4_ADDRESSES : ZRTT_IPV6_ADDRESSES);
}

/* That of the flow's. */
static inline u32 zrtt_packet_addresses(const struct zrtt_packet *p)
{
	return zrtt_ip_addresses(p->inner_off ? p->inner_off : p->ip_off,
				 zrtt_packet_version(p));
}

/* That of the hosts': in a tunnel, those outside, as its sender may write inside what it likes. */
static inline u32 zrtt_packet_hosts(const struct zrtt_packet *p)
{
	return zrtt_ip_addresses(p->ip_off, p->version);
}

/**
 * struct zrtt_bytes - the bytes of a packet that may be read
 * @data: the first of them
 * @len: their number
 * @cut: zrtt_has() was asked for more
 */
struct zrtt_bytes {
	const u8 *data;
	u32 len;
	bool cut;
};

static inline bool zrtt_has(struct zrtt_bytes *b, u32 off, u32 len)
{
	if (off + len <= b->len)
		return true;
	b->cut = true;
	return false;
}

static inline u32 zrtt_get32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

/* High bits of a TCP packet's sequence number as they lie in it; 0 if it is not TCP. */
static inline u16 zrtt_tcp_seq_high(const struct zrtt_packet *p, const u8 *data)
{
	u16 high;

	if (!p->tcp_flags)
		return 0;
	__builtin_memcpy(&high, data + p->l4_off + 4, sizeof(high));
	return high;
}

/* Sequence and acknowledgment number of a TCP packet whose flags were found. */
static inline u32 zrtt_tcp_seq(const struct zrtt_packet *p, const u8 *data)
{
	return zrtt_get32(data + p->l4_off + 4);
}

static inline u32 zrtt_tcp_ack(const struct zrtt_packet *p, const u8 *data)
{
	return zrtt_get32(data + p->l4_off + 8);
}

/* How long its header is, with options. */
static inline u32 zrtt_tcp_header_bytes(const struct zrtt_packet *p, const u8 *data)
{
	return (data[p->l4_off + 12] >> 4) * 4;
}

/* Where a packet with an IP header ends by what that says: a frame may be padded. ~0 = not said, as
 * of a jumbogram.
 */
static inline u32 zrtt_packet_end(const struct zrtt_packet *p, const u8 *data)
{
	const u8 *ip = data + p->ip_off;
	u32 len = zrtt_hint_get16(ip + (p->version == 4 ? 2 : 4));

	if (!len)
		return ~0U;
	return p->ip_off + len + (p->version == 4 ? 0 : ZRTT_IPV6_BYTES);
}

/* The first hint of a packet counts. */
static inline bool zrtt_wants_hint(const struct zrtt_wanted *wanted,
				   const struct zrtt_packet *p)
{
	return wanted->hint && !p->hint_units;
}

/* Note what was found in the options at @area_off. */
static inline void zrtt_note_hint(struct zrtt_packet *p, enum zrtt_hint_status status,
				  const struct zrtt_hint *hint, u32 area_off)
{
	p->hint_bad |= status == ZRTT_HINT_BAD;
	if (status != ZRTT_HINT_OK)
		return;
	p->hint_units = hint->units;
	p->hint_off = (u16)(area_off + hint->off);
	p->hint_len = hint->len;
}

/* Timestamps among @len bytes of TCP options; each step consumes a byte or more. */
static inline void zrtt_parse_timestamps(struct zrtt_packet *p, const u8 *area,
					 u32 len)
{
	u32 off = 0;

	while (off + ZRTT_TIMESTAMPS_LEN <= len && area[off]) {
		u8 step = area[off + 1];

		if (area[off] == 1) {
			off++;
			continue;
		}
		if (area[off] == ZRTT_TIMESTAMPS_KIND && step == ZRTT_TIMESTAMPS_LEN) {
			p->timed = true;
			p->tsval = zrtt_get32(area + off + 2);
			p->tsecr = zrtt_get32(area + off + 6);
			return;
		}
		if (step < 2)
			return;
		off += step;
	}
}

/* Is there a TCP-AO among @len bytes of options? Its MAC may cover the others, or not:
 * that is configured at both ends. That of RFC 2385 (MD5) never does.
 */
static inline bool zrtt_tcp_sealed(const u8 *area, u32 len)
{
	u32 off = 0;

	while (off + 1 < len && area[off]) {
		u8 step = area[off] == 1 ? 1 : area[off + 1];

		if (area[off] == ZRTT_TCP_AO_KIND)
			return true;
		if (!step || (step == 1 && area[off] != 1))
			return false;
		off += step;
	}
	return false;
}

static inline void zrtt_parse_tcp_options(struct zrtt_packet *p,
					  struct zrtt_bytes *b,
					  const struct zrtt_wanted *wanted, u32 off,
					  u32 len)
{
	const u8 *area = b->data + off;
	enum zrtt_hint_status status;
	struct zrtt_hint hint;

	if (!zrtt_has(b, off, len)) {
		p->hint_bad |= zrtt_wants_hint(wanted, p);
		return;
	}
	if (wanted->timestamps)
		zrtt_parse_timestamps(p, area, len);
	/* most packets have timestamps and nothing else */
	if (!zrtt_wants_hint(wanted, p) ||
	    (len == 2 + ZRTT_TIMESTAMPS_LEN && zrtt_get32(area) == ZRTT_TIMESTAMPS_WORD))
		return;
	status = zrtt_hint_tcp(area, len, &hint);
	zrtt_note_hint(p, status, &hint, off);
	p->hint_in_tcp = status == ZRTT_HINT_OK;
	p->sealed = p->hint_in_tcp && zrtt_tcp_sealed(area, len);
}

static inline void zrtt_parse_tcp(struct zrtt_packet *p, struct zrtt_bytes *b,
				  const struct zrtt_wanted *wanted, u32 off)
{
	u32 len;

	if (!zrtt_has(b, off, ZRTT_TCP_BYTES))
		return;
	p->tcp_flags = b->data[off + 13];
	len = (b->data[off + 12] >> 4) * 4;
	if (len > ZRTT_TCP_BYTES)
		zrtt_parse_tcp_options(p, b, wanted, off + ZRTT_TCP_BYTES,
				       len - ZRTT_TCP_BYTES);
}

static inline void zrtt_parse_ports(struct zrtt_packet *p, struct zrtt_bytes *b,
				    const struct zrtt_wanted *wanted, u32 off)
{
	switch (p->proto) {
	case ZRTT_PROTO_TCP:
	case ZRTT_PROTO_UDP:
	case ZRTT_PROTO_UDPLITE:
	case ZRTT_PROTO_DCCP:
	case ZRTT_PROTO_SCTP:
	case ZRTT_PROTO_ESP:	/* the SPI tells flows apart as ports do */
		break;
	default:
		return;
	}
	if (!zrtt_has(b, off, 4))
		return;
	p->l4_off = (u16)off;
	if (p->proto == ZRTT_PROTO_TCP)
		zrtt_parse_tcp(p, b, wanted, off);
}

/* The IP header at @off in a tunnel. Hints inside are not looked for: they may not be changed here. */
static inline void zrtt_parse_inner(struct zrtt_packet *p, struct zrtt_bytes *b,
				    const struct zrtt_wanted *wanted, u32 off, u8 version)
{
	const struct zrtt_wanted inner = { .timestamps = wanted->timestamps, .quic = wanted->quic };
	const u8 *ip = b->data + off;
	u32 len = ZRTT_IPV6_BYTES;

	if (!zrtt_has(b, off, version == 4 ? ZRTT_IPV4_BYTES : ZRTT_IPV6_BYTES) ||
	    ip[0] >> 4 != version)
		return;
	if (version == 4) {
		len = (ip[0] & 15) * 4;
		if (len < ZRTT_IPV4_BYTES)
			return;
	}
	p->inner_off = (u16)off;
	p->inner_version = version;
	p->proto = ip[version == 4 ? 9 : ZRTT_IPV6_NEXTHDR];
	if (version == 6 || !(zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT))
		zrtt_parse_ports(p, b, &inner, off + len);
}

/* The EtherType behind the VLAN tags at *@off, if @type says that there are some; *@off is moved
 * there. 0 = what may be read ends before.
 */
static inline u16 zrtt_skip_tags(struct zrtt_bytes *b, u16 type, u32 *off)
{
	u32 i;

	for (i = 0; i < ZRTT_VLAN_TAGS_MAX &&
	     (type == ZRTT_TYPE_VLAN || type == ZRTT_TYPE_QINQ); i++) {
		if (!zrtt_has(b, *off, ZRTT_VLAN_BYTES))
			return 0;
		type = zrtt_hint_get16(b->data + *off + 2);
		*off += ZRTT_VLAN_BYTES;
	}
	return type;
}

static inline void zrtt_parse_gre(struct zrtt_packet *p, struct zrtt_bytes *b,
				  const struct zrtt_wanted *wanted, u32 off)
{
	u16 flags, type;

	if (!zrtt_has(b, off, ZRTT_GRE_BYTES))
		return;
	flags = zrtt_hint_get16(b->data + off);
	type = zrtt_hint_get16(b->data + off + 2);
	if (flags & ~(ZRTT_GRE_CHECKSUM | ZRTT_GRE_KEY | ZRTT_GRE_SEQUENCE))
		return;
	off += ZRTT_GRE_BYTES + (flags & ZRTT_GRE_CHECKSUM ? 4 : 0) +
	       (flags & ZRTT_GRE_KEY ? 4 : 0) + (flags & ZRTT_GRE_SEQUENCE ? 4 : 0);
	if (type == ZRTT_TYPE_ETHERNET && zrtt_has(b, off, ZRTT_ETHERNET_BYTES)) {
		type = zrtt_hint_get16(b->data + off + ZRTT_ETHERNET_TYPE);
		off += ZRTT_ETHERNET_BYTES;
		type = zrtt_skip_tags(b, type, &off);
	}
	if (type == ZRTT_TYPE_IPV4 || type == ZRTT_TYPE_IPV6)
		zrtt_parse_inner(p, b, wanted, off, type == ZRTT_TYPE_IPV4 ? 4 : 6);
}

/* What follows all IP headers: ports, or a tunnel's packet. */
static inline void zrtt_parse_l4(struct zrtt_packet *p, struct zrtt_bytes *b,
				 const struct zrtt_wanted *wanted, u32 off)
{
	if (p->proto == ZRTT_PROTO_IPV4)
		zrtt_parse_inner(p, b, wanted, off, 4);
	else if (p->proto == ZRTT_PROTO_IPV6)
		zrtt_parse_inner(p, b, wanted, off, 6);
	else if (p->proto == ZRTT_PROTO_GRE)
		zrtt_parse_gre(p, b, wanted, off);
	else
		zrtt_parse_ports(p, b, wanted, off);
}

static inline void zrtt_parse_ipv4(struct zrtt_packet *p, struct zrtt_bytes *b,
				   const struct zrtt_wanted *wanted, u32 off)
{
	const u8 *ip = b->data + off;
	enum zrtt_hint_status status;
	struct zrtt_hint hint;
	u32 len;

	if (!zrtt_has(b, off, ZRTT_IPV4_BYTES) || ip[0] >> 4 != 4)
		return;
	len = (ip[0] & 15) * 4;
	if (len < ZRTT_IPV4_BYTES)
		return;
	p->ip_off = (u16)off;
	p->version = 4;
	p->ecn = ip[1] & 3;
	p->proto = ip[9];
	p->sealed = p->proto == ZRTT_PROTO_AH;

	if (len > ZRTT_IPV4_BYTES && wanted->hint) {
		status = zrtt_has(b, off, len) ?
			 zrtt_hint_ipv4(ip + ZRTT_IPV4_BYTES, len - ZRTT_IPV4_BYTES,
					wanted->ipv4_option, &hint) : ZRTT_HINT_BAD;
		zrtt_note_hint(p, status, &hint, off + ZRTT_IPV4_BYTES);
	}
	/* only the first fragment has ports: keep all of them together */
	if (!(zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT))
		zrtt_parse_l4(p, b, wanted, off + len);
}

/* A hop-by-hop or destination options header of @len bytes at @off. */
static inline void zrtt_parse_ipv6_options(struct zrtt_packet *p,
					   struct zrtt_bytes *b,
					   const struct zrtt_wanted *wanted, u32 off,
					   u32 len)
{
	u32 area_off = off + ZRTT_IPV6_OPT_BYTES;
	u32 total = len - ZRTT_IPV6_OPT_BYTES;
	u32 have = total < ZRTT_HINT_SCAN_BYTES ? total : ZRTT_HINT_SCAN_BYTES;
	enum zrtt_hint_status status;
	struct zrtt_hint hint;

	if (!zrtt_wants_hint(wanted, p))
		return;
	status = zrtt_has(b, area_off, have) ?
		 zrtt_hint_ipv6(b->data + area_off, have, total, &hint) :
		 ZRTT_HINT_BAD;
	zrtt_note_hint(p, status, &hint, area_off);
	if (p->hint_units && len == ZRTT_IPV6_EXT_MIN)
		p->ext_off = (u16)off;
}

/* May AH follow, whose checksum covers all headers before it? */
static inline bool zrtt_ipv6_sealed(struct zrtt_bytes *b, u32 off, u8 next)
{
	if (next == ZRTT_PROTO_FRAGMENT)
		next = zrtt_has(b, off, 1) ? b->data[off] : ZRTT_PROTO_AH;
	switch (next) {
	case ZRTT_PROTO_HOPOPTS:
	case ZRTT_PROTO_ROUTING:
	case ZRTT_PROTO_FRAGMENT:
	case ZRTT_PROTO_AH:
	case ZRTT_PROTO_DSTOPTS:
		return true;
	}
	return false;
}

static inline void zrtt_parse_ipv6(struct zrtt_packet *p, struct zrtt_bytes *b,
				   const struct zrtt_wanted *wanted, u32 off)
{
	const u8 *ip = b->data + off;
	u32 i, len;
	u8 next;

	if (!zrtt_has(b, off, ZRTT_IPV6_BYTES) || ip[0] >> 4 != 6)
		return;
	p->ip_off = (u16)off;
	p->version = 6;
	p->ecn = ip[1] >> 4 & 3;
	p->nexthdr_off = (u16)(off + ZRTT_IPV6_NEXTHDR);
	next = ip[ZRTT_IPV6_NEXTHDR];
	off += ZRTT_IPV6_BYTES;

	for (i = 0; i < ZRTT_IPV6_HEADERS_MAX; i++) {
		if ((next != ZRTT_PROTO_HOPOPTS && next != ZRTT_PROTO_DSTOPTS &&
		     next != ZRTT_PROTO_ROUTING) ||
		    !zrtt_has(b, off, ZRTT_IPV6_OPT_BYTES))
			break;
		len = (b->data[off + 1] + 1) * 8;
		if (next != ZRTT_PROTO_ROUTING)
			zrtt_parse_ipv6_options(p, b, wanted, off, len);
		if (!p->hint_units)
			p->nexthdr_off = (u16)off;
		next = b->data[off];
		off += len;
	}
	p->proto = next;
	p->sealed = p->hint_units && zrtt_ipv6_sealed(b, off, next);
	zrtt_parse_l4(p, b, wanted, off);
}

/* Does UDP carry a long header of QUIC? @payload has 5 bytes. Servers grease the fixed bit
 * in their first packet (RFC 9287).
 */
static inline bool zrtt_quic_begins(const u8 *payload)
{
	return payload[0] & ZRTT_QUIC_LONG && (zrtt_get32(payload + 1) == ZRTT_QUIC_V1 ||
					       zrtt_get32(payload + 1) == ZRTT_QUIC_V2);
}

/* Is there nothing to look for in TCP's or UDP's header, of which @room bytes can be
 * read, ZRTT_TCP_BYTES or more? In TCP's there is if it has other options than
 * timestamps, or if it matters whether it has these; in UDP's if QUIC begins.
 */
static inline bool zrtt_l4_plain(const struct zrtt_wanted *wanted, u8 proto,
				 const u8 *l4, u32 room)
{
	u32 words = l4[12] >> 4;

	if (unlikely(proto != ZRTT_PROTO_TCP))
		return proto == ZRTT_PROTO_UDP &&
		       !(wanted->quic && zrtt_quic_begins(l4 + ZRTT_UDP_BYTES));
	return !wanted->timestamps &&
	       (words <= ZRTT_TCP_BYTES / 4 ||
		(words == ZRTT_TCP_TIMED_BYTES / 4 && room >= ZRTT_TCP_TIMED_BYTES &&
		 zrtt_get32(l4 + ZRTT_TCP_BYTES) == ZRTT_TIMESTAMPS_WORD));
}

/* Set @p, but for what is said of timestamps and of where a hint of @units is, if the packet is
 * IPv4 and whole, its header has @len bytes, and there is nothing to look for in TCP's or UDP's.
 */
static __always_inline bool zrtt_plain_ipv4(struct zrtt_packet *p,
					    const struct zrtt_bytes *b, u32 off, u32 len,
					    u16 units, const struct zrtt_wanted *wanted)
{
	const u8 *ip = b->data + off, *l4 = ip + len;
	u8 proto = ip[9];

	if (unlikely(zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT ||
		     !zrtt_l4_plain(wanted, proto, l4, b->len - off - len)))
		return false;
	p->ip_off = (u16)off;
	p->l4_off = (u16)(off + len);
	p->inner_off = 0;
	/* side by side, and constant in most packets: one store */
	p->hint_units = units;
	p->version = 4;
	p->proto = proto;
	p->tcp_flags = proto == ZRTT_PROTO_TCP ? l4[13] : 0;
	p->ecn = ip[1] & 3;
	return true;
}

/**
 * zrtt_packet_plain() - the same as zrtt_packet_parse() for most packets, and quick
 * @p: set if it is one of them; what is said there of a hint and of timestamps is left
 *	as it was but for @hint_units, which is 0
 * @b: its first bytes
 * @type: EtherType of what is at @off
 * @off: network header
 * @wanted: what to look for
 *
 * Most packets are IPv4 and whole, without options, and UDP or TCP without options of
 * interest. No byte is asked for that TCP may lack: a segment of a GSO packet has its
 * headers in one piece and no more, an acknowledgment ends with them.
 *
 * Return: whether this packet is one.
 */
static __always_inline bool zrtt_packet_plain(struct zrtt_packet *p,
					      const struct zrtt_bytes *b, u16 type,
					      u32 off, const struct zrtt_wanted *wanted)
{
	if (unlikely(type != ZRTT_TYPE_IPV4 || off > ZRTT_PLAIN_OFF_MAX ||
		     b->len < off + ZRTT_IPV4_BYTES + ZRTT_TCP_BYTES ||
		     b->data[off] != ZRTT_IPV4_PLAIN))
		return false;
	return zrtt_plain_ipv4(p, b, off, ZRTT_IPV4_BYTES, 0, wanted);
}

/* The same for IPv4 with a hint and no other option. Sets all of @p. */
static inline bool zrtt_packet_hinted(struct zrtt_packet *p, const struct zrtt_bytes *b,
				      u16 type, u32 off,
				      const struct zrtt_wanted *wanted)
{
	const u8 *option = b->data + off + ZRTT_IPV4_BYTES;
	u16 units;

	if (type != ZRTT_TYPE_IPV4 || !wanted->hint || off > ZRTT_PLAIN_OFF_MAX ||
	    b->len < off + ZRTT_IPV4_BYTES + ZRTT_HINT_IPV4_LEN + ZRTT_TCP_BYTES ||
	    b->data[off] != ZRTT_IPV4_PLAIN + 1 ||
	    option[0] != wanted->ipv4_option || option[1] != ZRTT_HINT_IPV4_LEN)
		return false;
	units = zrtt_hint_get16(option + 2);
	if (!units || units > ZRTT_HINT_MAX)
		return false;
	*p = (struct zrtt_packet) {
		.hint_off = (u16)(off + ZRTT_IPV4_BYTES),
		.hint_len = ZRTT_HINT_IPV4_LEN,
	};
	return zrtt_plain_ipv4(p, b, off, ZRTT_IPV4_BYTES + ZRTT_HINT_IPV4_LEN, units, wanted);
}

/* The same for IPv6 without extension headers. Sets all of @p. */
static inline bool zrtt_packet_plain6(struct zrtt_packet *p, const struct zrtt_bytes *b,
				      u16 type, u32 off,
				      const struct zrtt_wanted *wanted)
{
	const u8 *ip = b->data + off, *l4 = ip + ZRTT_IPV6_BYTES;
	u32 l4_off = off + ZRTT_IPV6_BYTES;

	if (type != ZRTT_TYPE_IPV6 || off > ZRTT_PLAIN_OFF_MAX ||
	    b->len < l4_off + ZRTT_TCP_BYTES || ip[0] >> 4 != 6 ||
	    !zrtt_l4_plain(wanted, ip[ZRTT_IPV6_NEXTHDR], l4, b->len - l4_off))
		return false;
	*p = (struct zrtt_packet) {
		.ip_off = (u16)off,
		.l4_off = (u16)l4_off,
		.nexthdr_off = (u16)(off + ZRTT_IPV6_NEXTHDR),
		.version = 6,
		.proto = ip[ZRTT_IPV6_NEXTHDR],
		.tcp_flags = ip[ZRTT_IPV6_NEXTHDR] == ZRTT_PROTO_TCP ? l4[13] : 0,
		.ecn = ip[1] >> 4 & 3,
	};
	return true;
}

/**
 * zrtt_packet_parse() - find what the queue needs in a packet
 * @p: set
 * @b: its first bytes; of more than ZRTT_PACKET_BYTES, the rest is not looked at
 * @type: EtherType of what is at @off
 * @off: network header, or VLAN tag
 * @wanted: what to look for
 *
 * Reads nothing beyond @b, whatever the lengths in it say. Return: false if the
 * headers go on behind @b.
 */
static inline bool zrtt_packet_parse(struct zrtt_packet *p, const struct zrtt_bytes *b,
				     u16 type, u32 off,
				     const struct zrtt_wanted *wanted)
{
	struct zrtt_bytes head = {
		.data = b->data,
		.len = b->len < ZRTT_PACKET_BYTES ? b->len : ZRTT_PACKET_BYTES,
	};

	*p = (struct zrtt_packet) {};
	type = zrtt_skip_tags(&head, type, &off);
	if (type == ZRTT_TYPE_PPPOE && zrtt_has(&head, off, ZRTT_PPPOE_BYTES)) {
		p->pppoe = true;
		type = zrtt_hint_get16(head.data + off + ZRTT_PPPOE_PROTOCOL);
		type = type == ZRTT_PPP_IPV4 ? ZRTT_TYPE_IPV4 :
		       type == ZRTT_PPP_IPV6 ? ZRTT_TYPE_IPV6 : 0;
		off += ZRTT_PPPOE_BYTES;
	}
	if (type == ZRTT_TYPE_IPV4)
		zrtt_parse_ipv4(p, &head, wanted, off);
	else if (type == ZRTT_TYPE_IPV6)
		zrtt_parse_ipv6(p, &head, wanted, off);
	return !head.cut;
}

#endif
