/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_OPTIONS_H
#define _AGENT_OPTIONS_H

#include <stdbool.h>

#include "scope.h"
#include "zrtt_agent.h"

enum command {
	COMMAND_ATTACH,
	COMMAND_DETACH,
	COMMAND_STATUS,
};

struct options {
	enum command command;
	const char *dev;	/* NULL = all */
	const char *netns;	/* NULL = that of the caller */
	const char *cgroup;	/* NULL = the root of the hierarchy */
	bool all;
	bool json;
	struct zrtt_agent_config config;
	struct scope scope;	/* empty = the default */
};

/*
 * Read the command line. Ends the program: after --help and --version, and
 * with the usage on stderr if something is wrong.
 */
void options_parse(struct options *options, int argc, char **argv);

#endif
