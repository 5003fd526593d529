/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What q_zrtt.c uses of iproute2's utils.h and libnetlink.h, for systems that
 * ship tc(8) without headers. tc exports the functions; valid for 6.1 to 7.1.
 */
#ifndef _ZRTT_COMPAT_UTILS_H
#define _ZRTT_COMPAT_UTILS_H

#include <linux/rtnetlink.h>
#include <linux/types.h>

#define SPRINT_BSIZE	64
#define SPRINT_BUF(x)	char x[SPRINT_BSIZE]

int get_integer(int *val, const char *arg, int base);
int get_u32(__u32 *val, const char *arg, int base);
const char *inet_proto_n2a(int proto, char *buf, int len);

int addattr8(struct nlmsghdr *n, int maxlen, int type, __u8 data);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 data);
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 data);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);

int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);

static inline __u8 rta_getattr_u8(const struct rtattr *rta)
{
	return *(const __u8 *)RTA_DATA(rta);
}

static inline __u16 rta_getattr_u16(const struct rtattr *rta)
{
	return *(const __u16 *)RTA_DATA(rta);
}

static inline __u32 rta_getattr_u32(const struct rtattr *rta)
{
	return *(const __u32 *)RTA_DATA(rta);
}

/* Attributes are aligned to four bytes only. */
static inline __u64 rta_getattr_u64(const struct rtattr *rta)
{
	__u64 val;

	__builtin_memcpy(&val, RTA_DATA(rta), sizeof(val));
	return val;
}

#endif
