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

/* The list links up both ways, oldest update first, none before *@epoch, and holds the
 * live slots. *@epoch is set to the newest.
 */
static inline void check_list(const struct zrtt_table *t, u32 *epoch)
{
	u32 slot, before = ZRTT_NO_SLOT, length = 0, live = 0, i;

	for (slot = t->oldest; slot != ZRTT_NO_SLOT; slot = t->slots[slot].newer) {
		const struct zrtt_flow *f = &t->slots[slot];

		assert_true(slot < table_slots(t));
		assert_true(f->live);
		assert_int_equal(f->older, before);
		assert_true(*epoch <= f->epoch);
		*epoch = f->epoch;
		before = slot;
		assert_true(++length <= table_slots(t));
	}
	assert_int_equal(t->newest, before);
	for (i = 0; i < table_slots(t); i++)
		live += t->slots[i].live;
	assert_int_equal(length, live);
}

/* Put the live flows of @t into the sums of @want. */
static inline void sum_up(const struct zrtt_table *t, struct zrtt_table *want)
{
	u32 i;

	for (i = 0; i < table_slots(t); i++) {
		const struct zrtt_flow *f = &t->slots[i];

		if (!f->live)
			continue;
		want->live++;
		want->by_source[f->source]++;
		want->sum_rtt_us += f->rtt_us;
		if (!f->counts) {
			want->other_rate += f->rate;
			want->young_rate += f->age < ZRTT_MATURE_EPOCHS ? f->rate : 0;
			continue;
		}
		assert_true(zrtt_flow_mature(f) && f->rate);
		want->counted++;
		want->sum_rate += f->rate;
		want->sum_log_rate += zrtt_log2(f->rate);
	}
}

/* The sums are those of the live flows, in both tables while they are moved. */
static inline void check_sums(const struct zrtt_table *t)
{
	struct zrtt_table want = {};

	sum_up(t, &want);
	if (t->from)
		sum_up(t->from, &want);
	assert_int_equal(t->live, want.live);
	assert_memory_equal(t->by_source, want.by_source, sizeof(want.by_source));
	assert_int_equal(t->counted, want.counted);
	assert_int_equal(t->sum_rate, want.sum_rate);
	assert_int_equal(t->sum_log_rate, want.sum_log_rate);
	assert_int_equal(t->sum_rtt_us, want.sum_rtt_us);
	assert_int_equal(t->other_rate, want.other_rate);
	assert_int_equal(t->young_rate, want.young_rate);
}

/* Each flow stands in its own bucket, once; the other slots are free. Return: how many. */
static inline u32 check_places(const struct zrtt_table *t)
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
	return unused;
}

/* What is yet to be moved is older than all that is in @t, and nowhere else. */
static inline void check_from(const struct zrtt_table *t, u32 *epoch)
{
	const struct zrtt_table *from = t->from;
	u32 i;

	check_list(from, epoch);
	check_places(from);
	for (i = 0; i < table_slots(from); i++) {
		assert_true(i < t->left || !from->slots[i].tag);
		if (from->slots[i].tag)
			assert_null(zrtt_flow_find(t, from->slots[i].tag));
	}
}

static inline void check_table(const struct zrtt_table *t)
{
	u32 epoch = 0;

	if (t->from)
		check_from(t, &epoch);
	check_list(t, &epoch);
	check_sums(t);
	assert_int_equal(t->unused, check_places(t));
}

#endif
