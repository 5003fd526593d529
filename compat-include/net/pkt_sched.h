/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.8 asks for qdisc modules by this alias, before by module name. */
#ifndef _ZRTT_COMPAT_NET_PKT_SCHED_H
#define _ZRTT_COMPAT_NET_PKT_SCHED_H

#include_next <net/pkt_sched.h>

#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id)	MODULE_ALIAS("net-sch-" id)
#endif

#endif
