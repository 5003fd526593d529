/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `bandwidth auto`: the rate of a line beyond the router, whose own queue cannot be seen,
 * from TCP connections that pass both ways (zrtt/acks.h, zrtt/halves.h).
 *
 * What a half of a connection's RTT is above the least of it, its excess, is the time that
 * its probe waited in that queue. Where there is a queue, the line is busy, and how fast
 * what we sent gets through it is its rate: bytes that left us between two probes, by the
 * time between the ends of their waits. So the rate need not be searched for once there is
 * a queue; and while there is none, and all that the rate allows is sent, it grows.
 */
#ifndef _ZRTT_LINE_H
#define _ZRTT_LINE_H

#include <linux/types.h>
#include <linux/math64.h>
#include "answers.h"
#include "delay.h"
#include "loss.h"
#include "sent.h"

/* From one decision to the next, at least and, if answers are few, at most. */
#define ZRTT_LINE_EPOCH_US	25000
#define ZRTT_LINE_EPOCH_MAX_US	100000

/* What was measured before counts as much as what is, over this time. */
#define ZRTT_LINE_SMOOTH_US	100000

/* A queue that is so many times as long as the least that is seen, for so many epochs, is known
 * before the line loses: what is lost without it is not the line's, for 2 * ZRTT_DELAY_WINDOW_US.
 * Epochs are of ZRTT_LINE_EPOCH_US here: few answers make those of the decisions longer.
 */
#define ZRTT_LINE_LONG		2
#define ZRTT_LINE_LONG_EPOCHS	8U

/* Every other ACK waits for a second packet, but it is seldom that all of these do. */
#define ZRTT_LINE_ANSWERS	2

/* A line that does not answer for this long, though it did within a window, stands still. It may go
 * on at its rate, and senders take what waits there for lost. If packets go on to pass, each in less
 * than this from the last one, it does not stand, but is slow.
 */
#define ZRTT_LINE_STILL_US	500000

/* A queue is to be gone in about this. It is that of now, by what was sent since the latest
 * answer, so the path's delay does not make the rate swing.
 */
#define ZRTT_LINE_DRAIN_US	150000

/* The first queue may have been there when the connections began: their shortest time says nothing of
 * it. So the first rate is half of what was measured, until for this and the time of an answer there
 * was no queue, and no answer that came sooner, by 2^-3 of the time since the last one that did.
 */
#define ZRTT_LINE_EMPTY_US	500000
#define ZRTT_LINE_EMPTY_SHIFT	3

/* Who sends for that long without an answer gets none. */
#define ZRTT_LINE_BLIND_US	2000000

/* The rate grows by 2^-11 in an epoch, 2 % in a second. The step is doubled after each eight
 * epochs in which the line was full and had no queue, up to 2^-3. It is not more than twice what was
 * seen to pass, which is as old as an answer, and 2^-2 above that where a line before this queue shows
 * what it carries by itself.
 */
#define ZRTT_LINE_GROW_MIN	11
#define ZRTT_LINE_GROW_MAX	3
#define ZRTT_LINE_GROW_EPOCHS	8
#define ZRTT_LINE_GROW_AHEAD	2

/* A line whose rate changed lately, in about 2^7 epochs, 3 s, will do so again: for each 12/256
 * of the largest rate that the least was below it, the first step is doubled. Two of them are
 * noise.
 */
#define ZRTT_LINE_LATELY_SHIFT	7
#define ZRTT_LINE_SWING_Q8	12
#define ZRTT_LINE_SWING_NOISE	2

/* What was on its way to a line that fell lately, by 2^-2, is lost whatever the rate is now. */
#define ZRTT_LINE_FELL_SHIFT	2

#define ZRTT_LINE_RATE_MIN	16000ULL	/* bytes per second, if the user says nothing: 128 kbit/s */
#define ZRTT_LINE_RATE_MAX	1250000000ULL	/* the same: 10 Gbit/s */

/**
 * enum zrtt_line_kind - where the line is
 * @ZRTT_LINE_NONE: it has no queue of its own, or its rate is known
 * @ZRTT_LINE_BEHIND: behind this queue
 * @ZRTT_LINE_AHEAD: before this queue, which sees what comes out of it
 */
enum zrtt_line_kind {
	ZRTT_LINE_NONE,
	ZRTT_LINE_BEHIND,
	ZRTT_LINE_AHEAD,
};

/**
 * enum zrtt_line_state - what the rate does, and why
 * @ZRTT_LINE_OFF: there is none
 * @ZRTT_LINE_START: nothing is known, it is the most that is allowed
 * @ZRTT_LINE_HOLD: the rate stays, as what is sent does not fill it
 * @ZRTT_LINE_GROW: it grows, as it is full and there is no queue
 * @ZRTT_LINE_QUEUE: it is what the line was measured to be, less what empties its queue
 * @ZRTT_LINE_BLIND: nobody who sends is answered, or gets through: it is that of the line
 * @ZRTT_LINE_LOSS: the line loses above it, and has no queue that is seen
 */
enum zrtt_line_state {
	ZRTT_LINE_OFF,
	ZRTT_LINE_START,
	ZRTT_LINE_HOLD,
	ZRTT_LINE_GROW,
	ZRTT_LINE_QUEUE,
	ZRTT_LINE_BLIND,
	ZRTT_LINE_LOSS,
};

/**
 * struct zrtt_line_params - what the user says of the line
 * @kind: enum zrtt_line_kind
 * @min: least rate, bytes per second
 * @max: largest
 */
struct zrtt_line_params {
	u32 kind;
	u64 min;
	u64 max;
};

/**
 * struct zrtt_line_empty - is the line empty for the first time?
 * @pending: it is not known to have been
 * @begun: the rate is what empties it ...
 * @since_us: ... since then
 * @least_us: shortest time of an answer since there is no queue that is seen
 * @least_at_us: when that came
 */
struct zrtt_line_empty {
	bool pending;
	bool begun;
	u32 since_us;
	u32 least_us;
	u32 least_at_us;
};

/**
 * struct zrtt_line - the line
 * @rate: what the shaper lets pass, bytes per second
 * @measured: rate of the line when there was a queue last, bytes per second, 0 = never
 * @lately: the largest of them in the last seconds, or what is left of it
 * @least: the same of the least
 * @passed: what passed while there was no queue last, bytes per second, 0 = unknown
 * @state: enum zrtt_line_state
 * @delay: how much its answers are late
 * @gap_us: how long the last one took in all
 * @ours: @delay is not that of the other direction
 * @hosts: that answered in the last epoch with answers
 * @empty: the first time that it is
 * @epoch_us: when this epoch began ...
 * @epoch_bytes: ... and what was sent by then
 * @answered_us: when there was an answer last
 * @used_q8: what is sent, as a part of the rate, 256 is 1; what was more falls slowly
 * @step: the rate grows by 2^-@step
 * @steps: epochs for which it has been that, up to ZRTT_LINE_GROW_EPOCHS
 * @latest: when the latest probe was through the line, and what had been sent before it
 * @point: the same of one that the line is measured from
 * @pointed: @point is one
 * @point_queued: there was a queue then
 * @paused: since the latest answer nothing passed for ZRTT_LINE_STILL_US
 * @sent: what was sent when
 * @long_epochs: for which there has been a long queue
 * @deep: the line had a queue of which a loss is no news
 * @deep_us: when it had it last
 * @lowered: how often the rate was lowered
 * @raised: how often it was raised
 */
struct zrtt_line {
	u64 rate;
	u64 measured;
	u64 lately;
	u64 least;
	u64 passed;
	u32 state;
	struct zrtt_delay delay;
	u32 gap_us;
	u32 hosts;
	struct zrtt_line_empty empty;
	u32 epoch_us;
	u32 epoch_bytes;
	u32 answered_us;
	u32 used_q8;
	u8 step;
	u8 steps;
	bool ours;
	bool pointed;
	bool point_queued;
	bool paused;
	struct zrtt_sent_mark latest;
	struct zrtt_sent_mark point;
	struct zrtt_sent sent;
	u8 long_epochs;
	bool deep;
	u32 deep_us;
	u64 lowered;
	u64 raised;
};

/**
 * zrtt_line_begin() - nothing is known
 * @line: set
 * @params: @min is not above @max
 * @bytes: on the line so far, low bits
 * @now_us: clock, wraps
 */
static inline void zrtt_line_begin(struct zrtt_line *line, const struct zrtt_line_params *params,
				   u32 bytes, u32 now_us)
{
	*line = (struct zrtt_line) {
		.state = ZRTT_LINE_START,
		.rate = params->max,
		.empty = { .pending = true },
		.epoch_us = now_us,
		.epoch_bytes = bytes,
		.answered_us = now_us,
		.step = ZRTT_LINE_GROW_MIN,
	};
	zrtt_delay_begin(&line->delay, now_us);
	zrtt_sent_begin(&line->sent, bytes, now_us);
}

static inline u64 zrtt_line_least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Set the rate, within what is allowed. Return: whether it changed. */
static inline bool zrtt_line_set(struct zrtt_line *line, const struct zrtt_line_params *params,
				 u64 rate)
{
	u64 before = line->rate;

	if (rate < params->min)
		rate = params->min;
	if (rate > params->max)
		rate = params->max;
	line->rate = rate;
	line->lowered += rate < before;
	line->raised += rate > before;
	return rate != before;
}

/**
 * zrtt_line_allow() - the user allows other rates
 * @line: the line
 * @params: what he allows now
 * @max: what was the most before, bytes per second
 *
 * A rate that nobody found was the most that was allowed, and is so again.
 */
static inline void zrtt_line_allow(struct zrtt_line *line, const struct zrtt_line_params *params,
				   u64 max)
{
	zrtt_line_set(line, params, line->measured || line->rate != max ? line->rate : params->max);
}

/* From one point to the next, at least: few packets say little, and the longer the queue, the
 * less its answers agree.
 */
static inline u32 zrtt_line_span_us(const struct zrtt_line *line)
{
	return ZRTT_LINE_EPOCH_US / 2 + 3 * zrtt_delay_queue_us(&line->delay, line->rate) +
	       (u32)zrtt_line_least(line->delay.us / 2, 4 * ZRTT_LINE_EPOCH_US);
}

/* Measure the line: what passed since the last point, by the time it took. The line was busy
 * for that if there was a queue then, too, or if that of now is worth half the time. If there
 * is none now, it can do that at least.
 */
static inline void zrtt_line_measure(struct zrtt_line *line, struct zrtt_sent_mark through,
				     bool queue)
{
	u32 span_us = through.us - line->point.us;
	u32 bytes = through.bytes - line->point.bytes;
	u64 rate;

	if (!line->pointed || (s32)span_us < (s32)zrtt_line_span_us(line) || (s32)bytes <= 0)
		return;
	rate = div_u64(bytes * 1000000ULL, span_us);
	if (!queue) {
		line->passed = rate;
		rate = zrtt_line_least(rate, line->rate);
		if (!line->point_queued && line->measured && line->measured < rate)
			line->measured = rate;
		return;
	}
	if (!line->point_queued && line->delay.latest_us < span_us / 2)
		return;
	/* of a line that is hardly used an answer may be late, and nothing waits on it */
	if (rate * line->delay.us < ZRTT_DELAY_QUEUE_BYTE_US)
		return;
	/* so long a time is a mean of its own, of which even a small part of the old rate may be most */
	line->measured = line->state == ZRTT_LINE_QUEUE && line->measured &&
			 span_us < ZRTT_LINE_STILL_US ?
			 div_u64(line->measured * ZRTT_LINE_SMOOTH_US + rate * span_us,
				 ZRTT_LINE_SMOOTH_US + span_us) : rate;
}

/* Remember the point if it is an epoch's half from the last one, or more. */
static inline void zrtt_line_point(struct zrtt_line *line, struct zrtt_sent_mark through,
				   bool queued)
{
	if (line->pointed && (s32)(through.us - line->point.us) < (s32)zrtt_line_span_us(line))
		return;
	line->point = through;
	line->pointed = true;
	line->point_queued = queued;
}

/* What waits on the line now, in microseconds: what was sent behind the latest probe, less what
 * the line has sent since.
 */
static inline u32 zrtt_line_waits(const struct zrtt_line *line,
				  const struct zrtt_line_params *params, u32 bytes, u32 now_us)
{
	u32 age_us = now_us - line->latest.us;
	u64 sent = bytes - line->latest.bytes;
	u64 waits_us;

	if ((s32)age_us < 0 || (s32)(u32)sent < 0)
		return line->delay.us;
	if (params->kind == ZRTT_LINE_AHEAD)
		sent = line->rate * age_us / 1000000;
	waits_us = div64_u64(sent * 1000000, line->measured);
	if (params->kind == ZRTT_LINE_AHEAD)
		waits_us += line->delay.us;
	return (u32)zrtt_line_least(waits_us - zrtt_line_least(waits_us, age_us),
				    ZRTT_LINE_BLIND_US);
}

/* The first step after a queue, by how much the rate of the line changed lately. */
static inline u8 zrtt_line_step(const struct zrtt_line *line)
{
	u64 swing = line->lately - zrtt_line_least(line->lately, line->least);
	u32 steps = line->lately ? (u32)div64_u64(swing * 256 / ZRTT_LINE_SWING_Q8, line->lately) : 0;

	steps -= zrtt_line_least(steps, ZRTT_LINE_SWING_NOISE);
	return ZRTT_LINE_GROW_MIN -
	       (u8)zrtt_line_least(steps, ZRTT_LINE_GROW_MIN - ZRTT_LINE_GROW_MAX);
}

/* Set the rate to what was measured, less what takes @surplus_us of a queue away in time. */
static inline bool zrtt_line_drain(struct zrtt_line *line, const struct zrtt_line_params *params,
				   u64 surplus_us)
{
	surplus_us = zrtt_line_least(surplus_us, ZRTT_LINE_DRAIN_US * 3 / 4);
	return zrtt_line_set(line, params, line->measured -
			     div_u64(line->measured * surplus_us, ZRTT_LINE_DRAIN_US));
}

/* There is a queue on the line: empty it. */
static inline bool zrtt_line_lower(struct zrtt_line *line, const struct zrtt_line_params *params,
				   u32 bytes, u32 now_us)
{
	u64 surplus_us;

	line->state = ZRTT_LINE_QUEUE;
	line->step = zrtt_line_step(line);
	line->steps = 0;
	if (!line->measured)
		return false;
	surplus_us = zrtt_line_waits(line, params, bytes, now_us);
	surplus_us -= zrtt_line_least(surplus_us, zrtt_delay_queue_us(&line->delay, line->rate) / 2);
	return zrtt_line_drain(line, params, surplus_us);
}

/* Take away what may wait unseen, and as much again, but for noise. */
static inline bool zrtt_line_rest(struct zrtt_line *line, const struct zrtt_line_params *params)
{
	line->state = ZRTT_LINE_QUEUE;
	return zrtt_line_drain(line, params,
			       line->delay.noise.us + 2 * zrtt_delay_queue_at(line->measured));
}

/* There is a @queue that is seen, or none. Return: whether the line was never empty, and is being
 * emptied.
 */
static inline bool zrtt_line_empties(struct zrtt_line *line, bool queue, u32 now_us)
{
	struct zrtt_line_empty *empty = &line->empty;
	u32 sooner_us = (now_us - empty->least_at_us) >> ZRTT_LINE_EMPTY_SHIFT;

	if (!empty->begun)
		return false;
	if (queue || line->gap_us + sooner_us < empty->least_us) {
		empty->least_us = line->gap_us;
		empty->least_at_us = now_us;
	}
	empty->begun = now_us - empty->least_at_us <= ZRTT_LINE_EMPTY_US + line->gap_us &&
		       now_us - empty->since_us < ZRTT_DELAY_WINDOW_US;
	return empty->begun;
}

/* The rate is known for the first time: empty the line, if it has not been. */
static inline void zrtt_line_begin_empty(struct zrtt_line *line, u32 now_us)
{
	if (!line->empty.pending)
		return;
	line->empty = (struct zrtt_line_empty) {
		.begun = true,
		.since_us = now_us,
		.least_us = line->gap_us,
		.least_at_us = now_us,
	};
}

/* The rate while it is emptied. */
static inline bool zrtt_line_half(struct zrtt_line *line, const struct zrtt_line_params *params)
{
	line->state = ZRTT_LINE_QUEUE;
	return zrtt_line_set(line, params, line->measured / 2);
}

/* It has: the excess is that of an empty line, and the rate as it was. */
static inline bool zrtt_line_move(struct zrtt_line *line, const struct zrtt_line_params *params)
{
	line->measured = zrtt_delay_move(&line->delay);
	line->pointed = false;
	line->state = ZRTT_LINE_HOLD;
	return zrtt_line_set(line, params, line->measured);
}

/* The rate without a queue. What emptied one is not the line's, and would take seconds to grow where
 * answers are few.
 */
static inline u64 zrtt_line_base(const struct zrtt_line *line)
{
	return line->state == ZRTT_LINE_QUEUE && line->measured > line->rate ? line->measured :
									       line->rate;
}

/* The same. What came from a line before this queue while it had none is what that has, at least. */
static inline u64 zrtt_line_free(const struct zrtt_line *line,
				 const struct zrtt_line_params *params)
{
	u64 base = zrtt_line_base(line);

	return params->kind == ZRTT_LINE_AHEAD && base < line->passed ? line->passed : base;
}

/* The same where the line loses: what emptied a queue ends with it, but stays below the rate that lost. */
static inline u64 zrtt_line_under(const struct zrtt_line *line, const struct zrtt_loss *loss)
{
	u64 near = loss->ceiling - (loss->ceiling >> ZRTT_LOSS_NEAR_SHIFT);
	u64 base = zrtt_line_least(zrtt_line_base(line), near);

	return base > line->rate ? base : line->rate;
}

/* The line is full and has no queue, for an epoch of @span_us: grow from @base, to @most at most. */
static inline bool zrtt_line_grow(struct zrtt_line *line, const struct zrtt_line_params *params,
				  u64 base, u64 most, u32 span_us)
{
	u64 more = line->passed >> (params->kind == ZRTT_LINE_AHEAD ? ZRTT_LINE_GROW_AHEAD : 0);
	u64 seen = line->passed + more;
	u32 epochs = span_us / ZRTT_LINE_EPOCH_US;
	u64 rate = base;

	line->state = ZRTT_LINE_GROW;
	line->steps = (u8)zrtt_line_least(line->steps + epochs, ZRTT_LINE_GROW_EPOCHS);
	if (line->steps >= ZRTT_LINE_GROW_EPOCHS && line->step > ZRTT_LINE_GROW_MAX) {
		line->step--;
		line->steps = 0;
	}
	rate += rate * epochs >> line->step;
	if (line->passed && rate > seen)
		rate = base > seen ? base : seen;
	return zrtt_line_set(line, params, zrtt_line_least(rate, most));
}

/* An epoch of @span_us without an answer. A rate that grew goes on up to what the line had lately,
 * or one so low that few get an answer would stay. Who had a queue and is silent for long has the
 * line as it was. If all that the rate allows is sent then, it may be so low that nobody gets
 * through: it returns to that, too. Where nobody ever answered, nothing was measured.
 */
static inline bool zrtt_line_wait(struct zrtt_line *line, const struct zrtt_line_params *params,
				  bool full, u32 span_us, u32 bytes, u32 now_us)
{
	bool queue = line->state == ZRTT_LINE_QUEUE && line->measured;
	u64 base = zrtt_line_base(line);

	if (zrtt_line_empties(line, false, now_us))
		return false;
	if (now_us - line->answered_us <= ZRTT_LINE_BLIND_US) {
		if (full && line->state == ZRTT_LINE_GROW && base < line->lately)
			return zrtt_line_grow(line, params, base, line->lately, span_us);
		return queue && zrtt_line_lower(line, params, bytes, now_us);
	}
	if (full && base < line->measured)
		base = zrtt_line_least(base + (base >> ZRTT_LINE_GROW_MAX), line->measured);
	if (full)
		line->state = ZRTT_LINE_BLIND;
	else if (queue)
		line->state = ZRTT_LINE_HOLD;
	return zrtt_line_set(line, params, base);
}

/* What the answers of an epoch say of the line. Return: when its probe was through, and what
 * was sent before it.
 */
static inline struct zrtt_sent_mark zrtt_line_read(struct zrtt_line *line,
						   const struct zrtt_line_params *params,
						   struct zrtt_line_answers *answers, u32 bytes,
						   u32 now_us)
{
	struct zrtt_line_answer answer = zrtt_line_agree(answers, &line->hosts);
	u32 excess_us = zrtt_delay_read(&line->delay, answer.excess_us, now_us);

	line->gap_us = answer.gap_us;
	line->ours = answer.other_q8 <= 2 * line->used_q8;
	line->answered_us = now_us;
	line->paused = false;
	answers->count = 0;
	if (params->kind == ZRTT_LINE_AHEAD)
		return (struct zrtt_sent_mark) { now_us, bytes };
	return (struct zrtt_sent_mark) {
		answer.left_us + excess_us,
		zrtt_sent_until(&line->sent, answer.left_us),
	};
}

/* So many bytes per second were sent in this epoch. */
static inline void zrtt_line_use(struct zrtt_line *line, u64 sent)
{
	u32 now_q8 = (u32)zrtt_line_least(div64_u64(sent * 256, line->rate), 256);

	line->used_q8 -= line->used_q8 / 8;
	if (line->used_q8 < now_q8)
		line->used_q8 = now_q8;
}

/* The line has a queue, or none, for an epoch of @span_us. One that is long, and stays so for some
 * epochs while all that the rate allows is sent, is known before the line loses.
 */
static inline void zrtt_line_deep(struct zrtt_line *line, bool queue, bool full, u32 span_us,
				  u32 now_us)
{
	u32 epochs = line->long_epochs + span_us / ZRTT_LINE_EPOCH_US;

	if (!queue)
		line->long_epochs = 0;
	else if (full && line->delay.us > ZRTT_LINE_LONG * zrtt_delay_queue_us(&line->delay, line->rate))
		line->long_epochs = (u8)zrtt_line_least(epochs, ZRTT_LINE_LONG_EPOCHS);
	if (line->long_epochs < ZRTT_LINE_LONG_EPOCHS)
		return;
	line->deep = true;
	line->deep_us = now_us;
}

/* Does the line stand still? */
static inline bool zrtt_line_stands(const struct zrtt_line *line, u32 now_us)
{
	u32 silent_us = now_us - line->answered_us;

	return silent_us > ZRTT_LINE_STILL_US && silent_us < ZRTT_DELAY_WINDOW_US;
}

/* Does nobody say what waits on the line? Where somebody did, it may stand still, or drop what is
 * timed.
 */
static inline bool zrtt_line_blind(const struct zrtt_line *line, u32 now_us)
{
	return now_us - line->answered_us >
	       (line->hosts || line->measured ? ZRTT_DELAY_WINDOW_US : ZRTT_LINE_BLIND_US);
}

/* Has what was lost nothing to do with the present rate? What waits on a line is sent again; but one
 * that drops before it has a queue may have lost all. A line that is emptied for the first time gets
 * half of what it carries, and lost at the rate before. What comes from a line after it fell is sent
 * as before, until who sends knows of it.
 */
static inline bool zrtt_line_excuses(const struct zrtt_line *line,
				     const struct zrtt_line_params *params,
				     const struct zrtt_loss *loss, bool blind, u32 now_us)
{
	if (!blind && (line->delay.latest_us > ZRTT_LOSS_WAIT_US || line->empty.begun))
		return true;
	if (zrtt_line_stands(line, now_us) && line->measured && !zrtt_loss_holds(loss))
		return true;
	return params->kind == ZRTT_LINE_AHEAD && !blind &&
	       line->measured < line->lately - (line->lately >> ZRTT_LINE_FELL_SHIFT);
}

/* The rate may be another for what the line loses. Return: whether it is. */
static inline bool zrtt_line_lose(struct zrtt_line *line, const struct zrtt_line_params *params,
				  struct zrtt_loss *loss, u32 bytes, u32 now_us)
{
	bool blind = zrtt_line_blind(line, now_us);
	u64 to;

	if (now_us - line->deep_us > 2 * ZRTT_DELAY_WINDOW_US)
		line->deep = false;
	if (line->deep || (line->rate == params->min && !blind)) {
		zrtt_loss_forget(loss, bytes, now_us);
		return false;
	}
	loss->waited |= zrtt_line_excuses(line, params, loss, blind, now_us);
	to = zrtt_loss_update(loss, line->rate, line->rate == params->max && !line->measured, blind,
			      params->kind == ZRTT_LINE_AHEAD, bytes, now_us);
	/* what it had with a queue is the most, unless that, too, is lost now */
	if (blind && line->measured && to > line->rate && to > line->measured)
		to = line->rate;
	else if (blind && to < line->rate && to < line->measured)
		line->measured = 0;
	if (!zrtt_line_set(line, params, to))
		return false;
	line->state = blind ? ZRTT_LINE_BLIND : ZRTT_LINE_LOSS;
	line->step = ZRTT_LINE_GROW_MIN;
	line->steps = 0;
	/* it is below what the line carries */
	line->empty.pending = false;
	return true;
}

/**
 * zrtt_line_update() - an epoch may have ended
 * @line: the line
 * @params: what the user says of it
 * @answers: since the last epoch ended; emptied if this one has
 * @loss: what the line loses
 * @bytes: on the line so far, as the shaper counts them, low bits
 * @now_us: clock, wraps
 *
 * Return: whether the rate is another.
 */
static inline bool zrtt_line_update(struct zrtt_line *line, const struct zrtt_line_params *params,
				    struct zrtt_line_answers *answers, struct zrtt_loss *loss,
				    u32 bytes, u32 now_us)
{
	u32 span_us = now_us - line->epoch_us;
	u64 sent = bytes - line->epoch_bytes;
	struct zrtt_sent_mark through;
	bool queue, ours, full, lost;
	u64 base;

	zrtt_sent_add(&line->sent, bytes, now_us);
	if (span_us < ZRTT_LINE_EPOCH_US ||
	    (span_us < ZRTT_LINE_EPOCH_MAX_US && answers->count < ZRTT_LINE_ANSWERS))
		return false;
	sent = div_u64(sent * 1000000, span_us);
	full = span_us < ZRTT_LINE_BLIND_US && sent >= line->rate / 16 * 15;
	zrtt_line_use(line, sent);
	line->epoch_us = now_us;
	line->epoch_bytes = bytes;
	zrtt_line_forget(answers, now_us);
	/* what passes while it stands is no measure of what it carries, and times wrap */
	line->paused |= span_us > ZRTT_LINE_STILL_US;
	if (now_us - line->answered_us >
	    (line->paused ? ZRTT_LINE_STILL_US + line->gap_us : ZRTT_DELAY_WINDOW_US))
		line->pointed = false;
	if (span_us > ZRTT_LOSS_PAUSE_US)
		zrtt_loss_pause(loss, span_us, bytes, now_us);
	lost = zrtt_line_lose(line, params, loss, bytes, now_us);
	if (!answers->count)
		return lost || zrtt_line_wait(line, params, full, span_us, bytes, now_us);

	through = zrtt_line_read(line, params, answers, bytes, now_us);
	line->latest = through;
	/* that of a line behind this queue goes, once less is sent for what was lost */
	queue = line->delay.us > zrtt_delay_queue_us(&line->delay, line->rate) &&
		(!loss->settling || params->kind == ZRTT_LINE_AHEAD);
	ours = queue && line->ours;
	zrtt_line_measure(line, through, queue);
	/* what the line lost did not get through */
	if (loss->ceiling && line->measured > loss->ceiling)
		line->measured = loss->ceiling;
	zrtt_line_point(line, through, queue);
	line->lately -= line->lately >> ZRTT_LINE_LATELY_SHIFT;
	if (line->lately < line->measured)
		line->lately = line->measured;
	if (!line->least || line->least > line->measured)
		line->least = line->measured;
	line->least += (line->lately - line->least) >> ZRTT_LINE_LATELY_SHIFT;
	if (lost)
		return true;
	line->delay.queued |= ours;
	zrtt_line_deep(line, ours, full, span_us, now_us);
	zrtt_delay_vary(&line->delay, line->measured, line->rate, params->kind == ZRTT_LINE_AHEAD,
			now_us);
	if (zrtt_delay_farther(&line->delay, queue, line->measured, line->rate, bytes,
			       (u32)loss->bytes, now_us))
		return zrtt_line_move(line, params);
	if (ours && line->measured)
		zrtt_line_begin_empty(line, now_us);
	if (zrtt_line_empties(line, queue, now_us))
		return zrtt_line_half(line, params);
	if (ours)
		return zrtt_line_lower(line, params, bytes, now_us);
	if (line->measured && zrtt_delay_ends(&line->delay, now_us) && !zrtt_loss_holds(loss))
		return zrtt_line_rest(line, params);
	/* a line that loses says itself which rate is too much */
	base = zrtt_loss_holds(loss) ? zrtt_line_under(line, loss) :
	       queue ? zrtt_line_base(line) : zrtt_line_free(line, params);
	if (!queue && full && !zrtt_loss_holds(loss))
		return zrtt_line_grow(line, params, base, params->max, span_us);
	if (!queue && full)
		line->state = ZRTT_LINE_LOSS;
	else if (line->state != ZRTT_LINE_START)
		line->state = ZRTT_LINE_HOLD;
	return zrtt_line_set(line, params, base);
}

#endif
