/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `bandwidth auto`: the rate of a line that drops without a queue, as a policer does, from
 * TCP data that is sent again (zrtt/resent.h).
 *
 * A path may lose whatever the rate is, and a host may send twice what nobody needs. Two things
 * tell: it is one host's, of those beyond the line or on this side, or the part that is lost stays
 * the same when the rate is lowered to what got through.
 */
#ifndef _ZRTT_LOSS_H
#define _ZRTT_LOSS_H

#include <linux/types.h>
#include <linux/math64.h>
#include "resent.h"

#define ZRTT_LOSS_HOSTS		16	/* of a side that can be told apart */

/* A host counts that sent an eighth of what the largest of its side did, or more. */
#define ZRTT_LOSS_PART		8

#define ZRTT_LOSS_PACKET	1448	/* bytes of data in a packet of MTU 1500 */

/* Data is looked at for this long, and longer until it is 256 packets, up to 4 s: at 1 %, these
 * lose 2.6 on average.
 */
#define ZRTT_LOSS_ROUND_US	500000
#define ZRTT_LOSS_ROUND_BYTES	(256 * ZRTT_LOSS_PACKET)
#define ZRTT_LOSS_ROUND_MAX_US	4000000
#define ZRTT_LOSS_ROUND_MAX_BYTES	(1U << 31)	/* of all that is sent, before they wrap */
#define ZRTT_LOSS_PAUSE_US	500000	/* so long without a packet is no time of a round */
#define ZRTT_LOSS_PAUSES_US	(1U << 24)

/* Less is enough if a sixteenth is lost, and 8 packets: 200 ms. */
#define ZRTT_LOSS_SOON_US	200000
#define ZRTT_LOSS_SOON_BYTES	(8 * ZRTT_LOSS_PACKET)
#define ZRTT_LOSS_SOON_Q16	(65536 >> 4)

/* After the rate was lowered what was lost before is sent again: an RTT, and some more as
 * recovery takes more than one.
 */
#define ZRTT_LOSS_SETTLE_US	1000000

/* The least retransmission timeout of Linux: senders whose data waits for longer may send again what
 * is not lost.
 */
#define ZRTT_LOSS_WAIT_US	200000

/* That is no loss: a single packet (a tail loss probe, RFC 8985), or less than 2^-8 of all. */
#define ZRTT_LOSS_LEAST_BYTES	(2 * ZRTT_LOSS_PACKET)
#define ZRTT_LOSS_LEAST_Q16	(65536 >> 8)

/* The rate is lowered by the part that was lost, but by 2^-4 at least, twice that if it was in
 * vain before, and by 7/8 at most: some of what is lost is sent again later, or not seen.
 */
#define ZRTT_LOSS_BELOW_SHIFT	4
#define ZRTT_LOSS_LOWER_MIN_Q16	(65536 >> ZRTT_LOSS_BELOW_SHIFT)
#define ZRTT_LOSS_LOWER_MAX_Q16	(65536 / 8 * 7)

/* A rate is used if all but 2^-3 of it is sent. Another is not lowered to less than 2^-3 above
 * what was sent.
 */
#define ZRTT_LOSS_SPARE_SHIFT	3

/* If less than 2^-2 of the rate is sent, that is bursts. */
#define ZRTT_LOSS_BURSTS_SHIFT	2

/* No data and less than 2^-4 of the rate is an idle time. */
#define ZRTT_LOSS_IDLE_SHIFT	4

/* The path itself loses if the rate was lowered to what got through so often, each time within
 * 2^24 us, 17 s, of the last loss, and more than half of the loss stayed. For 2^28 us, 268 s, that
 * part is then no news: twice as much and 4 packets must be lost. 2^-5 always is, or a line that
 * loses much would be taken for such a path.
 */
#define ZRTT_LOSS_VAIN		2
#define ZRTT_LOSS_CHAIN_US	(1U << 24)
#define ZRTT_LOSS_OWN_US	(1U << 28)
#define ZRTT_LOSS_OWN_MAX_Q16	(65536 >> 6)
#define ZRTT_LOSS_OWN_BYTES	(4 * ZRTT_LOSS_PACKET)

/* The rate returns to within 2^-5 of the one that lost, and is raised above that after 2^23 us,
 * 8 s, the next time after 17 s, by 2^-7 in a round. If nothing is lost 2^-5 above it, either, it
 * is no longer the line's.
 */
#define ZRTT_LOSS_NEAR_SHIFT	5
#define ZRTT_LOSS_RETRY_US	(1U << 23)
#define ZRTT_LOSS_RETRIES	1
#define ZRTT_LOSS_RETRY_SHIFT	7

/* Where nobody measures the delay, the rate is raised without a ceiling, too: by 2^-3 in a round
 * with 64 packets. As it takes a full queue to know the line again, it is tried less often, if the
 * line stays the same by 2^-3: up to 67 s after the loss.
 */
#define ZRTT_LOSS_BLIND_SHIFT	3
#define ZRTT_LOSS_BLIND_BYTES	(64 * ZRTT_LOSS_PACKET)
#define ZRTT_LOSS_BLIND_RETRIES	3

/* A line before this queue, of which nobody measures the delay, shows its rate before it loses: what
 * comes is the same for three rounds, but for 2^-5, though more would be let pass. That is tried again
 * after 2^21 us, 2 s: 2^-2 above it, and after each two rounds in which all was used by twice as much.
 */
#define ZRTT_LOSS_EVEN_SHIFT	5
#define ZRTT_LOSS_EVEN_ROUNDS	3
#define ZRTT_LOSS_TRY_US	(1U << 21)
#define ZRTT_LOSS_TRY_SHIFT	2
#define ZRTT_LOSS_TRIES		2

/* Of the line: hosts beyond it, and those on this side. */
enum zrtt_loss_side {
	ZRTT_LOSS_FAR,
	ZRTT_LOSS_NEAR,
	ZRTT_LOSS_SIDES,
};

/**
 * struct zrtt_loss_host - what passed to or from a host in a round
 * @sent: bytes of data
 * @lost: bytes of these that the line lost
 */
struct zrtt_loss_host {
	u32 sent;
	u32 lost;
};

/**
 * struct zrtt_loss_even - rounds in which as much came from the line
 * @rounds: how many
 * @least: that came in one of them, bytes per second
 * @most: the same
 */
struct zrtt_loss_even {
	u32 rounds;
	u64 least;
	u64 most;
};

/**
 * struct zrtt_loss - what the line loses
 * @resent: who is watched
 * @hosts: what passed in this round, by the hosts of each side
 * @round_us: when the round began, as if there had been no pauses ...
 * @paused_us: ... which were so long, up to ZRTT_LOSS_PAUSES_US ...
 * @round_bytes: ... and what was sent on the line by then
 * @settling: the rate was lowered, nothing counts
 * @waited: data waited for long, here or on the line, nothing counts
 * @busy_above: the ceiling was found while all that the rate allows was sent
 * @vain: how often the rate was lowered in vain
 * @ceiling: rate that lost last, bytes per second, 0 = none
 * @ceiling_us: when it did
 * @clean: rate below it that was used and did not lose, bytes per second, 0 = none
 * @before: rate before it was lowered first, bytes per second, 0 = it is not being lowered
 * @chain_sent: data that passed since the rate was lowered while it was used ...
 * @chain_lost: ... and what was lost of it
 * @retries: 2^@retries ZRTT_LOSS_RETRY_US pass before a rate above @ceiling is tried
 * @through: what got through when a rate lost last and nobody measured the delay, or came evenly, bytes
 *	per second, 0 = never
 * @even: what came in the last rounds
 * @full: @ceiling came evenly, nothing was lost
 * @tries: rounds in which the rate was raised since then, up to ZRTT_LOSS_TRIES * ZRTT_LOSS_TRY_SHIFT
 * @own_q16: what is lost at any rate
 * @own_us: since when that is known
 * @bytes: lost on the line so far
 */
struct zrtt_loss {
	struct zrtt_resent resent;
	struct zrtt_loss_host hosts[ZRTT_LOSS_SIDES][ZRTT_LOSS_HOSTS];
	u32 round_us;
	u32 paused_us;
	u32 round_bytes;
	bool settling;
	bool waited;
	bool busy_above;
	u8 vain;
	u64 ceiling;
	u32 ceiling_us;
	u64 clean;
	u64 before;
	u64 chain_sent;
	u64 chain_lost;
	u8 retries;
	u64 through;
	struct zrtt_loss_even even;
	bool full;
	u8 tries;
	u32 own_q16;
	u32 own_us;
	u64 bytes;
};

/**
 * zrtt_loss_begin() - a flow is watched from now on
 * @flow: what zrtt_resent_flow() returned
 * @tag: the flow's hash
 * @far: hash of the host beyond the line
 * @near: of that on this side
 * @seq: sequence number of its next byte
 * @whole: which is its first one
 * @now_us: clock, wraps
 */
static inline void zrtt_loss_begin(struct zrtt_resent_flow *flow, u32 tag, u32 far, u32 near,
				   u32 seq, bool whole, u32 now_us)
{
	zrtt_resent_begin(flow, tag, seq, whole, now_us);
	flow->hosts[ZRTT_LOSS_FAR] = far % ZRTT_LOSS_HOSTS;
	flow->hosts[ZRTT_LOSS_NEAR] = near % ZRTT_LOSS_HOSTS;
}

/* Data of @flow passes: it counts for both of its hosts. */
static inline void zrtt_loss_count(struct zrtt_loss *loss, const struct zrtt_resent_flow *flow,
				   const struct zrtt_resent_data *passes)
{
	u32 side;

	for (side = 0; side < ZRTT_LOSS_SIDES; side++) {
		loss->hosts[side][flow->hosts[side]].sent += passes->bytes;
		loss->hosts[side][flow->hosts[side]].lost += passes->news;
	}
	loss->bytes += passes->lost;
}

/**
 * zrtt_loss_pass() - data passes
 * @loss: where it counts
 * @flow: whose it is
 * @seq: its first sequence number
 * @bytes: how much it is, not 0
 * @ahead: the line is before this queue
 * @came_us: when it came to this queue
 * @now_us: clock, wraps
 *
 * Return: what it is, never ZRTT_DATA_NONE.
 */
static inline enum zrtt_data zrtt_loss_pass(struct zrtt_loss *loss, struct zrtt_resent_flow *flow,
					    u32 seq, u32 bytes, bool ahead, u32 came_us,
					    u32 now_us)
{
	struct zrtt_resent_data passes =
		zrtt_resent_pass(flow, seq, bytes, ahead, came_us, now_us);

	zrtt_loss_count(loss, flow, &passes);
	loss->waited |= now_us - came_us > ZRTT_LOSS_WAIT_US;
	return passes.data;
}

/* A part, 65536 is all. */
static inline u32 zrtt_loss_part(u64 lost, u64 data)
{
	return lost < data ? (u32)div64_u64(lost << 16, data) : data ? 65536 : 0;
}

/* Whether a host sent enough to say something, if the largest sent @most. */
static inline bool zrtt_loss_counts(const struct zrtt_loss_host *host, u32 most)
{
	return host->sent && host->sent >= most / ZRTT_LOSS_PART;
}

/* @a lost more than @b, as a part of what was sent. */
static inline bool zrtt_loss_more(const struct zrtt_loss_host *a, const struct zrtt_loss_host *b)
{
	return (u64)a->lost * b->sent > (u64)b->lost * a->sent;
}

/* Put the @hosts of a side that count in @list, by falling loss. Return: how many. */
static inline u32 zrtt_loss_list(const struct zrtt_loss_host *hosts,
				 const struct zrtt_loss_host **list)
{
	u32 i, j, most = 0, n = 0;

	for (i = 0; i < ZRTT_LOSS_HOSTS; i++)
		if (hosts[i].sent > most)
			most = hosts[i].sent;
	for (i = 0; i < ZRTT_LOSS_HOSTS; i++) {
		if (!zrtt_loss_counts(&hosts[i], most))
			continue;
		for (j = n++; j && zrtt_loss_more(&hosts[i], list[j - 1]); j--)
			list[j] = list[j - 1];
		list[j] = &hosts[i];
	}
	return n;
}

/* What was lost of what was sent, without the quarter of a side's hosts that lost most: that may be
 * due to their own paths, or to themselves. Who is alone counts. Return: bytes sent.
 */
static inline u64 zrtt_loss_agree_of(const struct zrtt_loss_host *hosts, u64 *lost)
{
	const struct zrtt_loss_host *list[ZRTT_LOSS_HOSTS];
	u32 n = zrtt_loss_list(hosts, list), i;
	u64 sent = 0;

	*lost = 0;
	for (i = n > 1 ? (n + 3) / 4 : 0; i < n; i++) {
		sent += list[i]->sent;
		*lost += list[i]->lost;
	}
	return sent;
}

/* The same of that side which lost less, or if both lost the same, of the one that sent less. */
static inline u64 zrtt_loss_agree(const struct zrtt_loss *loss, u64 *lost)
{
	u64 near_lost, near = zrtt_loss_agree_of(loss->hosts[ZRTT_LOSS_NEAR], &near_lost);
	u64 far = zrtt_loss_agree_of(loss->hosts[ZRTT_LOSS_FAR], lost);
	u32 near_q16 = zrtt_loss_part(near_lost, near), far_q16 = zrtt_loss_part(*lost, far);

	if (far_q16 < near_q16 || (far_q16 == near_q16 && far < near))
		return far;
	*lost = near_lost;
	return near;
}

/* @rate without the part that was lost. */
static inline u64 zrtt_loss_through(u64 rate, u32 part_q16)
{
	return rate - (rate * part_q16 >> 16);
}

/* A round begins. */
static inline void zrtt_loss_round(struct zrtt_loss *loss, u32 bytes, u32 now_us)
{
	u32 side, i;

	for (side = 0; side < ZRTT_LOSS_SIDES; side++)
		for (i = 0; i < ZRTT_LOSS_HOSTS; i++)
			loss->hosts[side][i] = (struct zrtt_loss_host) {};
	loss->waited = false;
	loss->round_us = now_us;
	loss->paused_us = 0;
	loss->round_bytes = bytes;
}

/**
 * zrtt_loss_pause() - nothing was sent for some time
 * @loss: what the line loses
 * @pause_us: that time
 * @bytes: on the line so far, low bits
 * @now_us: clock, wraps
 *
 * Pauses are no time of a round, or the rate would seem not to be used. After long ones its losses tell
 * nothing of the line.
 */
static inline void zrtt_loss_pause(struct zrtt_loss *loss, u32 pause_us, u32 bytes, u32 now_us)
{
	if (loss->settling)
		return;
	if (pause_us > ZRTT_LOSS_PAUSES_US - loss->paused_us) {
		zrtt_loss_round(loss, bytes, now_us);
		return;
	}
	loss->paused_us += pause_us;
	loss->round_us += pause_us;
}

/**
 * zrtt_loss_forget() - what the line loses says nothing of its rate
 * @loss: set
 * @bytes: on the line so far, low bits
 * @now_us: clock, wraps
 */
static inline void zrtt_loss_forget(struct zrtt_loss *loss, u32 bytes, u32 now_us)
{
	loss->ceiling = 0;
	loss->clean = 0;
	loss->before = 0;
	loss->vain = 0;
	loss->settling = false;
	loss->full = false;
	loss->even.rounds = 0;
	zrtt_loss_round(loss, bytes, now_us);
}

/**
 * zrtt_loss_init() - nobody is watched, nothing is known
 * @loss: set
 * @bytes: on the line so far, low bits
 * @now_us: clock, wraps
 */
static inline void zrtt_loss_init(struct zrtt_loss *loss, u32 bytes, u32 now_us)
{
	zrtt_resent_init(&loss->resent);
	loss->through = 0;
	loss->own_q16 = 0;
	loss->bytes = 0;
	zrtt_loss_forget(loss, bytes, now_us);
}

/* Does zrtt_loss_update() alone raise the rate? */
static inline bool zrtt_loss_holds(const struct zrtt_loss *loss)
{
	return loss->ceiling;
}

/* Count a round in the mean since the rate was lowered, if it was. */
static inline void zrtt_loss_chain(struct zrtt_loss *loss, u64 lost, u64 data)
{
	if (!loss->chain_sent)
		return;
	loss->chain_sent += data;
	loss->chain_lost += lost;
}

/* @lost of @data was lost although the rate was lowered to what got through. Return: whether that
 * happened often enough to be due to the path.
 */
static inline bool zrtt_loss_in_vain(struct zrtt_loss *loss, u64 lost, u64 data)
{
	u32 before_q16 = zrtt_loss_part(loss->chain_lost, loss->chain_sent);

	loss->vain += before_q16 && zrtt_loss_part(lost, data) > before_q16 / 2;
	loss->chain_sent += data;
	loss->chain_lost += lost;
	return loss->vain >= ZRTT_LOSS_VAIN;
}

/* The rate @rate is lowered for the first time, or as if it were. */
static inline void zrtt_loss_begin_chain(struct zrtt_loss *loss, u64 rate)
{
	loss->before = rate;
	loss->chain_sent = 0;
	loss->chain_lost = 0;
	loss->vain = 0;
}

/* It is the path that loses. Return: the rate, as it was before it was lowered. */
static inline u64 zrtt_loss_blame_path(struct zrtt_loss *loss, u32 now_us)
{
	u32 own_q16 = zrtt_loss_part(loss->chain_lost, loss->chain_sent);
	u64 rate = loss->before;

	loss->own_q16 = own_q16 < ZRTT_LOSS_OWN_MAX_Q16 ? own_q16 : ZRTT_LOSS_OWN_MAX_Q16;
	loss->own_us = now_us;
	zrtt_loss_forget(loss, 0, now_us);
	return rate;
}

/* @rate lost. @above: a lower one was used and did not; @busy: all of this one was sent. */
static inline void zrtt_loss_cap(struct zrtt_loss *loss, u64 rate, bool above, bool busy,
				 u32 now_us)
{
	bool near = rate >= loss->ceiling - (loss->ceiling >> ZRTT_LOSS_NEAR_SHIFT);

	loss->retries = above && near ? ZRTT_LOSS_RETRIES : 0;
	loss->ceiling = rate;
	loss->ceiling_us = now_us;
	loss->busy_above = busy || above;
	loss->clean = 0;
	loss->full = false;
}

/* zrtt_loss_through() within bounds. */
static inline u64 zrtt_loss_less(const struct zrtt_loss *loss, u64 rate, u32 part_q16)
{
	u32 least_q16 = ZRTT_LOSS_LOWER_MIN_Q16 << !!loss->vain;

	if (part_q16 < least_q16)
		part_q16 = least_q16;
	if (part_q16 > ZRTT_LOSS_LOWER_MAX_Q16)
		part_q16 = ZRTT_LOSS_LOWER_MAX_Q16;
	return zrtt_loss_through(rate, part_q16);
}

/* Nobody measures the delay, and @through got through: that is what the line carries, or more while its
 * queue fills. @full: it came evenly. Return: a rate below it, so that the queue goes.
 */
static inline u64 zrtt_loss_through_line(struct zrtt_loss *loss, u64 through, bool full, u32 now_us)
{
	loss->through = through;
	loss->ceiling = through;
	loss->ceiling_us = now_us;
	loss->busy_above = true;
	loss->clean = 0;
	loss->full = full;
	loss->tries = 0;
	loss->even.rounds = 0;
	return through - (through >> (ZRTT_LOSS_BELOW_SHIFT - !!loss->vain));
}

/* The same after a loss. */
static inline u64 zrtt_loss_blind(struct zrtt_loss *loss, u64 through, u32 now_us)
{
	u64 was = loss->through;
	bool same = through >= was - (was >> ZRTT_LOSS_BLIND_SHIFT) &&
		    through <= was + (was >> ZRTT_LOSS_BLIND_SHIFT);

	if (!same)
		loss->retries = 0;
	else if (loss->retries < ZRTT_LOSS_BLIND_RETRIES &&
		 now_us - loss->ceiling_us > ZRTT_LOSS_RETRY_US)
		loss->retries++;
	return zrtt_loss_through_line(loss, through, false, now_us);
}

/* @lost of @data was lost while @sent were sent per second, which is about @rate if @busy. What
 * comes from a line @ahead has got through. Return: the rate from now on.
 */
static inline u64 zrtt_loss_lower(struct zrtt_loss *loss, u64 rate, u64 lost, u64 data, u64 sent,
				  bool busy, bool blind, bool ahead, u32 now_us)
{
	u64 below = rate - (rate >> ZRTT_LOSS_BELOW_SHIFT), clean = loss->clean;
	/* bursts may have been lost, but so much got through */
	u64 to, least = busy ? 0 : sent + (sent >> ZRTT_LOSS_SPARE_SHIFT);
	bool above = clean && clean < rate;
	u32 part_q16 = zrtt_loss_part(lost, data), gone_q16 = ahead ? 0 : part_q16;
	/* of bursts at a rate that is far too high much would be lost */
	bool near = busy || (sent < rate >> ZRTT_LOSS_BURSTS_SHIFT &&
			     part_q16 < ZRTT_LOSS_LOWER_MIN_Q16);

	if (!loss->before || now_us - loss->ceiling_us > ZRTT_LOSS_CHAIN_US)
		zrtt_loss_begin_chain(loss, rate);
	if (near && !above && zrtt_loss_in_vain(loss, lost, data))
		return zrtt_loss_blame_path(loss, now_us);
	if (busy && blind)
		return zrtt_loss_blind(loss, zrtt_loss_through(sent < rate ? sent : rate, gone_q16),
				       now_us);
	zrtt_loss_cap(loss, rate, above, busy, now_us);
	if (near && !above) {
		to = zrtt_loss_less(loss, rate, gone_q16);
	} else if (above) {
		to = clean < below ? clean : below;
	} else {
		loss->chain_sent = 0;
		loss->chain_lost = 0;
		to = rate / 2;
	}
	return to > least ? to : least;
}

/* The first rate, which nobody measured, lost while @sent were sent per second: what the line carries is
 * near that. At half of it a queue that is there goes, and whose delay is then the path's shows.
 */
static inline u64 zrtt_loss_first(struct zrtt_loss *loss, u64 sent, u32 part_q16, bool blind,
				  u32 bytes, u32 now_us)
{
	zrtt_loss_forget(loss, bytes, now_us);
	return blind ? zrtt_loss_blind(loss, zrtt_loss_through(sent, part_q16), now_us) : sent / 2;
}

/* The line may carry more than what came evenly. Return: the rate from now on. */
static inline u64 zrtt_loss_try(struct zrtt_loss *loss, u64 rate, u32 now_us)
{
	u32 shift = ZRTT_LOSS_TRY_SHIFT - loss->tries / ZRTT_LOSS_TRIES;

	if (loss->ceiling && now_us - loss->ceiling_us <= ZRTT_LOSS_TRY_US)
		return rate;
	loss->ceiling = 0;
	loss->tries += loss->tries < ZRTT_LOSS_TRIES * ZRTT_LOSS_TRY_SHIFT;
	return rate + (rate >> shift);
}

/* Nothing was lost in a round in which the rate was used. @blind: nobody measures the delay, and
 * enough would have been seen of a loss. Return: the rate from now on.
 */
static inline u64 zrtt_loss_raise(struct zrtt_loss *loss, u64 rate, bool blind, u32 now_us)
{
	loss->clean = rate;
	if (loss->full && blind)
		return zrtt_loss_try(loss, rate, now_us);
	if (!loss->ceiling)
		return blind ? rate + (rate >> ZRTT_LOSS_BLIND_SHIFT) : rate;
	if (rate + (rate >> ZRTT_LOSS_NEAR_SHIFT) < loss->ceiling)
		return rate + (loss->ceiling - rate) / 2;
	if (loss->busy_above && now_us - loss->ceiling_us <= ZRTT_LOSS_RETRY_US << loss->retries)
		return rate;
	rate += rate >> ZRTT_LOSS_RETRY_SHIFT;
	if (!loss->busy_above || rate > loss->ceiling + (loss->ceiling >> ZRTT_LOSS_NEAR_SHIFT))
		loss->ceiling = 0;
	return rate;
}

/* Is it more than a path loses by itself? */
static inline bool zrtt_loss_loses(const struct zrtt_loss *loss, u64 lost, u64 data)
{
	u64 least = ZRTT_LOSS_LEAST_BYTES;

	if (loss->own_q16)
		least = ZRTT_LOSS_OWN_BYTES + (2 * data * loss->own_q16 >> 16);
	return lost >= least && zrtt_loss_part(lost, data) > ZRTT_LOSS_LEAST_Q16;
}

/* Data that passed in this round, of all hosts. */
static inline u64 zrtt_loss_data(const struct zrtt_loss *loss)
{
	u64 sent = 0;
	u32 i;

	for (i = 0; i < ZRTT_LOSS_HOSTS; i++)
		sent += loss->hosts[ZRTT_LOSS_FAR][i].sent;
	return sent;
}

/* In a round @came came from the line, bytes per second. Return: whether that was even for long enough. */
static inline bool zrtt_loss_comes(struct zrtt_loss_even *even, u64 came)
{
	if (!even->rounds || came < even->least)
		even->least = came;
	if (!even->rounds || came > even->most)
		even->most = came;
	if (even->most - even->least > even->most >> ZRTT_LOSS_EVEN_SHIFT)
		*even = (struct zrtt_loss_even) { .least = came, .most = came };
	return ++even->rounds >= ZRTT_LOSS_EVEN_ROUNDS;
}

/* What was lost so far does not count, nor what is lost in the next second. */
static inline void zrtt_loss_settle(struct zrtt_loss *loss)
{
	zrtt_resent_turn(&loss->resent);
	loss->settling = true;
}

/* Does what is sent again now tell of the present rate? Where data waits for long, for
 * some time, nothing does, and the rate is not to stay low for what was lost before. Without a
 * measure of delay it would stay so: there, a round without a loss counts.
 */
static inline bool zrtt_loss_settled(struct zrtt_loss *loss, bool blind, u32 bytes, u32 now_us)
{
	if (loss->waited && !blind) {
		zrtt_resent_turn(&loss->resent);
		if (now_us - loss->ceiling_us > ZRTT_LOSS_ROUND_MAX_US)
			zrtt_loss_forget(loss, bytes, now_us);
		else
			zrtt_loss_round(loss, bytes, now_us);
		loss->settling = loss->ceiling;
		return false;
	}
	if (loss->settling && now_us - loss->round_us >= ZRTT_LOSS_SETTLE_US) {
		loss->settling = false;
		zrtt_loss_round(loss, bytes, now_us);
	}
	return !loss->settling;
}

/**
 * zrtt_loss_update() - an epoch has ended
 * @loss: what the line loses
 * @rate: of the shaper, bytes per second
 * @first: that is the most that is allowed, and nobody measured the line
 * @blind: nobody measures its delay
 * @ahead: the line is before this queue
 * @bytes: on the line so far, low bits; what came from it, if it is ahead
 * @now_us: clock, wraps
 *
 * Return: what the rate is to be.
 */
static inline u64 zrtt_loss_update(struct zrtt_loss *loss, u64 rate, bool first, bool blind,
				   bool ahead, u32 bytes, u32 now_us)
{
	u32 span_us = now_us - loss->round_us;
	bool busy, loses, soon, over, enough, idle;
	u64 lost, data, sent;

	if (!zrtt_loss_settled(loss, blind, bytes, now_us))
		return rate;
	if (now_us - loss->own_us > ZRTT_LOSS_OWN_US)
		loss->own_q16 = 0;
	data = zrtt_loss_agree(loss, &lost);
	sent = span_us ? div_u64((bytes - loss->round_bytes) * 1000000ULL, span_us) : 0;
	/* which is not to count in what was sent before a loss, nor what was sent at first without one */
	idle = !data && sent < rate >> ZRTT_LOSS_IDLE_SHIFT;
	if (idle || (first && blind && !ahead && !lost && span_us >= ZRTT_LOSS_SOON_US)) {
		zrtt_loss_round(loss, bytes, now_us);
		return rate;
	}
	loses = zrtt_loss_loses(loss, lost, data);
	over = span_us >= ZRTT_LOSS_ROUND_US &&
	       (data >= ZRTT_LOSS_ROUND_BYTES || span_us >= ZRTT_LOSS_ROUND_MAX_US ||
		bytes - loss->round_bytes >= ZRTT_LOSS_ROUND_MAX_BYTES ||
		(blind && !lost && data >= ZRTT_LOSS_BLIND_BYTES));
	/* where the RTT is longer than that, a round may have nothing but what is sent again */
	enough = data >= ZRTT_LOSS_BLIND_BYTES;
	soon = loses && span_us >= ZRTT_LOSS_SOON_US && lost >= ZRTT_LOSS_SOON_BYTES &&
	       zrtt_loss_part(lost, data) >= ZRTT_LOSS_SOON_Q16 && !(first && blind && !enough);
	if (!over && !soon)
		return rate;
	busy = sent >= rate - (rate >> ZRTT_LOSS_SPARE_SHIFT);
	/* of the first rate, which is used a little for a while, a loss says nothing; nor of what comes from
	 * a line in bursts, which a lower rate would not change
	 */
	if (loses && !busy && (first ? blind && !enough : ahead))
		loses = false;
	if (loses && !loss->waited) {
		if (ahead && busy)
			rate = sent;
		rate = first && !busy ?
			zrtt_loss_first(loss, sent, ahead ? 0 : zrtt_loss_part(lost, data), blind,
					bytes, now_us) :
			zrtt_loss_lower(loss, rate, lost, data, sent, busy, blind, ahead, now_us);
		zrtt_loss_settle(loss);
	} else if (busy && !loses) {
		/* more may come than is let pass, and as much as lost before; or it waited on the line */
		if (ahead && loss->ceiling && rate < sent && !(loss->full && blind))
			rate = sent;
		zrtt_loss_chain(loss, lost, data);
		/* a low rate has no more in the longest round */
		enough |= data >= (bytes - loss->round_bytes) / 2;
		rate = zrtt_loss_raise(loss, rate, blind && enough, now_us);
	} else if (!loses && ahead && blind &&
		   zrtt_loss_data(loss) >= (bytes - loss->round_bytes) / 2 &&
		   zrtt_loss_comes(&loss->even, sent)) {
		rate = zrtt_loss_through_line(loss, sent, true, now_us);
		zrtt_loss_settle(loss);
	} else if (!loses && !loss->busy_above &&
		   now_us - loss->ceiling_us > ZRTT_LOSS_CHAIN_US) {
		/* it was found by bursts, which do not use a rate for long enough to raise it */
		loss->ceiling = 0;
	}
	if (busy || loses || !blind)
		loss->even.rounds = 0;
	zrtt_loss_round(loss, bytes, now_us);
	return rate;
}

#endif
