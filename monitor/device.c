// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "device.h"

#define BYTES_PER_MBIT	125000ULL

bool device_name(int ifindex, char *name)
{
	char raw[IF_NAMESIZE];
	const char *at;

	if (!if_indextoname(ifindex, raw))
		return false;
	for (at = raw; *at; at++) {
		if (isascii(*at) && isprint(*at))
			*name++ = *at;
		else
			name += sprintf(name, "\\x%02x", (unsigned char)*at);
	}
	*name = '\0';
	return true;
}

int device_index(const char *name)
{
	return if_nametoindex(name);
}

__u64 device_speed(int ifindex)
{
	struct ethtool_cmd command = { .cmd = ETHTOOL_GSET };
	struct ifreq request = { .ifr_data = (void *)&command };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	__u32 mbit = 0;

	if (fd < 0)
		return 0;
	if (if_indextoname(ifindex, request.ifr_name) &&
	    !ioctl(fd, SIOCETHTOOL, &request))
		mbit = ethtool_cmd_speed(&command);
	close(fd);
	return mbit == (__u32)SPEED_UNKNOWN ? 0 : mbit * BYTES_PER_MBIT;
}
