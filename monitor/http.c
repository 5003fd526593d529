// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "exit.h"
#include "http.h"
#include "prometheus.h"

#define CONNECTIONS	16U
#define PER_ADDRESS	8U	/* who is slow leaves some to others; a proxy needs several */
#define TIMEOUT_S	5U	/* of silence */
#define REQUEST_BYTES	8192U	/* headers and all */

#define LOOPBACK	"127.0.0.1"
#define ADDRESS_MAX	(INET6_ADDRSTRLEN + IFNAMSIZ + 2)	/* with %eth0, in brackets */

#define CONTENT_TYPE	"text/plain; version=0.0.4; charset=utf-8"

/* What metrics are of; see http_serve(). */
struct subject {
	const struct devices *devices;
	long hosts;
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      char *text, size_t len, enum MHD_ResponseMemoryMode memory)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(len, text, memory);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					MHD_HTTP_METHOD_GET ", " MHD_HTTP_METHOD_HEAD);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status,
			      const char *why)
{
	return answer(connection, status, (char *)why, strlen(why), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer_metrics(struct MHD_Connection *connection,
				      const struct subject *subject)
{
	struct snapshot snapshot;
	const char *why = snapshot_take(&snapshot, subject->devices, true);
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (!why) {
		out = open_memstream(&text, &len);
		if (!out)
			err(EXIT_TROUBLE, "memory");
		prometheus_print(out, &snapshot, subject->hosts);
		fclose(out);
	}
	snapshot_free(&snapshot);
	return why ? refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, why) :
		     answer(connection, MHD_HTTP_OK, text, len, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result handle(void *subject, struct MHD_Connection *connection,
			      const char *path, const char *method, const char *version,
			      const char *body, size_t *body_len, void **request)
{
	(void)version;
	(void)body;
	(void)body_len;
	(void)request;
	/* of HEAD the library sends the header alone */
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	if (strcmp(path, "/metrics"))
		return refuse(connection, MHD_HTTP_NOT_FOUND, "see /metrics\n");
	return answer_metrics(connection, subject);
}

/* An IPv6 address, with the scope that a link-local one needs. */
static bool parse_v6(const char *text, struct sockaddr_in6 *v6)
{
	const struct addrinfo hints = { .ai_family = AF_INET6, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &hints, &found))
		return false;
	memcpy(v6, found->ai_addr, sizeof(*v6));
	freeaddrinfo(found);
	return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < 1 || number > 65535)
		return false;
	*port = htons(number);
	return true;
}

bool http_parse_endpoint(const char *text, struct endpoint *endpoint)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { };
	const char *colon = strrchr(text, ':');
	bool ok = parse_port(colon ? colon + 1 : text, &v4.sin_port);
	char address[ADDRESS_MAX] = LOOPBACK;
	size_t len;

	if (colon)
		snprintf(address, sizeof(address), "%.*s", (int)(colon - text), text);
	len = strlen(address);
	if (*address == '[' && address[len - 1] == ']') {
		address[len - 1] = '\0';
		ok = ok && parse_v6(address + 1, &v6);
		v6.sin6_port = v4.sin_port;
		memcpy(&endpoint->address, &v6, sizeof(v6));
		endpoint->len = sizeof(v6);
	} else {
		ok = ok && inet_pton(AF_INET, address, &v4.sin_addr) == 1;
		memcpy(&endpoint->address, &v4, sizeof(v4));
		endpoint->len = sizeof(v4);
	}
	return ok;
}

/* Of :: IPv4, too. */
static unsigned int families(const struct endpoint *endpoint)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&endpoint->address;

	if (v6->sin6_family != AF_INET6)
		return MHD_NO_FLAG;
	return IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr) ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
}

void http_serve(const struct endpoint *endpoint, const struct devices *devices, long hosts)
{
	struct subject subject = { .devices = devices, .hosts = hosts };
	struct MHD_Daemon *daemon;

	errno = 0;
	daemon = MHD_start_daemon(families(endpoint), 0, NULL, NULL,
				  handle, &subject,
				  MHD_OPTION_SOCK_ADDR, &endpoint->address,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				  MHD_OPTION_PER_IP_CONNECTION_LIMIT, PER_ADDRESS,
				  MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
				  MHD_OPTION_END);
	if (!daemon) {
		warn("cannot listen");
		return;
	}
	while (MHD_run_wait(daemon, -1) == MHD_YES)
		;
	warn("HTTP server failed");
	MHD_stop_daemon(daemon);
}
