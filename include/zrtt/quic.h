/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a datagram of QUIC shows to a router: which packets are in it (RFC 9000 sec. 17.2,
 * RFC 9369 sec. 3.2), and the spin bit (RFC 9000 sec. 17.4).
 *
 * Nothing of it is encrypted, and nothing authenticated: no length is believed.
 */
#ifndef _ZRTT_QUIC_H
#define _ZRTT_QUIC_H

#include <linux/types.h>
#include "hint.h"
#include "packet.h"

#define ZRTT_QUIC_SPIN_BIT	0x20	/* of a short header */
#define ZRTT_QUIC_CID_MAX	20	/* RFC 9000 sec. 17.2 */
#define ZRTT_QUIC_CID_CLIENT	8	/* a client's first destination has more, or as many: sec. 7.2 */
#define ZRTT_QUIC_PADDED	1200	/* a client's datagram with an Initial: sec. 14.1 */
#define ZRTT_QUIC_VERSION_END	5	/* offset behind the version */
#define ZRTT_QUIC_COALESCED	4	/* packets of a datagram that are looked at: sec. 12.2 */

/**
 * enum zrtt_quic_kind - what a datagram holds
 * @ZRTT_QUIC_NOTHING: no QUIC of a known version, or malformed
 * @ZRTT_QUIC_SHORT: a packet with a short header, 1-RTT
 * @ZRTT_QUIC_INITIAL: an Initial, and no Handshake
 * @ZRTT_QUIC_HELLO: the same, as only a client begins
 * @ZRTT_QUIC_INITIAL_HANDSHAKE: an Initial and a Handshake
 * @ZRTT_QUIC_HANDSHAKE: a Handshake without an Initial in front
 * @ZRTT_QUIC_OTHER: 0-RTT or Retry
 */
enum zrtt_quic_kind {
	ZRTT_QUIC_NOTHING,
	ZRTT_QUIC_SHORT,
	ZRTT_QUIC_INITIAL,
	ZRTT_QUIC_HELLO,
	ZRTT_QUIC_INITIAL_HANDSHAKE,
	ZRTT_QUIC_HANDSHAKE,
	ZRTT_QUIC_OTHER,
};

/* Types of long headers, as v1 numbers them */
enum zrtt_quic_type {
	ZRTT_QUIC_TYPE_INITIAL,
	ZRTT_QUIC_TYPE_0RTT,
	ZRTT_QUIC_TYPE_HANDSHAKE,
	ZRTT_QUIC_TYPE_RETRY,
};

/**
 * struct zrtt_quic_long - a packet with a long header
 * @type: enum zrtt_quic_type
 * @dcid_len: length of the destination connection ID
 * @end: offset behind the packet, 0 = not known
 */
struct zrtt_quic_long {
	u8 type;
	u8 dcid_len;
	u32 end;
};

/* Read a variable-length integer (sec. 16) at @off, and move behind it. Return: false if it
 * is not within @have bytes, or above 2^30, which no length is.
 */
static inline bool zrtt_quic_number(const u8 *p, u32 have, u32 *off, u32 *number)
{
	u32 i, len;

	if (*off >= have)
		return false;
	len = 1U << (p[*off] >> 6);
	if (len > 4 || have - *off < len)
		return false;
	*number = p[*off] & 0x3f;
	for (i = 1; i < len; i++)
		*number = *number << 8 | p[*off + i];
	*off += len;
	return true;
}

/* Where a packet ends whose connection IDs end at @off, 0 if that is not to be read. */
static inline u32 zrtt_quic_end(const u8 *p, u32 have, u32 off, u8 type)
{
	u32 number;

	if (type == ZRTT_QUIC_TYPE_RETRY)
		return 0;
	if (type == ZRTT_QUIC_TYPE_INITIAL) {
		if (!zrtt_quic_number(p, have, &off, &number))
			return 0;
		off += number;
	}
	return zrtt_quic_number(p, have, &off, &number) ? off + number : 0;
}

/**
 * zrtt_quic_header() - read a long header
 * @p: it
 * @have: bytes that may be read
 * @len: bytes up to the end of the datagram, @have or more
 * @found: set if there is one
 *
 * The fixed bit may be greased (RFC 9287). Return: whether there is one
 * of a known version.
 */
static inline bool zrtt_quic_header(const u8 *p, u32 have, u32 len,
				    struct zrtt_quic_long *found)
{
	u32 version, off = ZRTT_QUIC_VERSION_END;
	u8 scid_len;

	if (have < off + 2 || !(p[0] & ZRTT_QUIC_LONG))
		return false;
	version = zrtt_get32(p + 1);
	if (version != ZRTT_QUIC_V1 && version != ZRTT_QUIC_V2)
		return false;
	found->type = (u8)((p[0] >> 4) - (version == ZRTT_QUIC_V2)) & 3;
	found->dcid_len = p[off++];
	if (found->dcid_len > ZRTT_QUIC_CID_MAX || off + found->dcid_len >= have)
		return false;
	off += found->dcid_len;
	scid_len = p[off++];
	if (scid_len > ZRTT_QUIC_CID_MAX || off + scid_len >= len)
		return false;
	off += scid_len;
	found->end = off < have ? zrtt_quic_end(p, have, off, found->type) : 0;
	return found->end <= len;
}

/* Is there a Handshake among the packets that begin at @off? */
static inline bool zrtt_quic_handshake_at(const u8 *p, u32 have, u32 len, u32 off)
{
	struct zrtt_quic_long next;
	u32 i;

	for (i = 0; i < ZRTT_QUIC_COALESCED && off && off < have; i++) {
		if (!zrtt_quic_header(p + off, have - off, len - off, &next))
			return false;
		if (next.type == ZRTT_QUIC_TYPE_HANDSHAKE)
			return true;
		off = next.end ? off + next.end : 0;
	}
	return false;
}

/**
 * zrtt_quic_kind() - what a datagram holds
 * @p: its first byte behind the header of UDP
 * @have: bytes that may be read
 * @len: its length by the header of UDP
 *
 * Of a UDP GSO packet, what its first segment holds.
 */
static inline enum zrtt_quic_kind zrtt_quic_kind(const u8 *p, u32 have, u32 len)
{
	struct zrtt_quic_long first;

	if (have > len)
		have = len;
	if (!have)
		return ZRTT_QUIC_NOTHING;
	if (!(p[0] & ZRTT_QUIC_LONG))
		return ZRTT_QUIC_SHORT;
	if (!zrtt_quic_header(p, have, len, &first))
		return ZRTT_QUIC_NOTHING;
	if (first.type == ZRTT_QUIC_TYPE_HANDSHAKE)
		return ZRTT_QUIC_HANDSHAKE;
	if (first.type != ZRTT_QUIC_TYPE_INITIAL)
		return ZRTT_QUIC_OTHER;
	if (zrtt_quic_handshake_at(p, have, len, first.end))
		return ZRTT_QUIC_INITIAL_HANDSHAKE;
	return len >= ZRTT_QUIC_PADDED && first.dcid_len >= ZRTT_QUIC_CID_CLIENT ?
	       ZRTT_QUIC_HELLO : ZRTT_QUIC_INITIAL;
}

/* The length of UDP's payload as its header has it, 0 if that is less than the header. */
static inline u32 zrtt_udp_payload(const u8 *udp)
{
	u32 len = zrtt_hint_get16(udp + ZRTT_UDP_LENGTH);

	return len > ZRTT_UDP_BYTES ? len - ZRTT_UDP_BYTES : 0;
}

#endif
