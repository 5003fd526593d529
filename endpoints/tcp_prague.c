// SPDX-License-Identifier: GPL-2.0
/*
 * A scalable congestion control for L4S (RFC 9330, 9331), for experiments.
 *
 * After DCTCP (RFC 8257) and TCP Prague (draft-briscoe-iccrg-prague-congestion-control):
 *
 *	each round	alpha = (1 - g) alpha + g M
 *	each ACK	w += unmarked / w
 *	marks		w -= w alpha / 2, once per round
 *	loss		w = w / 2, by half a segment for each delivered
 *
 * M is the share of segments that were marked in the round. A round is an RTT, or
 * RTT_virt if that is longer; then the increase is (RTT / RTT_virt)^2 / w per segment.
 * Slow start ends at the first mark. Segments are paced at w / RTT, in slow start at
 * twice that.
 *
 * The kernel's TCP marks data ECT(0) whatever the congestion control: a rule of tc at the
 * sender's device must rewrite it to ECT(1), see tcp_prague(7).
 */
#include <linux/inet_diag.h>
#include <linux/module.h>

#include "accecn.h"
#include "prague.h"

#define PRAGUE_DIAG_ALPHA_BITS	10	/* alpha of struct tcp_dctcp_info is Q10 */
#define PRAGUE_PACING_SHIFT	12	/* bursts of 2^-12 s, 244 us, of the pacing rate */
#define PRAGUE_SRTT_SHIFT	3	/* tp->srtt_us is in 1/8 us */

/**
 * struct prague - state of a connection
 * @window_q32:		w
 * @alpha:		average share of marked segments, Q20
 * @round_seq:		the round ends when this is acknowledged
 * @round_us:		time of its beginning, tp->tcp_mstamp
 * @round_delivered:	tp->delivered then
 * @round_ce:		tp->delivered_ce then
 * @seen_ce:		tp->delivered_ce after the last ACK
 * @echo:		what this end received
 * @marked:		a segment was marked since the connection began
 * @reduced:		the window was reduced in this round
 */
struct prague {
	u64		window_q32;
	u64		round_us;
	u32		alpha;
	u32		round_seq;
	u32		round_delivered;
	u32		round_ce;
	u32		seen_ce;
	struct cc_echo	echo;
	bool		marked;
	bool		reduced;
};

static unsigned int gain_shift __read_mostly = 4;
static unsigned int rtt_virt_ms __read_mostly;

static int prague_shift_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, 10);
}

static int prague_virt_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, 1000);
}

static const struct kernel_param_ops prague_shift_ops = {
	.set	= prague_shift_set,
	.get	= param_get_uint,
};

static const struct kernel_param_ops prague_virt_ops = {
	.set	= prague_virt_set,
	.get	= param_get_uint,
};

module_param_cb(gain_shift, &prague_shift_ops, &gain_shift, 0644);
MODULE_PARM_DESC(gain_shift, "g, gain of alpha, as 2^-gain_shift (0..10, default 4)");
module_param_cb(rtt_virt_ms, &prague_virt_ops, &rtt_virt_ms, 0644);
MODULE_PARM_DESC(rtt_virt_ms, "RTT_virt, ms; 0: growth depends on the RTT (0..1000, default 0)");

static void prague_begin_round(struct prague *ca, const struct tcp_sock *tp)
{
	ca->round_seq = tp->snd_nxt;
	ca->round_us = tp->tcp_mstamp;
	ca->round_delivered = tp->delivered;
	ca->round_ce = tp->delivered_ce;
	ca->reduced = false;
}

static void prague_init(struct sock *sk)
{
	struct prague *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	memset(ca, 0, sizeof(*ca));
	ca->alpha = PRAGUE_ALPHA_ONE;
	ca->window_q32 = (u64)tcp_snd_cwnd(tp) << 32;
	ca->seen_ce = tp->delivered_ce;
	ca->echo.next = tp->rcv_nxt;
	prague_begin_round(ca, tp);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	sk_pacing_shift_update(sk, PRAGUE_PACING_SHIFT);
}

static u32 prague_virt_us(void)
{
	return READ_ONCE(rtt_virt_ms) * CC_US_PER_MS;
}

static u32 prague_rtt_us(const struct tcp_sock *tp)
{
	return tp->srtt_us >> PRAGUE_SRTT_SHIFT;
}

static bool prague_round_ended(const struct prague *ca, const struct tcp_sock *tp)
{
	return !before(tp->snd_una, ca->round_seq) &&
	       tp->tcp_mstamp - ca->round_us >= prague_virt_us();
}

static void prague_pace(struct sock *sk, const struct tcp_sock *tp)
{
	u64 rate = (u64)tp->mss_cache * tcp_snd_cwnd(tp) * (USEC_PER_SEC << PRAGUE_SRTT_SHIFT);

	if (!tp->srtt_us)
		return;
	if (tcp_in_slow_start(tp))
		rate *= 2;
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, div_u64(rate, tp->srtt_us),
					     READ_ONCE(sk->sk_max_pacing_rate)));
}

static void prague_grow(struct sock *sk, struct prague *ca, u32 unmarked)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		ca->window_q32 += (u64)unmarked << 32;
	else
		ca->window_q32 += prague_increase(unmarked, tcp_snd_cwnd(tp),
						  prague_scale(prague_rtt_us(tp),
							       prague_virt_us()));
}

/* Once per round, by the share of the rounds before: the mark of slow start halves. */
static void prague_reduce(struct tcp_sock *tp, struct prague *ca)
{
	if (ca->reduced)
		return;
	ca->reduced = true;
	ca->window_q32 = prague_reduced(ca->window_q32, ca->alpha);
	tp->snd_ssthresh = min_t(u32, tp->snd_ssthresh, ca->window_q32 >> 32);
}

/* As PRR does where it halves (RFC 6937): retransmissions are not held back. */
static void prague_recover(const struct tcp_sock *tp, struct prague *ca, u32 delivered)
{
	u64 least = (u64)tp->snd_ssthresh << 32;
	u64 cut = (u64)delivered << 31;

	if (ca->window_q32 > least + cut)
		ca->window_q32 -= cut;
	else
		ca->window_q32 = min(ca->window_q32, least);
}

static void CC_CONTROL(prague_control, sk, rs)
{
	u32 delivered = max(rs->acked_sacked, 0);
	struct prague *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 marked = min(tp->delivered_ce - ca->seen_ce, delivered);

	/* TCP itself sets the window after timeouts and undone reductions. */
	if (ca->window_q32 >> 32 != tcp_snd_cwnd(tp))
		ca->window_q32 = (u64)tcp_snd_cwnd(tp) << 32;
	ca->seen_ce = tp->delivered_ce;
	if (marked && !ca->marked) {
		ca->marked = true;
		prague_begin_round(ca, tp);
	} else if (prague_round_ended(ca, tp)) {
		u32 all = tp->delivered - ca->round_delivered;

		if (ca->marked && all)
			ca->alpha = prague_alpha(ca->alpha, all, tp->delivered_ce - ca->round_ce,
						 READ_ONCE(gain_shift));
		prague_begin_round(ca, tp);
	}
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery)
		prague_recover(tp, ca, delivered);
	else if (delivered > marked)
		prague_grow(sk, ca, delivered - marked);
	if (marked)
		prague_reduce(tp, ca);
	ca->window_q32 = clamp(ca->window_q32, (u64)CC_MIN_WINDOW << 32,
			       (u64)tp->snd_cwnd_clamp << 32);
	tcp_snd_cwnd_set(tp, ca->window_q32 >> 32);
	prague_pace(sk, tp);
}

static u32 prague_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) >> 1, CC_MIN_WINDOW);
}

/* The marks before a loss have made TCP choose a threshold that is not for the loss. */
static void prague_state(struct sock *sk, u8 state)
{
	if (state == TCP_CA_Recovery && inet_csk(sk)->icsk_ca_state == TCP_CA_CWR)
		tcp_sk(sk)->snd_ssthresh = prague_ssthresh(sk);
}

static void prague_event(struct sock *sk, enum tcp_ca_event event)
{
	struct prague *ca = inet_csk_ca(sk);

	cc_echo_event(sk, &ca->echo, event);
}

/* The same quantities as DCTCP's, so that ss shows them. */
static size_t prague_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct prague *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const u32 wanted = 1U << (INET_DIAG_DCTCPINFO - 1) | 1U << (INET_DIAG_VEGASINFO - 1);

	if (!(ext & wanted))
		return 0;
	info->dctcp = (struct tcp_dctcp_info) {
		.dctcp_enabled	= 1,
		.dctcp_ce_state	= ca->echo.ce,
		.dctcp_alpha	= ca->alpha >> (PRAGUE_ALPHA_BITS - PRAGUE_DIAG_ALPHA_BITS),
		.dctcp_ab_ecn	= tp->mss_cache * (tp->delivered_ce - ca->round_ce),
		.dctcp_ab_tot	= tp->mss_cache * (tp->delivered - ca->round_delivered),
	};
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

static struct tcp_congestion_ops tcp_prague __read_mostly = {
	.init		= prague_init,
	.cong_control	= prague_control,
	.ssthresh	= prague_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.set_state	= prague_state,
	.cwnd_event	= prague_event,
	.get_info	= prague_info,
	.flags		= CC_ACCURATE,

	.owner		= THIS_MODULE,
	.name		= "prague",
};

static int __init prague_register(void)
{
	BUILD_BUG_ON(sizeof(struct prague) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_prague);
}

static void __exit prague_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_prague);
}

module_init(prague_register);
module_exit(prague_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Scalable TCP for experiments with L4S");
