/* SPDX-License-Identifier: GPL-2.0 */
/* TCP Libra's arithmetic: capacity by packet pairs, penalty, alpha, window. */
#ifndef _CC_LIBRA_H
#define _CC_LIBRA_H

#include "fixed.h"

#define LIBRA_MAX_RTT_US	(64U << 20)	/* 67 s: above is read as this */
#define LIBRA_LOG2_E		94548U		/* log2(e), Q16 */
#define LIBRA_KBPS_PER_MBPS	1000U
#define LIBRA_KBPS_OF_RATE	8000ULL		/* kbit/s of a byte per us */
/* An ACK has less than a 16th of the bytes that it acknowledges: a queue on the return path
 * that takes 16 times as long as the pair may have compressed the pair.
 */
#define LIBRA_COMPRESSION		16U
/* Segments of a pair: TCP stamps what it sends in one burst with one time. */
#define LIBRA_TOGETHER_US	1
/* Delayed ACKs take at least this: Linux's timer is 40 ms, less a tick of 10 ms. */
#define LIBRA_PROMPT_US		(25U * CC_US_PER_MS)

/**
 * struct libra_probe - CapProbe: the capacity of the narrow link from packet pairs
 * @acked_us:		arrival time of the last ACK
 * @rtt_us:		RTT of its last segment
 * @bytes:		bytes it acknowledged, 0 if it starts no pair
 * @least_sum_us:	least sum of the two RTTs of a pair, 0 if the next pair is accepted
 * @first_us:		the first of these
 * @apart_us:		time between its ACKs
 * @capacity_kbps:	estimate of that pair, 0 before the first pair
 */
struct libra_probe {
	u32	acked_us;
	u32	rtt_us;
	u32	bytes;
	u32	least_sum_us;
	u32	first_us;
	u32	apart_us;
	u32	capacity_kbps;
};

/**
 * libra_prompt() - whether the receiver sent an ACK without delay
 * @probe: state of the estimator
 * @now_us: time, may wrap
 * @segments: full segments acknowledged
 *
 * Two segments are acknowledged at once; a single one may wait for the next, or a timer.
 */
static inline bool libra_prompt(const struct libra_probe *probe, u32 now_us, u32 segments)
{
	return segments > 1 || now_us - probe->acked_us < LIBRA_PROMPT_US;
}

/**
 * libra_pair_is_better() - whether a pair gives a better estimate than the one before
 * @probe: state of the estimator, with the first RTT of the new pair
 * @kbps: estimate of the new pair
 * @sum_us: sum of its RTTs
 * @min_us: the least RTT so far
 *
 * The pair with the lesser sum does, unless one estimate is 16 times the other: that pair
 * was compressed, if it met a queue of that length.
 */
static inline bool libra_pair_is_better(const struct libra_probe *probe, u64 kbps, u32 sum_us,
					u32 min_us)
{
	u64 compressed_us = (u64)probe->apart_us * LIBRA_COMPRESSION;

	if (!probe->least_sum_us)
		return true;
	if (kbps > (u64)probe->capacity_kbps * LIBRA_COMPRESSION)
		return false;
	if (kbps * LIBRA_COMPRESSION < probe->capacity_kbps &&
	    probe->first_us > min_us + compressed_us)
		return true;
	return sum_us < probe->least_sum_us;
}

/**
 * libra_probe() - update the estimator with an ACK
 * @probe: state of the estimator
 * @now_us: time, may wrap
 * @rtt_us: RTT of the last segment acknowledged
 * @min_us: the least so far
 * @bytes: of all segments acknowledged, 0 if this ACK is unusable
 *
 * A pair is the last segments of two consecutive ACKs for as many bytes, sent together.
 * The second and those acknowledged with it took the time between the two ACKs on the
 * narrow link. A pair that met a queue took longer, so the pair with the least sum of
 * delays is used.
 */
static inline void libra_probe(struct libra_probe *probe, u32 now_us, u32 rtt_us,
			       u32 min_us, u32 bytes)
{
	u32 apart_us = now_us - probe->acked_us;
	u32 sent_apart_us = apart_us - (rtt_us - probe->rtt_us);
	u32 sum_us = probe->rtt_us + rtt_us;

	if (bytes && bytes == probe->bytes && apart_us &&
	    sent_apart_us <= LIBRA_TOGETHER_US) {
		u64 kbps = div_u64(bytes * LIBRA_KBPS_OF_RATE, apart_us);

		if (libra_pair_is_better(probe, kbps, sum_us, min_us)) {
			probe->least_sum_us = sum_us;
			probe->first_us = probe->rtt_us;
			probe->apart_us = apart_us;
			probe->capacity_kbps = (u32)min_t(u64, kbps, U32_MAX);
		}
	}
	probe->acked_us = now_us;
	probe->rtt_us = rtt_us;
	probe->bytes = bytes;
}

/**
 * libra_distrust_capacity() - discard an estimate that the connection itself exceeds
 * @probe: state of the estimator
 * @bytes: delivered; a quarter may be measurement error
 * @interval_us: within this time
 *
 * The pair met other packets, or the path has changed.
 */
static inline void libra_distrust_capacity(struct libra_probe *probe, u64 bytes, u32 interval_us)
{
	u64 least = bytes * LIBRA_KBPS_OF_RATE;

	least -= least >> 2;
	if (least > (u64)probe->capacity_kbps * interval_us)
		probe->least_sum_us = 0;
}

/**
 * libra_penalty() - exp(-k2 (T - Tmin) / (Tmax - Tmin))
 * @rtt_us: T, the last RTT
 * @min_us: the least RTT so far
 * @max_us: the largest RTT so far
 * @k2_milli: k2, 1/1000
 *
 * Return: P, Q16; 1 while all RTTs were the same.
 */
static inline u32 libra_penalty(u32 rtt_us, u32 min_us, u32 max_us, u32 k2_milli)
{
	u64 exponent;

	if (max_us <= min_us)
		return CC_Q16_ONE;
	exponent = (u64)(rtt_us - min_us) * k2_milli;
	exponent = div_u64(mul_u64_u32_div(exponent, LIBRA_LOG2_E, max_us - min_us), CC_MILLI);
	return (u32)(cc_exp2(-(s32)min_t(u64, exponent, S32_MAX)) >> CC_Q16);
}

/**
 * libra_alpha() - S P, S = k1 C
 * @capacity_kbps: C; the paper's unit is Mbit/s
 * @penalty_q16: P
 * @k1_milli: k1, 1/1000
 *
 * Return: alpha, Q16, saturated to U32_MAX.
 */
static inline u32 libra_alpha(u32 capacity_kbps, u32 penalty_q16, u32 k1_milli)
{
	u64 scaled = mul_u64_u32_div((u64)capacity_kbps * k1_milli, penalty_q16,
				    CC_MILLI * LIBRA_KBPS_PER_MBPS);

	return (u32)min_t(u64, scaled, U32_MAX);
}

/**
 * libra_increase() - alpha T^2 / (T + T0)
 * @alpha_q16: alpha
 * @rtt_us: T, at most LIBRA_MAX_RTT_US
 * @t0_ms: T0
 * @cwnd: window, segments
 *
 * Return: segments per round trip, Q32, at most @cwnd: as fast as slow start.
 */
static inline u64 libra_increase(u32 alpha_q16, u32 rtt_us, u32 t0_ms, u32 cwnd)
{
	u64 increase = (u64)alpha_q16 << CC_Q16;

	increase = mul_u64_u32_div(increase, rtt_us, rtt_us + t0_ms * CC_US_PER_MS);
	increase = mul_u64_u32_div(increase, rtt_us, CC_US_PER_S);
	return min(increase, cwnd * CC_Q32_ONE);
}

/**
 * libra_ssthresh() - the window after a loss, w T1 / (2 (T + T0))
 * @cwnd: w, segments
 * @rtt_us: T, at most LIBRA_MAX_RTT_US
 * @t0_ms: T0
 * @t1_ms: T1
 *
 * Return: segments, at most @cwnd.
 */
static inline u32 libra_ssthresh(u32 cwnd, u32 rtt_us, u32 t0_ms, u32 t1_ms)
{
	u32 twice_us = 2 * (rtt_us + t0_ms * CC_US_PER_MS);
	u32 kept_us = min(t1_ms * CC_US_PER_MS, twice_us);
	u32 reduced = (u32)div_u64((u64)cwnd * kept_us, twice_us);

	return max(reduced, CC_MIN_WINDOW);
}

#endif
