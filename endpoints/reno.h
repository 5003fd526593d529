/* SPDX-License-Identifier: GPL-2.0 */
/* Common part of the congestion controls: everything but the increase is New Reno's. */
#ifndef _CC_RENO_H
#define _CC_RENO_H

#include <net/tcp.h>

#include "fixed.h"

/* Bytes of a full segment, with the headers and options of TCP and IP. */
static inline u32 cc_packet_bytes(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->mss_cache + tp->tcp_header_len +
	       icsk->icsk_af_ops->net_header_len + icsk->icsk_ext_hdr_len;
}

/**
 * cc_cong_avoid() - New Reno's window growth with another increase
 * @sk:		the socket
 * @acked:	segments acknowledged
 * @part:	fraction left over from the last increase, see cc_credit()
 * @increase:	gives segments per round trip, Q32, in congestion avoidance
 */
static inline void cc_cong_avoid(struct sock *sk, u32 acked, u32 *part,
				 u64 (*increase)(struct sock *sk))
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp),
			  cc_credit(part, acked, increase(sk)));
}

#endif
