/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets and timers in the network namespaces of their hosts, and one epoll for all.
 * Times are milliseconds since the start of the traffic.
 */
#ifndef _LAB_NET_H
#define _LAB_NET_H

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define NAME_LEN	32
#define LINE_LEN	512
#define NEVER		INT64_MAX

/* What epoll says has become ready. */
enum role {
	ROLE_FLOW_LISTENER,
	ROLE_FLOW_SENDER,
	ROLE_FLOW_RECEIVER,
	ROLE_UDP_TIMER,
	ROLE_SPOOF_TIMER,
	ROLE_THIN_TIMER,
	ROLE_SHORT_LISTENER,
	ROLE_SHORT_SENDER,
	ROLE_SHORT_RECEIVER,
};

static inline int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void allow_sockets(void);
void enter_netns(const char *name);
int open_socket(int type);
int open_timer(int64_t interval_ns);
struct sockaddr_in address_of(const char *ip, int port);
void set_option(int fd, int level, int option, const void *value, socklen_t len);
void send_as_ect1(int fd);
void watch(int fd, enum role role, uint32_t index, uint32_t events);
void watch_other(int fd, enum role role, uint32_t index, uint32_t events);
bool tcp_info(int fd, struct tcp_info *info);
int next_event(struct epoll_event *events, int room, int64_t wait_ms);

#endif
