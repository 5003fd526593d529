// SPDX-License-Identifier: GPL-2.0
/*
 * Normalised-Rate HighSpeed TCP: HighSpeed TCP by rate, not by window.
 *
 * D. Phillips, J. Hu: "Enhancements for RTT-Fair HighSpeed TCP", IEEE ICON 2005.
 * S. Floyd: "HighSpeed TCP for Large Congestion Windows", RFC 3649.
 *
 *	normcwnd = cwnd * MSS/RTT * 100ms/1500B
 *	each RTT	w += a(normcwnd) * 1500B/MSS * (RTT/100ms)^2
 *	loss or mark	w -= w * b(normcwnd)
 *
 * with HighSpeed TCP's a() and b(), w growing by one segment per round trip at
 * least and doubling at most, b() between 0.1 and 0.5. So flows of the same rate
 * gain the same rate per second whatever their RTTs. A slow flow behaves like Reno:
 * its a() is 1, its b() 0.5. All else is New Reno's.
 */
#include <linux/module.h>

#include "nrhstcp.h"
#include "reno.h"

/**
 * struct nrhstcp - state of a connection
 * @part:	fraction of a segment not yet credited, Q32
 */
struct nrhstcp {
	u32	part;
};

/* The smoothed RTT; before the first sample, 100 ms, which gives HighSpeed TCP itself. */
static u32 nrhstcp_rtt_us(const struct sock *sk)
{
	return tcp_sk(sk)->srtt_us >> 3 ?: 100 * USEC_PER_MSEC;
}

static u64 nrhstcp_increase_now(struct sock *sk)
{
	return nrhstcp_increase(tcp_snd_cwnd(tcp_sk(sk)), cc_packet_bytes(sk),
				nrhstcp_rtt_us(sk));
}

static void nrhstcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct nrhstcp *ca = inet_csk_ca(sk);

	cc_cong_avoid(sk, acked, &ca->part, nrhstcp_increase_now);
}

static u32 nrhstcp_reduced_window(struct sock *sk)
{
	return nrhstcp_ssthresh(tcp_snd_cwnd(tcp_sk(sk)), cc_packet_bytes(sk),
				nrhstcp_rtt_us(sk));
}

static struct tcp_congestion_ops tcp_nrhstcp __read_mostly = {
	.ssthresh	= nrhstcp_reduced_window,
	.cong_avoid	= nrhstcp_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,

	.owner		= THIS_MODULE,
	.name		= "nrhstcp",
};

static int __init nrhstcp_register(void)
{
	BUILD_BUG_ON(sizeof(struct nrhstcp) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_nrhstcp);
}

static void __exit nrhstcp_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_nrhstcp);
}

module_init(nrhstcp_register);
module_exit(nrhstcp_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Normalised-Rate HighSpeed TCP");
