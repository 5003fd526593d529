/* SPDX-License-Identifier: GPL-2.0 */
/* The RTT that a socket states. */
#ifndef _LAB_HINT_H
#define _LAB_HINT_H

#include <stdint.h>

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

#endif
