/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a scalable sender learns which of its segments were marked.
 *
 * Linux 7.3 has Accurate ECN (RFC 9768), which the handshake asks for if the congestion
 * control does. Where the peer has none, ECN is then off for the connection, as
 * RFC 9331, section 4.2, requires of a sender of ECT(1).
 *
 * Without it, both ends must use a congestion control that echoes marks as DCTCP's does
 * (RFC 8257, section 3.2): ECE says whether the segments acknowledged were marked.
 *
 * Linux 6.10 gives cong_control() the flags of the ACK.
 */
#ifndef _CC_ACCECN_H
#define _CC_ACCECN_H

#include <linux/version.h>
#include <net/tcp.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define CC_CONTROL(name, sk, rs)						\
	name(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
#else
#define CC_CONTROL(name, sk, rs)						\
	name(struct sock *sk, const struct rate_sample *rs)
#endif

/**
 * struct cc_echo - what a receiver knows of marks
 * @next:	sequence number that follows the last segment
 * @ce:		that one was CE
 */
struct cc_echo {
	u32	next;
	bool	ce;
};

#ifdef TCP_CONG_NEEDS_ACCECN
#define CC_ACCURATE	(TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN | \
			 TCP_CONG_ECT_1_NEGOTIATION | TCP_CONG_NO_FALLBACK_RFC3168)

static inline void cc_echo_event(struct sock *sk, struct cc_echo *echo,
				 enum tcp_ca_event event)
{
}
#else
#define CC_ACCURATE	TCP_CONG_NEEDS_ECN

/* Some of the stable kernels have taken over that it is given flags for the TCP header. */
typedef void (*cc_send_ack_t)(struct sock *sk, u32 rcv_nxt);
typedef void (*cc_send_ack_flags_t)(struct sock *sk, u32 rcv_nxt, u16 flags);

static inline void cc_send_ack(cc_send_ack_t send, struct sock *sk, u32 rcv_nxt)
{
	send(sk, rcv_nxt);
}

static inline void cc_send_ack_flags(cc_send_ack_flags_t send, struct sock *sk, u32 rcv_nxt)
{
	send(sk, rcv_nxt, 0);
}

#define cc_send_ack_now(sk, rcv_nxt)						\
	_Generic(&__tcp_send_ack,						\
		 cc_send_ack_t:		cc_send_ack,				\
		 cc_send_ack_flags_t:	cc_send_ack_flags)(__tcp_send_ack, sk, rcv_nxt)

static inline void cc_echo_say(struct tcp_sock *tp, bool ce)
{
	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/**
 * cc_echo_event() - a segment came, with CE or without: RFC 8257, section 3.2, figure 1
 * @sk:		socket that received it
 * @echo:	of the segments before it
 * @event:	any; what is not about CE is ignored
 */
static inline void cc_echo_event(struct sock *sk, struct cc_echo *echo,
				 enum tcp_ca_event event)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool ce = event == CA_EVENT_ECN_IS_CE;

	if (!ce && event != CA_EVENT_ECN_NO_CE)
		return;
	if (ce != echo->ce) {
		/* A delayed ACK for those before must not tell of this one. */
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			cc_echo_say(tp, echo->ce);
			cc_send_ack_now(sk, echo->next);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	echo->ce = ce;
	echo->next = tp->rcv_nxt;
	cc_echo_say(tp, ce);
}
#endif

#endif
