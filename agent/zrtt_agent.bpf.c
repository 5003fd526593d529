// SPDX-License-Identifier: GPL-2.0
/*
 * zrtt_agent.bpf.c	adds hints to the TCP packets that leave a device
 *
 * zrtt_agent_ip	egress: inserts the IPv4 or IPv6 option
 * zrtt_agent_ops	sock_ops: writes the TCP option
 * zrtt_agent_tcp	egress: registers the sockets that use the device, and counts
 *
 * Needs Linux 5.10, and no BTF of the kernel. zrtt/hint.h has the format of
 * hints.
 */
#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <zrtt/hint.h>

#include "packet.bpf.h"
#include "state.bpf.h"
#include "zrtt_agent.h"

/* Not in UAPI headers. */
#define AGENT_AF_INET	2
#define AGENT_AF_INET6	10

#define TCP_LEN		20			/* without options */
#define IP_PAYLOAD_MAX	(0xffff - IPV6_LEN)	/* for both versions */

/* Internal: no packet that leaves the host has this fate. */
#define AGENT_TORN	ZRTT_AGENT_FATES

/* Bytes in front of the IP header, whatever the kind of link. */
static __always_inline int link_header_len(struct __sk_buff *skb, __u32 ip_len,
					   const void *packet)
{
	__u32 len = skb->len - ip_len;
	__u32 word;

	if (len > skb->len || bpf_skb_load_bytes(skb, len, &word, sizeof(word)) ||
	    word != *(const __u32 *)packet)
		return -1;
	return len;
}

/*
 * No packet becomes longer than the longest that TCP itself would send: the MSS,
 * derived from the path MTU, plus headers without options. In a GSO packet the
 * kernel shortens the segments instead. @payload_len: bytes behind the fixed IP
 * header, hint included.
 */
static __always_inline bool fits(struct __sk_buff *skb,
				 const struct bpf_tcp_sock *tcp,
				 __u32 payload_len)
{
	if (payload_len > IP_PAYLOAD_MAX)
		return false;
	return skb->gso_size || payload_len <= TCP_LEN + tcp->mss_cache;
}

static __always_inline __u16 fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Widen the packet by @grow behind its IP header, write the new headers. */
static __always_inline enum zrtt_agent_fate insert(struct __sk_buff *skb,
						   const void *headers,
						   __u32 len, __u32 grow,
						   int link_len)
{
	if (bpf_skb_adjust_room(skb, grow, BPF_ADJ_ROOM_NET, 0))
		return ZRTT_AGENT_ERROR;
	if (bpf_skb_store_bytes(skb, link_len, headers, len, 0))
		return AGENT_TORN;
	return ZRTT_AGENT_STAMPED;
}

static __always_inline enum zrtt_agent_fate
insert_ipv4(struct __sk_buff *skb, const struct bpf_tcp_sock *tcp,
	    struct packet4 *packet, __u16 units)
{
	__u32 len = bpf_ntohs(packet->ip.tot_len);
	__u32 new_len = len + ZRTT_HINT_IPV4_LEN;
	__u32 sum;
	int link_len;

	if (!len || !fits(skb, tcp, new_len - IPV4_LEN))
		return ZRTT_AGENT_TOO_BIG;
	link_len = link_header_len(skb, len, packet);
	if (link_len < 0)
		return ZRTT_AGENT_ERROR;

	packet->ip.ihl = sizeof(*packet) / 4;
	packet->ip.tot_len = bpf_htons(new_len);
	packet->ip.check = 0;
	zrtt_hint_build_ipv4(packet->option, config.ipv4_option, units);
	sum = bpf_csum_diff(NULL, 0, (__be32 *)packet, sizeof(*packet), 0);
	packet->ip.check = ~fold(sum);
	return insert(skb, packet, sizeof(*packet), ZRTT_HINT_IPV4_LEN, link_len);
}

static __always_inline enum zrtt_agent_fate
insert_ipv6(struct __sk_buff *skb, const struct bpf_tcp_sock *tcp,
	    struct packet6 *packet, __u16 units)
{
	__u32 len = bpf_ntohs(packet->ip.payload_len);
	__u32 new_len = len + HOP_BY_HOP_LEN;
	int link_len;

	if (!len || !fits(skb, tcp, new_len))
		return ZRTT_AGENT_TOO_BIG;
	link_len = link_header_len(skb, IPV6_LEN + len, packet);
	if (link_len < 0)
		return ZRTT_AGENT_ERROR;

	zrtt_hint_build_ipv6(packet->option, packet->ip.nexthdr, units);
	packet->ip.nexthdr = IPPROTO_HOPOPTS;
	packet->ip.payload_len = bpf_htons(new_len);
	return insert(skb, packet, sizeof(*packet), HOP_BY_HOP_LEN, link_len);
}

static __always_inline enum zrtt_agent_fate stamp(struct __sk_buff *skb)
{
	struct agent_state *state;
	enum zrtt_agent_fate fate;
	struct bpf_tcp_sock *tcp;
	struct bpf_sock *sk;
	union packet packet;
	__u64 now_ns;
	__u16 units;

	fate = read_packet(skb, &packet);
	if (fate != ZRTT_AGENT_STAMPED)
		return fate;
	sk = connection(skb);
	tcp = sk ? bpf_tcp_sock(sk) : NULL;
	if (!tcp)
		return ZRTT_AGENT_NO_SOCKET;
	if (tcp->rtt_min == RTT_UNKNOWN_US)
		return ZRTT_AGENT_NO_RTT;
	units = zrtt_hint_from_us(tcp->rtt_min);
	now_ns = bpf_ktime_get_ns();
	state = bpf_sk_storage_get(&states, sk, NULL, 0);
	if (state && !is_due(state, now_ns, units))
		return ZRTT_AGENT_SAMPLED_OUT;
	if (!in_scope(skb, &packet))
		return ZRTT_AGENT_SCOPE;
	if (!state)
		state = bpf_sk_storage_get(&states, sk, NULL,
					   BPF_SK_STORAGE_GET_F_CREATE);
	if (!state)
		return ZRTT_AGENT_ERROR;

	fate = skb->protocol == bpf_htons(ETH_P_IP) ?
		insert_ipv4(skb, tcp, &packet.v4, units) :
		insert_ipv6(skb, tcp, &packet.v6, units);
	if (fate == ZRTT_AGENT_STAMPED)
		stated(state, now_ns, units);
	return fate;
}

SEC("tc")
int zrtt_agent_ip(struct __sk_buff *skb)
{
	enum zrtt_agent_fate fate = stamp(skb);

	/* The room stays empty: TCP will send the packet again. */
	if (fate == AGENT_TORN) {
		count(ZRTT_AGENT_ERROR);
		return TC_ACT_SHOT;
	}
	count(fate);
	return TC_ACT_UNSPEC;
}

/*
 * Take the fate of this packet, which zrtt_agent_ops stored in the socket. A
 * socket without state gets one: zrtt_agent_ops acts on sockets with state.
 */
static __always_inline enum zrtt_agent_fate look(struct __sk_buff *skb)
{
	struct agent_state *state;
	enum zrtt_agent_fate fate;
	struct bpf_tcp_sock *tcp;
	struct bpf_sock *sk;
	union packet packet;

	fate = read_packet(skb, &packet);
	if (fate != ZRTT_AGENT_STAMPED && fate != ZRTT_AGENT_OPTIONS)
		return fate;
	sk = connection(skb);
	tcp = sk ? bpf_tcp_sock(sk) : NULL;
	if (!tcp)
		return ZRTT_AGENT_NO_SOCKET;
	state = bpf_sk_storage_get(&states, sk, NULL, 0);
	if (!state) {
		if (!in_scope(skb, &packet))
			return ZRTT_AGENT_SCOPE;
		state = bpf_sk_storage_get(&states, sk, NULL,
					   BPF_SK_STORAGE_GET_F_CREATE);
		if (!state)
			return ZRTT_AGENT_ERROR;
		state->fate = ZRTT_AGENT_OPTIONS;
	}
	if (tcp->rtt_min == RTT_UNKNOWN_US)
		return ZRTT_AGENT_NO_RTT;
	fate = state->fate;
	state->fate = ZRTT_AGENT_OPTIONS;
	return fate;
}

SEC("tc")
int zrtt_agent_tcp(struct __sk_buff *skb)
{
	count(look(skb));
	return TC_ACT_UNSPEC;
}

/* Whether the peer is in scope; an IPv4-mapped address counts as IPv4. */
static __always_inline bool peer_in_scope(const struct bpf_sock_ops *ops)
{
	if (ops->family == AGENT_AF_INET)
		return in_scope4(ops->remote_ip4);
	if (ops->family != AGENT_AF_INET6)
		return false;
	if (!ops->remote_ip6[0] && !ops->remote_ip6[1] &&
	    ops->remote_ip6[2] == bpf_htonl(0xffff))
		return in_scope4(ops->remote_ip6[3]);
	return in_scope6(ops->remote_ip6[0], ops->remote_ip6[1],
			 ops->remote_ip6[2], ops->remote_ip6[3]);
}

/* Request a call for the options of every segment from now on. */
static __always_inline void watch_options(struct bpf_sock_ops *ops)
{
	int flags = ops->bpf_sock_ops_cb_flags;

	bpf_sock_ops_cb_flags_set(ops, flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/*
 * Called with every segment, and without one when TCP computes the segment
 * size. Room is always reserved, so that a hint never makes a segment too long;
 * a segment without data, which may precede that computation, has room.
 */
static __always_inline void reserve(struct bpf_sock_ops *ops,
				    struct agent_state *state)
{
	if (ops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS) {
		state->reserved = !bpf_reserve_hdr_opt(ops, ZRTT_HINT_TCP_LEN, 0);
		return;
	}
	if (!state->reserved && ops->skb_len)
		return;
	if (ops->rtt_min == RTT_UNKNOWN_US)
		state->fate = ZRTT_AGENT_NO_RTT;
	else if (!is_due(state, bpf_ktime_get_ns(), zrtt_hint_from_us(ops->rtt_min)))
		state->fate = ZRTT_AGENT_SAMPLED_OUT;
	else
		bpf_reserve_hdr_opt(ops, ZRTT_HINT_TCP_LEN, 0);
}

static __always_inline void write(struct bpf_sock_ops *ops,
				  struct agent_state *state)
{
	__u16 units = zrtt_hint_from_us(ops->rtt_min);
	__u8 option[ZRTT_HINT_TCP_LEN];

	zrtt_hint_build_tcp(option, units);
	if (bpf_store_hdr_opt(ops, option, sizeof(option), 0))
		return;
	state->fate = ZRTT_AGENT_STAMPED;
	stated(state, bpf_ktime_get_ns(), units);
}

SEC("sockops")
int zrtt_agent_ops(struct bpf_sock_ops *ops)
{
	struct agent_state *state;
	struct bpf_sock *sk;

	switch (ops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (peer_in_scope(ops))
			watch_options(ops);
		return 1;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		break;
	default:
		return 1;
	}
	sk = ops->sk;
	if (!sk)
		return 1;
	state = bpf_sk_storage_get(&states, sk, NULL, 0);
	if (!state)
		return 1;
	if (ops->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		reserve(ops, state);
	else
		write(ops, state);
	return 1;
}

char _license[] SEC("license") = "GPL";
