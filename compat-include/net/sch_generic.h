/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.19 keeps a packet's number of segments in qdisc_skb_cb. */
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

#endif
