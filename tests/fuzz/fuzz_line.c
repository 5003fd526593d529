// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a line whose rate is to be found, by answers that say anything, at any
 * time, and data with any sequence numbers, while any number of bytes is sent, and with bounds
 * that change.
 */
#include <linux/types.h>
#include <linux/pkt_sched_zrtt.h>
#include <zrtt/line.h>

#include "draw.h"
#include "expect.h"

#define ANSWERS_MAX	40
#define FLOWS		4

struct fuzzed {
	struct zrtt_line_params params;
	struct zrtt_line line;
	struct zrtt_line_answers answers;
	struct zrtt_loss loss;
	u32 seq[FLOWS];
	u32 top[FLOWS];		/* what follows all that passed, of those that are watched whole */
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
	expect(line->state > ZRTT_LINE_OFF && line->state <= ZRTT_LINE_LOSS, "no such state");
	expect(line->step >= ZRTT_LINE_GROW_MAX && line->step <= ZRTT_LINE_GROW_MIN,
	       "grows by more or less than it may");
	expect(line->sent.head < ZRTT_SENT_MARKS, "a mark beyond its ring");
	expect(line->least <= line->lately, "the least is not the least");
	expect(f->loss.own_q16 <= ZRTT_LOSS_OWN_MAX_Q16, "a path that may lose as much as it likes");
	expect(f->loss.vain < ZRTT_LOSS_VAIN, "goes on in vain");
	expect(f->loss.retries <= ZRTT_LOSS_BLIND_RETRIES, "waits for longer than it may");
	expect(f->loss.paused_us <= ZRTT_LOSS_PAUSES_US, "pauses for longer than it may");
	expect(f->loss.tries <= ZRTT_LOSS_TRIES * ZRTT_LOSS_TRY_SHIFT, "raises by more than it may");
}

/* Data of a flow passes: mostly what is next, or near. */
static void draw_data(struct draw *d, struct fuzzed *f)
{
	u32 i = draw_index(d, FLOWS), tag = 1 + i * ZRTT_RESENT_FLOWS / 2;
	u32 bytes = draw_between(d, 1, 65535), came_us = f->now_us;
	struct zrtt_resent_flow *flow = zrtt_resent_flow(&f->loss.resent, tag, bytes, f->now_us);
	u64 before = f->loss.bytes;
	const struct zrtt_loss_host *at[ZRTT_LOSS_SIDES];
	struct zrtt_loss_host was[ZRTT_LOSS_SIDES];
	u32 side, holes, lost;
	enum zrtt_data data;
	bool again, news;

	if (!flow)
		return;
	switch (draw_index(d, 4)) {
	case 0:
		f->seq[i] = draw_between(d, 0, ~0U);
		break;
	case 1:
		f->seq[i] -= draw_between(d, 0, 1 << 17);
		break;
	case 2:
		f->seq[i] += draw_between(d, 0, 1 << 17);
		break;
	}
	if (!flow->tag)
		zrtt_loss_begin(flow, tag, draw_index(d, 256), draw_index(d, 256), f->seq[i],
				draw_index(d, 2), f->now_us);
	if (flow->next == flow->first || (flow->doubt && f->seq[i] == flow->before))
		f->top[i] = f->seq[i];
	for (side = 0; side < ZRTT_LOSS_SIDES; side++) {
		at[side] = &f->loss.hosts[side][flow->hosts[side]];
		was[side] = *at[side];
	}
	came_us -= draw_between(d, 0, draw_index(d, 8) ? 1000 : 1000000);
	holes = flow->holes + flow->older;
	news = (s32)(f->seq[i] - flow->news) >= 0;
	data = zrtt_loss_pass(&f->loss, flow, f->seq[i], bytes,
			      f->params.kind == ZRTT_LINE_AHEAD, came_us, f->now_us);
	again = data == ZRTT_DATA_AGAIN;
	expect(data != ZRTT_DATA_NONE, "no data");
	expect(!flow->whole || data == (f->seq[i] - f->top[i] > ~0U / 2 ? ZRTT_DATA_AGAIN :
									  ZRTT_DATA_FIRST),
	       "passes for the first time twice, or never");
	f->seq[i] += bytes;
	if ((s32)(f->seq[i] - f->top[i]) > 0)
		f->top[i] = f->seq[i];
	lost = (u32)(f->loss.bytes - before);
	expect(lost <= bytes, "lost more than passed");
	for (side = 0; side < ZRTT_LOSS_SIDES; side++) {
		expect(at[side]->lost - was[side].lost == (news ? lost : 0),
		       "lost by nobody, or at another rate");
		expect(at[side]->sent - was[side].sent <= bytes, "sent more than passed");
	}
	expect(again || !lost, "lost what is not sent again");
	expect(f->params.kind == ZRTT_LINE_AHEAD || !again ||
	       lost + holes - flow->holes - flow->older <= bytes, "lost what never passed");
	expect(flow->holes <= ZRTT_RESENT_REACH && flow->older <= ZRTT_RESENT_REACH,
	       "a hole without an end");
	expect(flow->lead <= ZRTT_RESENT_LEAD_MAX, "leads by more than it may");
	expect(flow->next - flow->first <= 3 * ZRTT_RESENT_REACH &&
	       flow->next - flow->news <= 3 * ZRTT_RESENT_REACH, "watched before it was");
	expect((s32)(flow->next - flow->mark) >= 0 && (s32)(flow->mark - flow->passed) >= 0,
	       "passed before it was sent");
}

/* What hosts say of loss is no more than each said, and somebody counts. */
static void check_loss(const struct fuzzed *f)
{
	u64 lost, sent = zrtt_loss_agree(&f->loss, &lost), all_sent = 0, all_lost = 0;
	u32 i;

	for (i = 0; i < ZRTT_LOSS_HOSTS; i++) {
		all_sent += f->loss.hosts[ZRTT_LOSS_FAR][i].sent;
		all_lost += f->loss.hosts[ZRTT_LOSS_FAR][i].lost;
	}
	expect(sent <= all_sent && lost <= all_lost, "more than all");
	expect(!sent == !all_sent, "nobody counts");
	expect(zrtt_loss_part(lost, sent) <= zrtt_loss_part(all_lost, all_sent) ||
	       sent < all_sent, "a part that nobody said");
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
	const struct zrtt_sent *sent = &f->line.sent;
	const struct zrtt_sent_mark *before =
		&sent->marks[(sent->head + ZRTT_SENT_MARKS - 1) % ZRTT_SENT_MARKS];
	u32 us = f->now_us - (u32)(d->left * 37777);
	u32 bytes = zrtt_sent_until(sent, us);

	expect(zrtt_sent_until(sent, f->now_us) == f->bytes, "forgets what was sent");
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

/* Was that rate used without a loss? More may have come from a line before the queue. */
static bool was_clean(const struct fuzzed *f, u64 rate)
{
	return f->loss.clean == rate ||
	       (f->params.kind == ZRTT_LINE_AHEAD && f->loss.clean > rate);
}

/* Was there a queue, and is the rate what was measured, but not near the one that lost? */
static bool was_emptied(const struct fuzzed *f, u32 state)
{
	u64 near = f->loss.ceiling - (f->loss.ceiling >> ZRTT_LOSS_NEAR_SHIFT);

	return state == ZRTT_LINE_QUEUE && f->line.rate <= f->line.measured && f->line.rate <= near;
}

static void update(struct fuzzed *f)
{
	struct zrtt_line before = f->line;
	bool any = f->answers.count;
	bool changed = zrtt_line_update(&f->line, &f->params, &f->answers, &f->loss, f->bytes,
					f->now_us);
	bool ended = f->line.epoch_us != before.epoch_us;

	check_line(f);
	expect(changed == (f->line.rate != before.rate), "does not say that it changed");
	expect(f->line.lowered + f->line.raised - before.lowered - before.raised == changed,
	       "does not count it");
	expect(!changed || ended || f->now_us == before.epoch_us, "changed within an epoch");
	if (ended)
		check_kept(f);
	if (changed && f->line.state == ZRTT_LINE_LOSS && f->line.rate > before.rate)
		expect(f->loss.settling || was_clean(f, before.rate) ||
		       was_emptied(f, before.state), "more than was used without a loss");
	if (changed && !any && f->line.state == ZRTT_LINE_BLIND && f->line.rate > before.rate)
		expect(f->line.rate <= before.measured || f->line.rate == f->params.min ||
		       f->loss.settling || (!before.measured && was_clean(f, before.rate)),
		       "more than was measured, or used without a loss, and nobody answers");
	else if (changed && f->line.state == ZRTT_LINE_BLIND && f->line.rate < before.rate)
		expect(f->loss.settling, "less without a loss, and nobody answers");
	else if (changed && !any && f->line.state != ZRTT_LINE_LOSS)
		expect((before.state == ZRTT_LINE_QUEUE && before.measured) ||
		       f->line.state == ZRTT_LINE_GROW, "changed without an answer");
	expect(f->line.long_epochs <= ZRTT_LINE_LONG_EPOCHS, "a queue longer than long");
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
	zrtt_loss_init(&f.loss, f.bytes, f.now_us);
	f.line.sent.head = draw_index(&d, ZRTT_SENT_MARKS);
	/* amid lowering it for loss */
	f.loss.before = f.line.rate;
	f.loss.ceiling_us = f.now_us;
	f.loss.vain = draw_index(&d, ZRTT_LOSS_VAIN);
	f.loss.chain_sent = draw_between(&d, 0, 1 << 20);
	f.loss.chain_lost = f.loss.chain_sent / 16;
	f.loss.full = draw_index(&d, 2);
	f.loss.tries = draw_index(&d, ZRTT_LOSS_TRIES * ZRTT_LOSS_TRY_SHIFT + 1);
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
		case 2:
		case 3:
		case 4:
			draw_data(&d, &f);
			check_loss(&f);
			break;
		default:
			draw_answers(&d, &f);
		}
		update(&f);
		check_marks(&d, &f);
	}
	return 0;
}
