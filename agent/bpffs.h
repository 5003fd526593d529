/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file system that holds what outlives the command.
 */
#ifndef _AGENT_BPFFS_H
#define _AGENT_BPFFS_H

#include <stdbool.h>

#define BPFFS	"/sys/fs/bpf"
#define PINS	BPFFS "/zrtt-agent"	/* the agent's folder */

/**
 * bpffs_enter() - keep other agents waiting, and go where the file system is
 * @create: mount it, if it is not, and make the agent's folder
 *
 * Return: 0, or -1 after a message
 */
int bpffs_enter(bool create);

/*
 * Let other agents go on. Removes the agent's folder if it is empty, and
 * unmounts what the agent mounted if nobody else has pinned anything there.
 */
void bpffs_leave(void);

#endif
