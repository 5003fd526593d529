/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What leaves of each 5-tuple, for programs that choose their ports themselves.
 *
 * Counted is what came from a reset to a stop, even if it leaves later: once the queue has
 * passed it on, packets_in - packets_out were lost.
 */
#ifndef _LAB_TUPLES_H
#define _LAB_TUPLES_H

#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/flow_dissector.h>
#include <net/pkt_sched.h>

#include "meter.h"

#define TUPLES_MAX	4096U
#define TUPLES_HEADS	1024U		/* power of two */

/* Spoofed senders, of a flood: all of them are one. */
#define TUPLES_SPOOFED		0xac100000U	/* 172.16.0.0/12 */
#define TUPLES_SPOOFED_MASK	0xfff00000U

/**
 * struct tuples - all 5-tuples since the last reset
 * @heads:	of lists by hash: the first entry's number + 1; 0 for none
 * @next:	of each entry, likewise
 * @all:	what is known of each
 * @used:	how many there are
 * @unknown:	packets of 5-tuples that found no entry
 */
struct tuples {
	u16			heads[TUPLES_HEADS];
	u16			next[TUPLES_MAX];
	struct tc_meter_tuple	*all[TUPLES_MAX];
	u32			used;
	u64			unknown;
};

static inline void tuples_forget(struct tuples *t)
{
	u32 i;

	for (i = 0; i < t->used; i++)
		kfree(t->all[i]);
	memset(t, 0, sizeof(*t));
}

static inline void tuples_merge_spoofed(struct tc_meter_key *key)
{
	const __be32 spoofed = htonl(TUPLES_SPOOFED);
	__be32 from;

	memcpy(&from, key->saddr, sizeof(from));
	if ((ntohl(from) & TUPLES_SPOOFED_MASK) != TUPLES_SPOOFED)
		return;
	memcpy(key->saddr, &spoofed, sizeof(spoofed));
	key->sport = 0;
}

/* Reads addresses, ports and protocol; returns bytes of payload behind TCP's or UDP's header. */
static inline u32 tuples_read(const struct sk_buff *skb, struct tc_meter_key *key)
{
	struct flow_keys keys;
	struct tcphdr buf;
	const struct tcphdr *tcp;
	u32 headers;

	skb_flow_dissect_flow_keys(skb, &keys, 0);
	memset(key, 0, sizeof(*key));
	key->protocol = keys.basic.ip_proto;
	key->sport = keys.ports.src;
	key->dport = keys.ports.dst;
	switch (keys.control.addr_type) {
	case FLOW_DISSECTOR_KEY_IPV4_ADDRS:
		key->family = AF_INET;
		memcpy(key->saddr, &keys.addrs.v4addrs.src, sizeof(__be32));
		memcpy(key->daddr, &keys.addrs.v4addrs.dst, sizeof(__be32));
		tuples_merge_spoofed(key);
		break;
	case FLOW_DISSECTOR_KEY_IPV6_ADDRS:
		key->family = AF_INET6;
		memcpy(key->saddr, &keys.addrs.v6addrs.src, sizeof(key->saddr));
		memcpy(key->daddr, &keys.addrs.v6addrs.dst, sizeof(key->daddr));
		break;
	default:
		return 0;	/* ARP and the like */
	}

	headers = keys.control.thoff;
	if (key->protocol == IPPROTO_TCP) {
		tcp = skb_header_pointer(skb, headers, sizeof(buf), &buf);
		if (!tcp)
			return 0;
		headers += tcp->doff * 4;
	} else if (key->protocol == IPPROTO_UDP) {
		headers += sizeof(struct udphdr);
	}
	return skb->len > headers ? skb->len - headers : 0;
}

/* The entry of a 5-tuple, a new one if need be; NULL if there is no room. */
static inline struct tc_meter_tuple *tuples_find(struct tuples *t, const struct tc_meter_key *key)
{
	u16 *head = &t->heads[jhash(key, sizeof(*key), 0) & (TUPLES_HEADS - 1)];
	struct tc_meter_tuple *found;
	u16 i;

	for (i = *head; i; i = t->next[i - 1])
		if (!memcmp(&t->all[i - 1]->key, key, sizeof(*key)))
			return t->all[i - 1];

	if (t->used == TUPLES_MAX)
		return NULL;
	found = kzalloc(sizeof(*found), GFP_ATOMIC);
	if (!found)
		return NULL;
	found->key = *key;
	t->all[t->used] = found;
	t->next[t->used] = *head;
	*head = ++t->used;
	return found;
}

/* A packet came, @since_us after the reset. */
static inline void tuples_in(struct tuples *t, const struct sk_buff *skb, u32 segments,
			     u64 since_us)
{
	struct tc_meter_tuple *tuple;
	struct tc_meter_key key;
	u32 payload = tuples_read(skb, &key);

	tuple = tuples_find(t, &key);
	if (!tuple) {
		t->unknown++;
		return;
	}
	if (!tuple->packets_in)
		tuple->first_us = since_us;
	tuple->last_us = since_us;
	tuple->packets_in += segments;
	tuple->payload_in += payload;
}

/*
 * Buckets double their width every METER_TUPLE_STEPS: the error is at most 1 in so many.
 * The last one is open.
 */
static inline u32 tuples_bucket(u32 sojourn_us)
{
	u32 octave = sojourn_us < METER_TUPLE_STEPS ? 0 : ilog2(sojourn_us / METER_TUPLE_STEPS) + 1;
	u32 within = octave ? (sojourn_us >> (octave - 1)) - METER_TUPLE_STEPS : sojourn_us;

	return min(octave * METER_TUPLE_STEPS + within, METER_TUPLE_BUCKETS - 1);
}

/* A packet that came since the reset left. */
static inline void tuples_out(struct tuples *t, const struct sk_buff *skb, u32 segments,
			      bool ce, u64 sojourn_ns, u32 sojourn_us)
{
	struct tc_meter_tuple *tuple;
	struct tc_meter_key key;
	u32 payload = tuples_read(skb, &key);

	tuple = tuples_find(t, &key);
	if (!tuple) {
		t->unknown++;
		return;
	}
	tuple->packets_out += segments;
	tuple->bytes_out += qdisc_pkt_len(skb);
	tuple->payload_out += payload;
	tuple->ce_out += ce ? segments : 0;
	tuple->sojourn_ns += segments * sojourn_ns;
	tuple->max_us = max(tuple->max_us, sojourn_us);
	tuple->buckets[tuples_bucket(sojourn_us)] += segments;
}

#endif
