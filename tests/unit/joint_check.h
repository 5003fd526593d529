/* SPDX-License-Identifier: GPL-2.0 */
/* What queues said of their hosts, recomputed by walking the tables. */
#ifndef _UNIT_JOINT_CHECK_H
#define _UNIT_JOINT_CHECK_H

#include <zrtt/fair.h>

/* What the device was told, in all. */
static inline struct zrtt_told all_said(const struct zrtt_joint *joint)
{
	struct zrtt_told all = {};
	u32 i, window;

	for (i = 0; i <= joint->mask; i++)
		for (window = 0; window < ZRTT_JOINT_WINDOWS; window++)
			zrtt_told_add(&all, &joint->slots[i].said[window]);
	return all;
}

/* Add what the queue of @hosts remembers to have said, and is not forgotten. */
static inline void add_remembered(const struct zrtt_joint *joint, const struct zrtt_hosts *hosts,
				  struct zrtt_told *to)
{
	u32 i;

	for (i = 0; i <= hosts->table.mask; i++) {
		const struct zrtt_part *part = &hosts->table.parts[i];
		const struct zrtt_joint_host *j = zrtt_joint_known(joint, part);

		if (j && j->window - part->window < ZRTT_JOINT_WINDOWS)
			zrtt_told_add(to, &part->told);
	}
}

#endif
