// SPDX-License-Identifier: GPL-2.0
/*
 * qpeek: a parent that peeks at a queue and then dequeues from it directly, as red, sfb
 * and multiq did before they were mended: the packet peeked at counts, but is not in the
 * queue. Loading it does so to the root qdisc of a device, with packets some of which are late.
 *
 * Refused with ENODATA if a packet is missing that is not the one peeked at.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#define QPEEK_BYTES	1000U
#define QPEEK_LATE_MS	50U

/* In the queue at once; late ones are dropped where there are many. */
static const u32 qpeek_packets[] = { 1, 2, 3, 60 };

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device in the first network namespace");

static int qpeek_enqueue(struct Qdisc *sch, u32 packets)
{
	struct sk_buff *skb, *to_free = NULL;

	while (packets--) {
		skb = alloc_skb(QPEEK_BYTES, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		skb_put_zero(skb, QPEEK_BYTES);
		skb_reset_mac_header(skb);
		skb_reset_network_header(skb);
		skb->dev = qdisc_dev(sch);
		qdisc_skb_cb(skb)->pkt_len = skb->len;
		spin_lock_bh(qdisc_lock(sch));
		sch->enqueue(skb, sch, &to_free);
		spin_unlock_bh(qdisc_lock(sch));
	}
	kfree_skb_list(to_free);
	return 0;
}

/* Return: packets that came out, the one peeked at not among them. */
static u32 qpeek_dequeue(struct Qdisc *sch)
{
	struct sk_buff *skb;
	u32 packets = 0;

	spin_lock_bh(qdisc_lock(sch));
	sch->ops->peek(sch);
	while ((skb = sch->dequeue(sch))) {
		kfree_skb(skb);
		packets++;
	}
	/* and now as a parent should: all is as before */
	skb = qdisc_dequeue_peeked(sch);
	kfree_skb(skb);
	spin_unlock_bh(qdisc_lock(sch));
	return skb ? packets : U32_MAX;
}

static int qpeek_run(struct Qdisc *sch, u32 packets, bool late)
{
	u32 got;
	int err;

	err = qpeek_enqueue(sch, packets);
	if (err)
		return err;
	if (late)
		msleep(QPEEK_LATE_MS);
	got = qpeek_dequeue(sch);
	pr_info("qpeek: %u of %u%s\n", got, packets, late ? ", late" : "");
	/* the last in the queue is spared, however late */
	if (got < (late ? packets > 1 : packets - 1) || got > packets - 1)
		return -ENODATA;
	return qdisc_qlen(sch) ? -ENODATA : 0;
}

static int __init qpeek_init(void)
{
	struct net_device *found;
	struct Qdisc *sch;
	int err = -ENODEV;
	u32 i;

	rtnl_lock();
	found = __dev_get_by_name(&init_net, dev);
	if (found) {
		sch = rtnl_dereference(found->qdisc);
		err = 0;
		for (i = 0; !err && i < ARRAY_SIZE(qpeek_packets); i++) {
			err = qpeek_run(sch, qpeek_packets[i], false);
			if (!err)
				err = qpeek_run(sch, qpeek_packets[i], true);
		}
	}
	rtnl_unlock();
	return err;
}
module_init(qpeek_init);

static void __exit qpeek_exit(void)
{
}
module_exit(qpeek_exit);

MODULE_DESCRIPTION("A parent that forgets what it peeked at");
MODULE_LICENSE("GPL");
