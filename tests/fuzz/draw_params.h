/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters out of the fuzzer's input: all that netlink lets in, and no more. */
#ifndef _FUZZ_DRAW_PARAMS_H
#define _FUZZ_DRAW_PARAMS_H

#include <linux/pkt_sched_zrtt.h>
#include <zrtt/zrtt.h>

#include "draw.h"

struct range {
	size_t at;
	u32 low;
	u32 high;
};

#define RANGE(field, low, high)	{ offsetof(struct zrtt_params, field), low, high }

static const struct range ranges[] = {
	RANGE(ctl.kind, 0, __TC_ZRTT_CTL_MAX - 1),
	RANGE(ctl.target_us, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX),
	RANGE(ctl.tupdate_us, TC_ZRTT_TUPDATE_MIN, TC_ZRTT_TUPDATE_MAX),
	RANGE(ctl.threshold, TC_ZRTT_THRESHOLD_MIN, TC_ZRTT_THRESHOLD_MAX),
	RANGE(ctl.freeze_us, TC_ZRTT_FREEZE_MIN, TC_ZRTT_FREEZE_MAX),
	RANGE(ctl.increment_q30, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX),
	RANGE(ctl.decrement_q30, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX),
	RANGE(law.alpha_kind, 0, __TC_ZRTT_ALPHA_MAX - 1),
	RANGE(law.alpha_q16, 0, TC_ZRTT_ALPHA_LIMIT),
	RANGE(law.alpha_max_q16, 0, TC_ZRTT_ALPHA_LIMIT),
	RANGE(law.pth_q30, TC_ZRTT_PTH_MIN, TC_ZRTT_PTH_MAX),
	RANGE(law.feedback, 0, TC_ZRTT_FEEDBACK_MAX),
	RANGE(law.mark_max_q30, 0, TC_ZRTT_P_ONE),
	RANGE(hint, 0, __TC_ZRTT_HINT_MAX - 1),
};

#define RANGES	(sizeof(ranges) / sizeof(ranges[0]))

static inline void draw_change(struct draw *d, struct zrtt_params *params)
{
	u32 i = draw_index(d, RANGES + 3);

	if (i < RANGES) {
		*(u32 *)((u8 *)params + ranges[i].at) =
			draw_between(d, ranges[i].low, ranges[i].high);
	} else if (i == RANGES) {
		zrtt_params_preset(params, draw_index(d, __TC_ZRTT_MODE_MAX));
	} else if (i == RANGES + 1) {
		u32 what = draw_index(d, 4);

		params->ecn = what & 1;
		params->l4s = params->mode == ZRTT_MODE_ZRTT && what & 2;
	} else {
		params->mark_mask = (1U << draw_index(d, TC_ZRTT_MARK_BITS_MAX + 1)) - 1;
		params->mark_mask <<= draw_index(d, 32);
	}
}

/* A netlink message with up to 15 attributes. */
static inline void draw_changes(struct draw *d, struct zrtt_params *params)
{
	u32 changes = draw_index(d, 16);

	while (changes--)
		draw_change(d, params);
	zrtt_params_derive(params);
}

#endif
