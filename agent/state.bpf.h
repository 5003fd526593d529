/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the BPF programs: configuration, counters, scope, and for each
 * connection its last hint.
 */
#ifndef _AGENT_STATE_BPF_H
#define _AGENT_STATE_BPF_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "zrtt_agent.h"

#define SAMPLE_NS	50000000ULL	/* a hint per connection and 50 ms */
#define FALL_SHIFT	3		/* and at once if the RTT fell by 1/8 */
#define RTT_UNKNOWN_US	(~0U)		/* rtt_min before the first sample */

const volatile struct zrtt_agent_config config;

/**
 * struct agent_state - state of a connection, freed with its socket
 * @stated_ns: when the last hint was sent
 * @units: value of that hint, 0 = none was sent
 * @reserved: segments are cut shorter, so that the TCP option fits
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

#endif
