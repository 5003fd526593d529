// SPDX-License-Identifier: GPL-2.0
/*
 * Short TCP flows that come and go: connect, hint, send, close. One is complete
 * when the receiver, which hangs up once it has all, is heard of: everything has
 * then been received and acknowledged.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hint.h"
#include "net.h"
#include "short.h"

#define BACKLOG			4096
#define SEND_CHUNK_BYTES	(256 * 1024)
#define GROWTH			256	/* of the array, in flows */
#define MAX_HOSTS		256
#define FD_BITS			24	/* of an event's index; the rest is the host */

struct short_flow {
	char netns[NAME_LEN];
	char address[NAME_LEN];
	char cc[NAME_LEN];
	enum hint_mode hint_mode;
	int ect1;
	int64_t start_ms;
	int64_t end_ms;			/* -1: not complete */
	int left_bytes;			/* not given to the socket yet */
	int sender;
};

static struct short_flow *shorts;
static int n_shorts;
static int next_short;			/* the first that has not begun */
static int server_port;
static char server_netns[NAME_LEN];
static int listener;
static uint64_t bytes_received;
static uint64_t bytes_of[MAX_HOSTS];
static int n_hosts;		/* from the first to the last of whom anything came */
static const char chunk[SEND_CHUNK_BYTES];

/* server PORT */
static bool parse_server(const char *line, const char *receiver)
{
	if (sscanf(line, "server %d", &server_port) != 1)
		return false;
	snprintf(server_netns, NAME_LEN, "%s", receiver);
	return true;
}

/* short NETNS ADDRESS CC START BYTES HINT ECT1 */
bool short_parse(const char *line, const char *receiver)
{
	struct short_flow s = { .end_ms = -1, .sender = -1 };
	char mode[NAME_LEN];

	if (parse_server(line, receiver))
		return true;
	if (sscanf(line, "short %31s %31s %31s %" SCNd64 " %d %31s %d", s.netns, s.address,
		   s.cc, &s.start_ms, &s.left_bytes, mode, &s.ect1) != 7)
		return false;
	s.hint_mode = hint_mode_of(mode);
	if (!server_netns[0] || s.left_bytes < 1)
		errx(2, "no server yet, or nothing to send: %s", line);
	if (n_shorts && s.start_ms < shorts[n_shorts - 1].start_ms)
		errx(2, "short flows out of order: %s", line);
	if (n_shorts % GROWTH == 0)
		shorts = realloc(shorts, (n_shorts + GROWTH) * sizeof(*shorts));
	if (!shorts)
		err(1, "memory");
	shorts[n_shorts++] = s;
	return true;
}

void short_open(void)
{
	struct sockaddr_in address = address_of(NULL, server_port);

	if (!server_netns[0])
		return;
	enter_netns(server_netns);
	listener = open_socket(SOCK_STREAM);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, BACKLOG))
		err(1, "listen for short flows");
	watch(listener, ROLE_SHORT_LISTENER, 0, EPOLLIN);
}

static void start_short(struct short_flow *s, int64_t now)
{
	struct sockaddr_in server = address_of(s->address, server_port);

	enter_netns(s->netns);
	s->start_ms = now;
	s->sender = open_socket(SOCK_STREAM);
	set_option(s->sender, IPPROTO_TCP, TCP_CONGESTION, s->cc, strlen(s->cc));
	if (s->ect1)
		send_as_ect1(s->sender);
	set_option(s->sender, SOL_SOCKET, SO_SNDBUFFORCE, &s->left_bytes,
		   sizeof(s->left_bytes));
	if (connect(s->sender, (struct sockaddr *)&server, sizeof(server)) &&
	    errno != EINPROGRESS)
		err(1, "connect of a short flow");
	watch(s->sender, ROLE_SHORT_SENDER, s - shorts, EPOLLOUT);
}

static void send_rest(struct short_flow *s)
{
	while (s->left_bytes) {
		int want = s->left_bytes < SEND_CHUNK_BYTES ? s->left_bytes : SEND_CHUNK_BYTES;
		ssize_t sent = send(s->sender, chunk, want, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN)
			return;
		if (sent < 0)
			err(1, "send of a short flow");
		s->left_bytes -= sent;
	}
	if (shutdown(s->sender, SHUT_WR))
		err(1, "shutdown of a short flow");
	watch_other(s->sender, ROLE_SHORT_SENDER, s - shorts, EPOLLIN);
}

static void serve(struct short_flow *s, int64_t now)
{
	if (!s->left_bytes) {
		close(s->sender);
		s->end_ms = now;
		return;
	}
	if (s->hint_mode != HINT_NONE) {
		hint_state(s->sender);
		s->hint_mode = HINT_NONE;
	}
	send_rest(s);
}

/* Host N has the address 10.0.N.2 (lab/net/network.py). */
static uint32_t host_number(const struct sockaddr_in *peer)
{
	return ntohl(peer->sin_addr.s_addr) >> 8 & (MAX_HOSTS - 1);
}

static void accept_all(void)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	uint32_t host;
	int fd;

	while ((fd = accept4(listener, (struct sockaddr *)&peer, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		host = host_number(&peer);
		if (host >= (uint32_t)n_hosts)
			n_hosts = host + 1;
		watch(fd, ROLE_SHORT_RECEIVER, host << FD_BITS | fd, EPOLLIN);
		len = sizeof(peer);
	}
	if (errno != EAGAIN)
		err(1, "accept of a short flow");
}

static void discard(uint32_t host, int fd)
{
	ssize_t got = recv(fd, NULL, 1 << 30, MSG_TRUNC);

	if (got < 0 && errno != EAGAIN)
		err(1, "recv of a short flow");
	if (got > 0) {
		bytes_received += got;
		bytes_of[host] += got;
	}
	if (!got)
		close(fd);
}

void short_dispatch(enum role role, uint32_t index, int64_t now)
{
	if (role == ROLE_SHORT_LISTENER)
		accept_all();
	else if (role == ROLE_SHORT_SENDER)
		serve(&shorts[index], now);
	else
		discard(index >> FD_BITS, index & ((1 << FD_BITS) - 1));
}

int64_t short_tend(int64_t now)
{
	while (next_short < n_shorts && now >= shorts[next_short].start_ms)
		start_short(&shorts[next_short++], now);
	return next_short < n_shorts ? shorts[next_short].start_ms : NEVER;
}

/* What all have received so far. */
void short_print_bytes(FILE *out)
{
	fprintf(out, "%" PRIu64, bytes_received);
}

void short_print_bytes_of_hosts(FILE *out)
{
	int i;

	for (i = 0; i < n_hosts; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", bytes_of[i]);
}

/* When each began and ended. */
void short_print(FILE *out)
{
	int i;

	for (i = 0; i < n_shorts; i++)
		fprintf(out, "%s[%" PRId64 ",%" PRId64 "]", i ? "," : "", shorts[i].start_ms,
			shorts[i].end_ms);
}
