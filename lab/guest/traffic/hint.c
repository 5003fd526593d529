// SPDX-License-Identifier: GPL-2.0
/* The hint: an experimental IPv4 option, RTT in units of 32 us, big-endian. */
#include <err.h>

#include "hint.h"
#include "net.h"

#define HINT_OPTION_TYPE	0x9e
#define HINT_OPTION_LEN		4
#define HINT_UNIT_SHIFT		5
#define HINT_MAX		65534
#define HINT_FACTOR_ONE		1000

/* min_rtt moves in the first seconds of a flow, hardly later. */
#define HINT_YOUNG_MS		5000
#define HINT_YOUNG_POLL_MS	100
#define HINT_POLL_MS		1000
#define HINT_SAMPLE_ON_MS	50
#define HINT_SAMPLE_OFF_MS	450

#define STATE_ESTABLISHED	1	/* of tcpi_state */

enum hint_mode hint_mode_of(const char *word)
{
	if (!strcmp(word, "packet"))
		return HINT_PACKET;
	if (!strcmp(word, "sampled"))
		return HINT_SAMPLED;
	if (strcmp(word, "none"))
		errx(2, "unknown hint mode %s", word);
	return HINT_NONE;
}

void hint_start(struct hint *hint, int64_t now)
{
	hint->since_ms = now;
	hint->next_ms = hint->mode == HINT_NONE ? NEVER : now + HINT_YOUNG_POLL_MS;
}

static void stamp(int fd, uint16_t rtt)
{
	uint8_t option[HINT_OPTION_LEN] = {
		HINT_OPTION_TYPE, HINT_OPTION_LEN, rtt >> 8, rtt & 0xff,
	};

	set_option(fd, IPPROTO_IP, IP_OPTIONS, option, rtt ? sizeof(option) : 0);
}

static void state(struct hint *hint, int fd, uint16_t rtt)
{
	if (rtt == hint->stated)
		return;
	stamp(fd, rtt);
	hint->stated = rtt;
}

/* What the flow states of its RTT now, 0 before it knows any. */
static uint16_t known_rtt(int factor, int fd)
{
	struct tcp_info info;
	uint64_t rtt;

	if (!tcp_info(fd, &info) || info.tcpi_state != STATE_ESTABLISHED ||
	    info.tcpi_min_rtt == UINT32_MAX)
		return 0;
	rtt = (uint64_t)info.tcpi_min_rtt * factor / HINT_FACTOR_ONE;
	rtt >>= HINT_UNIT_SHIFT;
	return rtt < 1 ? 1 : rtt > HINT_MAX ? HINT_MAX : rtt;
}

/* Once and for all: honestly, in each packet from now on. */
void hint_state(int fd)
{
	stamp(fd, known_rtt(HINT_FACTOR_ONE, fd));
}

void hint_tend(struct hint *hint, int fd, int64_t now)
{
	if (hint->mode == HINT_SAMPLED && hint->stated) {
		state(hint, fd, 0);
		hint->next_ms = now + HINT_SAMPLE_OFF_MS;
		return;
	}
	state(hint, fd, known_rtt(hint->factor, fd));
	if (hint->mode == HINT_SAMPLED && hint->stated)
		hint->next_ms = now + HINT_SAMPLE_ON_MS;
	else if (now - hint->since_ms < HINT_YOUNG_MS)
		hint->next_ms = now + HINT_YOUNG_POLL_MS;
	else
		hint->next_ms = now + HINT_POLL_MS;
}
