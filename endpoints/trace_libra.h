/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoint tcp_libra:libra_ack: a connection's estimates of its path. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_libra

#if !defined(_CC_TRACE_LIBRA_H) || defined(TRACE_HEADER_MULTI_READ)
#define _CC_TRACE_LIBRA_H

#include <linux/ipv6.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>

TRACE_EVENT(libra_ack,

	TP_PROTO(const struct sock *sk, u32 capacity_kbps, u32 alpha_q16, u32 penalty_q16,
		 u32 rtt_us, u32 min_us, u32 max_us),

	TP_ARGS(sk, capacity_kbps, alpha_q16, penalty_q16, rtt_us, min_us, max_us),

	TP_STRUCT__entry(
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, capacity_kbps)
		__field(u32, alpha_q16)
		__field(u32, penalty_q16)
		__field(u32, rtt_us)
		__field(u32, min_us)
		__field(u32, max_us)
	),

	TP_fast_assign(
		struct in6_addr *saddr = (struct in6_addr *)__entry->saddr;
		struct in6_addr *daddr = (struct in6_addr *)__entry->daddr;

		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_saddr, saddr);
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, daddr);
#if IS_ENABLED(CONFIG_IPV6)
		if (sk->sk_family == AF_INET6) {
			*saddr = sk->sk_v6_rcv_saddr;
			*daddr = sk->sk_v6_daddr;
		}
#endif
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->capacity_kbps = capacity_kbps;
		__entry->alpha_q16 = alpha_q16;
		__entry->penalty_q16 = penalty_q16;
		__entry->rtt_us = rtt_us;
		__entry->min_us = min_us;
		__entry->max_us = max_us;
	),

	TP_printk("src=[%pI6c]:%u dest=[%pI6c]:%u capacity_kbps=%u alpha_q16=%u penalty_q16=%u rtt_us=%u min_us=%u max_us=%u",
		  __entry->saddr, __entry->sport, __entry->daddr, __entry->dport,
		  __entry->capacity_kbps, __entry->alpha_q16, __entry->penalty_q16,
		  __entry->rtt_us, __entry->min_us, __entry->max_us)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace_libra
#include <trace/define_trace.h>
