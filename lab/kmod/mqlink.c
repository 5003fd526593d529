// SPDX-License-Identifier: GPL-2.0
/*
 * mqlink: a link with several transmit queues, as a NIC's, that serves those in turn.
 *
 *	tc filter add dev eth0 egress matchall action mirred egress redirect dev mqlink0
 *
 * What is redirected to it goes on, as from ifb, where it was going: behind the qdisc of its
 * queue, and after the time that it takes at the link's rate. Of each queue it holds two
 * packets, so that all others wait in qdiscs.
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/rtnetlink.h>

#define MQLINK_QUEUES	64U
#define MQLINK_RING	2U

static unsigned long rate_bps = 20000000;
module_param(rate_bps, ulong, 0644);
MODULE_PARM_DESC(rate_bps, "of the link");

/**
 * struct mqlink - a link
 * @timer: when it has sent what it sends
 * @lock: of what follows
 * @rings: packets of each queue
 * @sending: the packet on it, or NULL
 * @turn: the queue of that
 */
struct mqlink {
	struct hrtimer timer;
	spinlock_t lock;
	struct sk_buff_head rings[MQLINK_QUEUES];
	struct sk_buff *sending;
	u32 turn;
};

/* Begin with the next packet, if there is one, of the queue whose turn it is. */
static void mqlink_send(struct net_device *dev)
{
	struct mqlink *link = netdev_priv(dev);
	u32 i;

	for (i = 0; i < dev->real_num_tx_queues && !link->sending; i++) {
		link->turn = (link->turn + 1) % dev->real_num_tx_queues;
		link->sending = __skb_dequeue(&link->rings[link->turn]);
	}
	if (!link->sending)
		return;
	netif_tx_wake_queue(netdev_get_tx_queue(dev, link->turn));
	hrtimer_start(&link->timer,
		      ns_to_ktime(div64_ul(8ULL * NSEC_PER_SEC * link->sending->len, rate_bps)),
		      HRTIMER_MODE_REL_SOFT);
}

/* Where it was going it goes on. */
static void mqlink_deliver(struct net_device *dev, struct sk_buff *skb)
{
	rcu_read_lock();
	skb->dev = dev_get_by_index_rcu(dev_net(dev), skb->skb_iif);
	if (skb->dev) {
		skb->tc_skip_classify = 1;
		dev_queue_xmit(skb);
	} else {
		kfree_skb(skb);
	}
	rcu_read_unlock();
}

static enum hrtimer_restart mqlink_sent(struct hrtimer *timer)
{
	struct mqlink *link = container_of(timer, struct mqlink, timer);
	struct net_device *dev = netdev_from_priv(link);
	struct sk_buff *skb;

	spin_lock(&link->lock);
	skb = link->sending;
	link->sending = NULL;
	mqlink_send(dev);
	spin_unlock(&link->lock);
	if (skb)
		mqlink_deliver(dev, skb);
	return HRTIMER_NORESTART;
}

static netdev_tx_t mqlink_xmit(struct sk_buff *skb, struct net_device *dev)
{
	u32 queue = skb_get_queue_mapping(skb);
	struct mqlink *link = netdev_priv(dev);

	spin_lock(&link->lock);
	__skb_queue_tail(&link->rings[queue], skb);
	if (skb_queue_len(&link->rings[queue]) >= MQLINK_RING)
		netif_tx_stop_queue(netdev_get_tx_queue(dev, queue));
	if (!link->sending)
		mqlink_send(dev);
	spin_unlock(&link->lock);
	return NETDEV_TX_OK;
}

static int mqlink_open(struct net_device *dev)
{
	netif_tx_start_all_queues(dev);
	return 0;
}

static int mqlink_stop(struct net_device *dev)
{
	struct mqlink *link = netdev_priv(dev);
	u32 i;

	netif_tx_stop_all_queues(dev);
	hrtimer_cancel(&link->timer);
	for (i = 0; i < MQLINK_QUEUES; i++)
		skb_queue_purge(&link->rings[i]);
	kfree_skb(link->sending);
	link->sending = NULL;
	return 0;
}

static const struct net_device_ops mqlink_netdev_ops = {
	.ndo_open	= mqlink_open,
	.ndo_stop	= mqlink_stop,
	.ndo_start_xmit	= mqlink_xmit,
};

static void mqlink_setup(struct net_device *dev)
{
	struct mqlink *link = netdev_priv(dev);
	u32 i;

	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &mqlink_netdev_ops;
	dev->needs_free_netdev = true;
	dev->flags |= IFF_NOARP;
	spin_lock_init(&link->lock);
	for (i = 0; i < MQLINK_QUEUES; i++)
		__skb_queue_head_init(&link->rings[i]);
	hrtimer_setup(&link->timer, mqlink_sent, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

static struct rtnl_link_ops mqlink_ops __read_mostly = {
	.kind		= "mqlink",
	.priv_size	= sizeof(struct mqlink),
	.setup		= mqlink_setup,
};

static int __init mqlink_init(void)
{
	return rtnl_link_register(&mqlink_ops);
}

static void __exit mqlink_exit(void)
{
	rtnl_link_unregister(&mqlink_ops);
}

module_init(mqlink_init);
module_exit(mqlink_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A link that serves several queues in turn");
MODULE_ALIAS_RTNL_LINK("mqlink");
