/* SPDX-License-Identifier: GPL-2.0 */
/* What passes, of which a line lost some. */
#ifndef _PASSES_H
#define _PASSES_H

#include <zrtt/loss.h>

/* So much passes between two hosts. */
static inline void pass_between(struct zrtt_loss *loss, u32 far, u32 near, u32 sent, u32 lost)
{
	struct zrtt_resent_data passes = { ZRTT_DATA_AGAIN, sent, lost, lost };
	struct zrtt_resent_flow flow;

	zrtt_loss_begin(&flow, 1, far, near, 0, false, 0);
	zrtt_loss_count(loss, &flow, &passes);
}

#endif
