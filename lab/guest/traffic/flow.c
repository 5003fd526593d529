// SPDX-License-Identifier: GPL-2.0
/*
 * Long TCP flows. Senders fill a fixed send buffer; receivers discard with
 * MSG_TRUNC and are woken for RCVLOWAT_BYTES at a time.
 *
 * The host of a flow connects to the receivers' host and sends. In a reverse flow
 * it is sent to, from its own port number, by which a meter can tell the flow.
 *
 * A flow that is stopped is reset: what its socket holds is never sent.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow.h"
#include "hint.h"
#include "net.h"

#define MAX_FLOWS		4096
#define SEND_CHUNK_BYTES	(256 * 1024)
#define RCVLOWAT_BYTES		(64 * 1024)
#define NOTSENT_BYTES		(16 * 1024)	/* what an idle flow still sends */
#define LOOK_MS			100

struct reading {
	uint64_t bytes_received;
	uint64_t held_bytes;		/* that wait behind a hole, as the sender knows */
	uint64_t starved_us;
	uint32_t retransmits;
	uint32_t acks;			/* that its receiver sent */
	uint32_t min_rtt_us;
	uint32_t snd_mss;
	bool ecn;			/* negotiated */
};

struct flow {
	char netns[NAME_LEN];
	char receiver_netns[NAME_LEN];
	char address[NAME_LEN];
	char cc[NAME_LEN];
	int port;
	int sndbuf_bytes;
	int64_t start_ms, stop_ms;
	struct hint hint;
	bool reverse;
	int ect1;
	bool started, stopped;
	int listener, sender, receiver;	/* -1: not open */
	int64_t on_ms, off_ms;		/* 0: it always has something to send */
	int64_t turn_ms;		/* when it goes idle or comes back */
	bool idle;
	int64_t look_ms;
	uint64_t limited_us;		/* by a buffer */
	uint64_t starved_us;		/* of it, not by the path */
	uint64_t bytes_received;	/* of a receiver that is closed */
	struct reading begin, end;
	struct reading last;		/* when it was stopped */
};

static struct flow flows[MAX_FLOWS];
static int n_flows;
static char chunk[SEND_CHUNK_BYTES];

/* flow|reverse NETNS ADDRESS PORT CC START STOP SNDBUF HINT FACTOR ECT1 */
bool flow_parse(const char *line, const char *receiver)
{
	struct flow *f = &flows[n_flows];
	char kind[NAME_LEN], mode[NAME_LEN];

	if (sscanf(line, "%31s %31s %31s %d %31s %" SCNd64 " %" SCNd64 " %d %31s %d %d", kind,
		   f->netns, f->address, &f->port, f->cc, &f->start_ms, &f->stop_ms,
		   &f->sndbuf_bytes, mode, &f->hint.factor, &f->ect1) != 11)
		return false;
	f->reverse = !strcmp(kind, "reverse");
	if (!f->reverse && strcmp(kind, "flow"))
		return false;
	if (n_flows == MAX_FLOWS - 1)
		errx(2, "more than %d flows", MAX_FLOWS - 1);
	if (f->stop_ms < 0)
		f->stop_ms = NEVER;
	if (f->stop_ms <= f->start_ms)
		errx(2, "stops before it starts: %s", line);
	f->hint.mode = hint_mode_of(mode);
	f->hint.next_ms = NEVER;
	f->look_ms = f->start_ms;
	f->turn_ms = NEVER;
	snprintf(f->receiver_netns, NAME_LEN, "%s", receiver);
	f->listener = f->sender = f->receiver = -1;
	n_flows++;
	return true;
}

/* idle ON OFF: the flow of the line above has nothing to send at times */
bool flow_parse_idle(const char *line)
{
	int64_t on_ms, off_ms;
	struct flow *f;

	if (sscanf(line, "idle %" SCNd64 " %" SCNd64, &on_ms, &off_ms) != 2)
		return false;
	if (!n_flows || on_ms < 1 || off_ms < 1)
		errx(2, "no flow, or no time: %s", line);
	f = &flows[n_flows - 1];
	f->on_ms = on_ms;
	f->off_ms = off_ms;
	f->turn_ms = on_ms;
	return true;
}

int flow_count(void)
{
	return n_flows;
}

/* A scalable congestion control is also how a receiver tells of marks. */
static void prepare_end(const struct flow *f, int fd)
{
	set_option(fd, IPPROTO_TCP, TCP_CONGESTION, f->cc, strlen(f->cc));
	if (f->ect1)
		send_as_ect1(fd);
}

static void prepare_sender(const struct flow *f, int fd)
{
	int notsent = NOTSENT_BYTES;

	set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, &f->sndbuf_bytes, sizeof(f->sndbuf_bytes));
	if (f->on_ms)
		set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &notsent, sizeof(notsent));
}

static void open_listener(struct flow *f)
{
	struct sockaddr_in address = address_of(NULL, f->port);

	enter_netns(f->receiver_netns);
	f->listener = open_socket(SOCK_STREAM);
	prepare_end(f, f->listener);
	if (f->reverse)
		prepare_sender(f, f->listener);
	if (bind(f->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(f->listener, 1))
		err(1, "listen on port %d", f->port);
	watch(f->listener, ROLE_FLOW_LISTENER, f - flows, EPOLLIN);
}

void flow_open(void)
{
	int i;

	for (i = 0; i < n_flows; i++)
		open_listener(&flows[i]);
}

static void begin_sending(struct flow *f, int fd)
{
	f->sender = fd;
	watch(fd, ROLE_FLOW_SENDER, f - flows, f->idle ? 0 : EPOLLOUT);
	hint_start(&f->hint, f->start_ms);
}

static void begin_receiving(struct flow *f, int fd)
{
	int lowat = RCVLOWAT_BYTES;

	f->receiver = fd;
	set_option(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
	watch(fd, ROLE_FLOW_RECEIVER, f - flows, EPOLLIN);
}

static void accept_peer(struct flow *f)
{
	int fd = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		err(1, "accept on port %d", f->port);
	if (f->reverse)
		begin_sending(f, fd);
	else
		begin_receiving(f, fd);
}

static void start_flow(struct flow *f)
{
	struct sockaddr_in peer = address_of(f->address, f->port);
	struct sockaddr_in own = address_of(NULL, f->port);
	int fd;

	f->started = true;
	enter_netns(f->netns);
	fd = open_socket(SOCK_STREAM);
	prepare_end(f, fd);
	if (!f->reverse)
		prepare_sender(f, fd);
	else if (bind(fd, (struct sockaddr *)&own, sizeof(own)))
		err(1, "bind to port %d", f->port);
	if (connect(fd, (struct sockaddr *)&peer, sizeof(peer)) && errno != EINPROGRESS)
		err(1, "connect to port %d", f->port);
	if (f->reverse)
		begin_receiving(f, fd);
	else
		begin_sending(f, fd);
}

static void fill(struct flow *f)
{
	while (send(f->sender, chunk, sizeof(chunk), MSG_NOSIGNAL) > 0)
		;
	if (errno != EAGAIN)
		err(1, "send to port %d", f->port);
}

static uint64_t bytes_received(const struct flow *f)
{
	struct tcp_info info;

	return tcp_info(f->receiver, &info) ? info.tcpi_bytes_received : f->bytes_received;
}

static uint32_t acks_sent(const struct flow *f)
{
	struct tcp_info info;

	return tcp_info(f->receiver, &info) ? info.tcpi_segs_out : 0;
}

static void close_receiver(struct flow *f)
{
	f->bytes_received = bytes_received(f);
	close(f->receiver);
	f->receiver = -1;
}

static void discard(struct flow *f)
{
	ssize_t got;

	do {
		got = recv(f->receiver, NULL, 1 << 30, MSG_TRUNC);
	} while (got >= RCVLOWAT_BYTES);
	if (!got)
		errx(1, "port %d: the sender hung up", f->port);
	if (got < 0 && errno == ECONNRESET && f->stopped)
		close_receiver(f);
	else if (got < 0 && errno != EAGAIN)
		err(1, "recv on port %d", f->port);
}

void flow_dispatch(enum role role, uint32_t index)
{
	struct flow *f = &flows[index];

	if (role == ROLE_FLOW_LISTENER)
		accept_peer(f);
	else if (role == ROLE_FLOW_SENDER)
		fill(f);
	else
		discard(f);
}

/* While TCP repairs a hole, what came behind it fills the buffers: the path's doing. */
static bool look(struct flow *f, struct tcp_info *info)
{
	uint64_t limited_us;

	if (!tcp_info(f->sender, info))
		return false;
	limited_us = info->tcpi_sndbuf_limited + info->tcpi_rwnd_limited;
	if (info->tcpi_ca_state < TCP_CA_Recovery)
		f->starved_us += limited_us - f->limited_us;
	f->limited_us = limited_us;
	return true;
}

/* Of a flow that is stopped, what its sender knew then. */
static struct reading read_flow(struct flow *f)
{
	struct reading r = f->last;
	struct tcp_info info;

	r.bytes_received = bytes_received(f);
	r.acks = acks_sent(f);
	if (look(f, &info)) {
		r.held_bytes = (uint64_t)info.tcpi_sacked * info.tcpi_snd_mss;
		r.starved_us = f->starved_us;
		r.retransmits = info.tcpi_total_retrans;
		r.min_rtt_us = info.tcpi_min_rtt;
		r.snd_mss = info.tcpi_snd_mss;
		r.ecn = info.tcpi_options & TCPI_OPT_ECN;
	}
	return r;
}

/* Nothing of what waits in its socket is sent, but a reset. */
static void stop_flow(struct flow *f)
{
	struct linger at_once = { .l_onoff = 1 };

	f->stopped = true;
	if (f->sender < 0)
		return;
	f->last = read_flow(f);
	f->hint.next_ms = NEVER;
	set_option(f->sender, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(f->sender);
	f->sender = -1;
}

static void turn(struct flow *f)
{
	f->idle = !f->idle;
	f->turn_ms += f->idle ? f->off_ms : f->on_ms;
	if (f->sender >= 0)
		watch_other(f->sender, ROLE_FLOW_SENDER, f - flows, f->idle ? 0 : EPOLLOUT);
}

int64_t flow_tend(int64_t now)
{
	int64_t next = NEVER;
	struct tcp_info info;
	int i;

	for (i = 0; i < n_flows; i++) {
		struct flow *f = &flows[i];

		if (!f->started && now >= f->start_ms)
			start_flow(f);
		if (!f->stopped && now >= f->stop_ms)
			stop_flow(f);
		if (now >= f->turn_ms)
			turn(f);
		if (now >= f->hint.next_ms)
			hint_tend(&f->hint, f->sender, now);
		if (now >= f->look_ms) {
			look(f, &info);
			f->look_ms = now + LOOK_MS;
		}
		next = min64(next, min64(f->hint.next_ms, min64(f->look_ms, f->turn_ms)));
		if (!f->stopped)
			next = min64(next, f->stop_ms);
	}
	return next;
}

void flow_read(bool at_end)
{
	int i;

	for (i = 0; i < n_flows; i++)
		*(at_end ? &flows[i].end : &flows[i].begin) = read_flow(&flows[i]);
}

/* What each has received so far. */
void flow_print_bytes(FILE *out)
{
	int i;

	for (i = 0; i < n_flows; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", bytes_received(&flows[i]));
}

static void print_reading(FILE *out, const char *name, const struct reading *r)
{
	fprintf(out,
		"\"%s\": {\"bytes_received\": %" PRIu64 ", \"held_bytes\": %" PRIu64
		", \"starved_us\": %" PRIu64 ", \"retransmits\": %u, \"acks\": %u, \"min_rtt_us\": %u"
		", \"snd_mss\": %u, \"ecn\": %s}",
		name, r->bytes_received, r->held_bytes, r->starved_us, r->retransmits, r->acks,
		r->min_rtt_us, r->snd_mss, r->ecn ? "true" : "false");
}

void flow_print(FILE *out)
{
	int i;

	for (i = 0; i < n_flows; i++) {
		fprintf(out, "{\"port\": %d, ", flows[i].port);
		print_reading(out, "begin", &flows[i].begin);
		fputs(", ", out);
		print_reading(out, "end", &flows[i].end);
		fputs(i + 1 < n_flows ? "},\n" : "}", out);
	}
}

/* The addresses and ports of the flow to a port; false before it has any. */
bool flow_ends(int port, struct sockaddr_in *from, struct sockaddr_in *to)
{
	socklen_t from_len = sizeof(*from), to_len = sizeof(*to);
	int i;

	for (i = 0; i < n_flows; i++) {
		if (flows[i].port != port || flows[i].reverse || flows[i].sender < 0)
			continue;
		return !getsockname(flows[i].sender, (struct sockaddr *)from, &from_len) &&
		       !getpeername(flows[i].sender, (struct sockaddr *)to, &to_len);
	}
	return false;
}
