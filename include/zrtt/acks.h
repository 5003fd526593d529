/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Half of a connection's RTT from acknowledgments of its data, with TCP timestamps or without.
 *
 * These do not say which packet they answer. So data are a probe only where they pass for the first
 * time, and it is given up when some pass again: the receiver may have waited for these (Karn and
 * Partridge, Improving Round-Trip Time Estimates in Reliable Transport Protocols, 1987). Which data
 * are which zrtt/loss.h knows of what leaves for a line beyond the router. Any packet may be a
 * probe, and each is answered; one by timestamps waits for a new TSval, and who acknowledges two
 * packets echoes the older one's.
 *
 * Connections have slots as in zrtt/halves.h, beside those of their timestamps. The sequence number
 * that follows a packet's data is there what a TSval is, and the number that is acknowledged what
 * TSecr is.
 */
#ifndef _ZRTT_ACKS_H
#define _ZRTT_ACKS_H

#include <linux/types.h>
#include "halves.h"

#define ZRTT_ACKS_TAG	0x5a5a5a5aU

/* The tag of a connection's slot. */
static inline u32 zrtt_acks_tag(u32 conn)
{
	u32 tag = conn ^ ZRTT_ACKS_TAG;

	return tag + !tag;
}

/**
 * zrtt_acks_send() - data leave for the first time
 * @set: the connection's set
 * @pkt: whose @tsval is the sequence number that follows them; its @tsecr is not read
 * @now_us: clock, wraps
 * @epoch: the same in epochs
 *
 * They are a probe, unless one is away.
 */
static inline void zrtt_acks_send(struct zrtt_conn *set, const struct zrtt_echo *pkt, u32 now_us,
				  u32 epoch)
{
	struct zrtt_conn *conn = zrtt_conn_take(set, pkt->tag, (u16)epoch);
	bool away = conn->probe[pkt->way] &&
		    now_us - conn->half[pkt->way].since_us <= ZRTT_PROBE_MAX_US;

	if (!away)
		zrtt_conn_ask(conn, pkt, ZRTT_PROBE_FLYING, now_us);
}

/* Data of direction @way leave that may have done so before: the probe is given up. */
static inline void zrtt_acks_give_up(struct zrtt_conn *set, u32 tag, u8 way)
{
	struct zrtt_conn *conn = zrtt_conn_known(set, tag);

	if (conn)
		conn->probe[way] = ZRTT_PROBE_NONE;
}

/**
 * zrtt_acks_arrive() - a packet with an acknowledgment comes to one of the queues
 * @set: the connection's set
 * @pkt: whose @tsecr is the sequence number that is waited for; its @tsval is not read
 * @now_us: clock, wraps
 */
static inline void zrtt_acks_arrive(struct zrtt_conn *set, struct zrtt_echo *pkt, u32 now_us)
{
	struct zrtt_conn *conn = zrtt_conn_known(set, pkt->tag);
	u32 tsval;

	if (!conn)
		return;
	/* all data before it have come, and the probe with them */
	tsval = conn->half[!pkt->way].tsval;
	if (pkt->tsecr - tsval <= ZRTT_PROBE_TICKS)
		pkt->tsecr = tsval;
	zrtt_conn_answer(conn, pkt, now_us);
}

#endif
