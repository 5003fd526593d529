/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _CC_LINUX_LIMITS_H
#define _CC_LINUX_LIMITS_H

#define S32_MAX	0x7fffffff
#define U32_MAX	0xffffffffU
#define U64_MAX	0xffffffffffffffffULL

#endif
