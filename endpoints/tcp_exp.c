// SPDX-License-Identifier: GPL-2.0
/*
 * EXP-TCP: exponential growth of the window above its value after the last loss.
 *
 * S. Jin, D. Liu: "Exponential TCP (EXP-TCP): Decoupling End-to-End Efficiency
 * and Fairness Control in High BDP Networks", PFLDnet 2007.
 *
 *	loss or mark	w0 = w = (1 - beta) w
 *	each ACK	w += gamma (1 - w0/w + sqrt(w0)/w)
 *
 * The increase of a round trip, gamma (w - w0 + sqrt(w0)), grows with itself, so
 * free bandwidth is taken in logarithmic time. It starts from the square root of the
 * window, so of two flows the smaller one gains relatively more.
 * All else is New Reno's.
 */
#include <linux/math.h>
#include <linux/module.h>

#include "exp.h"
#include "reno.h"

/**
 * struct exp - state of a connection
 * @part:	fraction of a segment not yet credited, Q32
 * @w0:		window whose square root is known, segments
 * @root_q16:	that root
 */
struct exp {
	u32	part;
	u32	w0;
	u32	root_q16;
};

static unsigned int gamma_milli __read_mostly = 50;
static unsigned int beta_milli __read_mostly = 125;

static int exp_param_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, 999);
}

static const struct kernel_param_ops exp_param_ops = {
	.set	= exp_param_set,
	.get	= param_get_uint,
};

module_param_cb(gamma_milli, &exp_param_ops, &gamma_milli, 0644);
MODULE_PARM_DESC(gamma_milli, "gamma, rate of the increase, 1/1000 (1..999, default 50)");
module_param_cb(beta_milli, &exp_param_ops, &beta_milli, 0644);
MODULE_PARM_DESC(beta_milli, "beta, share of the window given up, 1/1000 (1..999, default 125)");

/* TCP keeps w0 as the slow start threshold; after an undo it may be (1 - beta) w. */
static u64 exp_increase_now(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct exp *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tp);
	u64 credit_q16 = (u64)tp->snd_cwnd_cnt << CC_Q16;

	if (ca->w0 != tp->snd_ssthresh) {
		ca->w0 = tp->snd_ssthresh;
		ca->root_q16 = int_sqrt64((u64)ca->w0 << (2 * CC_Q16));
	}
	return exp_increase(((u64)cwnd << CC_Q16) + div_u64(credit_q16, cwnd),
			    ca->w0, ca->root_q16, READ_ONCE(gamma_milli));
}

static void exp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct exp *ca = inet_csk_ca(sk);

	cc_cong_avoid(sk, acked, &ca->part, exp_increase_now);
}

static u32 exp_reduced_window(struct sock *sk)
{
	return exp_ssthresh(tcp_snd_cwnd(tcp_sk(sk)), READ_ONCE(beta_milli));
}

static struct tcp_congestion_ops tcp_exp __read_mostly = {
	.ssthresh	= exp_reduced_window,
	.cong_avoid	= exp_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,

	.owner		= THIS_MODULE,
	.name		= "exp",
};

static int __init exp_register(void)
{
	BUILD_BUG_ON(sizeof(struct exp) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_exp);
}

static void __exit exp_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_exp);
}

module_init(exp_register);
module_exit(exp_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("EXP-TCP");
