/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is as large as the user says: flows, their names, connections.
 */
#ifndef _ZRTT_TABLES_H
#define _ZRTT_TABLES_H

#include <linux/mm.h>
#include <linux/netdevice.h>
#include <net/sch_generic.h>

#include "sched.h"
#include "timing.h"

/* Host slots: a quarter of those of flows, or these. A host has a flow or more. */
#define ZRTT_HOSTS_SHIFT	2
#define ZRTT_HOSTS_LEAST	1024

/* Which of the tables a change of the parameters makes anew. */
#define ZRTT_TABLE_SLOTS	1
#define ZRTT_TABLE_NAMES	2
#define ZRTT_TABLE_HOSTS	4
#define ZRTT_TABLE_MEMBERS	8
#define ZRTT_TABLE_CEILS	16
#define ZRTT_TABLE_ALL		31

/**
 * struct zrtt_tables - the memory of a qdisc, as it is allocated and freed
 * @net: connections; NULL = timestamps are off
 * @slots: flows
 * @names: their addresses
 * @members: their hosts
 * @hosts: hosts
 * @groups: what their flows sum up to
 * @parts: what the queue has of them, where it may have peers
 * @ceils: their ceilings
 * @host_slots: of all of these
 * @from: while flows are moved, where they are moved from
 */
struct zrtt_tables {
	struct zrtt_net *net;
	struct zrtt_flow *slots;
	struct zrtt_name *names;
	struct zrtt_member *members;
	struct zrtt_flow *hosts;
	struct zrtt_group *groups;
	struct zrtt_part *parts;
	struct zrtt_ceil *ceils;
	u32 host_slots;
	struct zrtt_table from;
};

static void zrtt_tables_free(const struct zrtt_tables *tables)
{
	zrtt_net_put(tables->net);
	kvfree(tables->slots);
	kvfree(tables->names);
	kvfree(tables->members);
	kvfree(tables->hosts);
	kvfree(tables->groups);
	kvfree(tables->parts);
	kvfree(tables->ceils);
}

/* Is @sch at the place of a child of mq? mq attaches it later, and may be attached later
 * itself.
 */
static bool zrtt_may_have_peers(const struct Qdisc *sch)
{
	struct net_device *dev = qdisc_dev(sch);
	u32 queue = TC_H_MIN(sch->parent);

	return sch->parent != TC_H_ROOT && netif_is_multiqueue(dev) && queue &&
	       queue <= dev->num_tx_queues &&
	       sch->dev_queue == netdev_get_tx_queue(dev, queue - 1);
}

static bool zrtt_has_hosts(const struct zrtt_params *params)
{
	return params->fair != ZRTT_FAIR_FLOW;
}

static bool zrtt_has_members(const struct zrtt_params *params)
{
	return zrtt_has_hosts(params) || params->weighted;
}

/* What is to be allocated when parameters change. Hosts stay unless others are meant by
 * them: that of their number is of the beginning.
 */
static u32 zrtt_tables_differ(const struct zrtt_params *from, const struct zrtt_params *to)
{
	bool hosts = from->fair != to->fair || from->fair_mask != to->fair_mask ||
		     from->prefix6 != to->prefix6 || from->nat != to->nat;
	bool slots = from->flows != to->flows;
	u32 what = slots ? ZRTT_TABLE_SLOTS : 0;

	if (slots || from->names != to->names)
		what |= ZRTT_TABLE_NAMES;
	if (hosts)
		what |= ZRTT_TABLE_HOSTS;
	if (slots || hosts || zrtt_has_members(from) != zrtt_has_members(to))
		what |= ZRTT_TABLE_MEMBERS;
	if (hosts || !from->ceil.rate != !to->ceil.rate)
		what |= ZRTT_TABLE_CEILS;
	return what;
}

/* Host slots that a qdisc has, or is to have. */
static u32 zrtt_host_slots(struct Qdisc *sch, const struct zrtt_params *params, u32 what)
{
	const struct zrtt_sched_data *q = qdisc_priv(sch);

	if (!(what & ZRTT_TABLE_HOSTS))
		return q->vars.hosts.table.mask + 1;
	return max_t(u32, params->flows >> ZRTT_HOSTS_SHIFT, ZRTT_HOSTS_LEAST);
}

/* Return: false if there is not enough memory; what was allocated is in @tables. */
static bool zrtt_tables_fill(struct zrtt_tables *tables, struct Qdisc *sch,
			     const struct zrtt_params *params, u32 what)
{
	if (what & ZRTT_TABLE_SLOTS) {
		tables->slots = zrtt_alloc_table(params->flows, sizeof(*tables->slots));
		if (!tables->slots)
			return false;
	}
	if (what & ZRTT_TABLE_NAMES && params->names) {
		tables->names = zrtt_alloc_table(params->flows, sizeof(*tables->names));
		if (!tables->names)
			return false;
	}
	if (what & ZRTT_TABLE_MEMBERS && zrtt_has_members(params)) {
		tables->members = zrtt_alloc_table(params->flows, sizeof(*tables->members));
		if (!tables->members)
			return false;
	}
	tables->host_slots = zrtt_host_slots(sch, params, what);
	if (what & ZRTT_TABLE_CEILS && params->ceil.rate) {
		tables->ceils = zrtt_alloc_table(tables->host_slots, sizeof(*tables->ceils));
		if (!tables->ceils)
			return false;
	}
	if (what & ZRTT_TABLE_HOSTS && zrtt_has_hosts(params)) {
		tables->hosts = zrtt_alloc_table(tables->host_slots, sizeof(*tables->hosts));
		tables->groups = zrtt_alloc_table(tables->host_slots,
						  sizeof(*tables->groups));
		if (!tables->hosts || !tables->groups)
			return false;
		if (zrtt_may_have_peers(sch)) {
			tables->parts = zrtt_alloc_table(tables->host_slots,
							 sizeof(*tables->parts));
			if (!tables->parts)
				return false;
		}
	}
	return true;
}

/**
 * zrtt_tables_alloc() - what a qdisc with @params needs
 * @tables: set; on failure, too, and to be freed
 * @sch: qdisc
 * @params: parameters
 * @what: the tables to allocate, where @params ask for them
 */
static int zrtt_tables_alloc(struct zrtt_tables *tables, struct Qdisc *sch,
			     const struct zrtt_params *params, u32 what)
{
	*tables = (struct zrtt_tables) {};
	if (params->timestamps) {
		tables->net = zrtt_net_get(sch);
		if (!tables->net)
			return -ENOMEM;
		if (params->line.kind != ZRTT_LINE_NONE && !zrtt_net_alloc_oneway(tables->net))
			return -ENOMEM;
	}
	return zrtt_tables_fill(tables, sch, params, what) ? 0 : -ENOMEM;
}

/* Go on with other hosts: flows join them with their next packets. */
static void zrtt_take_hosts(struct zrtt_vars *vars, struct zrtt_tables *tables)
{
	struct zrtt_flow *hosts = vars->hosts.table.slots;
	struct zrtt_part *parts = vars->hosts.table.parts;

	/* their groups are gone */
	tables->from.members = NULL;
	zrtt_hosts_begin(&vars->hosts);
	if (tables->hosts)
		zrtt_table_init(&vars->hosts.table, tables->hosts, tables->host_slots);
	else
		vars->hosts.table = (struct zrtt_table) {};
	tables->hosts = hosts;
	vars->hosts.table.parts = tables->parts;
	vars->hosts.table.has_parts = tables->parts;
	tables->parts = parts;
	swap(vars->hosts.groups, tables->groups);
	vars->table.groups = vars->hosts.groups;
}

/* Take over what was allocated, and leave what it replaces in @tables. */
static void zrtt_tables_take(struct zrtt_sched_data *q, struct zrtt_tables *tables, u32 what)
{
	struct zrtt_table *table = &q->vars.table;

	swap(q->net, tables->net);
	if (what & ZRTT_TABLE_NAMES)
		swap(q->names, tables->names);
	if (what & ZRTT_TABLE_SLOTS) {
		zrtt_table_resize(table, &tables->from, tables->slots, q->params.flows);
		tables->slots = tables->from.slots;
	}
	if (what & ZRTT_TABLE_HOSTS)
		zrtt_take_hosts(&q->vars, tables);
	if (what & ZRTT_TABLE_MEMBERS)
		swap(table->members, tables->members);
	if (what & ZRTT_TABLE_CEILS)
		swap(q->vars.hosts.ceils, tables->ceils);
}

/* The first tables of a qdisc. */
static void zrtt_tables_begin(struct zrtt_sched_data *q, struct zrtt_tables *tables)
{
	zrtt_table_init(&q->vars.table, tables->slots, q->params.flows);
	q->net = tables->net;
	q->names = tables->names;
	q->vars.table.members = tables->members;
	q->vars.hosts.ceils = tables->ceils;
	zrtt_take_hosts(&q->vars, tables);
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
