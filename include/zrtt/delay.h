/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The delay of a line whose queue cannot be seen: how much of it is that queue.
 *
 * What a half of a connection's RTT is above the least of it, its excess, is the time that its probe
 * waited on the line, unless the path itself became longer, or varies.
 */
#ifndef _ZRTT_DELAY_H
#define _ZRTT_DELAY_H

#include <linux/types.h>
#include <linux/math64.h>

/* An excess above this and the time of three packets is a queue. */
#define ZRTT_DELAY_QUEUE_US	4000
#define ZRTT_DELAY_QUEUE_PACKETS	3
#define ZRTT_DELAY_PACKET	1514	/* bytes */
#define ZRTT_DELAY_QUEUE_BYTE_US	(ZRTT_DELAY_QUEUE_PACKETS * ZRTT_DELAY_PACKET * 1000000ULL)

/* The least excess of two windows, 8 s each, is that of an empty line. Half of what is just no queue yet
 * is left when one is emptied: it would become the least of the next windows, and then be no queue,
 * again and again. So a line that had one is emptied at the end of each window, for this time.
 */
#define ZRTT_DELAY_WINDOW_US	(1U << 23)
#define ZRTT_DELAY_REST_US	200000

/* Long before that: a line that has a queue is busy, and what gets through it does not fall with the
 * rate. If both fell by 2^-2, and for this time the excess stayed the same, but for 2^-2 of it and
 * this noise, then nothing waits, and all is farther away, as after a satellite's handover.
 */
#define ZRTT_DELAY_FLAT_US	750000
#define ZRTT_DELAY_FLAT_SHIFT	2
#define ZRTT_DELAY_FLAT_NOISE_US	2000

/* A FIFO that is full has the same excess, too. It loses more than 2^-6 then. */
#define ZRTT_DELAY_FLAT_LOST	6

/* A path whose delay varies by itself, as that of radio does, has an excess though nothing waits. It is
 * known likewise, by the mean over this time and so many epochs: the excess is noise up to the largest
 * of these, if that is less than this and no more than twice the mean. A queue that comes and goes has
 * a larger one. Noise that begins lowers the rate before its mean is known: that counts, too, unless the
 * line is before this queue, where what comes falls with the line alone.
 */
#define ZRTT_DELAY_NOISE_US	1000000
#define ZRTT_DELAY_NOISE_EPOCHS	8
#define ZRTT_DELAY_NOISE_MAX_US	(1U << 16)
#define ZRTT_DELAY_NOISE_SHIFT	2

/**
 * struct zrtt_delay_flat - a time in which the excess hardly changed
 * @from: what was measured when it began, bytes per second, 0 = there is none
 * @since_us: when that was
 * @least_us: excess since then
 * @most_us: the same
 * @bytes: sent by then, low bits
 * @lost: the same of what the line lost
 */
struct zrtt_delay_flat {
	u64 from;
	u32 since_us;
	u32 least_us;
	u32 most_us;
	u32 bytes;
	u32 lost;
};

/**
 * struct zrtt_delay_noise - how much the excess varies by itself
 * @us: an excess up to this is no queue
 * @from: what was measured, bytes per second, before the rate fell, ...
 * @mean_us: ... and the mean excess that it has had since, or in between
 * @since_us: when the latest epochs began
 * @epochs: of these, those with answers
 * @sum_us: of their excess
 * @most_us: of that
 */
struct zrtt_delay_noise {
	u32 us;
	u64 from;
	u32 mean_us;
	u32 since_us;
	u32 epochs;
	u64 sum_us;
	u32 most_us;
};

/**
 * struct zrtt_delay - the excess of a line
 * @us: of the last two epochs with answers, the lower one, above @floor_us
 * @latest_us: the same of the last one alone
 * @floor_us: least excess of this window and of the one before, ~0 = none
 * @window_us: when this window began
 * @queued: there was a queue in it, of which something may be left
 * @flat: is the excess a queue?
 * @noise: or does it vary by itself?
 */
struct zrtt_delay {
	u32 us;
	u32 latest_us;
	u32 floor_us[2];
	u32 window_us;
	bool queued;
	struct zrtt_delay_flat flat;
	struct zrtt_delay_noise noise;
};

/**
 * zrtt_delay_begin() - nothing is known
 * @delay: set
 * @now_us: clock, wraps
 */
static inline void zrtt_delay_begin(struct zrtt_delay *delay, u32 now_us)
{
	*delay = (struct zrtt_delay) {
		.floor_us = { ~0U, ~0U },
		.window_us = now_us,
	};
}

/* The excess of an empty line. */
static inline u32 zrtt_delay_floor(const struct zrtt_delay *delay)
{
	return delay->floor_us[0] < delay->floor_us[1] ? delay->floor_us[0] : delay->floor_us[1];
}

/* What the excess is above that. */
static inline u32 zrtt_delay_above(struct zrtt_delay *delay, u32 excess_us, u32 now_us)
{
	if (now_us - delay->window_us > ZRTT_DELAY_WINDOW_US) {
		delay->floor_us[1] = delay->floor_us[0];
		delay->floor_us[0] = ~0U;
		delay->window_us = now_us;
		delay->queued = false;
	}
	if (excess_us < delay->floor_us[0])
		delay->floor_us[0] = excess_us;
	return excess_us - zrtt_delay_floor(delay);
}

/**
 * zrtt_delay_read() - the answers of an epoch agree on an excess
 * @delay: the excess so far
 * @excess_us: that of the epoch
 * @now_us: clock, wraps
 *
 * Return: what it is above that of an empty line, microseconds.
 */
static inline u32 zrtt_delay_read(struct zrtt_delay *delay, u32 excess_us, u32 now_us)
{
	u32 above_us = zrtt_delay_above(delay, excess_us, now_us);

	delay->us = above_us < delay->latest_us ? above_us : delay->latest_us;
	delay->latest_us = above_us;
	return above_us;
}

/* An excess above this many microseconds is a queue, but for noise, where the line has @rate. */
static inline u32 zrtt_delay_queue_at(u64 rate)
{
	return ZRTT_DELAY_QUEUE_US + (u32)div64_u64(ZRTT_DELAY_QUEUE_BYTE_US, rate);
}

/* The same with noise. */
static inline u32 zrtt_delay_queue_us(const struct zrtt_delay *delay, u64 rate)
{
	return delay->noise.us + zrtt_delay_queue_at(rate);
}

/**
 * zrtt_delay_ends() - is a window about to end, of which a queue may be left?
 * @delay: the excess
 * @now_us: clock, wraps
 */
static inline bool zrtt_delay_ends(const struct zrtt_delay *delay, u32 now_us)
{
	return delay->queued &&
	       now_us - delay->window_us > ZRTT_DELAY_WINDOW_US - ZRTT_DELAY_REST_US;
}

/* The rate and what was measured, if anything, are less than @from, by 2^-ZRTT_DELAY_FLAT_SHIFT. */
static inline bool zrtt_delay_fell(u64 measured, u64 rate, u64 from)
{
	u64 most = from - (from >> ZRTT_DELAY_FLAT_SHIFT);

	return measured && measured < most && rate < most;
}

/* An excess that was between these hardly changed. */
static inline bool zrtt_delay_alike(u32 least_us, u32 most_us)
{
	return most_us - least_us <= (most_us >> ZRTT_DELAY_FLAT_SHIFT) + ZRTT_DELAY_FLAT_NOISE_US;
}

/* So long the mean excess was @mean_us: is that what it was, and noise? */
static inline void zrtt_delay_compare(struct zrtt_delay_noise *noise, u32 mean_us, u64 measured,
				      u64 rate, bool ahead)
{
	bool lower = mean_us < noise->mean_us;
	bool alike = lower ? zrtt_delay_alike(mean_us, noise->mean_us) :
			     zrtt_delay_alike(noise->mean_us, mean_us);

	if (noise->us > noise->most_us)
		noise->us -= (noise->us - noise->most_us) >> ZRTT_DELAY_NOISE_SHIFT;
	if (!alike || measured > noise->from) {
		if (measured > noise->from || lower || ahead)
			noise->from = measured;
		noise->mean_us = mean_us;
	} else if (zrtt_delay_fell(measured, rate, noise->from) && noise->most_us <= 2 * mean_us &&
		   noise->most_us < ZRTT_DELAY_NOISE_MAX_US) {
		if (noise->us < noise->most_us)
			noise->us = noise->most_us;
		noise->from = measured;
	}
}

/**
 * zrtt_delay_vary() - an epoch with answers has ended
 * @delay: the excess
 * @measured: rate of the line when there was a queue last, bytes per second, 0 = never
 * @rate: of the shaper
 * @ahead: the line is before this queue
 * @now_us: clock, wraps
 */
static inline void zrtt_delay_vary(struct zrtt_delay *delay, u64 measured, u64 rate, bool ahead,
				   u32 now_us)
{
	struct zrtt_delay_noise *noise = &delay->noise;

	noise->epochs++;
	noise->sum_us += delay->us;
	if (delay->us > noise->most_us)
		noise->most_us = delay->us;
	if (now_us - noise->since_us < ZRTT_DELAY_NOISE_US ||
	    noise->epochs < ZRTT_DELAY_NOISE_EPOCHS)
		return;
	zrtt_delay_compare(noise, (u32)div_u64(noise->sum_us, noise->epochs), measured, rate, ahead);
	noise->since_us = now_us;
	noise->epochs = 0;
	noise->sum_us = 0;
	noise->most_us = 0;
}

/**
 * zrtt_delay_farther() - has the path become longer, while that seems to be a queue?
 * @delay: the excess
 * @queue: it seems to be one
 * @measured: as zrtt_delay_vary()
 * @rate: the same
 * @bytes: sent so far, low bits
 * @lost: the same of what the line lost of them
 * @now_us: clock, wraps
 */
static inline bool zrtt_delay_farther(struct zrtt_delay *delay, bool queue, u64 measured, u64 rate,
				      u32 bytes, u32 lost, u32 now_us)
{
	struct zrtt_delay_flat *flat = &delay->flat;
	bool full = lost - flat->lost > (bytes - flat->bytes) >> ZRTT_DELAY_FLAT_LOST;
	u32 us = delay->us;

	if (us < flat->least_us)
		flat->least_us = us;
	if (us > flat->most_us)
		flat->most_us = us;
	if (!queue || full || !flat->from || measured > flat->from ||
	    !zrtt_delay_alike(flat->least_us, flat->most_us))
		*flat = (struct zrtt_delay_flat) {
			queue ? measured : 0, now_us, us, us, bytes, lost,
		};
	return now_us - flat->since_us > ZRTT_DELAY_FLAT_US &&
	       zrtt_delay_fell(measured, rate, flat->from);
}

/**
 * zrtt_delay_move() - it has: the excess is that of an empty line
 * @delay: the excess
 *
 * Return: what was measured before, bytes per second.
 */
static inline u64 zrtt_delay_move(struct zrtt_delay *delay)
{
	u64 from = delay->flat.from;

	delay->floor_us[0] = delay->floor_us[1] = zrtt_delay_floor(delay) + delay->flat.least_us;
	delay->us = 0;
	delay->latest_us = 0;
	delay->flat.from = 0;
	return from;
}

#endif
