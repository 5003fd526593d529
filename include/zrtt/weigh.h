/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow's update: its rate, its RTT, its penalty, and the weight P_i / P_b that follows.
 */
#ifndef _ZRTT_WEIGH_H
#define _ZRTT_WEIGH_H

#include <linux/types.h>
#include "flow.h"
#include "host.h"
#include "table.h"
#include "update.h"
#include "law.h"
#include "verdict.h"
#include "fair.h"
#include "l4s.h"
#include "params.h"
#include "state.h"

/* log2 of a flow's due share in bytes per epoch, Q16, 0 = not known, as of a flow that waits in a
 * table without hosts to be moved to another one
 */
static inline s32 zrtt_log_due(const struct zrtt_vars *vars, const struct zrtt_flow *f)
{
	const struct zrtt_member *m;

	if (likely(!vars->table.groups))
		return vars->law.log_due;
	m = zrtt_flow_member(&vars->table, f);
	return m ? m->log_due : 0;
}

/* The law as it is for a member's flow; see zrtt_host_law(). */
static inline s32 zrtt_member_law(const struct zrtt_vars *vars, struct zrtt_member *m,
				  struct zrtt_law *law)
{
	law->log_norm -= zrtt_log_price(m->weight_q8);
	return vars->table.groups ? zrtt_host_law(&vars->hosts, m, law) : law->log_due;
}

/* P_i / P_b of a flow that has a host or a weight. */
static noinline __maybe_unused u32 zrtt_weight_of_member(const struct zrtt_params *params,
							 const struct zrtt_vars *vars,
							 const struct zrtt_flow *f)
{
	struct zrtt_law law = vars->law;

	zrtt_member_law(vars, zrtt_own_member(&vars->table, f), &law);
	return zrtt_weight(&params->law, &law, f);
}

/* What P_i / P_b of a flow depends on changed, but not its rate. */
static inline void zrtt_reweigh(const struct zrtt_params *params,
				const struct zrtt_vars *vars, struct zrtt_flow *f)
{
	f->weight = unlikely(vars->table.members) ?
		    zrtt_weight_of_member(params, vars, f) :
		    zrtt_weight(&params->law, &vars->law, f);
}

/* zrtt_refresh(), with members or without: who has none is not to pay for them. */
static __always_inline void
zrtt_refresh_either(const struct zrtt_params *params, struct zrtt_vars *vars,
		    struct zrtt_flow *f, u32 epoch, bool members)
{
	u32 epochs = epoch - f->epoch, bytes = f->bytes;
	const struct zrtt_law *own = &vars->law;
	s32 log_rate, log_due = own->log_due;
	struct zrtt_law of_flow;
	struct zrtt_member *m;

	zrtt_table_expire(&vars->table, epoch, ZRTT_EXPIRE_UPDATE);
	log_rate = zrtt_flow_update(&vars->table, f, epoch);
	if (members) {
		m = zrtt_own_member(&vars->table, f);
		of_flow = vars->law;
		if (vars->table.groups)
			zrtt_host_refresh(&vars->hosts, m, f, epoch);
		log_due = zrtt_member_law(vars, m, &of_flow);
		own = &of_flow;
	}
	if (epochs && params->law.tuned) {
		zrtt_penalise_at(own, f, log_rate, log_due, epochs);
		zrtt_charge_excess(own, f, log_rate, epochs);
		if (unlikely(f->barred))
			zrtt_l4s_charge(f, log_rate, log_due);
		log_rate = zrtt_log_growing(own, f, log_rate, bytes, epochs);
	}
	if (unlikely(f->l4s) && epochs && epochs <= ZRTT_LIVE_EPOCHS)
		zrtt_l4s_judge(&vars->l4s, own->log_due, f,
			       zrtt_mean_of_epochs(bytes, epochs), epochs);
	f->weight = zrtt_weight_at(&params->law, own, f, log_rate);
}

static noinline __maybe_unused void
zrtt_refresh_of_member(const struct zrtt_params *params, struct zrtt_vars *vars,
		       struct zrtt_flow *f, u32 epoch)
{
	zrtt_refresh_either(params, vars, f, epoch, true);
}

/* Bring a flow's rate, RTT, penalty and weight up to date. */
static inline void zrtt_refresh(const struct zrtt_params *params,
				struct zrtt_vars *vars, struct zrtt_flow *f,
				u32 epoch)
{
	if (unlikely(vars->table.members))
		zrtt_refresh_of_member(params, vars, f, epoch);
	else
		zrtt_refresh_either(params, vars, f, epoch, false);
}

#endif
