// SPDX-License-Identifier: GPL-2.0
/*
 * zrtt_agent.bpf.c	puts hints into the TCP packets that leave a device
 *
 * zrtt_agent_ip	egress: inserts the IPv4 or IPv6 option
 * zrtt_agent_ops	sock_ops: writes the TCP option
 * zrtt_agent_tcp	egress: says which sockets use the device, and counts
 *
 * Needs Linux 5.10, and no BTF of the kernel. What a hint looks like is the
 * business of zrtt/hint.h.
 */
#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <zrtt/hint.h>

#include "zrtt_agent.h"

#define SAMPLE_NS	50000000ULL	/* a hint per connection and 50 ms */
#define FALL_SHIFT	3		/* and at once if it fell by 1/8 */
#define RTT_UNKNOWN_US	(~0U)		/* rtt_min before the first sample */

/* Not in UAPI headers. */
#define AGENT_AF_INET		2
#define AGENT_AF_INET6		10
#define AGENT_SOCK_STREAM	1
#define AGENT_IP_FRAGMENT	0x3fff	/* more fragments, or an offset */

#define IPV4_LEN	sizeof(struct iphdr)
#define IPV6_LEN	sizeof(struct ipv6hdr)
#define TCP_LEN		20		/* without options */
#define HOP_BY_HOP_LEN	8
#define IP_PAYLOAD_MAX	(0xffff - IPV6_LEN)	/* for both versions */

/* A fate of no packet that leaves the host. */
#define AGENT_TORN	ZRTT_AGENT_FATES

const volatile struct zrtt_agent_config config;

/**
 * struct agent_state - of a connection, dies with its socket
 * @stated_ns: when the last hint was sent
 * @units: what it said, 0 = none was sent
 * @reserved: segments are cut such that the TCP option fits
 * @fate: of the segment between socket and device, TCP encoding only
 */
struct agent_state {
	__u64 stated_ns;
	__u16 units;
	__u8 reserved;
	__u8 fate;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct agent_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ZRTT_AGENT_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);	/* set at load */
	__type(key, struct zrtt_agent_prefix4);
	__type(value, __u8);
} scope4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);	/* set at load */
	__type(key, struct zrtt_agent_prefix6);
	__type(value, __u8);
} scope6 SEC(".maps");

/* The headers of a packet as they will be: the fixed one, then the hint. */
struct packet4 {
	struct iphdr ip;
	__u8 option[ZRTT_HINT_IPV4_LEN];
};

struct packet6 {
	struct ipv6hdr ip;
	__u8 option[HOP_BY_HOP_LEN];
};

union packet {
	struct packet4 v4;
	struct packet6 v6;
};

static __always_inline void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		(*value)++;
}

static __always_inline bool in_scope4(__be32 address)
{
	struct zrtt_agent_prefix4 key = { .bits = 32, .address = address };

	return bpf_map_lookup_elem(&scope4, &key);
}

static __always_inline bool in_scope6(__be32 a0, __be32 a1, __be32 a2, __be32 a3)
{
	struct zrtt_agent_prefix6 key = {
		.bits = 128, .address = { a0, a1, a2, a3 },
	};

	return bpf_map_lookup_elem(&scope6, &key);
}

static __always_inline bool in_scope(const struct __sk_buff *skb,
				     const union packet *packet)
{
	const __be32 *to;

	if (skb->protocol == bpf_htons(ETH_P_IP))
		return in_scope4(packet->v4.ip.daddr);
	to = packet->v6.ip.daddr.s6_addr32;
	return in_scope6(to[0], to[1], to[2], to[3]);
}

static __always_inline bool is_due(const struct agent_state *state, __u64 now_ns,
				   __u16 units)
{
	return config.every_packet || now_ns - state->stated_ns >= SAMPLE_NS ||
	       units < state->units - (state->units >> FALL_SHIFT);
}

static __always_inline void stated(struct agent_state *state, __u64 now_ns,
				   __u16 units)
{
	if (!state->units)
		count(ZRTT_AGENT_CONNECTIONS);
	state->stated_ns = now_ns;
	state->units = units;
}

static __always_inline enum zrtt_agent_fate read_ipv4(struct __sk_buff *skb,
						      struct iphdr *ip)
{
	if (bpf_skb_load_bytes_relative(skb, 0, ip, IPV4_LEN, BPF_HDR_START_NET))
		return ZRTT_AGENT_ERROR;
	if (ip->protocol != IPPROTO_TCP)
		return ZRTT_AGENT_NOT_TCP;
	if (ip->frag_off & bpf_htons(AGENT_IP_FRAGMENT))
		return ZRTT_AGENT_FRAGMENT;
	if (ip->ihl != IPV4_LEN / 4)
		return ZRTT_AGENT_OPTIONS;
	return ZRTT_AGENT_STAMPED;
}

static __always_inline enum zrtt_agent_fate read_ipv6(struct __sk_buff *skb,
						      struct ipv6hdr *ip)
{
	__u8 next;

	if (bpf_skb_load_bytes_relative(skb, 0, ip, IPV6_LEN, BPF_HDR_START_NET))
		return ZRTT_AGENT_ERROR;
	switch (ip->nexthdr) {
	case IPPROTO_TCP:
		return ZRTT_AGENT_STAMPED;
	case IPPROTO_HOPOPTS:
	case IPPROTO_DSTOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_FRAGMENT:
		break;
	default:
		return ZRTT_AGENT_NOT_TCP;
	}
	/* All four begin with the next header. */
	if (bpf_skb_load_bytes_relative(skb, IPV6_LEN, &next, sizeof(next),
					BPF_HDR_START_NET))
		return ZRTT_AGENT_ERROR;
	if (next != IPPROTO_TCP)
		return ZRTT_AGENT_NOT_TCP;
	return ip->nexthdr == IPPROTO_FRAGMENT ? ZRTT_AGENT_FRAGMENT :
						 ZRTT_AGENT_OPTIONS;
}

/* The fixed IP header, and what speaks against a hint behind it. */
static __always_inline enum zrtt_agent_fate read_packet(struct __sk_buff *skb,
							union packet *packet)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return read_ipv4(skb, &packet->v4.ip);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return read_ipv6(skb, &packet->v6.ip);
	return ZRTT_AGENT_NOT_TCP;
}

/*
 * The socket that sends the packet, if it is a connection. Resets and late
 * acknowledgements come from a raw socket of the kernel, which older kernels
 * take for TCP as well.
 */
static __always_inline struct bpf_sock *connection(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	if (!sk)
		return NULL;
	sk = bpf_sk_fullsock(sk);
	if (!sk || sk->protocol != IPPROTO_TCP || sk->type != AGENT_SOCK_STREAM)
		return NULL;
	return sk;
}

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
 * No packet gets longer than the longest that TCP itself would send: MSS,
 * derived from the path MTU, and headers without options. Of a GSO packet
 * the kernel shortens the segments instead. @payload_len: behind the fixed
 * IP header, hint included.
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
	zrtt_hint_build_ipv4(packet->option, units);
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
	__u64 now_ns = bpf_ktime_get_ns();
	struct agent_state *state;
	enum zrtt_agent_fate fate;
	struct bpf_tcp_sock *tcp;
	struct bpf_sock *sk;
	union packet packet;
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

	/* Room without a hint in it: TCP will send the packet again. */
	if (fate == AGENT_TORN) {
		count(ZRTT_AGENT_ERROR);
		return TC_ACT_SHOT;
	}
	count(fate);
	return TC_ACT_UNSPEC;
}

/*
 * The fate that zrtt_agent_ops has left in the socket, for this packet only.
 * A socket without state gets one, which is what zrtt_agent_ops waits for.
 */
static __always_inline enum zrtt_agent_fate look(struct __sk_buff *skb)
{
	struct agent_state init = { .fate = ZRTT_AGENT_OPTIONS };
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
		state = bpf_sk_storage_get(&states, sk, &init,
					   BPF_SK_STORAGE_GET_F_CREATE);
	}
	if (!state)
		return ZRTT_AGENT_ERROR;
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

/* Whether the peer is in scope, that of a mapped address as IPv4. */
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

/*
 * Called with every segment, and, to cut segments such that they leave room,
 * without one. Room is always left, so that a hint never makes one too long;
 * a segment without data, which may come before any cut, has room.
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
			bpf_sock_ops_cb_flags_set(ops,
				ops->bpf_sock_ops_cb_flags |
				BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
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
