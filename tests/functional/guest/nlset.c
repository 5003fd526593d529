// SPDX-License-Identifier: GPL-2.0
/*
 * nlset DEV: what tc(8) would refuse to send, sent to the kernel.
 *
 * Each line of stdin is "ATTRIBUTE BYTES VALUE": the root qdisc zrtt of DEV is
 * asked to change this one attribute. Prints the error number, the number of the
 * attribute that the kernel points at, 0 = none, and its message, a line for each.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct request {
	struct nlmsghdr head;
	struct tcmsg tc;
	char attributes[256];
};

static struct rtattr *add(struct request *r, int type, const void *data, size_t len)
{
	struct rtattr *attr = (void *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	attr->rta_type = (unsigned short)type;
	attr->rta_len = (unsigned short)RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

/* An attribute of an acknowledgement, or NULL. */
static const struct rtattr *find(const struct nlmsghdr *head, int type)
{
	const struct nlmsgerr *ack = NLMSG_DATA(head);
	size_t used = sizeof(*ack);
	const struct rtattr *attr;
	size_t len;

	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		used += ack->msg.nlmsg_len - sizeof(ack->msg);
	attr = (const void *)((const char *)ack + NLMSG_ALIGN(used));
	len = NLMSG_PAYLOAD(head, NLMSG_ALIGN(used));
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		if (attr->rta_type == type)
			return attr;
	return NULL;
}

static void print_answer(const struct request *r, const struct nlmsghdr *head)
{
	const struct rtattr *message = find(head, NLMSGERR_ATTR_MSG);
	const struct rtattr *offset = find(head, NLMSGERR_ATTR_OFFS);
	const struct rtattr *bad = NULL;

	if (offset)
		bad = (const void *)((const char *)r + *(__u32 *)RTA_DATA(offset));
	printf("%d %d %s\n", ((struct nlmsgerr *)NLMSG_DATA(head))->error,
	       bad ? bad->rta_type : 0, message ? (char *)RTA_DATA(message) : "");
}

static void change(int fd, int ifindex, int attribute, size_t bytes, uint64_t value)
{
	struct request r = {
		.head = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg)),
			.nlmsg_type = RTM_NEWQDISC,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.tc = { .tcm_ifindex = ifindex, .tcm_parent = TC_H_ROOT },
	};
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} reply;
	struct rtattr *options;

	add(&r, TCA_KIND, "zrtt", sizeof("zrtt"));
	options = add(&r, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	add(&r, attribute, &value, bytes);
	options->rta_len = (unsigned short)((char *)&r + r.head.nlmsg_len -
					    (char *)options);
	if (send(fd, &r, r.head.nlmsg_len, 0) < 0 ||
	    recv(fd, &reply, sizeof(reply), 0) < 0)
		err(1, "netlink");
	if (reply.head.nlmsg_type != NLMSG_ERROR)
		errx(1, "no acknowledgement");
	print_answer(&r, &reply.head);
}

int main(int argc, char **argv)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), one = 1, attribute;
	unsigned int ifindex;
	uint64_t value;
	size_t bytes;

	if (argc != 2)
		errx(2, "usage: nlset DEV");
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex)
		err(1, "%s", argv[1]);
	if (fd < 0 || setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)))
		err(1, "netlink");
	while (scanf("%d %zu %" SCNu64, &attribute, &bytes, &value) == 3) {
		if (bytes > sizeof(value))
			errx(2, "%zu bytes are too many", bytes);
		change(fd, (int)ifindex, attribute, bytes, value);
	}
	return 0;
}
