/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.19 keeps a packet's number of segments in qdisc_skb_cb.
 *
 * Why a qdisc dropped a packet: Linux 7.1 has an enum of its own, 6.14 two reasons
 * among those of the core, and before all qdiscs share one, which the core sets.
 * Linux 6.19 frees what was dropped by dequeue outside the lock.
 */
#ifndef _ZRTT_COMPAT_NET_SCH_GENERIC_H
#define _ZRTT_COMPAT_NET_SCH_GENERIC_H

#include_next <net/sch_generic.h>
#include <linux/version.h>

static inline void qdisc_set_pkt_segs(struct sk_buff *skb, u16 segs)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	qdisc_skb_cb(skb)->pkt_segs = segs;
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define QDISC_DROP_OVERLIMIT	SKB_DROP_REASON_QDISC_DROP
#define QDISC_DROP_CONGESTED	SKB_DROP_REASON_QDISC_DROP
#define qdisc_drop_reason(skb, sch, to_free, reason)				\
	((void)(reason), qdisc_drop(skb, sch, to_free))
#elif !defined(DEFINE_QDISC_DROP_REASON)
#define QDISC_DROP_OVERLIMIT	SKB_DROP_REASON_QDISC_OVERLIMIT
#define QDISC_DROP_CONGESTED	SKB_DROP_REASON_QDISC_CONGESTED
#endif

#ifndef TCQ_F_DEQUEUE_DROPS
#define TCQ_F_DEQUEUE_DROPS	0

static inline void qdisc_dequeue_drop(struct Qdisc *sch, struct sk_buff *skb,
				      enum skb_drop_reason reason)
{
	kfree_skb_reason(skb, reason);
}
#endif

#endif
