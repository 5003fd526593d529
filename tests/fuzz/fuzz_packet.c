// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: one pass over the headers of any Ethernet frame, which stands
 * in a heap block of its exact size.
 *
 * The first byte says what to look for, the second is the operator's IPv4 option
 * type, 2 or more. The frame follows.
 */
#include <linux/types.h>
#include <zrtt/hash.h>
#include <zrtt/names.h>
#include <zrtt/packet.h>

#include "expect.h"
#include "hint_carriers.h"
#include "packet_opinion.h"
#include "packet_plain.h"

#define PARAMETERS	2
#define ETH_TYPE	12
#define ETH_BYTES	14

static u32 readable(const struct zrtt_bytes *frame)
{
	return frame->len < ZRTT_PACKET_BYTES ? frame->len : ZRTT_PACKET_BYTES;
}

static struct zrtt_packet parse(const struct zrtt_bytes *frame,
				const struct zrtt_wanted *wanted)
{
	u16 type = zrtt_hint_get16(frame->data + ETH_TYPE);
	struct zrtt_packet p;

	zrtt_packet_parse(&p, frame, type, ETH_BYTES, wanted);
	expect(plain_agrees(&p, frame, type, ETH_BYTES, wanted), "the quick way differs");
	return p;
}

/* A part of the frame says the same, or that it is too short. */
static void check_part(const struct zrtt_packet *p, const struct zrtt_bytes *frame,
		       const struct zrtt_wanted *wanted)
{
	u16 type = zrtt_hint_get16(frame->data + ETH_TYPE);
	struct zrtt_bytes part = *frame;
	struct zrtt_packet of_part;

	for (part.len = ETH_BYTES; part.len < frame->len; part.len += 1 + part.len / 16) {
		if (zrtt_packet_parse(&of_part, &part, type, ETH_BYTES, wanted))
			expect(same_packet(&of_part, p), "a part says something else");
		expect(plain_agrees(&of_part, &part, type, ETH_BYTES, wanted),
		       "the quick way differs for a part");
	}
}

static void check_places(const struct zrtt_packet *p, const struct zrtt_bytes *frame)
{
	u32 header = p->version == 4 ? ZRTT_IPV4_BYTES : ZRTT_IPV6_BYTES;

	expect(p->ip_off + header <= readable(frame), "IP header outside the frame");
	expect(frame->data[p->ip_off] >> 4 == p->version, "another IP version");
	if (p->l4_off) {
		expect(p->l4_off >= p->ip_off + header, "ports inside the IP header");
		expect(p->l4_off + 4U <= readable(frame), "ports outside the frame");
	}
	if (p->inner_off) {
		expect(p->inner_off >= p->ip_off + header, "a tunnel inside its own header");
		expect(!p->hint_in_tcp, "a hint in a tunnel");
	}
	if (p->ext_off) {
		expect(p->ext_off + ZRTT_IPV6_EXT_MIN <= readable(frame),
		       "extension header outside the frame");
		expect(p->nexthdr_off < p->ext_off, "announced too late");
		expect(frame->data[p->nexthdr_off] == ZRTT_PROTO_HOPOPTS ||
		       frame->data[p->nexthdr_off] == ZRTT_PROTO_DSTOPTS,
		       "announced as something else");
	}
}

/* Where a hint was found, there stands what would be written for it. */
static void check_hint(const struct zrtt_packet *p, const struct zrtt_bytes *frame,
		       const struct zrtt_wanted *wanted)
{
	enum carrier carrier = p->hint_in_tcp ? TCP : p->version == 4 ? IPV4 : IPV6;
	u8 option[ZRTT_HINT_TCP_LEN];

	expect(wanted->hint, "unwanted hint");
	expect(p->hint_len == hint_len[carrier], "hint of another length");
	expect(p->hint_off + p->hint_len <= readable(frame),
	       "hint outside the frame");
	build_option(carrier, option, p->hint_units);
	if (carrier == IPV4)
		option[0] = wanted->ipv4_option;
	expect(!memcmp(frame->data + p->hint_off, option, p->hint_len),
	       "hint stands elsewhere");
}

/* What tells flows apart does not depend on what is looked for. */
static void check_key(const struct zrtt_packet *p, const struct zrtt_bytes *frame)
{
	const struct zrtt_hash_key key = { .multiplier = 1 };
	const struct zrtt_wanted nothing = {};
	struct zrtt_packet bare = parse(frame, &nothing);

	expect(!bare.hint_units && !bare.hint_bad && !bare.timed, "unwanted finds");
	expect(p->version == bare.version && p->proto == bare.proto &&
	       p->ip_off == bare.ip_off && p->l4_off == bare.l4_off &&
	       p->inner_off == bare.inner_off && p->tcp_flags == bare.tcp_flags &&
	       p->ecn == bare.ecn,
	       "another flow if hints are looked for");
	expect(!p->version || zrtt_hash_flow(&key, p, frame->data) ==
	       zrtt_hash_flow(&key, &bare, frame->data), "another hash, too");
}

/* A name has no more than the key of its flow. */
static void check_name(const struct zrtt_packet *p, const struct zrtt_bytes *frame)
{
	struct zrtt_name name;
	const u8 *ip;
	u32 len;

	zrtt_name_set(&name, 1, p, frame->data);
	len = zrtt_name_addr_bytes(&name);
	if (!p->version) {
		expect(!name.version, "a name of what is not IP");
		return;
	}
	ip = frame->data + (p->inner_off ? p->inner_off : p->ip_off);
	expect(name.version == ip[0] >> 4, "a name of another version");
	expect(!memcmp(name.source, ip + (name.version == 4 ? 12 : 8), len) &&
	       !memcmp(name.dest, ip + (name.version == 4 ? 16 : 24), len), "other addresses");
	expect(name.has_ports == (p->l4_off && p->proto != ZRTT_PROTO_ESP),
	       "ports where there are none");
	if (name.has_ports)
		expect(!memcmp(name.ports, frame->data + p->l4_off, 4), "other ports");
}

static void check_opinion(const struct zrtt_packet *p, const struct zrtt_bytes *frame,
			  const struct zrtt_wanted *wanted)
{
	struct opinion o = opinion_of(frame->data, readable(frame));

	expect(p->version == o.version && p->proto == o.proto && p->ip_off == o.ip_at &&
	       p->inner_off == o.inner_at && p->l4_off == o.l4_at &&
	       p->tcp_flags == o.tcp_flags,
	       "second opinion on the flow differs");
	if (wanted->timestamps)
		expect(p->timed == o.timed && p->tsval == o.tsval &&
		       p->tsecr == o.tsecr,
		       "second opinion on timestamps differs");
	if (p->hint_in_tcp)
		expect(p->sealed == o.authenticated, "second opinion on TCP-AO differs");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct zrtt_wanted wanted;
	struct zrtt_bytes frame;
	struct zrtt_packet p;

	if (size < PARAMETERS + ETH_BYTES)
		return 0;
	wanted = (struct zrtt_wanted) {
		.hint = data[0] & 1,
		.timestamps = data[0] & 2,
		.quic = data[0] & 4,
		.ipv4_option = data[1] > 1 ? data[1] : ZRTT_HINT_IPV4_TYPE,
	};
	frame.data = data + PARAMETERS;
	frame.len = (u32)(size - PARAMETERS);
	frame.cut = false;
	p = parse(&frame, &wanted);
	check_part(&p, &frame, &wanted);
	if (p.version)
		check_places(&p, &frame);
	if (p.hint_units)
		check_hint(&p, &frame, &wanted);
	expect(wanted.hint || !p.hint_bad, "unwanted hint is malformed");
	expect(wanted.timestamps || !p.timed, "unwanted timestamps");
	check_key(&p, &frame);
	check_name(&p, &frame);
	check_opinion(&p, &frame, &wanted);
	return 0;
}
