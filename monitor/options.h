/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_OPTIONS_H
#define _MONITOR_OPTIONS_H

#include "flows.h"
#include "http.h"

enum form {
	FORM_VIEW,
	FORM_JSON,
	FORM_PROMETHEUS,
	FORM_LISTEN,
};

/**
 * struct options - the command line
 * @form: form of the output
 * @devices: devices to show
 * @interval_s: between readings
 * @count: of readings, 0 = for ever
 * @order: of flows
 * @flows: most flows to show per instance, negative = not given
 * @hosts: the same of hosts
 * @file: for FORM_PROMETHEUS, NULL = standard output
 * @endpoint: for FORM_LISTEN
 */
struct options {
	enum form form;
	struct devices devices;
	double interval_s;
	unsigned long count;
	enum order order;
	long flows;
	long hosts;
	const char *file;
	struct endpoint endpoint;
};

/*
 * Read the command line. Ends the program: after --help and --version, and
 * with the usage on stderr if something is wrong.
 */
void options_parse(struct options *options, int argc, char **argv);

#endif
