// SPDX-License-Identifier: GPL-2.0
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "netlink.h"
#include "reply.h"

#define ATTEMPTS	10
#define BUFFER_BYTES	32768	/* as much as the kernel sends at once */

static int collect(struct nl_msg *msg, void *reply)
{
	const struct nlmsghdr *header = nlmsg_hdr(msg);

	reply_append(reply, header, NLMSG_ALIGN(header->nlmsg_len));
	return NL_OK;
}

static int dump(struct nl_sock *sock, struct reply *reply, int type,
		const struct tcmsg *which)
{
	struct tcmsg body = *which;
	int attempt, err = 0;

	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		reply->len = 0;
		err = nl_send_simple(sock, type, NLM_F_DUMP, &body, sizeof(body));
		if (err >= 0)
			err = nl_recvmsgs_default(sock);
		if (err != -NLE_DUMP_INTR)
			break;
	}
	return err;
}

const char *netlink_dump(struct reply *reply, int type, const struct tcmsg *which)
{
	struct nl_sock *sock = nl_socket_alloc();
	int err;

	if (!sock)
		return nl_geterror(NLE_NOMEM);
	nl_socket_set_msg_buf_size(sock, BUFFER_BYTES);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, collect, reply);
	err = nl_connect(sock, NETLINK_ROUTE) ?: dump(sock, reply, type, which);
	nl_socket_free(sock);
	return err < 0 ? nl_geterror(err) : NULL;
}
