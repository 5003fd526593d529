/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tick of the controller, and of the law behind it: how long packets wait, and for how long
 * they are to.
 */
#ifndef _ZRTT_CONTROL_H
#define _ZRTT_CONTROL_H

#include <linux/types.h>
#include <linux/math64.h>
#include "flow.h"
#include "table.h"
#include "controller.h"
#include "law.h"

/* Of two packets on their way or fewer the sender answers no mark, and a loss by a timeout (400
 * flows on 20 Mbit/s: 37 % of the packets dropped). With 3 in place of 2.25, 200 flows drop 4 and
 * not 12 %, but wait 157 and not 70 ms, and web pages beside them take as long.
 */
#define ZRTT_FILL_QUARTERS	9

/* Packets in bulk may be small: of a line that is 40 times as fast down as up, most are ACKs. The
 * sums that say so fade by 2^-6 per update: they are of the last second.
 */
#define ZRTT_SIZES_SHIFT	6

/* As many full packets in an epoch say at what rate they leave. */
#define ZRTT_WAIT_BYTES		(32 * ZRTT_FULL_PACKET)

/* The time that @bytes take at @rate, bytes per epoch, above 0: 0 .. ZRTT_SOJOURN_MAX_US. */
static inline u32 zrtt_bytes_us(u64 bytes, u64 rate)
{
	u64 us = div64_u64(bytes * ZRTT_EPOCH_US, rate);

	return us < ZRTT_SOJOURN_MAX_US ? (u32)us : ZRTT_SOJOURN_MAX_US;
}

/* A packet of @bytes left bulk. */
static inline void zrtt_law_left(struct zrtt_law *law, u32 bytes)
{
	law->sum_bytes += bytes;
	law->sum_squares += (u64)bytes * bytes;
}

/**
 * zrtt_law_packet() - what a flow's packets have, the mean over flows that have the same rate
 * @law: state
 *
 * Such flows have as many bytes each, not as many packets: it is the mean over bytes, of the length
 * of the packet that a byte is in. A GSO packet counts as a full one.
 *
 * Return: bytes, 1 .. ZRTT_FULL_PACKET; that where no packet left.
 */
static inline u32 zrtt_law_packet(const struct zrtt_law *law)
{
	u64 bytes = law->sum_bytes ? div64_u64(law->sum_squares, law->sum_bytes) : 0;

	return bytes && bytes < ZRTT_FULL_PACKET ? (u32)bytes : ZRTT_FULL_PACKET;
}

/**
 * zrtt_fill_us() - the sojourn that gives a flow ZRTT_FILL_QUARTERS of packets on its way
 * @rate: the flow's rate, bytes per epoch, 0 = not known
 * @packet: length of its packets, bytes
 * @rtt_us: its RTT without our queue
 *
 * Return: 0 .. ZRTT_SOJOURN_MAX_US; 0 where the RTT is enough, or @rate is not known.
 */
static inline u32 zrtt_fill_us(u32 rate, u32 packet, u32 rtt_us)
{
	u32 us = rate ? zrtt_bytes_us(ZRTT_FILL_QUARTERS * packet / 4, rate) : 0;

	return us > rtt_us ? us - rtt_us : 0;
}

/**
 * zrtt_wait_us() - how long a packet that joins bulk now will wait
 * @backlog: bytes queued there
 * @rate: bytes that left it in the last epoch
 *
 * The age of the head is what the queue was when that came: of one that gets shorter it is known a
 * queue too late. Where bulk had little to send in that epoch, this is far too long; where few
 * packets left, it is not known well enough.
 * Return: 0 .. ZRTT_SOJOURN_MAX_US
 */
static inline u32 zrtt_wait_us(u64 backlog, u64 rate)
{
	return rate >= ZRTT_WAIT_BYTES ? zrtt_bytes_us(backlog, rate) : ZRTT_SOJOURN_MAX_US;
}

/**
 * zrtt_control() - a tick of the controller, and of the law behind it
 * @params: parameters of the controller
 * @law_params: of the law
 * @ctl: P_b
 * @law: state
 * @sums: of all flows
 * @flow_rate: what the usual flow has, bytes per epoch; see zrtt_mean_rate()
 * @sojourn_us: see zrtt_ctl_sojourn(); 0 = none waits
 * @packet_us: see zrtt_ctl_foresee()
 * @queue_us: smoothed sojourn
 * @late_ns: how late the tick is
 */
static inline void zrtt_control(const struct zrtt_ctl_params *params,
				const struct zrtt_law_params *law_params,
				struct zrtt_ctl *ctl, struct zrtt_law *law,
				const struct zrtt_sums *sums, u32 flow_rate, u32 sojourn_us,
				u32 packet_us, u32 queue_us, u64 late_ns)
{
	u32 elapsed_us = zrtt_ctl_elapsed_us(params, late_ns);

	zrtt_ctl_follow(params, ctl,
			zrtt_fill_us(flow_rate, zrtt_law_packet(law), law->rtt_avg_us));
	law->sum_bytes -= law->sum_bytes >> ZRTT_SIZES_SHIFT;
	law->sum_squares -= law->sum_squares >> ZRTT_SIZES_SHIFT;
	zrtt_ctl_heed_young(ctl, zrtt_young_q16(sums));
	if (law_params->tuned && params->kind == ZRTT_CTL_PI2)
		zrtt_ctl_foresee(ctl, sojourn_us, elapsed_us, packet_us, law->rtt_avg_us);
	else
		ctl->falls = false;
	zrtt_ctl_tick(params, ctl, sojourn_us, elapsed_us);
	zrtt_law_tick(law_params, law, sums, ctl->p_q30, ctl->p_avg_q30, queue_us);
}

#endif
