/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What had been sent until some time ago: when a probe is answered, the bytes that left before it tell
 * what the line has sent since an earlier one.
 */
#ifndef _ZRTT_SENT_H
#define _ZRTT_SENT_H

#include <linux/types.h>
#include <linux/math64.h>

#define ZRTT_SENT_MARKS		128	/* 1 s of them, or more */
#define ZRTT_SENT_MARK_US	8000	/* from one to the next, at least */

/**
 * struct zrtt_sent_mark - bytes that were sent until a time, low bits of both
 */
struct zrtt_sent_mark {
	u32 us;
	u32 bytes;
};

/**
 * struct zrtt_sent - what was sent when
 * @marks: a ring of them
 * @head: index of the newest
 */
struct zrtt_sent {
	struct zrtt_sent_mark marks[ZRTT_SENT_MARKS];
	u32 head;
};

/**
 * zrtt_sent_begin() - nothing is known of what was sent before
 * @sent: set
 * @bytes: sent so far, low bits
 * @now_us: clock, wraps
 */
static inline void zrtt_sent_begin(struct zrtt_sent *sent, u32 bytes, u32 now_us)
{
	u32 i;

	sent->head = 0;
	for (i = 0; i < ZRTT_SENT_MARKS; i++)
		sent->marks[i] = (struct zrtt_sent_mark) { now_us, bytes };
}

/**
 * zrtt_sent_add() - something was sent
 * @sent: where that is kept; the newest mark is replaced while it is near the one before
 * @bytes: sent so far, low bits
 * @now_us: clock, wraps
 */
static inline void zrtt_sent_add(struct zrtt_sent *sent, u32 bytes, u32 now_us)
{
	u32 before = (sent->head + ZRTT_SENT_MARKS - 1) % ZRTT_SENT_MARKS;

	if (sent->marks[sent->head].us - sent->marks[before].us >= ZRTT_SENT_MARK_US)
		sent->head = (sent->head + 1) % ZRTT_SENT_MARKS;
	sent->marks[sent->head] = (struct zrtt_sent_mark) { now_us, bytes };
}

/**
 * zrtt_sent_until() - what had been sent at a time
 * @sent: what was sent when
 * @us: that time
 *
 * Return: bytes, low bits, in proportion between two marks; those of the oldest one before it.
 */
static inline u32 zrtt_sent_until(const struct zrtt_sent *sent, u32 us)
{
	const struct zrtt_sent_mark *later = &sent->marks[sent->head];
	u32 i, age_us = later->us - us;

	if ((s32)age_us <= 0)
		return later->bytes;
	for (i = 1; i < ZRTT_SENT_MARKS; i++) {
		const struct zrtt_sent_mark *mark =
			&sent->marks[(sent->head - i) % ZRTT_SENT_MARKS];
		u32 span_us = later->us - mark->us;

		if (age_us <= span_us)
			return later->bytes - (u32)div_u64((u64)(later->bytes - mark->bytes) *
							   age_us, span_us);
		age_us -= span_us;
		later = mark;
	}
	return later->bytes;
}

#endif
