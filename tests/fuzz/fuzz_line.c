// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a line whose rate is to be found, by answers that say anything, at any
 * time, while any number of bytes is sent, and with bounds that change.
 */
#include <linux/types.h>
#include <linux/pkt_sched_zrtt.h>
#include <zrtt/line.h>

#include "draw.h"
#include "expect.h"

#define ANSWERS_MAX	40

struct fuzzed {
	struct zrtt_line_params params;
	struct zrtt_line line;
	struct zrtt_line_answers answers;
	u32 now_us;
	u32 bytes;
};

static struct zrtt_line_params draw_line(struct draw *d)
{
	u64 range = TC_ZRTT_AUTO_RATE_MAX - TC_ZRTT_BANDWIDTH_MIN + 1;
	u64 a = TC_ZRTT_BANDWIDTH_MIN + draw_u64(d) % range;
	u64 b = TC_ZRTT_BANDWIDTH_MIN + draw_u64(d) % range;

	return (struct zrtt_line_params) {
		.kind = 1 + draw_index(d, __TC_ZRTT_AUTO_MAX - 1),
		.min = a < b ? a : b,
		.max = a < b ? b : a,
	};
}

static void check_line(const struct fuzzed *f)
{
	const struct zrtt_line *line = &f->line;

	expect(line->rate >= f->params.min && line->rate <= f->params.max,
	       "a rate that the user does not allow");
	expect(line->state > ZRTT_LINE_OFF && line->state <= ZRTT_LINE_BLIND, "no such state");
	expect(line->step >= ZRTT_LINE_GROW_MAX && line->step <= ZRTT_LINE_GROW_MIN,
	       "grows by more or less than it may");
	expect(line->head < ZRTT_LINE_MARKS, "a mark beyond its ring");
	expect(line->least <= line->lately, "the least is not the least");
}

static void draw_answers(struct draw *d, struct fuzzed *f)
{
	u32 i, hosts, n = draw_index(d, ANSWERS_MAX) + 1;
	struct zrtt_line_answer agreed;
	u32 least = ~0U, most = 0;

	for (i = 0; i < n; i++) {
		struct zrtt_line_answer answer = {
			.gap_us = draw_between(d, 0, 4000000),
			.host = draw_index(d, 4),
		};

		answer.left_us = f->now_us - answer.gap_us - draw_between(d, 0, 4000000);
		answer.excess_us = draw_between(d, 0, answer.gap_us);
		zrtt_line_answer(&f->answers, draw_index(d, 256), &answer);
	}
	for (i = 0; i < ZRTT_LINE_PAIRS; i++) {
		if (!(f->answers.from >> i & 1))
			continue;
		least = least < f->answers.of[i].excess_us ? least : f->answers.of[i].excess_us;
		most = most > f->answers.of[i].excess_us ? most : f->answers.of[i].excess_us;
	}
	agreed = zrtt_line_agree(&f->answers, &hosts);
	expect(agreed.excess_us >= least && agreed.excess_us <= most, "nobody said that");
	expect(hosts >= 1 && hosts <= 4, "more hosts than there are, or none");
}

/* A mark is what was sent then, and between two there is no more nor less. */
static void check_marks(const struct draw *d, const struct fuzzed *f)
{
	const struct zrtt_line *line = &f->line;
	const struct zrtt_line_mark *before =
		&line->marks[(line->head + ZRTT_LINE_MARKS - 1) % ZRTT_LINE_MARKS];
	u32 us = f->now_us - (u32)(d->left * 37777);
	u32 bytes = zrtt_line_bytes_at(line, us);

	expect(zrtt_line_bytes_at(&f->line, f->now_us) == f->bytes, "forgets what was sent");
	expect((s32)(f->bytes - bytes) >= 0, "sent more before than now");
	if (f->now_us - before->us < 1U << 30 && (s32)(before->us - us) > 0)
		expect((s32)(before->bytes - bytes) >= 0, "sent sooner than it was");
}

/* An epoch has ended: what is kept of its answers is not old, and none counts as new. */
static void check_kept(const struct fuzzed *f)
{
	const struct zrtt_line_answer *of = f->answers.of;
	u32 i;

	expect(!f->answers.count, "goes on with old answers");
	for (i = 0; i < ZRTT_LINE_PAIRS; i++)
		expect(!(f->answers.from >> i & 1) ||
		       f->now_us - of[i].left_us - of[i].gap_us <= ZRTT_LINE_KEEP_US,
		       "keeps what is old");
}

static void update(struct fuzzed *f)
{
	struct zrtt_line before = f->line;
	bool any = f->answers.count;
	bool changed = zrtt_line_update(&f->line, &f->params, &f->answers, f->bytes, f->now_us);
	bool ended = f->line.epoch_us != before.epoch_us;

	check_line(f);
	expect(changed == (f->line.rate != before.rate), "does not say that it changed");
	expect(f->line.lowered + f->line.raised - before.lowered - before.raised == changed,
	       "does not count it");
	expect(!changed || ended || f->now_us == before.epoch_us, "changed within an epoch");
	if (ended)
		check_kept(f);
	if (changed && !any)
		expect(before.state == ZRTT_LINE_QUEUE && before.measured,
		       "changed without an answer");
	if (changed && f->line.state == ZRTT_LINE_GROW)
		expect(f->line.rate > before.rate, "grew to less");
	if (changed && f->line.state == ZRTT_LINE_QUEUE && f->line.rate != f->params.min)
		expect(f->line.rate <= f->line.measured, "more than the line has");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct fuzzed f = { .params = draw_line(&d) };

	f.now_us = draw_between(&d, 0, ~0U);
	f.bytes = draw_between(&d, 0, ~0U);
	zrtt_line_begin(&f.line, &f.params, f.bytes, f.now_us);
	f.line.head = draw_index(&d, ZRTT_LINE_MARKS);
	check_line(&f);
	while (d.left) {
		f.now_us += draw_between(&d, 0, draw_index(&d, 8) ? 100000 : 1U << 30);
		f.bytes += draw_between(&d, 0, 1U << 22);
		switch (draw_index(&d, 8)) {
		case 0:
			f.params = draw_line(&d);
			zrtt_line_set(&f.line, &f.params, f.line.rate);
			break;
		case 1:
			break;
		default:
			draw_answers(&d, &f);
		}
		update(&f);
		check_marks(&d, &f);
	}
	return 0;
}
