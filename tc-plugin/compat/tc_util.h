/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What q_zrtt.c uses of iproute2's tc_util.h, json_print.h and color.h; see
 * utils.h beside this file. The layouts and numbers are tc's binary interface.
 */
#ifndef _ZRTT_COMPAT_TC_UTIL_H
#define _ZRTT_COMPAT_TC_UTIL_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/rtnetlink.h>
#include <linux/types.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *p_has);
};

enum output_type {
	PRINT_FP = 1,	/* text only */
	PRINT_JSON = 2,	/* JSON only */
	PRINT_ANY = 4,	/* whichever was asked for */
};

enum color_attr {
	COLOR_NONE = 6,	/* after tc's six colours */
};

void print_nl(void);
void open_json_object(const char *name);
void close_json_object(void);
void open_json_array(enum output_type t, const char *name);
void close_json_array(enum output_type t, const char *end);
void tc_print_rate(enum output_type t, const char *key, const char *fmt,
		   unsigned long long rate);

#define ZRTT_PRINT(name, type)						\
	int print_color_##name(enum output_type t, enum color_attr color,	\
			       const char *key, const char *fmt, type value);	\
	static inline int print_##name(enum output_type t, const char *key,	\
				       const char *fmt, type value)		\
	{									\
		return print_color_##name(t, COLOR_NONE, key, fmt, value);	\
	}

ZRTT_PRINT(0xhex, unsigned long long)
ZRTT_PRINT(bool, bool)
ZRTT_PRINT(float, double)
ZRTT_PRINT(int, int)
ZRTT_PRINT(lluint, unsigned long long)
ZRTT_PRINT(string, const char *)
ZRTT_PRINT(uint, unsigned int)
#undef ZRTT_PRINT

#endif
