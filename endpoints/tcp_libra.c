// SPDX-License-Identifier: GPL-2.0
/*
 * TCP Libra: New Reno whose rate does not depend on the RTT.
 *
 * G. Marfia, C. Palazzi, G. Pau, M. Gerla, M. Sanadidi, M. Roccetti: "TCP Libra:
 * Exploring RTT-Fairness for TCP", NETWORKING 2007.
 *
 *	each ACK	w += (1/w) alpha T^2 / (T + T0)
 *	loss or mark	w = w T1 / (2 (T + T0))
 *
 *	alpha = k1 C exp(-k2 (T - Tmin) / (Tmax - Tmin))
 *
 * T is the RTT of this ACK, Tmin and Tmax are the least and the largest of the
 * connection, in seconds; C is the capacity of the path's narrow link in Mbit/s, by
 * CapProbe's packet pairs, taken from the segments that TCP sends anyway. Until the
 * first pair the increase is New Reno's; slow start and recovery always are.
 */
#include <linux/module.h>

#include "libra.h"
#include "reno.h"

#define CREATE_TRACE_POINTS
#include "trace_libra.h"

/**
 * struct libra - state of a connection; RTTs are 0 before the first
 * @probe:	the narrow link's capacity
 * @part:	fraction of a segment not yet credited, Q32
 * @acked_seq:	first sequence number after the last ACK
 * @rtt_us:	last RTT
 * @min_us:	least RTT
 * @max_us:	largest RTT
 */
struct libra {
	struct libra_probe	probe;
	u32			part;
	u32			acked_seq;
	u32			rtt_us;
	u32			min_us;
	u32			max_us;
};

static unsigned int t0_ms __read_mostly = 1000;
static unsigned int t1_ms __read_mostly = 1000;
static unsigned int k1_milli __read_mostly = 2000;
static unsigned int k2_milli __read_mostly = 2000;

static int libra_param_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, 60000);
}

static const struct kernel_param_ops libra_param_ops = {
	.set	= libra_param_set,
	.get	= param_get_uint,
};

module_param_cb(t0_ms, &libra_param_ops, &t0_ms, 0644);
MODULE_PARM_DESC(t0_ms, "T0, sensitivity to the RTT, ms (1..60000, default 1000)");
module_param_cb(t1_ms, &libra_param_ops, &t1_ms, 0644);
MODULE_PARM_DESC(t1_ms, "T1, what a loss leaves, ms (1..60000, default 1000)");
module_param_cb(k1_milli, &libra_param_ops, &k1_milli, 0644);
MODULE_PARM_DESC(k1_milli, "k1, scale of the capacity, 1/1000 (1..60000, default 2000)");
module_param_cb(k2_milli, &libra_param_ops, &k2_milli, 0644);
MODULE_PARM_DESC(k2_milli, "k2, penalty of a queue, 1/1000 (1..60000, default 2000)");

static void libra_learn_rtt(struct libra *ca, u32 rtt_us)
{
	ca->rtt_us = clamp(rtt_us, 1U, LIBRA_MAX_RTT_US);
	ca->min_us = min_not_zero(ca->min_us, ca->rtt_us);
	ca->max_us = max(ca->max_us, ca->rtt_us);
}

/* Bytes of an ACK that may belong to a pair, else 0: small segments are timed inaccurately. */
static u32 libra_pair_bytes(const struct sock *sk, u32 now_us, u32 segments)
{
	const struct libra *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_una - ca->acked_seq != segments * tp->mss_cache ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Open ||
	    !libra_prompt(&ca->probe, now_us, segments))
		return 0;
	return segments * cc_packet_bytes(sk);
}

static u32 libra_penalty_now(const struct libra *ca)
{
	return libra_penalty(ca->rtt_us, ca->min_us, ca->max_us, READ_ONCE(k2_milli));
}

static u32 libra_alpha_now(const struct libra *ca)
{
	return libra_alpha(ca->probe.capacity_kbps, libra_penalty_now(ca),
			   READ_ONCE(k1_milli));
}

static void libra_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct libra *ca = inet_csk_ca(sk);
	u32 now_us = (u32)tp->tcp_mstamp;
	u32 bytes = 0;

	/* The last segment in flight, if alone, may have waited for a delayed ACK. */
	if (sample->rtt_us >= 0 && (sample->pkts_acked > 1 || tp->packets_out)) {
		libra_learn_rtt(ca, sample->rtt_us);
		bytes = libra_pair_bytes(sk, now_us, sample->pkts_acked);
	}
	ca->acked_seq = tp->snd_una;
	libra_probe(&ca->probe, now_us, ca->rtt_us, ca->min_us, bytes);
	libra_distrust_capacity(&ca->probe, (u64)tp->rate_delivered * cc_packet_bytes(sk),
				tp->rate_interval_us);
	if (trace_libra_ack_enabled())
		trace_libra_ack(sk, ca->probe.capacity_kbps, libra_alpha_now(ca),
				libra_penalty_now(ca), ca->rtt_us, ca->min_us, ca->max_us);
}

static u64 libra_increase_now(struct sock *sk)
{
	const struct libra *ca = inet_csk_ca(sk);

	if (!ca->probe.capacity_kbps)
		return CC_Q32_ONE;
	return libra_increase(libra_alpha_now(ca), ca->rtt_us, READ_ONCE(t0_ms),
			      tcp_snd_cwnd(tcp_sk(sk)));
}

static void libra_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct libra *ca = inet_csk_ca(sk);

	cc_cong_avoid(sk, acked, &ca->part, libra_increase_now);
}

static u32 libra_reduced_window(struct sock *sk)
{
	const struct libra *ca = inet_csk_ca(sk);

	return libra_ssthresh(tcp_snd_cwnd(tcp_sk(sk)), ca->rtt_us, READ_ONCE(t0_ms),
			      READ_ONCE(t1_ms));
}

static struct tcp_congestion_ops tcp_libra __read_mostly = {
	.ssthresh	= libra_reduced_window,
	.cong_avoid	= libra_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.pkts_acked	= libra_pkts_acked,

	.owner		= THIS_MODULE,
	.name		= "libra",
};

static int __init libra_register(void)
{
	BUILD_BUG_ON(sizeof(struct libra) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_libra);
}

static void __exit libra_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_libra);
}

module_init(libra_register);
module_exit(libra_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP Libra");
