/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `bandwidth auto`: what the hosts that answer probes say together of the line beyond the router.
 *
 * A host whose own path has a queue tells of that one. So hosts have one voice each, not their
 * connections, and a quarter of them decides.
 */
#ifndef _ZRTT_ANSWERS_H
#define _ZRTT_ANSWERS_H

#include <linux/types.h>

#define ZRTT_LINE_PAIRS		16	/* of hosts that can be told apart */
#define ZRTT_LINE_ONE		720720	/* weight of a host: 1 to 16 pairs divide it */

/* An answer counts for so long, unless a later one of that pair comes. A path with a queue of its
 * own, which may be the only one that answers in an epoch, is not to be taken for the line.
 */
#define ZRTT_LINE_KEEP_US	1000000

/**
 * struct zrtt_line_answer - a probe that was answered
 * @left_us: when it left this router, or its direction's queue
 * @gap_us: how long its answer took
 * @excess_us: how much longer than the shortest
 * @host: hash of the host that answered
 * @other_q8: how much of its rate the queue of the other direction uses, as used_q8, if that may
 *	be in @excess_us, too; else 0
 */
struct zrtt_line_answer {
	u32 left_us;
	u32 gap_us;
	u32 excess_us;
	u32 host;
	u32 other_q8;
};

/**
 * struct zrtt_line_answers - those of an epoch
 * @of: of each pair of hosts, that to the latest probe
 * @from: bit i: of[i] is one
 * @count: of packets
 */
struct zrtt_line_answers {
	struct zrtt_line_answer of[ZRTT_LINE_PAIRS];
	u32 from;
	u32 count;
};

/**
 * zrtt_line_answer() - a probe was answered
 * @answers: those of this epoch
 * @pair: hash of both hosts
 * @answer: what is to be kept, unless a later probe of that pair was answered
 */
static inline void zrtt_line_answer(struct zrtt_line_answers *answers, u32 pair,
				    const struct zrtt_line_answer *answer)
{
	struct zrtt_line_answer *of = &answers->of[pair % ZRTT_LINE_PAIRS];
	u32 bit = 1U << pair % ZRTT_LINE_PAIRS;

	if (!(answers->from & bit) || (s32)(answer->left_us - of->left_us) >= 0)
		*of = *answer;
	answers->from |= bit;
	answers->count++;
}

/* How many of @n answers are from that host. */
static inline u32 zrtt_line_of_host(const struct zrtt_line_answer *list, u32 n, u32 host)
{
	u32 i, count = 0;

	for (i = 0; i < n; i++)
		count += list[i].host == host;
	return count;
}

/* Of the answers put those to the later half of the probes in @list, by rising excess. Return:
 * how many.
 */
static inline u32 zrtt_line_fresh(const struct zrtt_line_answers *answers,
				  struct zrtt_line_answer *list)
{
	u32 i, j, later, total = 0, n = 0;

	for (i = 0; i < ZRTT_LINE_PAIRS; i++)
		total += answers->from >> i & 1;
	for (i = 0; i < ZRTT_LINE_PAIRS; i++) {
		if (!(answers->from >> i & 1))
			continue;
		for (j = 0, later = 0; j < ZRTT_LINE_PAIRS; j++)
			later += (answers->from >> j & 1) &&
				 (s32)(answers->of[j].left_us - answers->of[i].left_us) > 0;
		if (later > total / 2)
			continue;
		for (j = n++; j && list[j - 1].excess_us > answers->of[i].excess_us; j--)
			list[j] = list[j - 1];
		list[j] = answers->of[i];
	}
	return n;
}

/* What the answers of an epoch say as a whole, @hosts is set to how many hosts they are from,
 * at least 1. A quarter of the hosts has less excess: more ACKs wait than come too soon, and
 * where answers are older, the queue was another.
 */
static inline struct zrtt_line_answer zrtt_line_agree(const struct zrtt_line_answers *answers,
						      u32 *hosts)
{
	struct zrtt_line_answer list[ZRTT_LINE_PAIRS];
	u32 i, n = zrtt_line_fresh(answers, list);
	u32 weight = 0, total = 0;

	for (i = 0; i < n; i++)
		total += ZRTT_LINE_ONE / zrtt_line_of_host(list, n, list[i].host);
	*hosts = (total + ZRTT_LINE_ONE / 2) / ZRTT_LINE_ONE;
	for (i = 0; i < n - 1; i++) {
		weight += ZRTT_LINE_ONE / zrtt_line_of_host(list, n, list[i].host);
		if (weight > total / 4)
			break;
	}
	return list[i];
}

/* Forget the answers that came too long ago. Those of this epoch count only if one is left. */
static inline void zrtt_line_forget(struct zrtt_line_answers *answers, u32 now_us)
{
	u32 i;

	for (i = 0; i < ZRTT_LINE_PAIRS; i++)
		if (now_us - answers->of[i].left_us - answers->of[i].gap_us > ZRTT_LINE_KEEP_US)
			answers->from &= ~(1U << i);
	if (!answers->from)
		answers->count = 0;
}

#endif
