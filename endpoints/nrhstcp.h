/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NR-HSTCP's window arithmetic: HighSpeed TCP's functions (RFC 3649) of the window
 * that a flow of the same rate would have at 100 ms and 1500-byte packets.
 *
 * All factors are powers and products, so logarithms are used.
 */
#ifndef _CC_NRHSTCP_H
#define _CC_NRHSTCP_H

#include "fixed.h"

/* Logarithms, base 2, Q16. */
#define NRHSTCP_LOG2_RTT	1088529	/* 100 ms, in us */
#define NRHSTCP_LOG2_BYTES	691454	/* 1500 */
#define NRHSTCP_LOG2_LOW	343928	/* Low_Window, 38 */
#define NRHSTCP_LOG2_RANGE	726984	/* High_Window / Low_Window, 83000 / 38 */
#define NRHSTCP_LOG2_A		(-175662) /* 2 p(w) w^1.2 = 2 * 0.078 */

/* b(w), Q16 */
#define NRHSTCP_B_LOW		(CC_Q16_ONE / 2)	/* at Low_Window */
#define NRHSTCP_B_HIGH		(CC_Q16_ONE / 10)	/* at High_Window */

/**
 * nrhstcp_log2_norm() - equation (5), the normalised window cwnd MSS/RTT 100ms/1500B
 * @cwnd: segments
 * @bytes: of a packet, headers included: RFC 3649 means 1500 of Ethernet
 * @rtt_us: round-trip time
 *
 * Return: its log2, Q16.
 */
static inline s32 nrhstcp_log2_norm(u32 cwnd, u32 bytes, u32 rtt_us)
{
	return cc_log2(cwnd) + cc_log2(bytes) - cc_log2(rtt_us) +
	       NRHSTCP_LOG2_RTT - NRHSTCP_LOG2_BYTES;
}

/**
 * nrhstcp_b() - equation (1), share of the window given up at a loss
 * @log2_norm: the normalised window, see nrhstcp_log2_norm()
 *
 * Return: b, Q16, 0.1 .. 1; above 1/2 below Low_Window.
 */
static inline u32 nrhstcp_b(s32 log2_norm)
{
	s64 b = (s64)(log2_norm - NRHSTCP_LOG2_LOW) * (NRHSTCP_B_LOW - NRHSTCP_B_HIGH);

	b = NRHSTCP_B_LOW - div_s64(b, NRHSTCP_LOG2_RANGE);
	return (u32)clamp_t(s64, b, NRHSTCP_B_HIGH, CC_Q16_ONE);
}

/**
 * nrhstcp_increase() - equations (2), (3), (7) and (9)
 * @cwnd: segments
 * @bytes: of a packet
 * @rtt_us: round-trip time
 *
 * a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), p(w) = 0.078 / w^1.2, also for a window below
 * Low_Window, which makes a slow flow behave like Reno.
 *
 * Return: segments per round trip, Q32, at least 1 and at most @cwnd.
 */
static inline u64 nrhstcp_increase(u32 cwnd, u32 bytes, u32 rtt_us)
{
	s32 norm = nrhstcp_log2_norm(cwnd, bytes, rtt_us);
	u32 b = nrhstcp_b(norm);
	s32 a = norm - norm / 5 + NRHSTCP_LOG2_A +	/* w^2 / w^1.2 = w^0.8 */
		cc_log2(b) - cc_log2(2 * CC_Q16_ONE - b);
	u64 increase = cc_exp2(a + NRHSTCP_LOG2_BYTES - cc_log2(bytes) +
			       2 * (cc_log2(rtt_us) - NRHSTCP_LOG2_RTT));

	return clamp(increase, CC_Q32_ONE, cwnd * CC_Q32_ONE);
}

/**
 * nrhstcp_ssthresh() - equations (6) and (8): the window after a loss
 * @cwnd: segments
 * @bytes: of a packet
 * @rtt_us: round-trip time
 *
 * Return: (1 - b) w, b at most 1/2.
 */
static inline u32 nrhstcp_ssthresh(u32 cwnd, u32 bytes, u32 rtt_us)
{
	u32 b = min(nrhstcp_b(nrhstcp_log2_norm(cwnd, bytes, rtt_us)), NRHSTCP_B_LOW);
	u32 reduced = (u32)(((u64)cwnd * (CC_Q16_ONE - b)) >> CC_Q16);

	return max(reduced, CC_MIN_WINDOW);
}

#endif
