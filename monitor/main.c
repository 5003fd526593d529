// SPDX-License-Identifier: GPL-2.0
/*
 * zrtt-mon	shows zrtt queues to people and to monitoring systems, see zrtt-mon(8).
 *
 * It reads unprivileged netlink statistics and changes nothing.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "exit.h"
#include "json.h"
#include "options.h"
#include "prometheus.h"
#include "screen.h"
#include "textfile.h"
#include "view.h"

#define LIST_IN_TEXT	10	/* flows, and hosts, unless told otherwise */

static void take(struct snapshot *snapshot, const struct options *options, bool flows)
{
	const char *why = snapshot_take(snapshot, &options->devices, flows);

	if (why)
		errx(EXIT_TROUBLE, "%s", why);
}

static void flush(void)
{
	if (fflush(stdout))
		err(EXIT_TROUBLE, "standard output");
}

/* Each text covers the time since the previous reading. */
static size_t print_text(const struct options *options)
{
	const struct lists lists = {
		.order = options->order,
		.flows = options->flows < 0 ? LIST_IN_TEXT : options->flows,
		.hosts = options->hosts < 0 ? LIST_IN_TEXT : options->hosts,
	};
	struct snapshot before, now;
	unsigned long i, count = options->count ?: 1;
	size_t found = 0;

	take(&before, options, false);
	for (i = 0; i < count; i++) {
		clock_sleep_until(before.at_s + options->interval_s);
		take(&now, options, true);
		flows_sort(&now, options->order);
		view_print(stdout, &before, &now, &lists);
		flush();
		found += now.count;
		snapshot_free(&before);
		before = now;
	}
	snapshot_free(&before);
	return found;
}

static size_t print_json(const struct options *options)
{
	struct snapshot snapshot;
	unsigned long done = 0;
	double at_s = clock_s();
	size_t found = 0;

	for (;;) {
		take(&snapshot, options, options->flows >= 0 || options->hosts >= 0);
		flows_sort(&snapshot, options->order);
		json_print(stdout, &snapshot, options->flows, options->hosts);
		flush();
		found += snapshot.count;
		snapshot_free(&snapshot);
		if (++done == options->count)
			return found;
		at_s += options->interval_s;
		/* who was held up by its reader does not catch up with what it missed */
		if (at_s < clock_s())
			at_s = clock_s();
		clock_sleep_until(at_s);
	}
}

/* Write the file even without any zrtt: its old contents would be stale. */
static size_t print_prometheus(const struct options *options)
{
	struct snapshot snapshot;
	size_t found;

	take(&snapshot, options, true);
	found = snapshot.count;
	if (options->file)
		textfile_write(options->file, &snapshot, options->hosts);
	else
		prometheus_print(stdout, &snapshot, options->hosts);
	flush();
	snapshot_free(&snapshot);
	return found;
}

static void check_devices(const struct devices *devices)
{
	size_t i;

	for (i = 0; i < devices->count; i++) {
		if (!device_index(devices->names[i]))
			errx(EXIT_TROUBLE, "%s: no such device", devices->names[i]);
	}
}

int main(int argc, char **argv)
{
	struct options options;
	size_t found = 0;

	options_parse(&options, argc, argv);
	check_devices(&options.devices);
	switch (options.form) {
	case FORM_VIEW:
		if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
			screen_run(&options);
			return EXIT_SUCCESS;
		}
		found = print_text(&options);
		break;
	case FORM_JSON:
		found = print_json(&options);
		break;
	case FORM_PROMETHEUS:
		found = print_prometheus(&options);
		break;
	case FORM_LISTEN:
		http_serve(&options.endpoint, &options.devices, options.hosts);
		return EXIT_TROUBLE;
	}
	if (!found)
		errx(EXIT_NONE, "no zrtt on %s", options.devices.count ? "these devices" :
					     "any device");
	return EXIT_SUCCESS;
}
