// SPDX-License-Identifier: GPL-2.0
/*
 * congestion UID NAME [COMMAND]: as a user, gives a TCP socket a congestion
 * control and says how that went. With a command, runs it while the socket is open.
 */
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[16] = "";
	socklen_t len = sizeof(name);
	int fd;

	if (argc < 3)
		errx(2, "usage: congestion UID NAME [COMMAND]");
	if (setuid(atoi(argv[1])))
		err(2, "setuid");
	fd = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	if (fd < 0)
		err(2, "socket");
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, argv[2], strlen(argv[2]))) {
		printf("%s: %s\n", argv[2], strerror(errno));
		return 0;
	}
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len))
		err(2, "getsockopt");
	printf("%s: has %s\n", argv[2], name);
	fflush(stdout);
	return argc > 3 && system(argv[3]) ? 1 : 0;
}
