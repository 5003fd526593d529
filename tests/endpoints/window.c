// SPDX-License-Identifier: GPL-2.0
/* The window arithmetic of endpoints/ as a library, for Python. */
#include "exp.h"
#include "libra.h"
#include "nrhstcp.h"
#include "prague.h"

s32 log2_of(u32 x)
{
	return cc_log2(x);
}

u64 exp2_of(s32 x)
{
	return cc_exp2(x);
}

u32 credit(u32 *part, u32 acked, u64 increase)
{
	return cc_credit(part, acked, increase);
}

void probe(struct libra_probe *known, u32 now_us, u32 rtt_us, u32 min_us, u32 bytes)
{
	libra_probe(known, now_us, rtt_us, min_us, bytes);
}

bool prompt(const struct libra_probe *known, u32 now_us, u32 segments)
{
	return libra_prompt(known, now_us, segments);
}

void doubt(struct libra_probe *known, u64 bytes, u32 interval_us)
{
	libra_distrust_capacity(known, bytes, interval_us);
}

u32 penalty(u32 rtt_us, u32 min_us, u32 max_us, u32 k2_milli)
{
	return libra_penalty(rtt_us, min_us, max_us, k2_milli);
}

u32 alpha(u32 capacity_kbps, u32 penalty_q16, u32 k1_milli)
{
	return libra_alpha(capacity_kbps, penalty_q16, k1_milli);
}

u64 libra_step(u32 alpha_q16, u32 rtt_us, u32 t0_ms, u32 cwnd)
{
	return libra_increase(alpha_q16, rtt_us, t0_ms, cwnd);
}

u32 libra_cut(u32 cwnd, u32 rtt_us, u32 t0_ms, u32 t1_ms)
{
	return libra_ssthresh(cwnd, rtt_us, t0_ms, t1_ms);
}

u64 nrhstcp_step(u32 cwnd, u32 bytes, u32 rtt_us)
{
	return nrhstcp_increase(cwnd, bytes, rtt_us);
}

u32 nrhstcp_cut(u32 cwnd, u32 bytes, u32 rtt_us)
{
	return nrhstcp_ssthresh(cwnd, bytes, rtt_us);
}

u64 exp_step(u64 window_q16, u32 w0, u32 root_q16, u32 gamma_milli)
{
	return exp_increase(window_q16, w0, root_q16, gamma_milli);
}

u32 exp_cut(u32 cwnd, u32 beta_milli)
{
	return exp_ssthresh(cwnd, beta_milli);
}

u32 prague_share(u32 alpha, u32 delivered, u32 marked, u32 shift)
{
	return prague_alpha(alpha, delivered, marked, shift);
}

u64 prague_cut(u64 window_q32, u32 alpha)
{
	return prague_reduced(window_q32, alpha);
}

u32 prague_part(u32 rtt_us, u32 virt_us)
{
	return prague_scale(rtt_us, virt_us);
}

u64 prague_step(u32 unmarked, u32 cwnd, u32 scale)
{
	return prague_increase(unmarked, cwnd, scale);
}
