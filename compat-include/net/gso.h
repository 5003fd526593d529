/* SPDX-License-Identifier: GPL-2.0 */
/* skb_gso_segment() moved here from <linux/netdevice.h> in Linux 6.5. */
#ifndef _ZRTT_COMPAT_NET_GSO_H
#define _ZRTT_COMPAT_NET_GSO_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif
