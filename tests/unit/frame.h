/* SPDX-License-Identifier: GPL-2.0 */
/* Builds frames header by header. Each names itself in the one before. */
#ifndef _UNIT_FRAME_H
#define _UNIT_FRAME_H

#include <string.h>

#include <zrtt/packet.h>

#define FRAME_MAX	1024
#define ETH_TYPE	12
#define ETH_BYTES	14
#define TCP_ACK_PSH	0x18

/**
 * struct frame - an Ethernet frame
 * @bytes: from the addresses on
 * @len: how many there are
 * @next_at: where the number of what comes next is written
 * @ppp: that number is one of PPP's
 */
struct frame {
	u8 bytes[FRAME_MAX];
	u32 len;
	u32 next_at;
	bool ppp;
};

/* @len bytes of @bytes, or zeros. Return: their offset. */
static inline u32 frame_add(struct frame *f, const void *bytes, u32 len)
{
	u32 off = f->len;

	if (bytes)
		memcpy(f->bytes + off, bytes, len);
	f->len += len;
	return off;
}

/* What comes next is of this EtherType. */
static inline void frame_type(struct frame *f, u16 type)
{
	if (f->ppp)
		type = type == ZRTT_TYPE_IPV4 ? ZRTT_PPP_IPV4 : ZRTT_PPP_IPV6;
	zrtt_hint_put16(f->bytes + f->next_at, type);
}

static inline struct frame frame_new(void)
{
	return (struct frame) { .len = ETH_BYTES, .next_at = ETH_TYPE };
}

/* A VLAN tag: 2 bytes, then the next type. */
static inline void frame_tag(struct frame *f, u16 type)
{
	frame_type(f, type);
	frame_add(f, NULL, ZRTT_VLAN_BYTES);
	f->next_at = f->len - 2;
}

/* Version, code, session, length, then PPP's protocol. */
static inline void frame_pppoe(struct frame *f)
{
	frame_type(f, ZRTT_TYPE_PPPOE);
	frame_add(f, NULL, ZRTT_PPPOE_BYTES);
	f->next_at = f->len - 2;
	f->ppp = true;
}

static inline void frame_ipv4(struct frame *f, const void *options, u32 len)
{
	u32 off;

	frame_type(f, ZRTT_TYPE_IPV4);
	off = frame_add(f, NULL, ZRTT_IPV4_BYTES);
	f->bytes[off] = (u8)(0x45 + len / 4);
	f->next_at = off + 9;
	frame_add(f, options, len);
}

static inline void frame_ipv6(struct frame *f)
{
	u32 off;

	frame_type(f, ZRTT_TYPE_IPV6);
	off = frame_add(f, NULL, ZRTT_IPV6_BYTES);
	f->bytes[off] = 0x60;
	f->next_at = off + 6;
}

/* An extension header of type @kind with @len bytes behind the first two. */
static inline void frame_ext(struct frame *f, u8 kind, const void *area, u32 len)
{
	f->bytes[f->next_at] = kind;
	f->next_at = frame_add(f, NULL, ZRTT_IPV6_OPT_BYTES);
	f->bytes[f->next_at + 1] = (u8)((len + 2) / 8 - 1);
	frame_add(f, area, len);
}

/* The first 8 bytes of whatever has no options. */
static inline void frame_l4(struct frame *f, u8 proto)
{
	f->bytes[f->next_at] = proto;
	frame_add(f, NULL, 8);
}

static inline void frame_tcp(struct frame *f, const void *options, u32 len)
{
	u32 off;

	f->bytes[f->next_at] = ZRTT_PROTO_TCP;
	off = frame_add(f, NULL, ZRTT_TCP_BYTES);
	f->bytes[off + 12] = (u8)((ZRTT_TCP_BYTES + len) / 4 << 4);
	f->bytes[off + 13] = TCP_ACK_PSH;
	frame_add(f, options, len);
}

#endif
