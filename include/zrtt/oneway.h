/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which way of a connection has the queue, by the clock of its far end.
 *
 * A half of an RTT (zrtt/halves.h) crosses the line in both directions: out with a probe, back
 * with its answer, either of which may wait. The answer's own TSval says when its sender sent
 * it, on a clock of 1 ms that began at an unknown time (RFC 7323 sec. 5.4). So the time of each
 * way is known but for a constant, and with the least of them what is above it.
 *
 * The constant cancels in the sum of both ways, which cannot be less than nothing. If it is, the
 * clock has another tick: then all that is known is how much longer both took.
 */
#ifndef _ZRTT_ONEWAY_H
#define _ZRTT_ONEWAY_H

#include <linux/types.h>
#include "fixed.h"
#include "answers.h"

#define ZRTT_ONEWAY_TICK_US	1000

/* Two clocks drift apart by 2^-13, 122 ppm, or less. */
#define ZRTT_ONEWAY_DRIFT_SHIFT	13

/* The sum of both ways is wrong by a tick, and what the clocks drifted. */
#define ZRTT_ONEWAY_SLACK_US	4000

/* A clock that was set is wrong once; one with another tick is so again and again. */
#define ZRTT_ONEWAY_WRONG	3

/* Who does not answer for that long makes room for another connection. */
#define ZRTT_ONEWAY_KEEP_US	2000000

/**
 * struct zrtt_oneway - both ways of a connection, from the router to one of its ends and back
 * @tag: of the connection, 0 = never used
 * @there_us: least time to the far end, by its clock and ours, wraps
 * @back_us: the same of the way back
 * @seen_us: when the last answer came
 * @wrong: how often their sum was, up to ZRTT_ONEWAY_WRONG
 * @rest_us: time before @seen_us in which the clocks drifted by less than 1 us
 */
struct zrtt_oneway {
	u32 tag;
	u32 there_us;
	u32 back_us;
	u32 seen_us;
	u8 wrong;
	u16 rest_us;
};

/**
 * struct zrtt_excess - how much longer than the shortest an answer took
 * @there_us: the way of the probe
 * @back_us: that of the answer
 * @apart: they are known, else either is the sum
 */
struct zrtt_excess {
	u32 there_us;
	u32 back_us;
	bool apart;
};

/* An answer comes after @silent_us. Return: how far the clocks drifted meanwhile. */
static inline u32 zrtt_oneway_drift(struct zrtt_oneway *oneway, u32 silent_us)
{
	/* 32 bits hold it: a silence is ZRTT_ONEWAY_KEEP_US less than 2^32 */
	u32 us = silent_us + oneway->rest_us;

	oneway->seen_us += silent_us;
	oneway->rest_us = us & ((1U << ZRTT_ONEWAY_DRIFT_SHIFT) - 1);
	return us >> ZRTT_ONEWAY_DRIFT_SHIFT;
}

/* How much @us is above the least so far, which rises by @drift_us. Both wrap. */
static inline u32 zrtt_oneway_above(u32 *least_us, u32 us, u32 drift_us)
{
	*least_us += drift_us;
	if ((s32)(us - *least_us) < 0)
		*least_us = us;
	return us - *least_us;
}

/**
 * zrtt_oneway_answer() - a probe was answered
 * @oneway: what is known of the connection, or of another one that has its place
 * @tag: of the connection, never 0
 * @tsval: of the answer
 * @answer: when the probe left, and how long its answer took, and how much longer than the
 *	shortest
 * @excess: set
 *
 * Return: whether @excess says something. The first answer does not.
 */
static inline bool zrtt_oneway_answer(struct zrtt_oneway *oneway, u32 tag, u32 tsval,
				      const struct zrtt_line_answer *answer,
				      struct zrtt_excess *excess)
{
	u32 now_us = answer->left_us + answer->gap_us, far_us = tsval * ZRTT_ONEWAY_TICK_US;
	u32 there_us = far_us - answer->left_us, back_us = now_us - far_us;
	u32 silent_us = zrtt_age_us(oneway->seen_us, now_us, ZRTT_ONEWAY_KEEP_US), drift_us;

	if (oneway->tag != tag) {
		if (!oneway->tag || silent_us > ZRTT_ONEWAY_KEEP_US)
			*oneway = (struct zrtt_oneway) { tag, there_us, back_us, now_us, 0, 0 };
		return false;
	}
	drift_us = zrtt_oneway_drift(oneway, silent_us);
	*excess = (struct zrtt_excess) { answer->excess_us, answer->excess_us, false };
	if (oneway->wrong == ZRTT_ONEWAY_WRONG)
		return true;
	excess->there_us = zrtt_oneway_above(&oneway->there_us, there_us, drift_us);
	excess->back_us = zrtt_oneway_above(&oneway->back_us, back_us, drift_us);
	excess->apart = true;
	if (excess->there_us <= answer->gap_us + ZRTT_ONEWAY_SLACK_US &&
	    excess->back_us <= answer->gap_us + ZRTT_ONEWAY_SLACK_US - excess->there_us)
		return true;
	oneway->there_us = there_us;
	oneway->back_us = back_us;
	oneway->wrong++;
	return false;
}

/**
 * zrtt_oneway_begun_late() - a connection that began while there was a queue took it for its path
 * @excess: of its answer; the way there is set
 * @own_us: how much longer that took than its own shortest, both ways
 * @pair_us: the same of all connections of its hosts
 *
 * Which way had that queue is not known. The way there was no longer than both.
 */
static inline void zrtt_oneway_begun_late(struct zrtt_excess *excess, u32 own_us, u32 pair_us)
{
	u32 there_us = excess->there_us + pair_us - own_us;

	if (pair_us <= own_us + ZRTT_ONEWAY_SLACK_US)
		return;
	if (there_us > pair_us)
		there_us = pair_us;
	if (excess->there_us < there_us)
		excess->there_us = there_us;
	excess->apart = false;
}

#endif
