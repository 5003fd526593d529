/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PRTO: the P_i that equalises the throughput of Padhye et al. 1998, eq. (2) of the paper.
 */
#ifndef _ZRTT_PADHYE_H
#define _ZRTT_PADHYE_H

#include <linux/types.h>
#include "fixed.h"

/* Padhye et al. 1998: T_o >= Linux's minimum RTO */
#define ZRTT_PADHYE_RTO_MIN_US	200000
#define ZRTT_PADHYE_STEPS	16	/* bisections: log2(P_i) to 2^-12 */
#define ZRTT_PADHYE_LOG_MIN	(-(24 << ZRTT_Q16))

/*
 * Padhye et al. 1998, eq. (2) of the paper, inverted: the mean time per packet,
 *
 *   RTT sqrt(2bp/3) + T_o min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2)
 *
 * with b = 2 (packets per ACK) and T_o = max(200 ms, 4 RTT). @log_p: log2(p), Q16, at most 0.
 * Return: microseconds, Q16; grows with RTT and with p.
 */
static inline u64 zrtt_padhye_time(u32 rtt_us, s32 log_p)
{
	/* log2 of 2b/3 and 27b/8, Q16 */
	const s32 log_2b_3 = 27200, log_27b_8 = 180544;
	u32 rto_us = 4 * rtt_us;
	u32 fast_q16 = zrtt_exp2((log_p + log_2b_3) / 2);
	u32 timeout_q16 = zrtt_exp2((log_p + log_27b_8) / 2);
	u64 p_q30 = zrtt_exp2(log_p + ((ZRTT_P_SHIFT - ZRTT_Q16) << ZRTT_Q16));
	u64 p3_q30 = (((p_q30 * p_q30) >> ZRTT_P_SHIFT) * p_q30) >> ZRTT_P_SHIFT;
	u64 tail_q30 = p_q30 + 32 * p3_q30;

	if (rto_us < ZRTT_PADHYE_RTO_MIN_US)
		rto_us = ZRTT_PADHYE_RTO_MIN_US;
	if (timeout_q16 > ZRTT_Q16_ONE)
		timeout_q16 = ZRTT_Q16_ONE;
	tail_q30 = (tail_q30 * timeout_q16) >> ZRTT_Q16;
	return (u64)rtt_us * fast_q16 +
	       ((tail_q30 * rto_us) >> (ZRTT_P_SHIFT - ZRTT_Q16));
}

/**
 * zrtt_padhye_log_weight() - PRTO: P_i / P_b that equalises Padhye's throughput
 * @rtt_us: RTT_i, own queue included
 * @rtt_avg_us: RTT_avg, own queue included
 * @p_q30: P_b
 *
 * No closed form: ZRTT_PADHYE_STEPS bisections on log2(P_i).
 * Return: log2 of the weight, Q16; P_i saturates at 1.
 */
static noinline __maybe_unused s32
zrtt_padhye_log_weight(u32 rtt_us, u32 rtt_avg_us, u32 p_q30)
{
	s32 log_p = zrtt_log2(p_q30) - (ZRTT_P_SHIFT << ZRTT_Q16);
	s32 low = ZRTT_PADHYE_LOG_MIN, high = 0;
	u64 wanted;
	u32 i;

	if (log_p < ZRTT_PADHYE_LOG_MIN)
		return 0;
	wanted = zrtt_padhye_time(rtt_avg_us, log_p);
	for (i = 0; i < ZRTT_PADHYE_STEPS; i++) {
		s32 middle = (low + high) / 2;

		if (zrtt_padhye_time(rtt_us, middle) < wanted)
			low = middle;
		else
			high = middle;
	}
	return high - log_p;
}

#endif
