// SPDX-License-Identifier: GPL-2.0
/*
 * traffic: runs all TCP flows of a laboratory guest, senders and receivers.
 *
 *	traffic SPEC RESULT
 *
 * One thread, one epoll loop, few system calls: those are what costs time in a
 * guest. Senders fill a fixed send buffer, receivers discard with MSG_TRUNC and
 * are woken for RCVLOWAT_BYTES at a time. Sockets are opened in the network
 * namespace of their host by setns().
 *
 * SPEC is text, one thing per line, times in milliseconds since the start:
 *
 *	receiver NETNS			where all receivers live
 *	measure FROM TO			the interval between the two readings
 *	sample PERIOD			also read goodput every PERIOD; 0 = never
 *	at TIME COMMAND...		run a shell command; after a reading of that time
 *	flow NETNS ADDRESS PORT CC START SNDBUF HINT FACTOR
 *
 * HINT is none, packet or sampled; FACTOR is what a sender multiplies its RTT
 * with before it states it, in thousandths: 1000 is honest. RESULT is JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_FLOWS		4096
#define MAX_COMMANDS		64
#define NAME_LEN		32
#define LINE_LEN		512
#define SEND_CHUNK_BYTES	(256 * 1024)
#define RCVLOWAT_BYTES		(64 * 1024)
#define PROGRESS_STEPS		20
#define STATE_ESTABLISHED	1	/* of tcpi_state */

/* The hint: an experimental IPv4 option, RTT in units of 32 us, big-endian. */
#define HINT_OPTION_TYPE	0x9e
#define HINT_OPTION_LEN		4
#define HINT_UNIT_SHIFT		5
#define HINT_MAX		65534
#define HINT_FACTOR_ONE		1000

/* min_rtt moves in the first seconds of a flow, hardly later. */
#define HINT_YOUNG_MS		5000
#define HINT_YOUNG_POLL_MS	100
#define HINT_POLL_MS		1000
#define HINT_SAMPLE_ON_MS	50
#define HINT_SAMPLE_OFF_MS	450

enum hint_mode { HINT_NONE, HINT_PACKET, HINT_SAMPLED };
enum socket_role { ROLE_LISTENER, ROLE_SENDER, ROLE_RECEIVER };

struct reading {
	uint64_t bytes_received;
	uint64_t starved_us;		/* limited by a buffer, not by the path */
	uint32_t retransmits;
	uint32_t min_rtt_us;
	uint32_t snd_mss;
};

struct flow {
	char netns[NAME_LEN];
	char address[NAME_LEN];
	char cc[NAME_LEN];
	enum hint_mode hint_mode;
	int port;
	int sndbuf_bytes;
	int hint_factor;		/* HINT_FACTOR_ONE is honest */
	int64_t start_ms;
	int64_t next_hint_ms;		/* INT64_MAX: nothing to do */
	uint16_t hint;			/* what the socket stamps now, 0 = nothing */
	int listener, sender, receiver;	/* -1: not open */
	struct reading begin, end;
};

struct command {
	int64_t at_ms;
	char text[LINE_LEN];
};

static struct flow flows[MAX_FLOWS];
static int n_flows;
static struct command commands[MAX_COMMANDS];
static int n_commands;
static char receiver_netns[NAME_LEN];
static int64_t measure_from_ms, measure_to_ms, sample_ms;
static uint64_t *samples;		/* n_samples rows: ms, then bytes per flow */
static int n_samples;
static int64_t epoch_ms;
static int epoll_fd;
static char chunk[SEND_CHUNK_BYTES];

static int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static int64_t now_ms(void)
{
	return clock_ms() - epoch_ms;
}

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* -- specification -------------------------------------------------------- */

static enum hint_mode parse_hint_mode(const char *word)
{
	if (!strcmp(word, "packet"))
		return HINT_PACKET;
	if (!strcmp(word, "sampled"))
		return HINT_SAMPLED;
	if (strcmp(word, "none"))
		errx(2, "unknown hint mode %s", word);
	return HINT_NONE;
}

static bool parse_flow(const char *line)
{
	struct flow *f = &flows[n_flows];
	char mode[NAME_LEN];

	if (sscanf(line, "flow %31s %31s %d %31s %" SCNd64 " %d %31s %d",
		   f->netns, f->address, &f->port, f->cc, &f->start_ms,
		   &f->sndbuf_bytes, mode, &f->hint_factor) != 8)
		return false;
	if (n_flows == MAX_FLOWS - 1)
		errx(2, "more than %d flows", MAX_FLOWS - 1);
	f->hint_mode = parse_hint_mode(mode);
	f->next_hint_ms = INT64_MAX;
	f->listener = f->sender = f->receiver = -1;
	n_flows++;
	return true;
}

static bool parse_command(const char *line)
{
	struct command *c = &commands[n_commands];

	if (sscanf(line, "at %" SCNd64 " %511[^\n]", &c->at_ms, c->text) != 2)
		return false;
	if (n_commands == MAX_COMMANDS - 1)
		errx(2, "more than %d commands", MAX_COMMANDS - 1);
	if (n_commands && c->at_ms < c[-1].at_ms)
		errx(2, "commands out of order: %s", line);
	n_commands++;
	return true;
}

static void parse_spec(const char *path)
{
	char line[LINE_LEN];
	FILE *spec = fopen(path, "r");

	if (!spec)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), spec)) {
		if (!parse_flow(line) && !parse_command(line) &&
		    sscanf(line, "receiver %31s", receiver_netns) != 1 &&
		    sscanf(line, "measure %" SCNd64 " %" SCNd64, &measure_from_ms,
			   &measure_to_ms) != 2 &&
		    sscanf(line, "sample %" SCNd64, &sample_ms) != 1)
			errx(2, "bad line: %s", line);
	}
	fclose(spec);
	if (!n_flows || !receiver_netns[0] || measure_to_ms <= measure_from_ms)
		errx(2, "%s: no flow, no receiver or nothing to measure", path);
}

/* -- sockets -------------------------------------------------------------- */

static void enter_netns(const char *name)
{
	static char current[NAME_LEN];
	char path[NAME_LEN + 16];
	int fd;

	if (!strcmp(current, name))
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
	snprintf(current, sizeof(current), "%s", name);
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

static void set_option(int fd, int level, int option, const void *value, socklen_t len)
{
	if (setsockopt(fd, level, option, value, len))
		err(1, "setsockopt level %d option %d", level, option);
}

static void watch(int fd, enum socket_role role, const struct flow *f, uint32_t events)
{
	struct epoll_event event = {
		.events = events,
		.data.u64 = (uint64_t)role << 32 | (uint32_t)(f - flows),
	};

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static struct sockaddr_in flow_address(const struct flow *f, bool any)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(f->port),
	};

	if (!any && inet_pton(AF_INET, f->address, &address.sin_addr) != 1)
		errx(2, "bad address %s", f->address);
	return address;
}

static void open_listener(struct flow *f)
{
	struct sockaddr_in address = flow_address(f, true);

	f->listener = open_socket();
	if (bind(f->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(f->listener, 1))
		err(1, "listen on port %d", f->port);
	watch(f->listener, ROLE_LISTENER, f, EPOLLIN);
}

static void accept_receiver(struct flow *f)
{
	int lowat = RCVLOWAT_BYTES;

	f->receiver = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (f->receiver < 0)
		err(1, "accept on port %d", f->port);
	set_option(f->receiver, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
	watch(f->receiver, ROLE_RECEIVER, f, EPOLLIN);
}

static void start_flow(struct flow *f)
{
	struct sockaddr_in address = flow_address(f, false);

	enter_netns(f->netns);
	f->sender = open_socket();
	set_option(f->sender, IPPROTO_TCP, TCP_CONGESTION, f->cc, strlen(f->cc));
	set_option(f->sender, SOL_SOCKET, SO_SNDBUFFORCE, &f->sndbuf_bytes,
		   sizeof(f->sndbuf_bytes));
	if (connect(f->sender, (struct sockaddr *)&address, sizeof(address)) &&
	    errno != EINPROGRESS)
		err(1, "connect to port %d", f->port);
	watch(f->sender, ROLE_SENDER, f, EPOLLOUT);
	if (f->hint_mode != HINT_NONE)
		f->next_hint_ms = f->start_ms + HINT_YOUNG_POLL_MS;
}

static void fill(struct flow *f)
{
	while (send(f->sender, chunk, sizeof(chunk), MSG_NOSIGNAL) > 0)
		;
	if (errno != EAGAIN)
		err(1, "send to port %d", f->port);
}

static void discard(struct flow *f)
{
	ssize_t got;

	do {
		got = recv(f->receiver, NULL, 1 << 30, MSG_TRUNC);
	} while (got >= RCVLOWAT_BYTES);
	if (!got)
		errx(1, "port %d: the sender hung up", f->port);
	if (got < 0 && errno != EAGAIN)
		err(1, "recv on port %d", f->port);
}

static void dispatch(const struct epoll_event *event)
{
	struct flow *f = &flows[(uint32_t)event->data.u64];

	switch (event->data.u64 >> 32) {
	case ROLE_LISTENER:
		accept_receiver(f);
		break;
	case ROLE_SENDER:
		fill(f);
		break;
	case ROLE_RECEIVER:
		discard(f);
		break;
	}
}

/* -- readings ------------------------------------------------------------- */

/* False before the handshake is over: there is nothing to read yet. */
static bool tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (fd < 0)
		return false;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len))
		err(1, "TCP_INFO");
	return true;
}

static uint64_t bytes_received(const struct flow *f)
{
	struct tcp_info info;

	return tcp_info(f->receiver, &info) ? info.tcpi_bytes_received : 0;
}

static struct reading read_flow(const struct flow *f)
{
	struct reading r = { .bytes_received = bytes_received(f) };
	struct tcp_info info;

	if (tcp_info(f->sender, &info)) {
		r.starved_us = info.tcpi_sndbuf_limited + info.tcpi_rwnd_limited;
		r.retransmits = info.tcpi_total_retrans;
		r.min_rtt_us = info.tcpi_min_rtt;
		r.snd_mss = info.tcpi_snd_mss;
	}
	return r;
}

static void take_sample(int64_t ms)
{
	uint64_t *row = samples + (size_t)n_samples++ * (n_flows + 1);
	int i;

	row[0] = ms;
	for (i = 0; i < n_flows; i++)
		row[i + 1] = bytes_received(&flows[i]);
}

/* -- hints ---------------------------------------------------------------- */

static void set_hint(struct flow *f, uint16_t hint)
{
	uint8_t option[HINT_OPTION_LEN] = {
		HINT_OPTION_TYPE, HINT_OPTION_LEN, hint >> 8, hint & 0xff,
	};

	if (hint == f->hint)
		return;
	set_option(f->sender, IPPROTO_IP, IP_OPTIONS, option, hint ? sizeof(option) : 0);
	f->hint = hint;
}

/* What the flow states of its RTT now, 0 before it knows any. */
static uint16_t stated_hint(const struct flow *f)
{
	struct tcp_info info;
	uint64_t hint;

	if (!tcp_info(f->sender, &info) || info.tcpi_state != STATE_ESTABLISHED ||
	    info.tcpi_min_rtt == UINT32_MAX)
		return 0;
	hint = (uint64_t)info.tcpi_min_rtt * f->hint_factor / HINT_FACTOR_ONE;
	hint >>= HINT_UNIT_SHIFT;
	return hint < 1 ? 1 : hint > HINT_MAX ? HINT_MAX : hint;
}

static void tend_hint(struct flow *f, int64_t now)
{
	if (f->hint_mode == HINT_SAMPLED && f->hint) {
		set_hint(f, 0);
		f->next_hint_ms = now + HINT_SAMPLE_OFF_MS;
		return;
	}
	set_hint(f, stated_hint(f));
	if (f->hint_mode == HINT_SAMPLED && f->hint)
		f->next_hint_ms = now + HINT_SAMPLE_ON_MS;
	else if (now - f->start_ms < HINT_YOUNG_MS)
		f->next_hint_ms = now + HINT_YOUNG_POLL_MS;
	else
		f->next_hint_ms = now + HINT_POLL_MS;
}

/* -- the run -------------------------------------------------------------- */

static void run_command(const char *text)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "failed: %s", text);
}

/*
 * Each tend_ function does what is due of its kind and returns when the next
 * will be.
 */

static int64_t tend_flows(int64_t now)
{
	int64_t next = INT64_MAX;
	int i;

	for (i = 0; i < n_flows; i++) {
		struct flow *f = &flows[i];

		if (f->sender < 0 && now >= f->start_ms)
			start_flow(f);
		if (now >= f->next_hint_ms)
			tend_hint(f, now);
		next = min64(next, f->sender < 0 ? f->start_ms : f->next_hint_ms);
	}
	return next;
}

static int64_t tend_readings(int64_t now)
{
	static bool begun;
	int i;

	if (!begun && now >= measure_from_ms) {
		begun = true;
		measure_from_ms = now;
		for (i = 0; i < n_flows; i++)
			flows[i].begin = read_flow(&flows[i]);
	}
	return begun ? measure_to_ms : measure_from_ms;
}

static int64_t tend_samples(int64_t now)
{
	static int64_t next;

	if (!sample_ms)
		return INT64_MAX;
	if (now >= next) {
		take_sample(now);
		next += sample_ms;
	}
	return next;
}

static int64_t tend_commands(int64_t now)
{
	static int next;

	while (next < n_commands && now >= commands[next].at_ms)
		run_command(commands[next++].text);
	return next < n_commands ? commands[next].at_ms : INT64_MAX;
}

static void show_progress(int64_t now)
{
	static int64_t shown;
	int64_t step = now * PROGRESS_STEPS / measure_to_ms;

	if (step == shown)
		return;
	shown = step;
	printf("PROGRESS %" PRId64 " %" PRId64 "\n", now, measure_to_ms);
	fflush(stdout);
}

/* A command at the time of a reading comes after it. */
static int64_t tend(int64_t now)
{
	int64_t next = tend_flows(now);

	next = min64(next, tend_readings(now));
	next = min64(next, tend_samples(now));
	next = min64(next, tend_commands(now));
	show_progress(now);
	return next;
}

static void run(void)
{
	struct epoll_event events[256];
	int64_t now;
	int i, n;

	while ((now = now_ms()) < measure_to_ms) {
		int64_t wait = tend(now) - now_ms();

		n = epoll_wait(epoll_fd, events, 256, wait < 0 ? 0 : wait);
		if (n < 0 && errno != EINTR)
			err(1, "epoll_wait");
		for (i = 0; i < n; i++)
			dispatch(&events[i]);
	}
	measure_to_ms = now;
	for (i = 0; i < n_flows; i++)
		flows[i].end = read_flow(&flows[i]);
	tend(now);
}

static void print_reading(FILE *out, const char *name, const struct reading *r)
{
	fprintf(out,
		"\"%s\": {\"bytes_received\": %" PRIu64 ", \"starved_us\": %" PRIu64
		", \"retransmits\": %u, \"min_rtt_us\": %u, \"snd_mss\": %u}",
		name, r->bytes_received, r->starved_us, r->retransmits,
		r->min_rtt_us, r->snd_mss);
}

static void write_result(const char *path)
{
	FILE *out = fopen(path, "w");
	int i, j;

	if (!out)
		err(1, "%s", path);
	fprintf(out, "{\"from_ms\": %" PRId64 ", \"to_ms\": %" PRId64 ",\n\"flows\": [\n",
		measure_from_ms, measure_to_ms);
	for (i = 0; i < n_flows; i++) {
		fprintf(out, "{\"port\": %d, ", flows[i].port);
		print_reading(out, "begin", &flows[i].begin);
		fputs(", ", out);
		print_reading(out, "end", &flows[i].end);
		fputs(i + 1 < n_flows ? "},\n" : "}],\n", out);
	}
	fputs("\"samples\": [", out);
	for (i = 0; i < n_samples; i++) {
		const uint64_t *row = samples + (size_t)i * (n_flows + 1);

		for (j = 0; j <= n_flows; j++)
			fprintf(out, "%s%" PRIu64, j ? "," : i ? ",\n[" : "[", row[j]);
		fputs("]", out);
	}
	fputs("]}\n", out);
	if (fclose(out))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 3)
		errx(2, "usage: traffic SPEC RESULT");
	parse_spec(argv[1]);
	if (sample_ms) {
		samples = calloc((measure_to_ms / sample_ms + 2) * (n_flows + 1),
				 sizeof(*samples));
		if (!samples)
			err(1, "samples");
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		err(1, "epoll_create1");
	enter_netns(receiver_netns);
	for (i = 0; i < n_flows; i++)
		open_listener(&flows[i]);
	epoch_ms = clock_ms();
	run();
	write_result(argv[2]);
	return 0;
}
