// SPDX-License-Identifier: GPL-2.0
/*
 * stream ADDRESS PORT BLOCKS KIND HEX: a TCP transfer of BLOCKS times 64 KB whose
 * packets all carry these options: KIND is ipv4 for an option area, hop or dst for
 * an extension header of IPv6.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OPTIONS_MAX	64

static const struct kind {
	const char *name;
	int family;
	int level;
	int option;
} kinds[] = {
	{ "ipv4", AF_INET, IPPROTO_IP, IP_OPTIONS },
	{ "hop", AF_INET6, IPPROTO_IPV6, IPV6_HOPOPTS },
	{ "dst", AF_INET6, IPPROTO_IPV6, IPV6_DSTOPTS },
};

static const struct kind *kind_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	errx(2, "unknown kind %s", name);
}

static socklen_t from_hex(const char *hex, unsigned char *bytes)
{
	socklen_t len = 0;

	while (len < OPTIONS_MAX && sscanf(hex + 2 * len, "%2hhx", bytes + len) == 1)
		len++;
	return len;
}

static void connect_to(int fd, int family, const char *address, uint16_t port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} to = { .any.sa_family = (sa_family_t)family };
	void *where = family == AF_INET ? (void *)&to.v4.sin_addr : &to.v6.sin6_addr;

	if (inet_pton(family, address, where) != 1)
		errx(2, "%s is no address", address);
	to.v4.sin_port = htons(port); /* where IPv6 has it, too */
	if (connect(fd, &to.any, sizeof(to)))
		err(1, "%s", address);
}

int main(int argc, char **argv)
{
	static unsigned char block[1 << 16];
	unsigned char options[OPTIONS_MAX];
	const struct kind *kind;
	socklen_t len;
	long blocks;
	int fd;

	if (argc != 6)
		errx(2, "usage: stream ADDRESS PORT BLOCKS ipv4|hop|dst HEX");
	kind = kind_of(argv[4]);
	len = from_hex(argv[5], options);
	fd = socket(kind->family, SOCK_STREAM, 0);
	if (fd < 0 || setsockopt(fd, kind->level, kind->option, options, len))
		err(1, "options %s", argv[5]);
	connect_to(fd, kind->family, argv[1], (uint16_t)atoi(argv[2]));
	for (blocks = atol(argv[3]); blocks > 0; blocks--)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			err(1, "%s", argv[1]);
	return close(fd);
}
