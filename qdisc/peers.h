/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The zrtts below one mq, which are as one: zrtt/peers.h. mq has a child for each transmit
 * queue of its device, and no enqueue of its own, so these find each other.
 */
#ifndef _ZRTT_QDISC_PEERS_H
#define _ZRTT_QDISC_PEERS_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/netns/generic.h>
#include <net/sch_generic.h>

#include "sched.h"
#include "timing.h"
#include "tables.h"
#include "queue.h"
#include "leave.h"
#include "line.h"

/**
 * struct zrtt_shared - what the zrtts below one mq share
 * @list: of struct zrtt_net; RTNL
 * @dev: their device
 * @parent: handle of their mq
 * @users: these zrtts; RTNL
 * @lock: of @device, taken inside the qdisc's lock
 * @device: what they say and what follows
 * @key: of hosts
 * @hosts_lock: of @hosts, taken inside the qdisc's lock
 * @hosts: those that several of them have
 */
struct zrtt_shared {
	struct list_head list;
	const struct net_device *dev;
	u32 parent;
	u32 users;
	spinlock_t lock;
	struct zrtt_device device;
	struct zrtt_hash_key key;
	spinlock_t hosts_lock ____cacheline_aligned_in_smp;
	struct zrtt_joint hosts;
};

static struct zrtt_shared *zrtt_shared_find(const struct zrtt_net *net,
					    const struct net_device *dev, u32 parent)
{
	struct zrtt_shared *shared;

	list_for_each_entry(shared, &net->shared, list)
		if (shared->dev == dev && shared->parent == parent)
			return shared;
	return NULL;
}

/* Each mode but zrtt is what a paper says of one queue. */
static bool zrtt_has_peers(const struct zrtt_sched_data *q)
{
	return q->together.shared && q->params.law.tuned && q->params.ctl.kind == ZRTT_CTL_PI2;
}

/* Queues have a host in common if they mean the same by it, and by its bytes. */
static u32 zrtt_hosts_salt(const struct zrtt_sched_data *q)
{
	const struct zrtt_params *params = &q->params;
	const u32 meant[] = {
		params->fair | params->nat << 8 | params->prefix6 << 16, params->fair_mask,
		params->weight_mask, 0,
	};

	return zrtt_hash_host(&q->host_key, ZRTT_HOST_ENDS, meant, ARRAY_SIZE(meant));
}

/* The others are to know of parameters that changed, whether packets come or not. */
static void zrtt_peers_tell(struct zrtt_sched_data *q)
{
	struct zrtt_together *together = &q->together;

	together->split_ns = 0;
	q->vars.hosts.salt = zrtt_hosts_salt(q);
	if (!together->shared)
		return;
	spin_lock_bh(&together->shared->lock);
	together->peer.rate = q->params.shaper.rate;
	if (!zrtt_has_peers(q))
		zrtt_peer_mute(&together->peer);
	spin_unlock_bh(&together->shared->lock);
	/* nor is it to say anything more before its next tick */
	if (together->on && !zrtt_has_peers(q)) {
		together->on = false;
		zrtt_change_shaper(q, &q->params.shaper);
	}
}

/* The link as the user says it is. Of its rate, the queue's part stays until it asks again. */
static void zrtt_derive_link(struct zrtt_sched_data *q)
{
	u64 part = q->link.rate;

	q->link = q->params.shaper;
	if (!q->together.on)
		return;
	q->link.rate = part;
	zrtt_shaper_derive(&q->link);
}

/* Room for the hosts of the queue with most slots. Without memory each is one per queue. */
static void zrtt_peers_fit(struct zrtt_sched_data *q)
{
	struct zrtt_shared *shared = q->together.shared;
	u32 hosts = q->vars.hosts.table.mask + 1;
	struct zrtt_joint_host *slots, *before;

	ASSERT_RTNL();
	if (!shared || !q->vars.hosts.table.has_parts ||
	    (shared->hosts.slots && shared->hosts.mask + 1 >= hosts))
		return;
	slots = zrtt_alloc_table(hosts, sizeof(*slots));
	if (!slots)
		return;
	spin_lock_bh(&shared->hosts_lock);
	before = shared->hosts.slots;
	zrtt_joint_take(&shared->hosts, slots, hosts);
	spin_unlock_bh(&shared->hosts_lock);
	kvfree(before);
}

/* What @sch shares with the zrtts that have the same parent. Return: 0, or -ENOMEM. */
static int zrtt_peers_join(struct Qdisc *sch)
{
	struct zrtt_net *net = net_generic(dev_net(qdisc_dev(sch)), zrtt_net_id);
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u32 parent = TC_H_MAJ(sch->parent);
	struct zrtt_shared *shared;

	ASSERT_RTNL();
	q->host_key = q->key;
	if (!zrtt_may_have_peers(sch))
		return 0;
	shared = zrtt_shared_find(net, qdisc_dev(sch), parent);
	if (!shared) {
		shared = kzalloc(sizeof(*shared), GFP_KERNEL_ACCOUNT);
		if (!shared)
			return -ENOMEM;
		shared->dev = qdisc_dev(sch);
		shared->parent = parent;
		shared->key = q->key;
		spin_lock_init(&shared->lock);
		spin_lock_init(&shared->hosts_lock);
		list_add(&shared->list, &net->shared);
	}
	shared->users++;
	spin_lock_bh(&shared->lock);
	zrtt_peer_join(&shared->device, &q->together.peer);
	spin_unlock_bh(&shared->lock);
	q->together.shared = shared;
	q->host_key = shared->key;
	zrtt_peers_tell(q);
	zrtt_peers_fit(q);
	return 0;
}

/* No packet comes to this queue any more. */
static void zrtt_peers_leave(struct zrtt_together *together)
{
	struct zrtt_shared *shared = together->shared;

	ASSERT_RTNL();
	if (!shared)
		return;
	spin_lock_bh(&shared->lock);
	zrtt_peer_leave(&shared->device, &together->peer);
	spin_unlock_bh(&shared->lock);
	together->shared = NULL;
	if (--shared->users)
		return;
	list_del(&shared->list);
	kvfree(shared->hosts.slots);
	kfree(shared);
}

static bool zrtt_is_mq(const struct Qdisc *qdisc)
{
	return !strcmp(qdisc->ops->id, "mq");
}

/* Is @root, the qdisc of the device, an mq, and @sch for one of its queues? */
static bool zrtt_is_mq_of(const struct Qdisc *root, const struct Qdisc *sch)
{
	return root->handle == TC_H_MAJ(sch->parent) && zrtt_is_mq(root);
}

/* The queues of a device share a line, and none of them sees what all send, nor does what is below
 * htb there.
 */
static int zrtt_refuse_place(const struct Qdisc *sch, const struct zrtt_params *params,
			     struct netlink_ext_ack *extack)
{
	const struct Qdisc *root = rtnl_dereference(qdisc_dev(sch)->qdisc);

	if (params->line.kind == ZRTT_LINE_NONE || sch->parent == TC_H_ROOT ||
	    !zrtt_is_mq(root))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "bandwidth auto is for a queue of its own, not for those below mq");
	return -EOPNOTSUPP;
}

/* Is mq above, rather than htb or mqprio? */
static bool zrtt_below_mq(const struct Qdisc *sch)
{
	const struct Qdisc *root = rcu_dereference_bh(qdisc_dev(sch)->qdisc);

	return sch->flags & TCQ_F_NOPARENT && zrtt_is_mq_of(root, sch);
}

/* A tick that others of the device may be at, too. */
static noinline void zrtt_tick_together(struct zrtt_sched_data *q, u32 sojourn_us,
					u32 backlog_pkts, u64 now_ns)
{
	struct zrtt_shared *shared = q->together.shared;

	zrtt_tick_begin(&q->params, &q->vars, sojourn_us, now_ns);
	spin_lock(&shared->lock);
	zrtt_tick_with_peers(&q->params, &q->vars, &shared->device, &q->together.peer,
			     sojourn_us, backlog_pkts, now_ns);
	spin_unlock(&shared->lock);
	zrtt_tick_end(&q->params, &q->vars);
}

/* The controller's update, and what follows. */
static noinline void zrtt_run_tick(struct Qdisc *sch, u64 now_ns)
{
	struct zrtt_sched_data *q = qdisc_priv(sch);
	u64 age_us = div_u64(zrtt_head_age_ns(sch, zrtt_older_lane(sch), now_ns),
			     NSEC_PER_USEC);
	/* the rate of the last epoch says little of one that is being found */
	u32 wait_us = q->params.law.tuned && !zrtt_finds_rate(q) ?
		      zrtt_bulk_wait_us(q) : ZRTT_SOJOURN_MAX_US;
	u32 sojourn_us = min_t(u64, age_us, wait_us);
	u32 backlog_pkts = q->backlog_pkts - zrtt_sparse_backlog(q);
	bool on = zrtt_has_peers(q) && zrtt_below_mq(sch);

	zrtt_owing_end(q);
	zrtt_note_left(sch, now_ns);
	if (on != q->together.on) {
		q->together.on = on;
		q->link = q->params.shaper;
	}
	if (on)
		zrtt_tick_together(q, sojourn_us, backlog_pkts, now_ns);
	else
		zrtt_tick(&q->params, &q->vars, sojourn_us, backlog_pkts, now_ns);
	if (zrtt_finds_rate(q))
		zrtt_run_line(sch, now_ns);
}

/* Which part of the device's rate is this queue's, whose next packet is of @bytes and came at
 * @came_ns? If others are asking, it stays what it is.
 */
static noinline void zrtt_split(struct zrtt_sched_data *q, u32 bytes, u64 came_ns, u64 now_ns)
{
	struct zrtt_together *together = &q->together;
	u64 rate;

	if (!spin_trylock(&together->shared->lock))
		return;
	together->peer.rate = q->params.shaper.rate;
	zrtt_peer_took(&together->shared->device, &together->peer, &q->link,
		       together->sent_bytes, zrtt_shaper_begin_ns(&q->shaper, came_ns));
	rate = zrtt_peer_split(&together->shared->device, &together->peer, together->sent_bytes,
			       now_ns);
	zrtt_split_take(&q->shaper, &q->link, rate, now_ns);
	together->peer.begin_ns = zrtt_shaper_begin_ns(&q->shaper, came_ns);
	together->peer.active_until_ns = zrtt_split_until_ns(&q->shaper, &q->link, bytes,
							     now_ns);
	spin_unlock(&together->shared->lock);
	together->sent_bytes = 0;
	together->split_ns = now_ns + ZRTT_SPLIT_NS;
}

/* Hosts were updated that other queues may have flows of. While another queue is there, they wait
 * for the next packet.
 */
static noinline void zrtt_share_hosts(struct zrtt_sched_data *q)
{
	struct zrtt_shared *shared = q->together.shared;
	u32 epoch = zrtt_epoch(q->clock.ns);

	if (!q->together.on) {
		zrtt_hosts_share(&q->vars.hosts, NULL, epoch);
		return;
	}
	if (!spin_trylock(&shared->hosts_lock))
		return;
	zrtt_hosts_share(&q->vars.hosts, &shared->hosts, epoch);
	spin_unlock(&shared->hosts_lock);
}

#endif
