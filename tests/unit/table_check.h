/* SPDX-License-Identifier: GPL-2.0 */
/* The whole truth about a flow table, recomputed by walking it. */
#ifndef _UNIT_TABLE_CHECK_H
#define _UNIT_TABLE_CHECK_H

#include "unit.h"
#include <zrtt/table.h>

static inline u32 table_slots(const struct zrtt_table *t)
{
	return t->mask + 1;
}

/* The list links up both ways, oldest books first, and holds the live slots. */
static inline void check_list(const struct zrtt_table *t)
{
	u32 slot, before = ZRTT_NO_SLOT, length = 0, live = 0, i;

	for (slot = t->oldest; slot != ZRTT_NO_SLOT; slot = t->slots[slot].newer) {
		const struct zrtt_flow *f = &t->slots[slot];

		assert_true(slot < table_slots(t));
		assert_true(f->live);
		assert_int_equal(f->older, before);
		if (before != ZRTT_NO_SLOT)
			assert_true(t->slots[before].epoch <= f->epoch);
		before = slot;
		assert_true(++length <= table_slots(t));
	}
	assert_int_equal(t->newest, before);
	for (i = 0; i < table_slots(t); i++)
		live += t->slots[i].live;
	assert_int_equal(length, live);
}

/* The sums are those of the live flows. */
static inline void check_sums(const struct zrtt_table *t)
{
	struct zrtt_table want = {};
	u32 i;

	for (i = 0; i < table_slots(t); i++) {
		const struct zrtt_flow *f = &t->slots[i];
		s32 x, y;

		if (!f->live)
			continue;
		want.live++;
		want.by_source[f->source]++;
		assert_true(!f->passed || zrtt_flow_mature(f));
		want.rated += !!f->passed;
		want.sum_rate += f->passed;
		want.sum_rtt_us += f->rtt_us;
		if (!f->rtt_us || !f->rate || !zrtt_flow_mature(f))
			continue;
		x = zrtt_fit_log(f->rtt_us, ZRTT_FIT_RTT_PIVOT);
		y = zrtt_fit_log(f->rate, ZRTT_FIT_RATE_PIVOT);
		want.fit_n++;
		want.fit_x += x;
		want.fit_y += y;
		want.fit_xx += x * x;
		want.fit_xy += x * y;
	}
	assert_int_equal(t->live, want.live);
	assert_memory_equal(t->by_source, want.by_source, sizeof(want.by_source));
	assert_int_equal(t->rated, want.rated);
	assert_int_equal(t->sum_rate, want.sum_rate);
	assert_int_equal(t->sum_rtt_us, want.sum_rtt_us);
	assert_int_equal(t->fit_n, want.fit_n);
	assert_int_equal(t->fit_x, want.fit_x);
	assert_int_equal(t->fit_y, want.fit_y);
	assert_int_equal(t->fit_xx, want.fit_xx);
	assert_int_equal(t->fit_xy, want.fit_xy);
}

/* Each flow stands in its own set, once; the other slots are free. */
static inline void check_places(const struct zrtt_table *t)
{
	u32 unused = 0, i, j;

	for (i = 0; i < table_slots(t); i++) {
		u32 tag = t->slots[i].tag;

		unused += !tag;
		if (!tag)
			continue;
		assert_int_equal(i / ZRTT_WAYS, (tag & t->mask) / ZRTT_WAYS);
		for (j = i + 1; j % ZRTT_WAYS; j++)
			assert_int_not_equal(t->slots[j].tag, tag);
	}
	assert_int_equal(t->unused, unused);
}

static inline void check_table(const struct zrtt_table *t)
{
	check_list(t);
	check_sums(t);
	check_places(t);
}

#endif
