// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "options.h"

#define __printf(a, b)	__attribute__((format(printf, a, b)))
#define __noreturn	__attribute__((noreturn))

#define INTERVAL_MIN_S	0.1
#define INTERVAL_MAX_S	86400.0

static const char usage[] =
	"Usage: zrtt-mon [ -i SECONDS ] [ -n COUNT ] [ -f[N] ] [ -H[N] ] [ -s ORDER ]\n"
	"                [ DEV ... ]\n"
	"       zrtt-mon -j [ -i SECONDS ] [ -n COUNT ] [ -f[N] ] [ -H[N] ] [ -s ORDER ]\n"
	"                [ DEV ... ]\n"
	"       zrtt-mon --prometheus[=FILE] [ -HN ] [ DEV ... ]\n"
	"       zrtt-mon --listen [ADDRESS:]PORT [ -HN ] [ DEV ... ]\n"
	"       zrtt-mon { --help | --version }\n"
	"ORDER := { rate | rtt | prob }\n";

static const char help[] =
	"\n"
	"Shows what the zrtt queues of this network namespace do: a live view on a\n"
	"terminal, otherwise the view once, as text. Changes nothing.\n"
	"\n"
	"  DEV ...                  only the queues of these devices; otherwise all\n"
	"  -i, --interval SECONDS   between readings, from 0.1 on; default 1\n"
	"  -n, --count COUNT        end after that many readings; default: go on\n"
	"  -f, --flows[=N], -f[N]   list the first N flows of each queue, or all;\n"
	"                           default: the view as many as fit, text 10, -j none\n"
	"  -H, --hosts[=N], -H[N]   list the N hosts or subscribers of the highest rate,\n"
	"                           or all; default: as with -f. Metrics have those of\n"
	"                           N subscribers, by their marks; default: none\n"
	"  -s, --sort ORDER         first the flows of the highest rate (default), the\n"
	"                           longest RTT (rtt) or the largest P_i (prob)\n"
	"  -j, --json               print an object of JSON per reading and queue\n"
	"      --prometheus[=FILE]  print metrics for Prometheus once, or put them into\n"
	"                           FILE at once and whole\n"
	"      --listen [ADDRESS:]PORT\n"
	"                           serve these metrics by HTTP; by default to this\n"
	"                           host only\n"
	"  -h, --help               print this\n"
	"  -V, --version            print the version\n"
	"\n"
	"Keys of the view: q quit, p pause, h hosts, flows or both; r, t, P sort by\n"
	"rate, RTT, P_i.\n"
	"Manual: zrtt-mon(8)\n";

enum {
	OPTION_PROMETHEUS = 1,
	OPTION_LISTEN,
};

static const char short_options[] = "i:n:f::H::s:jhV";

static const struct option long_options[] = {
	{ "interval",	required_argument, NULL, 'i' },
	{ "count",	required_argument, NULL, 'n' },
	{ "flows",	optional_argument, NULL, 'f' },
	{ "hosts",	optional_argument, NULL, 'H' },
	{ "sort",	required_argument, NULL, 's' },
	{ "json",	no_argument,	   NULL, 'j' },
	{ "prometheus",	optional_argument, NULL, OPTION_PROMETHEUS },
	{ "listen",	required_argument, NULL, OPTION_LISTEN },
	{ "help",	no_argument,	   NULL, 'h' },
	{ "version",	no_argument,	   NULL, 'V' },
	{ }
};

static void __noreturn __printf(1, 2) wrong(const char *format, ...)
{
	va_list args;

	fputs("zrtt-mon: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n%s", usage);
	exit(EXIT_TROUBLE);
}

static double parse_interval(const char *word)
{
	char *end;
	double interval_s = strtod(word, &end);

	if (end == word || *end ||
	    !(interval_s >= INTERVAL_MIN_S && interval_s <= INTERVAL_MAX_S))
		wrong("-i must be %g .. %g seconds, not %s", INTERVAL_MIN_S,
		      INTERVAL_MAX_S, word);
	return interval_s;
}

static long parse_number(const char *option, long min, const char *word)
{
	char *end;
	long number = strtol(word, &end, 10);

	if (end == word || *end || number < min || number > INT_MAX)
		wrong("%s must be %ld .. %d, not %s", option, min, INT_MAX, word);
	return number;
}

static enum order parse_order(const char *word)
{
	enum order order;

	for (order = 0; order < ORDERS; order++) {
		if (!strcmp(word, order_words[order]))
			return order;
	}
	wrong("-s must be rate, rtt or prob, not %s", word);
}

static void choose_form(struct options *options, enum form form)
{
	if (options->form != FORM_VIEW && options->form != form)
		wrong("only one of -j, --prometheus and --listen");
	options->form = form;
}

static void parse_option(struct options *options, int option)
{
	switch (option) {
	case 'i':
		options->interval_s = parse_interval(optarg);
		break;
	case 'n':
		options->count = parse_number("-n", 1, optarg);
		break;
	case 'f':
		options->flows = optarg ? parse_number("-f", 0, optarg) : LONG_MAX;
		break;
	case 'H':
		options->hosts = optarg ? parse_number("-H", 0, optarg) : LONG_MAX;
		break;
	case 's':
		options->order = parse_order(optarg);
		break;
	case 'j':
		choose_form(options, FORM_JSON);
		break;
	case OPTION_PROMETHEUS:
		choose_form(options, FORM_PROMETHEUS);
		options->file = optarg;
		break;
	case OPTION_LISTEN:
		choose_form(options, FORM_LISTEN);
		if (!http_parse_endpoint(optarg, &options->endpoint))
			wrong("--listen must be [ADDRESS:]PORT, not %s", optarg);
		break;
	case 'h':
		fputs(usage, stdout);
		fputs(help, stdout);
		exit(EXIT_SUCCESS);
	case 'V':
		puts("zrtt-mon " ZRTT_MON_VERSION);
		exit(EXIT_SUCCESS);
	default:
		/* getopt_long() has printed the reason. */
		fputs(usage, stderr);
		exit(EXIT_TROUBLE);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	bool said[CHAR_MAX + 1] = { };
	int option;

	*options = (struct options){ .interval_s = 1, .flows = -1, .hosts = -1 };
	argv[0] = "zrtt-mon";	/* for the messages of getopt_long() */
	while ((option = getopt_long(argc, argv, short_options, long_options, NULL)) >= 0) {
		parse_option(options, option);
		said[option] = true;
	}
	if (options->form == FORM_PROMETHEUS || options->form == FORM_LISTEN) {
		if (said['i'] || said['n'] || said['f'] || said['s'])
			wrong("-i, -n, -f and -s are for the view and for -j");
		/* series for all would be as many as there are subscribers */
		if (options->hosts == LONG_MAX)
			wrong("-H needs a number with --prometheus and --listen");
	}
	options->devices = (struct devices){
		.names = argv + optind,
		.count = argc - optind,
	};
}
