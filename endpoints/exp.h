/* SPDX-License-Identifier: GPL-2.0 */
/* EXP-TCP's window arithmetic; w0 is the window just after the last decrease. */
#ifndef _CC_EXP_H
#define _CC_EXP_H

#include "fixed.h"

/**
 * exp_ssthresh() - window after a loss, (1 - beta) w
 * @cwnd: window w, segments
 * @beta_milli: beta, 1/1000
 */
static inline u32 exp_ssthresh(u32 cwnd, u32 beta_milli)
{
	u32 reduced = (u32)div_u64((u64)cwnd * (CC_MILLI - beta_milli), CC_MILLI);

	return max(reduced, CC_MIN_WINDOW);
}

/**
 * exp_increase() - gamma (w - w0 + sqrt(w0)), which is gamma (1 - w0/w + sqrt(w0)/w) per ACK
 * @window_q16: w with its fraction, segments; below @w0 it is read as @w0
 * @w0: segments
 * @root_q16: square root of @w0
 * @gamma_milli: gamma, 1/1000
 *
 * Return: segments per round trip, Q32.
 */
static inline u64 exp_increase(u64 window_q16, u32 w0, u32 root_q16, u32 gamma_milli)
{
	u64 w0_q16 = (u64)w0 << CC_Q16;
	u64 above_q16 = window_q16 > w0_q16 ? window_q16 - w0_q16 : 0;

	return mul_u64_u32_div((above_q16 + root_q16) << CC_Q16, gamma_milli, CC_MILLI);
}

#endif
