/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP data that is sent again, and what of it a line lost.
 *
 * Data that passes here a second time was lost on the way to its receiver, if it came after it
 * had passed: a sender may take what waits here for lost. What this queue drops, or somebody
 * before it, leaves a hole in the sequence numbers that pass, and comes once to fill it. So no
 * drop need be remembered, and no acknowledgment looked at. Where the line is before this
 * queue, what fills a hole was lost there.
 */
#ifndef _ZRTT_RESENT_H
#define _ZRTT_RESENT_H

#include <linux/types.h>

#define ZRTT_RESENT_FLOWS	256	/* watched at a time, a sample if there are more */
#define ZRTT_RESENT_KEEP_US	2000000	/* who is silent for that long makes room */

/* Who sends less than others that have the same place makes room after so long: of a lead, that many
 * bytes count. Else small packets of many connections would leave no place for what is sent.
 */
#define ZRTT_RESENT_TENURE_US	4000000
#define ZRTT_RESENT_LEAD_MAX	(1 << 18)

/* What a flow sent before it was watched may pass again. After so long it is known how far it was. */
#define ZRTT_RESENT_WHOLE_US	1000000

/* A sequence number that is farther from the last, in bytes, begins anew. */
#define ZRTT_RESENT_REACH	(1 << 22)

/* Sequence numbers that are left out count as a hole once a sixteenth of its length has passed beyond
 * it. If the flow goes on where it was before that, there is none: one forged byte could make
 * megabytes seem to be lost.
 */
#define ZRTT_RESENT_DOUBT_SHIFT	4

/**
 * enum zrtt_data - what a TCP packet carries
 * @ZRTT_DATA_NONE: no data
 * @ZRTT_DATA_UNKNOWN: data that may have passed before
 * @ZRTT_DATA_FIRST: data that did not
 * @ZRTT_DATA_AGAIN: data that did, so that the receiver waits for them
 */
enum zrtt_data {
	ZRTT_DATA_NONE,
	ZRTT_DATA_UNKNOWN,
	ZRTT_DATA_FIRST,
	ZRTT_DATA_AGAIN,
};

/**
 * struct zrtt_resent_flow - one direction of a TCP connection
 * @tag: its hash, 0 = none
 * @first: sequence number of the first byte that was watched, or ZRTT_RESENT_REACH before @next
 * @news: of the first one that passed after the latest zrtt_resent_turn(), likewise
 * @next: sequence number that follows the latest byte
 * @holes: bytes from @news to it that did not pass
 * @older: bytes before @news, likewise
 * @doubt: bytes that are to pass until the last of them are holes ...
 * @before: ... and @next as it was before these
 * @passed: @next as it was when the packet came that passes now, or some time before
 * @mark: @next as it was ...
 * @mark_us: ... at this time, which becomes @passed for what comes later
 * @seen_us: when a packet passed last
 * @since_us: when it was first watched
 * @known_us: since when its numbers follow each other
 * @lead: bytes that it sent more than others that have its place
 * @hosts: index of the host at each end, where these are counted
 * @whole: it is watched from its SYN on
 */
struct zrtt_resent_flow {
	u32 tag;
	u32 first;
	u32 news;
	u32 next;
	u32 holes;
	u32 older;
	u32 doubt;
	u32 before;
	u32 passed;
	u32 mark;
	u32 mark_us;
	u32 seen_us;
	u32 since_us;
	u32 known_us;
	u32 lead;
	u8 hosts[2];
	bool whole;
};

/**
 * struct zrtt_resent - who is watched
 * @flows: a place for each, by its tag
 */
struct zrtt_resent {
	struct zrtt_resent_flow flows[ZRTT_RESENT_FLOWS];
};

/**
 * struct zrtt_resent_data - data that passes
 * @data: what it is, never ZRTT_DATA_NONE
 * @bytes: how much counts: all, or nothing if it follows nothing that passed
 * @lost: of these, what the line had lost
 * @news: the same of what passed first after the latest zrtt_resent_turn()
 */
struct zrtt_resent_data {
	enum zrtt_data data;
	u32 bytes;
	u32 lost;
	u32 news;
};

/* Does @flow keep its place though another one sends @bytes? Who sent nothing yet does not. */
static inline bool zrtt_resent_keeps(struct zrtt_resent_flow *flow, u32 bytes, u32 now_us)
{
	if (flow->whole && flow->next == flow->first && bytes)
		return false;
	if (flow->lead >= bytes)
		flow->lead -= bytes;
	else if (now_us - flow->since_us > ZRTT_RESENT_TENURE_US)
		return false;
	return true;
}

/**
 * zrtt_resent_flow() - the place of a flow
 * @resent: who is watched
 * @tag: the flow's hash, never 0
 * @bytes: that it sends now, 0 if that is a SYN
 * @now_us: clock, wraps
 *
 * Return: its place; one whose tag is 0 if it is new, or was silent for so long that its times may
 * have wrapped, zrtt_resent_begin() is due then; or NULL if another flow has the place.
 */
static inline struct zrtt_resent_flow *zrtt_resent_flow(struct zrtt_resent *resent, u32 tag,
							u32 bytes, u32 now_us)
{
	struct zrtt_resent_flow *flow = &resent->flows[tag % ZRTT_RESENT_FLOWS];

	if (!flow->tag || now_us - flow->seen_us > ZRTT_RESENT_KEEP_US) {
		flow->tag = 0;
	} else if (flow->tag == tag) {
		flow->lead += bytes < ZRTT_RESENT_LEAD_MAX - flow->lead ?
			      bytes : ZRTT_RESENT_LEAD_MAX - flow->lead;
	} else if (zrtt_resent_keeps(flow, bytes, now_us)) {
		return NULL;
	} else {
		flow->tag = 0;
	}
	return flow;
}

/* Nothing is known of what passed before @seq. */
static inline void zrtt_resent_restart(struct zrtt_resent_flow *flow, u32 seq, u32 now_us)
{
	flow->first = seq;
	flow->news = seq;
	flow->next = seq;
	flow->holes = 0;
	flow->older = 0;
	flow->doubt = 0;
	flow->passed = seq;
	flow->mark = seq;
	flow->mark_us = now_us;
	flow->known_us = now_us;
	flow->whole = false;
}

/**
 * zrtt_resent_begin() - a flow is watched from now on
 * @flow: what zrtt_resent_flow() returned
 * @tag: the flow's hash
 * @seq: sequence number of its next byte
 * @whole: which is its first one
 * @now_us: clock, wraps
 */
static inline void zrtt_resent_begin(struct zrtt_resent_flow *flow, u32 tag, u32 seq, bool whole,
				     u32 now_us)
{
	*flow = (struct zrtt_resent_flow) {
		.tag = tag,
		.seen_us = now_us,
		.since_us = now_us,
	};
	zrtt_resent_restart(flow, seq, now_us);
	flow->whole = whole;
}

/* Did the byte @seq pass first after the latest zrtt_resent_turn()? */
static inline bool zrtt_resent_is_news(const struct zrtt_resent_flow *flow, u32 seq)
{
	return (s32)(seq - flow->news) >= 0;
}

/* A mark of @flow: not behind its latest byte, nor too far before it. */
static inline u32 zrtt_resent_near(const struct zrtt_resent_flow *flow, u32 mark)
{
	if ((s32)(flow->next - mark) < 0)
		return flow->next;
	return flow->next - mark > ZRTT_RESENT_REACH ? flow->next - ZRTT_RESENT_REACH : mark;
}

/* @bytes pass beyond a hole of @gap, 0 = none. */
static inline void zrtt_resent_open(struct zrtt_resent_flow *flow, u32 gap, u32 bytes)
{
	if (gap && !flow->doubt)
		flow->before = flow->next;
	flow->holes += gap;
	if (flow->holes > ZRTT_RESENT_REACH)
		flow->holes = ZRTT_RESENT_REACH;
	flow->doubt += gap >> ZRTT_RESENT_DOUBT_SHIFT;
	flow->doubt -= bytes < flow->doubt ? bytes : flow->doubt;
}

/* The flow goes on where it was before the last holes, of which that little passed beyond: there
 * are none.
 */
static inline void zrtt_resent_return(struct zrtt_resent_flow *flow)
{
	u32 back = flow->next - flow->before;

	flow->holes -= back < flow->holes ? back : flow->holes;
	flow->doubt = 0;
	flow->next = flow->before;
	flow->mark = flow->before;
	flow->passed = flow->before;
}

/* Did data of @flow that are new to us not pass before, either? */
static inline bool zrtt_resent_knows(const struct zrtt_resent_flow *flow, u32 now_us)
{
	return flow->whole || now_us - flow->known_us > ZRTT_RESENT_WHOLE_US;
}

/**
 * zrtt_resent_pass() - data passes
 * @flow: whose it is
 * @seq: its first sequence number
 * @bytes: how much it is, not 0
 * @ahead: the line is before this queue
 * @came_us: when it came to this queue
 * @now_us: clock, wraps
 *
 * Return: what it is, and what of it was lost.
 */
static inline struct zrtt_resent_data zrtt_resent_pass(struct zrtt_resent_flow *flow, u32 seq,
						       u32 bytes, bool ahead, u32 came_us,
						       u32 now_us)
{
	struct zrtt_resent_data passes = { .data = ZRTT_DATA_UNKNOWN, .bytes = bytes };
	u32 again, fills, *holes;
	s32 gap;

	if (flow->doubt && seq == flow->before)
		zrtt_resent_return(flow);
	gap = (s32)(seq - flow->next);
	flow->seen_us = now_us;
	if (gap > ZRTT_RESENT_REACH || gap < -ZRTT_RESENT_REACH || bytes > ZRTT_RESENT_REACH) {
		zrtt_resent_restart(flow, seq + bytes, now_us);
		passes.bytes = 0;
		return passes;
	}
	if ((s32)(came_us - flow->mark_us) >= 0) {
		flow->passed = flow->mark;
		flow->mark = flow->next;
		flow->mark_us = now_us;
	}
	flow->first = zrtt_resent_near(flow, flow->first);
	flow->news = zrtt_resent_near(flow, flow->news);
	if (gap >= 0) {
		zrtt_resent_open(flow, gap, bytes);
		flow->next = seq + bytes;
		if (zrtt_resent_knows(flow, now_us))
			passes.data = ZRTT_DATA_FIRST;
		return passes;
	}
	passes.data = ZRTT_DATA_AGAIN;
	again = bytes < (u32)-gap ? bytes : (u32)-gap;
	flow->next += bytes - again;
	/* who is watched from its middle on may fill a hole that was there before */
	if ((s32)(seq - flow->first) < 0)
		return passes;
	holes = zrtt_resent_is_news(flow, seq) ? &flow->holes : &flow->older;
	fills = again < *holes ? again : *holes;
	*holes -= fills;
	again -= fills;
	passes.lost = ahead ? fills : (s32)(seq - flow->passed) < 0 ? again : 0;
	passes.news = zrtt_resent_is_news(flow, seq) ? passes.lost : 0;
	return passes;
}

/**
 * zrtt_resent_turn() - what passed so far is no news from now on, when it is sent again
 * @resent: who is watched
 *
 * A sender that lost much of a burst takes seconds to send it all.
 */
static inline void zrtt_resent_turn(struct zrtt_resent *resent)
{
	struct zrtt_resent_flow *flow;

	for (flow = resent->flows; flow < resent->flows + ZRTT_RESENT_FLOWS; flow++) {
		flow->news = flow->next;
		flow->older += flow->holes;
		if (flow->older > ZRTT_RESENT_REACH)
			flow->older = ZRTT_RESENT_REACH;
		flow->holes = 0;
	}
}

/**
 * zrtt_resent_init() - nobody is watched
 * @resent: set
 */
static inline void zrtt_resent_init(struct zrtt_resent *resent)
{
	u32 i;

	for (i = 0; i < ZRTT_RESENT_FLOWS; i++)
		resent->flows[i].tag = 0;
}

#endif
