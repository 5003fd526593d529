// SPDX-License-Identifier: GPL-2.0
/*
 * Thin traffic: small packets at a low rate. The meter measures what the queue does to
 * them, so nobody reads what arrives.
 *
 *	steady	UDP at a fixed interval
 *	query	UDP, each packet from a source port of its own, at exponential intervals
 *	ping	ICMP echo requests at a fixed interval
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "net.h"
#include "thin.h"

#define MAX_THIN		256
#define MAX_PAYLOAD_BYTES	1472
#define QUERY_BYTES_SPREAD	21	/* queries have up to 20 bytes more */
#define NSEC_PER_SEC		1000000000LL

enum how { STEADY, QUERY, PING };

static const char * const how_names[] = { "steady", "query", "ping" };

struct thin {
	char netns[NAME_LEN];
	char receiver_netns[NAME_LEN];
	char address[NAME_LEN];
	int port;		/* of PING: its identifier */
	enum how how;
	int bytes;		/* payload of UDP or ICMP */
	int64_t interval_ns;	/* of QUERY: the mean */
	int64_t from_ms, to_ms;
	unsigned short random[3];
	int timer, sender;	/* -1: not open */
	uint16_t sequence;
};

static struct thin streams[MAX_THIN];
static int n_streams;

static enum how how_of(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(how_names) / sizeof(*how_names); i++)
		if (!strcmp(word, how_names[i]))
			return i;
	errx(2, "unknown kind of thin traffic: %s", word);
}

/* thin NETNS ADDRESS PORT HOW BYTES INTERVAL_NS FROM TO SEED */
bool thin_parse(const char *line, const char *receiver)
{
	struct thin *t = &streams[n_streams];
	char how[NAME_LEN];
	uint32_t seed;

	if (sscanf(line,
		   "thin %31s %31s %d %31s %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu32,
		   t->netns, t->address, &t->port, how, &t->bytes, &t->interval_ns,
		   &t->from_ms, &t->to_ms, &seed) != 9)
		return false;
	if (n_streams == MAX_THIN - 1)
		errx(2, "more than %d streams of thin traffic", MAX_THIN - 1);
	if (t->interval_ns < 1 || t->bytes < 0 ||
	    t->bytes > MAX_PAYLOAD_BYTES - QUERY_BYTES_SPREAD)
		errx(2, "bad interval or size: %s", line);
	t->how = how_of(how);
	snprintf(t->receiver_netns, NAME_LEN, "%s", receiver);
	t->random[0] = seed;
	t->random[1] = seed >> 16;
	t->random[2] = t->port;
	t->timer = t->sender = -1;
	n_streams++;
	return true;
}

/* Without a socket there, the receiver's host would answer with ICMP errors. */
void thin_open(void)
{
	int i, room = 0;	/* as little as the kernel allows */

	for (i = 0; i < n_streams; i++) {
		struct thin *t = &streams[i];
		struct sockaddr_in address = address_of(NULL, t->port);
		int receiver;

		if (t->how == PING)
			continue;
		enter_netns(t->receiver_netns);
		receiver = open_socket(SOCK_DGRAM);
		set_option(receiver, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
		if (bind(receiver, (struct sockaddr *)&address, sizeof(address)))
			err(1, "UDP port %d", t->port);
	}
}

/* Enters the namespace of the sender. */
static int connected(const struct thin *t)
{
	struct sockaddr_in address = address_of(t->address, t->how == PING ? 0 : t->port);
	int fd;

	enter_netns(t->netns);
	if (t->how == PING)
		fd = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_ICMP);
	else
		fd = open_socket(SOCK_DGRAM);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "connect to %s port %d", t->address, t->port);
	return fd;
}

static void start_stream(struct thin *t)
{
	if (t->how == QUERY) {
		t->timer = open_timer(0);
	} else {
		t->sender = connected(t);
		t->timer = open_timer(t->interval_ns);
	}
	t->from_ms = NEVER;
	watch(t->timer, ROLE_THIN_TIMER, t - streams, EPOLLIN);
}

static void stop_stream(struct thin *t)
{
	close(t->timer);
	t->timer = -1;
	t->to_ms = NEVER;
}

static void send_packet(int fd, const void *packet, size_t len)
{
	if (send(fd, packet, len, 0) < 0)
		err(1, "send thin traffic");
}

/* One's complement sum of RFC 1071, of all but the payload, which is 0. */
static uint16_t checksum(const struct icmphdr *header)
{
	uint32_t sum = 0;
	uint16_t words[sizeof(*header) / 2];
	size_t i;

	memcpy(words, header, sizeof(*header));
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static void send_ping(struct thin *t)
{
	static struct {
		struct icmphdr header;
		char payload[MAX_PAYLOAD_BYTES];
	} packet;

	packet.header = (struct icmphdr) {
		.type = ICMP_ECHO,
		.un.echo.id = htons(t->port),
		.un.echo.sequence = htons(t->sequence++),
	};
	packet.header.checksum = checksum(&packet.header);
	send_packet(t->sender, &packet, sizeof(packet.header) + t->bytes);
}

static void send_query(struct thin *t)
{
	static const char payload[MAX_PAYLOAD_BYTES];
	int64_t gap_ns = 1 - t->interval_ns * log(1 - erand48(t->random));
	struct itimerspec next = {
		.it_value.tv_sec = gap_ns / NSEC_PER_SEC,
		.it_value.tv_nsec = gap_ns % NSEC_PER_SEC,
	};
	int fd = connected(t);

	send_packet(fd, payload, t->bytes + nrand48(t->random) % QUERY_BYTES_SPREAD);
	close(fd);
	if (timerfd_settime(t->timer, 0, &next, NULL))
		err(1, "timerfd of thin traffic");
}

void thin_dispatch(uint32_t index)
{
	static const char payload[MAX_PAYLOAD_BYTES];
	struct thin *t = &streams[index];
	uint64_t due;

	if (read(t->timer, &due, sizeof(due)) != sizeof(due))
		err(1, "timerfd of thin traffic");
	for (; due; due--) {
		if (t->how == QUERY)
			send_query(t);
		else if (t->how == PING)
			send_ping(t);
		else
			send_packet(t->sender, payload, t->bytes);
	}
}

int64_t thin_tend(int64_t now)
{
	int64_t next = NEVER;
	int i;

	for (i = 0; i < n_streams; i++) {
		struct thin *t = &streams[i];

		if (now >= t->from_ms)
			start_stream(t);
		if (t->timer >= 0 && now >= t->to_ms)
			stop_stream(t);
		next = min64(next, min64(t->from_ms, t->to_ms));
	}
	return next;
}
