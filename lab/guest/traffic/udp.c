// SPDX-License-Identifier: GPL-2.0
/*
 * UDP at a constant rate, whatever the network says. A timer of the kernel paces
 * it: a frame per tick, several only where the guest's clock is too coarse.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"
#include "udp.h"

#define MAX_UDP		16
#define PAYLOAD_MAX	1472		/* fills a frame of 1514 */
#define RCVBUF_BYTES	(32 * 1024 * 1024)
#define DRAIN_MS	10
#define DRAIN_BATCH	64

struct udp {
	char netns[NAME_LEN];
	char receiver_netns[NAME_LEN];
	char address[NAME_LEN];
	int port;
	int64_t interval_ns;
	int64_t from_ms, to_ms;
	int ecn;			/* field of the IP header */
	int bytes;			/* of payload */
	int timer, sender, receiver;	/* -1: not open */
	uint64_t sent, received;
};

static struct udp streams[MAX_UDP];
static int n_streams;
static char payload[PAYLOAD_MAX];

/* udp NETNS ADDRESS PORT INTERVAL_NS FROM TO ECT1 BYTES */
bool udp_parse(const char *line, const char *receiver)
{
	struct udp *u = &streams[n_streams];

	if (sscanf(line, "udp %31s %31s %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %d",
		   u->netns, u->address, &u->port, &u->interval_ns, &u->from_ms, &u->to_ms,
		   &u->ecn, &u->bytes) != 8)
		return false;
	if (n_streams == MAX_UDP - 1)
		errx(2, "more than %d UDP streams", MAX_UDP - 1);
	if (u->interval_ns < 1)
		errx(2, "bad interval: %s", line);
	if (u->bytes < 0 || u->bytes > PAYLOAD_MAX)
		errx(2, "bad size: %s", line);
	snprintf(u->receiver_netns, NAME_LEN, "%s", receiver);
	u->timer = u->sender = u->receiver = -1;
	n_streams++;
	return true;
}

void udp_open(void)
{
	int room = RCVBUF_BYTES;
	int i;

	for (i = 0; i < n_streams; i++) {
		struct udp *u = &streams[i];
		struct sockaddr_in address = address_of(NULL, u->port);

		enter_netns(u->receiver_netns);
		u->receiver = open_socket(SOCK_DGRAM);
		set_option(u->receiver, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
		if (bind(u->receiver, (struct sockaddr *)&address, sizeof(address)))
			err(1, "UDP port %d", u->port);
	}
}

static void start_stream(struct udp *u)
{
	struct sockaddr_in address = address_of(u->address, u->port);

	enter_netns(u->netns);
	u->sender = open_socket(SOCK_DGRAM);
	set_option(u->sender, IPPROTO_IP, IP_TOS, &u->ecn, sizeof(u->ecn));
	if (connect(u->sender, (struct sockaddr *)&address, sizeof(address)))
		err(1, "connect to UDP port %d", u->port);
	u->timer = open_timer(u->interval_ns);
	watch(u->timer, ROLE_UDP_TIMER, u - streams, EPOLLIN);
}

static void stop_stream(struct udp *u)
{
	close(u->timer);
	u->timer = -1;
	u->to_ms = NEVER;
}

static void drain(struct udp *u)
{
	struct mmsghdr batch[DRAIN_BATCH] = {};
	int got;

	do {
		got = recvmmsg(u->receiver, batch, DRAIN_BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
		if (got > 0)
			u->received += got;
	} while (got == DRAIN_BATCH);
	if (got < 0 && errno != EAGAIN)
		err(1, "recv on UDP port %d", u->port);
}

void udp_dispatch(uint32_t index)
{
	struct udp *u = &streams[index];
	uint64_t due;

	if (read(u->timer, &due, sizeof(due)) != sizeof(due))
		err(1, "timerfd of UDP port %d", u->port);
	for (; due; due--) {
		if (send(u->sender, payload, u->bytes, 0) < 0)
			err(1, "send to UDP port %d", u->port);
		u->sent++;
	}
}

int64_t udp_tend(int64_t now)
{
	static int64_t next_drain;
	int64_t next = NEVER;
	int i;

	for (i = 0; i < n_streams; i++) {
		struct udp *u = &streams[i];

		if (u->sender < 0 && now >= u->from_ms)
			start_stream(u);
		if (u->timer >= 0 && now >= u->to_ms)
			stop_stream(u);
		if (now >= next_drain)
			drain(u);
		next = min64(next, u->sender < 0 ? u->from_ms : u->to_ms);
	}
	if (!n_streams)
		return NEVER;
	if (now >= next_drain)
		next_drain = now + DRAIN_MS;
	return min64(next, next_drain);
}

/* Frames sent and received so far by each. */
void udp_print_frames(FILE *out)
{
	int i;

	for (i = 0; i < n_streams; i++) {
		drain(&streams[i]);
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", streams[i].sent,
			streams[i].received);
	}
}
