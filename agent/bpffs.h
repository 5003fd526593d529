/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF file system, whose pins keep programs and maps after the command ends.
 */
#ifndef _AGENT_BPFFS_H
#define _AGENT_BPFFS_H

#include <stdbool.h>

#define BPFFS	"/sys/fs/bpf"
#define PINS	BPFFS "/zrtt-agent"	/* the agent's folder */

/**
 * bpffs_enter() - take the lock of the agent, and enter the namespace of the file system
 * @create: mount the file system if needed, and create the agent's folder
 *
 * Return: 0, or -1 after a message
 */
int bpffs_enter(bool create);

/*
 * Release the lock. Removes the agent's folder if it is empty, and
 * unmounts what the agent mounted if nobody else has pinned anything there.
 */
void bpffs_leave(void);

#endif
