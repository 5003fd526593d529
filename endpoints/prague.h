/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a scalable congestion control. Windows are in segments, Q32;
 * alpha, the average share of marked segments, is 0 .. 1, Q20.
 */
#ifndef _CC_PRAGUE_H
#define _CC_PRAGUE_H

#include "fixed.h"

#define PRAGUE_ALPHA_BITS	20
#define PRAGUE_ALPHA_ONE	(1U << PRAGUE_ALPHA_BITS)

/**
 * prague_alpha() - DCTCP.Alpha (1 - g) + g M, RFC 8257, section 3.3
 * @alpha: Q20
 * @delivered: segments delivered in the last round, at least 1
 * @marked: of these, segments that were CE; read as @delivered if there are more
 * @shift: g is 2^-shift, 0 .. 10
 *
 * Return: the new alpha, Q20.
 */
static inline u32 prague_alpha(u32 alpha, u32 delivered, u32 marked, u32 shift)
{
	u32 share = div_u64((u64)min(marked, delivered) << PRAGUE_ALPHA_BITS, delivered);

	return alpha - (alpha >> shift) + (share >> shift);
}

/**
 * prague_reduced() - window after marks, w (1 - alpha / 2), RFC 8257, section 3.3
 * @window_q32: w
 * @alpha: Q20
 *
 * Return: segments, Q32; at least CC_MIN_WINDOW.
 */
static inline u64 prague_reduced(u64 window_q32, u32 alpha)
{
	u64 cut = (window_q32 >> (PRAGUE_ALPHA_BITS + 1)) * alpha;

	return max(window_q32 - cut, (u64)CC_MIN_WINDOW << 32);
}

/**
 * prague_scale() - (RTT / RTT_virt)^2, by which the increase of an ACK is reduced
 * @rtt_us: RTT
 * @virt_us: RTT_virt, the least RTT that the sender behaves as if it had
 *
 * With one segment per RTT_virt in place of one per RTT, the rates of flows whose RTTs
 * are below RTT_virt are equal (draft-briscoe-iccrg-prague-congestion-control, 2.4.4).
 *
 * Return: Q16, 0 .. 1.
 */
static inline u32 prague_scale(u32 rtt_us, u32 virt_us)
{
	u32 ratio;

	if (rtt_us >= virt_us)
		return CC_Q16_ONE;
	ratio = div_u64((u64)rtt_us << CC_Q16, virt_us);
	return (u64)ratio * ratio >> CC_Q16;
}

/**
 * prague_increase() - growth of the window in congestion avoidance
 * @unmarked: segments that were acknowledged without a mark
 * @cwnd: window, segments, at least 1
 * @scale: prague_scale()
 *
 * Return: segments, Q32: unmarked / cwnd, scaled.
 */
static inline u64 prague_increase(u32 unmarked, u32 cwnd, u32 scale)
{
	return div_u64(((u64)unmarked * scale) << CC_Q16, cwnd);
}

#endif
