// SPDX-License-Identifier: GPL-2.0
/*
 * frames: whole Ethernet frames in and out of a device, in hexadecimal.
 *
 *   frames send DEV [TIMES]   sends each line of stdin TIMES times
 *   frames super DEV SIZE     sends each as a GSO packet for TCP, as a virtual machine
 *                             does, with segments of SIZE bytes
 *   frames paged DEV          sends each with no more than its Ethernet header in the linear
 *                             part, if it is longer than a page
 *   frames recv DEV MS        prints what arrives, until MS without a frame
 *   frames sent DEV MS        prints what leaves, from the network header on
 *   frames times DEV MS       prints when something arrives, us after the first
 *
 * A VLAN tag that the kernel carries beside a received frame is put back.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX	65536
#define TAG_OFFSET	(2 * ETH_ALEN)
#define IPV4_BYTES	20
#define IPV6_BYTES	40
#define TCP_CHECKSUM	16	/* offset in its header */
#define SOCKET_BUFFER	(64 << 20)	/* bytes: a queue full of small frames */

static int packet_socket(const char *dev, int type)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, type, htons(ETH_P_ALL));

	if (!to.sll_ifindex)
		err(1, "%s", dev);
	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "packet socket");
	return fd;
}

static const char digits[] = "0123456789abcdef";

static int digit(char c)
{
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* By digits: sscanf() looks for the end of the line each time, of 64 KB in large frames. */
static size_t from_hex(const char *line, unsigned char *frame)
{
	size_t len = 0;

	while (len < FRAME_MAX && digit(line[0]) >= 0 && digit(line[1]) >= 0) {
		frame[len++] = (unsigned char)(digit(line[0]) << 4 | digit(line[1]));
		line += 2;
	}
	return len;
}

static int send_frames(const char *dev, long times)
{
	static char line[2 * FRAME_MAX + 2];
	static unsigned char frame[FRAME_MAX];
	const int buffer = SOCKET_BUFFER;
	int fd = packet_socket(dev, SOCK_RAW);
	size_t len;
	long i;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)))
		err(1, "setsockopt");
	while (fgets(line, sizeof(line), stdin)) {
		len = from_hex(line, frame);
		for (i = 0; i < times; i++)
			/* ENOBUFS: the qdisc dropped it, which it may */
			if (write(fd, frame, len) < 0 && errno != ENOBUFS)
				err(1, "%zu bytes", len);
	}
	return 0;
}

/* The kernel believes nothing of this header, and counts no segments by it. */
static int send_super(const char *dev, unsigned short size)
{
	static char line[2 * FRAME_MAX + 2];
	static unsigned char frame[FRAME_MAX];
	const int one = 1, buffer = SOCKET_BUFFER;
	int fd = packet_socket(dev, SOCK_RAW);
	bool v6;

	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)))
		err(1, "setsockopt");
	while (fgets(line, sizeof(line), stdin)) {
		size_t len = from_hex(line, frame);
		struct virtio_net_hdr head = {
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.gso_size = size,
			.csum_offset = TCP_CHECKSUM,
		};
		struct iovec parts[] = { { &head, sizeof(head) }, { frame, len } };

		v6 = frame[ETH_HLEN] >> 4 == 6;
		head.gso_type = v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
		head.csum_start = ETH_HLEN + (v6 ? IPV6_BYTES : IPV4_BYTES);
		head.hdr_len = head.csum_start + (frame[head.csum_start + 12] >> 4) * 4;
		if (writev(fd, parts, 2) < 0)
			err(1, "%zu bytes", len);
	}
	return 0;
}

static int send_paged(const char *dev)
{
	static char line[2 * FRAME_MAX + 2];
	static unsigned char frame[FRAME_MAX];
	struct virtio_net_hdr head = { .hdr_len = ETH_HLEN };
	int fd = packet_socket(dev, SOCK_RAW);
	const int one = 1;

	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))
		err(1, "setsockopt");
	while (fgets(line, sizeof(line), stdin)) {
		size_t len = from_hex(line, frame);
		struct iovec parts[] = { { &head, sizeof(head) }, { frame, len } };

		if (writev(fd, parts, 2) < 0)
			err(1, "%zu bytes", len);
	}
	return 0;
}

static void print_hex(const unsigned char *p, size_t len)
{
	for (; len--; p++) {
		putchar(digits[*p >> 4]);
		putchar(digits[*p & 15]);
	}
}

/* The kernel finds the network header of outgoing packets for SOCK_DGRAM. */
static void print_packet(const unsigned char *packet, size_t len)
{
	print_hex(packet, len);
	putchar('\n');
}

static void print_frame(const unsigned char *frame, size_t len, struct msghdr *msg)
{
	const struct tpacket_auxdata *aux;
	struct cmsghdr *cmsg;

	print_hex(frame, TAG_OFFSET);
	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		aux = (const void *)CMSG_DATA(cmsg);
		if (cmsg->cmsg_type == PACKET_AUXDATA &&
		    aux->tp_status & TP_STATUS_VLAN_VALID)
			printf("%04x%04x", aux->tp_vlan_tpid, aux->tp_vlan_tci);
	}
	print_packet(frame + TAG_OFFSET, len - TAG_OFFSET);
}

static void print_time(void)
{
	static struct timespec first;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!first.tv_sec)
		first = now;
	printf("%ld\n", (now.tv_sec - first.tv_sec) * 1000000 +
			(now.tv_nsec - first.tv_nsec) / 1000);
}

enum what { ARRIVED, SENT, TIMES };

static int receive_frames(const char *dev, int idle_ms, enum what what)
{
	const bool sent = what == SENT;
	static unsigned char frame[FRAME_MAX];
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	const int one = 1, buffer = SOCKET_BUFFER;
	int fd = packet_socket(dev, sent ? SOCK_DGRAM : SOCK_RAW);
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	if (setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)))
		err(1, "setsockopt");
	while (poll(&poller, 1, idle_ms) > 0) {
		struct sockaddr_ll from;
		struct iovec data = { frame, sizeof(frame) };
		struct msghdr msg = {
			.msg_name = &from, .msg_namelen = sizeof(from),
			.msg_iov = &data, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		ssize_t len = recvmsg(fd, &msg, 0);

		if (len < TAG_OFFSET)
			err(1, "recvmsg");
		if (sent != (from.sll_pkttype == PACKET_OUTGOING))
			continue;
		if (what == TIMES)
			print_time();
		else if (sent)
			print_packet(frame, (size_t)len);
		else
			print_frame(frame, (size_t)len, &msg);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "send"))
		return send_frames(argv[2], argc > 3 ? atol(argv[3]) : 1);
	if (argc == 4 && !strcmp(argv[1], "super"))
		return send_super(argv[2], (unsigned short)atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "paged"))
		return send_paged(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "recv"))
		return receive_frames(argv[2], atoi(argv[3]), ARRIVED);
	if (argc == 4 && !strcmp(argv[1], "sent"))
		return receive_frames(argv[2], atoi(argv[3]), SENT);
	if (argc == 4 && !strcmp(argv[1], "times"))
		return receive_frames(argv[2], atoi(argv[3]), TIMES);
	errx(2, "usage: frames send DEV [TIMES] | super DEV SIZE | "
		"paged DEV | { recv | sent | times } DEV MS");
}
