/* SPDX-License-Identifier: GPL-2.0 */
/* Like the kernel's, these want both sides to be of one type. */
#ifndef _CC_LINUX_MINMAX_H
#define _CC_LINUX_MINMAX_H

#define same_type(a, b)	__builtin_types_compatible_p(__typeof__(a), __typeof__(b))

#define pick(a, op, b)							\
	({								\
		__typeof__(a) a_ = (a);					\
		__typeof__(b) b_ = (b);					\
									\
		_Static_assert(same_type(a_, b_), "of one type");	\
		a_ op b_ ? a_ : b_;					\
	})

#define min(a, b)		pick(a, <, b)
#define max(a, b)		pick(a, >, b)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define clamp(x, low, high)	({ __typeof__(x) at_least_ = max(x, low); min(at_least_, high); })
#define clamp_t(type, x, l, h)	clamp((type)(x), (type)(l), (type)(h))

#endif
