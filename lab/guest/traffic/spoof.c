// SPDX-License-Identifier: GPL-2.0
/*
 * An attacker that is no end of a flow and sends packets with its addresses and ports.
 * It sees none of the flow's packets, so its sequence numbers are random: the receiver's
 * TCP finds all but some of 2^32 out of its window, or acknowledging what was never sent,
 * and answers with a challenge ACK at most.
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <netinet/ip.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow.h"
#include "net.h"
#include "spoof.h"

#define MAX_SPOOF	16
#define PAYLOAD_BYTES	1460		/* fills a frame of 1514 */
#define WINDOW		512
#define TTL		64
#define ECT_0		2

struct packet {
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t payload[PAYLOAD_BYTES];
};

/* What TCP's checksum covers in front of its header. */
struct pseudo_header {
	uint32_t from, to;
	uint8_t zero, protocol;
	uint16_t len;
};

struct spoof {
	char netns[NAME_LEN];
	int port;			/* of the victim's receiver */
	bool syn;
	bool ect;
	int64_t interval_ns;
	int64_t from_ms, to_ms;
	int timer, sender;		/* -1: not open */
	struct sockaddr_in from, to;	/* the victim's */
	uint64_t sent;
};

static struct spoof spoofs[MAX_SPOOF];
static int n_spoofs;

/* spoof NETNS PORT KIND INTERVAL_NS FROM TO ECT */
bool spoof_parse(const char *line)
{
	struct spoof *s = &spoofs[n_spoofs];
	char kind[NAME_LEN];
	int ect;

	if (sscanf(line, "spoof %31s %d %31s %" SCNd64 " %" SCNd64 " %" SCNd64 " %d", s->netns,
		   &s->port, kind, &s->interval_ns, &s->from_ms, &s->to_ms, &ect) != 7)
		return false;
	if (n_spoofs == MAX_SPOOF - 1)
		errx(2, "more than %d attackers", MAX_SPOOF - 1);
	if (!strcmp(kind, "nothing"))
		s->from_ms = s->to_ms = NEVER;
	else if (strcmp(kind, "syn") && strcmp(kind, "data"))
		errx(2, "unknown kind of packet %s", kind);
	if (s->interval_ns < 0)
		errx(2, "bad interval: %s", line);
	s->syn = !strcmp(kind, "syn");
	s->ect = ect;
	s->timer = s->sender = -1;
	n_spoofs++;
	return true;
}

static void start_spoof(struct spoof *s)
{
	if (!flow_ends(s->port, &s->from, &s->to))
		errx(1, "no flow to port %d whose name to use", s->port);
	enter_netns(s->netns);
	s->sender = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (s->sender < 0)
		err(1, "raw socket");
	s->timer = open_timer(s->interval_ns);
	watch(s->timer, ROLE_SPOOF_TIMER, s - spoofs, EPOLLIN);
}

static void stop_spoof(struct spoof *s)
{
	close(s->timer);
	s->timer = -1;
	s->to_ms = NEVER;
}

static uint32_t sum_of(const void *data, size_t len, uint32_t sum)
{
	const uint8_t *byte = data;
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += byte[i] << 8 | byte[i + 1];
	return sum;
}

static uint16_t tcp_checksum(const struct packet *p, size_t tcp_len)
{
	struct pseudo_header pseudo = {
		.from = p->ip.saddr,
		.to = p->ip.daddr,
		.protocol = IPPROTO_TCP,
		.len = htons(tcp_len),
	};
	uint32_t sum = sum_of(&p->tcp, tcp_len, sum_of(&pseudo, sizeof(pseudo), 0));

	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

/* The kernel fills in the length, the identification and the checksum of IP. */
static void send_packet(struct spoof *s)
{
	size_t tcp_len = sizeof(struct tcphdr) + (s->syn ? 0 : PAYLOAD_BYTES);
	size_t len = sizeof(struct iphdr) + tcp_len;
	struct packet p = {
		.ip = {
			.version = 4,
			.ihl = sizeof(p.ip) / 4,
			.tos = s->ect ? ECT_0 : 0,
			.ttl = TTL,
			.protocol = IPPROTO_TCP,
			.saddr = s->from.sin_addr.s_addr,
			.daddr = s->to.sin_addr.s_addr,
		},
		.tcp = {
			.source = s->from.sin_port,
			.dest = s->to.sin_port,
			.doff = sizeof(p.tcp) / 4,
			.syn = s->syn,
			.ack = !s->syn,
			.window = htons(WINDOW),
		},
	};
	uint32_t numbers[2];

	if (getrandom(numbers, sizeof(numbers), 0) != sizeof(numbers))
		err(1, "getrandom");
	p.tcp.seq = numbers[0];
	p.tcp.ack_seq = s->syn ? 0 : numbers[1];
	p.tcp.check = tcp_checksum(&p, tcp_len);
	if (sendto(s->sender, &p, len, 0, (struct sockaddr *)&s->to, sizeof(s->to)) < 0)
		err(1, "send in the name of a flow to port %d", s->port);
	s->sent++;
}

void spoof_dispatch(uint32_t index)
{
	struct spoof *s = &spoofs[index];
	uint64_t due;

	if (read(s->timer, &due, sizeof(due)) != sizeof(due))
		err(1, "timerfd of an attacker");
	for (; due; due--)
		send_packet(s);
}

int64_t spoof_tend(int64_t now)
{
	int64_t next = NEVER;
	int i;

	for (i = 0; i < n_spoofs; i++) {
		struct spoof *s = &spoofs[i];

		if (s->sender < 0 && now >= s->from_ms)
			start_spoof(s);
		if (s->timer >= 0 && now >= s->to_ms)
			stop_spoof(s);
		next = min64(next, s->sender < 0 ? s->from_ms : s->to_ms);
	}
	return next;
}

/* Packets sent by each. */
void spoof_print(FILE *out)
{
	int i;

	for (i = 0; i < n_spoofs; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", spoofs[i].sent);
}
