// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "net.h"

#define MAX_SOCKETS	(1 << 20)	/* what the kernel allows by default (fs.nr_open) */
#define ECT1_MARK	1
#define NSEC_PER_SEC	1000000000LL

static int epoll_fd = -1;

void allow_sockets(void)
{
	struct rlimit limit = { .rlim_cur = MAX_SOCKETS, .rlim_max = MAX_SOCKETS };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "RLIMIT_NOFILE");
}

void enter_netns(const char *name)
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

int open_socket(int type)
{
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* Fires at once, then each interval; never again if that is 0. */
int open_timer(int64_t interval_ns)
{
	struct itimerspec tick = {
		.it_value.tv_nsec = 1,
		.it_interval.tv_sec = interval_ns / NSEC_PER_SEC,
		.it_interval.tv_nsec = interval_ns % NSEC_PER_SEC,
	};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (timer < 0 || timerfd_settime(timer, 0, &tick, NULL))
		err(1, "timerfd");
	return timer;
}

/* No IP: any address. */
struct sockaddr_in address_of(const char *ip, int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	if (ip && inet_pton(AF_INET, ip, &address.sin_addr) != 1)
		errx(2, "bad address %s", ip);
	return address;
}

void set_option(int fd, int level, int option, const void *value, socklen_t len)
{
	if (setsockopt(fd, level, option, value, len))
		err(1, "setsockopt level %d option %d", level, option);
}

static void control(int operation, int fd, uint64_t tag, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = tag };

	if (epoll_fd < 0)
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, operation, fd, &event))
		err(1, "epoll");
}

/*
 * A rule of tc at the host's device rewrites the ECT(0) of sockets with this mark, as TCP
 * does not let a program set the ECN field (lab/net/network.py).
 */
void send_as_ect1(int fd)
{
	int mark = ECT1_MARK;

	set_option(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

void watch(int fd, enum role role, uint32_t index, uint32_t events)
{
	control(EPOLL_CTL_ADD, fd, (uint64_t)role << 32 | index, events);
}

/* Of a socket that is watched already. */
void watch_other(int fd, enum role role, uint32_t index, uint32_t events)
{
	control(EPOLL_CTL_MOD, fd, (uint64_t)role << 32 | index, events);
}

int next_event(struct epoll_event *events, int room, int64_t wait_ms)
{
	int n = epoll_wait(epoll_fd, events, room, wait_ms < 0 ? 0 : wait_ms);

	if (n < 0 && errno != EINTR)
		err(1, "epoll_wait");
	return n;
}

/* False before the handshake is over: there is nothing to read yet. */
bool tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (fd < 0)
		return false;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len))
		err(1, "TCP_INFO");
	return true;
}
