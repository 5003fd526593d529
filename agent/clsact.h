/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The agent's filter at the qdisc clsact of a device.
 */
#ifndef _AGENT_CLSACT_H
#define _AGENT_CLSACT_H

#include <stdbool.h>

#include <linux/types.h>

/* @added: whether the device had no clsact before. 0 or -errno. */
int clsact_attach(unsigned int ifindex, int prog_fd, bool *added);

/* The id of the program in the agent's filter, 0 = there is none. */
__u32 clsact_program(unsigned int ifindex);

/* Remove the filter and, if it was @added and nothing else uses it, clsact. */
void clsact_detach(unsigned int ifindex, bool added);

#endif
