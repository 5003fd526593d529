/* SPDX-License-Identifier: GPL-2.0 */
/*
 * traffic: what its parts share. Each kind of traffic is a part of its own with
 * the same few functions:
 *
 *	KIND_parse()	takes a line of the specification, if it is for it
 *	KIND_open()	opens what waits for the others, before the clock starts
 *	KIND_tend()	does what is due, returns when the next will be
 *	KIND_dispatch()	does what a socket or timer has become ready for
 *	KIND_...()	figures, as JSON
 *
 * Times are milliseconds since the start of the traffic.
 */
#ifndef _LAB_TRAFFIC_H
#define _LAB_TRAFFIC_H

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
	ROLE_SHORT_LISTENER,
	ROLE_SHORT_SENDER,
	ROLE_SHORT_RECEIVER,
};

static inline int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* -- net.c: sockets ------------------------------------------------------- */

void allow_sockets(void);
void enter_netns(const char *name);
int open_socket(int type);
struct sockaddr_in address_of(const char *ip, int port);
void set_option(int fd, int level, int option, const void *value, socklen_t len);
void watch(int fd, enum role role, uint32_t index, uint32_t events);
void watch_other(int fd, enum role role, uint32_t index, uint32_t events);
bool tcp_info(int fd, struct tcp_info *info);
int next_event(struct epoll_event *events, int room, int64_t wait_ms);

/* -- hint.c: the RTT a socket states -------------------------------------- */

enum hint_mode { HINT_NONE, HINT_PACKET, HINT_SAMPLED };

struct hint {
	enum hint_mode mode;
	int factor;		/* what the sender multiplies its RTT with, in thousandths */
	int64_t since_ms;
	int64_t next_ms;	/* NEVER: nothing to do */
	uint16_t stated;	/* what the socket stamps now, 0 = nothing */
};

enum hint_mode hint_mode_of(const char *word);
void hint_start(struct hint *hint, int64_t now);
void hint_state(int fd);
void hint_tend(struct hint *hint, int fd, int64_t now);

/* -- flow.c: long TCP flows ----------------------------------------------- */

bool flow_parse(const char *line, const char *receiver);
int flow_count(void);
void flow_open(void);
int64_t flow_tend(int64_t now);
void flow_dispatch(enum role role, uint32_t index);
void flow_read(bool at_end);
void flow_print_bytes(FILE *out);
void flow_print(FILE *out);

/* -- udp.c: unresponsive UDP at a constant rate --------------------------- */

bool udp_parse(const char *line, const char *receiver);
void udp_open(void);
int64_t udp_tend(int64_t now);
void udp_dispatch(uint32_t index);
void udp_print_frames(FILE *out);

/* -- short.c: TCP flows that come and go ---------------------------------- */

bool short_parse(const char *line, const char *receiver);
void short_open(void);
int64_t short_tend(int64_t now);
void short_dispatch(enum role role, uint32_t index, int64_t now);
void short_print_bytes(FILE *out);
void short_print(FILE *out);

#endif
