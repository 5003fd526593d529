// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOADed into an unmodified tc(8), so that the tests see what tc and the
 * plugin do with no qdisc loaded and without touching the machine's network:
 *
 *   ZRTT_REQUEST=FILE	the first RTM_NEWQDISC request goes to FILE, then tc ends
 *   ZRTT_JSON=1	"tc monitor file" prints JSON, which has no option for it
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* tc's own, see iproute2's json_print.h. */
void new_json_obj(int json);
void delete_json_obj(void);

__attribute__((constructor)) static void open_json(void)
{
	if (getenv("ZRTT_JSON"))
		new_json_obj(1);
}

__attribute__((destructor)) static void close_json(void)
{
	if (getenv("ZRTT_JSON"))
		delete_json_obj();
}

static void save_and_exit(const char *path, const struct nlmsghdr *request)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 ||
	    write(fd, request, request->nlmsg_len) != (ssize_t)request->nlmsg_len)
		_exit(99);
	_exit(0);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*next)(int, const struct msghdr *, int) =
		dlsym(RTLD_NEXT, "sendmsg");
	const struct nlmsghdr *request = msg->msg_iov->iov_base;
	const char *path = getenv("ZRTT_REQUEST");

	if (path && request->nlmsg_type == RTM_NEWQDISC)
		save_and_exit(path, request);
	return next(fd, msg, flags);
}
