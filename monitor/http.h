/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_HTTP_H
#define _MONITOR_HTTP_H

#include <sys/socket.h>

#include "snapshot.h"

/**
 * struct endpoint - where to listen
 * @address: IPv4 or IPv6, and the port
 * @len: bytes of it
 */
struct endpoint {
	struct sockaddr_storage address;
	socklen_t len;
};

/**
 * http_parse_endpoint() - read [ADDRESS:]PORT
 * @text: IPv6 addresses stand in brackets; without an address it is 127.0.0.1
 * @endpoint: set on success
 *
 * Return: whether it is one
 */
bool http_parse_endpoint(const char *text, struct endpoint *endpoint);

/**
 * http_serve() - answer GET /metrics, for ever
 * @endpoint: where to listen
 * @devices: devices to report
 * @hosts: as of prometheus_print()
 *
 * Returns only if it cannot listen, after a message.
 */
void http_serve(const struct endpoint *endpoint, const struct devices *devices,
		long hosts);

#endif
