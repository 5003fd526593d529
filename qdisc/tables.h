/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is as large as the user says: flows, their names, connections.
 */
#ifndef _ZRTT_TABLES_H
#define _ZRTT_TABLES_H

#include <linux/mm.h>
#include <net/sch_generic.h>

#include "sched.h"
#include "timing.h"

/**
 * struct zrtt_tables - the memory of a qdisc, as it is allocated and freed
 * @net: connections; NULL = timestamps are off
 * @slots: flows
 * @names: their addresses
 */
struct zrtt_tables {
	struct zrtt_net *net;
	struct zrtt_flow *slots;
	struct zrtt_name *names;
};

static void zrtt_tables_free(const struct zrtt_tables *tables)
{
	zrtt_net_put(tables->net);
	kvfree(tables->slots);
	kvfree(tables->names);
}

/**
 * zrtt_tables_alloc() - what a qdisc with @params needs
 * @tables: set; on failure, too, and to be freed
 * @sch: qdisc
 * @params: parameters
 * @slots: allocate the table of flows
 * @names: allocate that of their names, if @params ask for one
 */
static int zrtt_tables_alloc(struct zrtt_tables *tables, struct Qdisc *sch,
			     const struct zrtt_params *params, bool slots, bool names)
{
	*tables = (struct zrtt_tables) {};
	if (params->timestamps) {
		tables->net = zrtt_net_get(sch);
		if (!tables->net)
			return -ENOMEM;
	}
	if (slots) {
		tables->slots = zrtt_alloc_table(params->flows, sizeof(*tables->slots));
		if (!tables->slots)
			return -ENOMEM;
	}
	if (names && params->names) {
		tables->names = zrtt_alloc_table(params->flows, sizeof(*tables->names));
		if (!tables->names)
			return -ENOMEM;
	}
	return 0;
}

/* Move the flows to the table of another size, a few at a time: packets pass in between.
 * RTNL keeps other changes and who lists classes away meanwhile.
 */
static void zrtt_move_flows(struct Qdisc *sch)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	bool done;

	ASSERT_RTNL();
	do {
		sch_tree_lock(sch);
		done = zrtt_table_move(&q->vars.table, zrtt_epoch(ktime_get_ns()));
		sch_tree_unlock(sch);
		cond_resched();
	} while (!done);
}

#endif
