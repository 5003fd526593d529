/* SPDX-License-Identifier: GPL-2.0 */
/* The quick way through a packet's headers must lead where the long one does. */
#ifndef _UNIT_PACKET_PLAIN_H
#define _UNIT_PACKET_PLAIN_H

#include <stddef.h>
#include <string.h>
#include <zrtt/packet.h>

/* Does zrtt_packet_plain() agree with @full, or leave the packet to it? */
static inline bool plain_agrees(const struct zrtt_packet *full,
				const struct zrtt_bytes *b, u16 type, u32 off,
				const struct zrtt_wanted *wanted)
{
	struct zrtt_packet p;

	if (!zrtt_packet_plain(&p, b, type, off, wanted))
		return true;
	return !memcmp(&p, full, offsetof(struct zrtt_packet, timed)) &&
	       p.timed == full->timed && p.tsval == full->tsval &&
	       p.tsecr == full->tsecr;
}

#endif
