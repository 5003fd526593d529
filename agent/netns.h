/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network namespaces, by name and by the inode number that identifies one.
 */
#ifndef _AGENT_NETNS_H
#define _AGENT_NETNS_H

#include <stdbool.h>
#include <sys/types.h>

#define NETNS_TEXT_MAX	256	/* bytes of a namespace's name */

/**
 * netns_choose() - enter the namespace that the command is about
 * @name: as ip-netns(8) knows it, or a path; NULL = that of the caller
 *
 * Return: 0, or -1 after a message
 */
int netns_choose(const char *name);

/* Return to that namespace from another. 0, or -1 after a message. */
int netns_return(void);

/* Whether ip-netns(8) knows a namespace of that name. */
bool netns_exists(const char *name);

/* Enter a namespace that a process or a name keeps alive. 0, or -1 if none does. */
int netns_enter_id(ino_t id);

/* The namespace that the program is in. */
ino_t netns_id(void);

/* The namespace that the program was started in. */
ino_t netns_home(void);

/* What ip-netns(8) calls a namespace, else net:[INODE]. */
void netns_name(ino_t id, char name[NETNS_TEXT_MAX]);

#endif
