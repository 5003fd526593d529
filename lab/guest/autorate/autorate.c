// SPDX-License-Identifier: GPL-2.0
/*
 * autorate: a comparator. Changes the bandwidth of cake by the rule of cake-autorate (rule.h),
 * with pings of its own to a host beyond the line.
 *
 *	autorate DEVICE PARENT HANDLE ADDRESS MIN BASE MAX	(rates in kbit/s)
 *
 * As six reflectors that are asked every 0.3 s each, but all are one host here. SIGTERM ends
 * it, and it then says what it did.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rule.h"

#define PING_MS		50.0	/* 0.3 s for each of six */
#define LOAD_MS		200.0
#define PING_ID		0x5a52
#define SEQUENCES	65536
#define COMMAND_LEN	256
#define PAYLOAD_BYTES	56

struct echo {
	struct icmphdr head;
	char payload[PAYLOAD_BYTES];
};

static double sent_ms[SEQUENCES];
static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static uint16_t checksum(const void *data, size_t len)
{
	const uint16_t *words = data;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len / 2; i++)
		sum += words[i];
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

static void ping(int fd, const struct sockaddr_in *to, uint16_t sequence)
{
	struct echo echo = {
		.head = { .type = ICMP_ECHO, .un.echo = { htons(PING_ID), htons(sequence) } },
	};

	echo.head.checksum = checksum(&echo, sizeof(echo));
	sent_ms[sequence] = now_ms();
	/* one that a full queue drops is lost as elsewhere */
	if (sendto(fd, &echo, sizeof(echo), 0, (const struct sockaddr *)to, sizeof(*to)) < 0 &&
	    errno != ENOBUFS)
		err(1, "ping");
}

/* The sequence number of an answer of ours; -1: it is none. */
static int answer(int fd)
{
	char packet[512];
	ssize_t len = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
	const struct iphdr *ip = (const void *)packet;
	const struct icmphdr *icmp;

	if (len < (ssize_t)(sizeof(*ip) + sizeof(*icmp)) ||
	    len < (ssize_t)(ip->ihl * 4 + sizeof(*icmp)))
		return -1;
	icmp = (const void *)(packet + ip->ihl * 4);
	if (icmp->type != ICMP_ECHOREPLY || ntohs(icmp->un.echo.id) != PING_ID)
		return -1;
	return ntohs(icmp->un.echo.sequence);
}

/* What has left cake, from tc's statistics. */
static double bytes_out(const char *device, const char *handle)
{
	char command[COMMAND_LEN], line[512], kind[32], found[32] = "";
	double bytes = -1;
	FILE *tc;

	snprintf(command, sizeof(command), "exec tc -s qdisc show dev %s", device);
	tc = popen(command, "r");
	if (!tc)
		err(1, "tc");
	while (fgets(line, sizeof(line), tc))
		if (sscanf(line, "qdisc %31s %31s", kind, found) != 2 && !strcmp(found, handle))
			sscanf(line, " Sent %lf bytes", &bytes);
	if (pclose(tc) || bytes < 0)
		errx(1, "no qdisc %s on %s", handle, device);
	return bytes;
}

static void set_rate(char **argv, double kbps)
{
	char command[COMMAND_LEN];
	int status;

	snprintf(command, sizeof(command),
		 "exec tc qdisc change dev %s parent %s handle %s cake bandwidth %.0fbit",
		 argv[1], argv[2], argv[3], kbps * 1000);
	status = system(command);
	if (status)
		errx(1, "failed: %s", command);
}

static double positive(const char *text)
{
	char *rest;
	double value = strtod(text, &rest);

	if (*rest || !(value > 0))
		errx(2, "\"%s\": want a rate in kbit/s", text);
	return value;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	/* what tc says is read to its end */
	struct sigaction on_end = { .sa_handler = end, .sa_flags = SA_RESTART };
	double next_ping, next_load, bytes, at;
	uint16_t sequence = 0;
	long changes = 0, answers = 0;
	struct rule rule;
	int fd;

	if (argc != 8 || inet_pton(AF_INET, argv[4], &to.sin_addr) != 1)
		errx(2, "usage: autorate DEVICE PARENT HANDLE ADDRESS MIN BASE MAX");
	rule_init(&rule, positive(argv[5]), positive(argv[6]), positive(argv[7]));
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	if (fd < 0 || sigaction(SIGTERM, &on_end, NULL))
		err(1, "socket");
	bytes = bytes_out(argv[1], argv[3]);
	at = next_ping = now_ms();
	next_load = at + LOAD_MS;

	while (!ended) {
		double now = now_ms();
		double wait = (next_ping < next_load ? next_ping : next_load) - now;
		struct timespec timeout = { .tv_nsec = wait > 0 ? wait * 1e6 : 0 };
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int got = ppoll(&ready, 1, &timeout, NULL) > 0 ? answer(fd) : -1;

		now = now_ms();
		if (got >= 0) {
			answers++;
			if (rule_sample(&rule, got % RULE_REFLECTORS, now, now - sent_ms[got])) {
				set_rate(argv, rule_rate(&rule));
				changes++;
			}
		}
		if (now >= next_ping) {
			ping(fd, &to, sequence++);
			next_ping += PING_MS;
		}
		if (now >= next_load) {
			double bytes_now = bytes_out(argv[1], argv[3]);

			rule_load(&rule, (bytes_now - bytes) * 8 / (now - at));
			bytes = bytes_now;
			at = now;
			next_load += LOAD_MS;
		}
	}
	printf("{\"answers\": %ld, \"changes\": %ld, \"last_kbps\": %.0f}\n", answers, changes,
	       rule_rate(&rule));
	return 0;
}
