// SPDX-License-Identifier: GPL-2.0
/*
 * In the place of libnl's function of that name (ld --wrap): the first $INTERRUPTED
 * replies tell of objects that changed while they were read.
 */
#include <stdlib.h>

#include <netlink/errno.h>
#include <netlink/netlink.h>

int __real_nl_recvmsgs_default(struct nl_sock *sock);

int __wrap_nl_recvmsgs_default(struct nl_sock *sock)
{
	static int replies;
	int err = __real_nl_recvmsgs_default(sock);

	return replies++ < atoi(getenv("INTERRUPTED")) ? -NLE_DUMP_INTR : err;
}
