/* SPDX-License-Identifier: GPL-2.0 */
/* The quick way through a packet's headers must lead where the long one does, and a
 * part of a packet that is enough must say what the whole does.
 */
#ifndef _UNIT_PACKET_PLAIN_H
#define _UNIT_PACKET_PLAIN_H

#include <stddef.h>
#include <string.h>
#include <zrtt/packet.h>

static inline bool same_packet(const struct zrtt_packet *a, const struct zrtt_packet *b)
{
	return !memcmp(a, b, offsetof(struct zrtt_packet, timed)) &&
	       a->timed == b->timed && a->tsval == b->tsval && a->tsecr == b->tsecr;
}

/* Does the @whole packet say what @part of it did? */
static inline bool parse_agrees(const struct zrtt_packet *part,
				const struct zrtt_bytes *whole, u16 type, u32 off,
				const struct zrtt_wanted *wanted)
{
	struct zrtt_packet p;

	zrtt_packet_parse(&p, whole, type, off, wanted);
	return same_packet(part, &p);
}

static inline bool is_plain(struct zrtt_packet *p, const struct zrtt_bytes *b,
			    u16 type, u32 off, const struct zrtt_wanted *wanted)
{
	*p = (struct zrtt_packet) {};
	return zrtt_packet_plain(p, b, type, off, wanted) ||
	       zrtt_packet_hinted(p, b, type, off, wanted) ||
	       zrtt_packet_plain6(p, b, type, off, wanted);
}

/* Does the quick way agree with @full, or leave the packet to it? */
static inline bool plain_agrees(const struct zrtt_packet *full,
				const struct zrtt_bytes *b, u16 type, u32 off,
				const struct zrtt_wanted *wanted)
{
	struct zrtt_packet p;

	return !is_plain(&p, b, type, off, wanted) || same_packet(&p, full);
}

#endif
