// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zrtt/hint.h>

#include "options.h"
#include "report.h"

static const char usage[] =
	"Usage: zrtt-agent attach DEV [ --netns NAME ] [ OPTION ... ]\n"
	"       zrtt-agent attach --netns NAME [ OPTION ... ]\n"
	"       zrtt-agent detach { DEV [ --netns NAME ] | --netns NAME | --all }\n"
	"       zrtt-agent status [ DEV ] [ --netns NAME ] [ -j ]\n"
	"       zrtt-agent { --help | --version }\n"
	"OPTION := { --encoding { ip | tcp } | --every-packet |\n"
	"            --to { PREFIX | any } | --ipv4-option TYPE | --cgroup PATH }\n";

enum {
	OPTION_NETNS = 1,
	OPTION_ALL,
	OPTION_ENCODING,
	OPTION_EVERY_PACKET,
	OPTION_TO,
	OPTION_IPV4_OPTION,
	OPTION_CGROUP,
};

static const struct option long_options[] = {
	{ "netns",	required_argument, NULL, OPTION_NETNS },
	{ "all",	no_argument,	   NULL, OPTION_ALL },
	{ "encoding",	required_argument, NULL, OPTION_ENCODING },
	{ "every-packet", no_argument,	   NULL, OPTION_EVERY_PACKET },
	{ "to",		required_argument, NULL, OPTION_TO },
	{ "ipv4-option", required_argument, NULL, OPTION_IPV4_OPTION },
	{ "cgroup",	required_argument, NULL, OPTION_CGROUP },
	{ "json",	no_argument,	   NULL, 'j' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ "version",	no_argument,	   NULL, 'V' },
	{ }
};

/* Which commands know an option. */
static const unsigned int known_by[] = {
	[OPTION_NETNS]		= ~0U,
	[OPTION_ALL]		= 1U << COMMAND_DETACH,
	[OPTION_ENCODING]	= 1U << COMMAND_ATTACH,
	[OPTION_EVERY_PACKET]	= 1U << COMMAND_ATTACH,
	[OPTION_TO]		= 1U << COMMAND_ATTACH,
	[OPTION_IPV4_OPTION]	= 1U << COMMAND_ATTACH,
	[OPTION_CGROUP]		= 1U << COMMAND_ATTACH,
	['j']			= 1U << COMMAND_STATUS,
};

static const char *const commands[] = {
	[COMMAND_ATTACH] = "attach",
	[COMMAND_DETACH] = "detach",
	[COMMAND_STATUS] = "status",
};

#define COMMANDS	(sizeof(commands) / sizeof(*commands))

static void __noreturn __printf(1, 2) wrong(const char *format, ...)
{
	va_list args;

	fputs("zrtt-agent: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n%s", usage);
	exit(EXIT_USAGE);
}

static unsigned int parse_encoding(const char *word)
{
	if (!strcmp(word, "ip"))
		return ZRTT_AGENT_IP;
	if (!strcmp(word, "tcp"))
		return ZRTT_AGENT_TCP;
	wrong("--encoding must be ip or tcp, not %s", word);
}

/* 0 and 1 end and pad the list of options. */
static __u32 parse_ipv4_option(const char *word)
{
	char *end;
	long type = strtol(word, &end, 0);

	if (end == word || *end || type < 2 || type > 255)
		wrong("--ipv4-option must be 2 .. 255, not %s", word);
	return type;
}

static void parse_option(struct options *options, int option)
{
	switch (option) {
	case OPTION_NETNS:
		options->netns = optarg;
		break;
	case OPTION_ALL:
		options->all = true;
		break;
	case OPTION_ENCODING:
		options->config.encoding = parse_encoding(optarg);
		break;
	case OPTION_EVERY_PACKET:
		options->config.every_packet = true;
		break;
	case OPTION_TO:
		if (scope_parse(&options->scope, optarg))
			wrong("--to %s: not a prefix", optarg);
		break;
	case OPTION_IPV4_OPTION:
		options->config.ipv4_option = parse_ipv4_option(optarg);
		break;
	case OPTION_CGROUP:
		options->cgroup = optarg;
		break;
	case 'j':
		options->json = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	case 'V':
		puts("zrtt-agent " ZRTT_AGENT_VERSION);
		exit(EXIT_SUCCESS);
	default:
		/* getopt_long() has said why. */
		fputs(usage, stderr);
		exit(EXIT_USAGE);
	}
}

static enum command parse_command(const char *word)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++) {
		if (!strcmp(word, commands[i]))
			return i;
	}
	wrong("%s: no such command", word);
}

/* What the options mean together. */
static void check(const struct options *options)
{
	if (options->all && (options->dev || options->netns))
		wrong("--all stands alone");
	if (options->command != COMMAND_STATUS && !options->dev &&
	    !options->netns && !options->all)
		wrong("%s what?", commands[options->command]);
	if (options->cgroup && options->config.encoding != ZRTT_AGENT_TCP)
		wrong("--cgroup is for --encoding tcp");
	if (options->config.ipv4_option != ZRTT_HINT_IPV4_TYPE &&
	    options->config.encoding != ZRTT_AGENT_IP)
		wrong("--ipv4-option is for --encoding ip");
}

void options_parse(struct options *options, int argc, char **argv)
{
	const char *name[sizeof(known_by) / sizeof(*known_by)] = { };
	int index = 0, option;

	options->config.ipv4_option = ZRTT_HINT_IPV4_TYPE;
	argv[0] = "zrtt-agent";	/* for the messages of getopt_long() */
	while ((option = getopt_long(argc, argv, "jhV", long_options, &index)) >= 0) {
		parse_option(options, option);
		name[option] = option == 'j' ? "-j" : long_options[index].name;
	}
	if (optind == argc)
		wrong("no command");
	options->command = parse_command(argv[optind++]);
	if (optind < argc)
		options->dev = argv[optind++];
	if (optind < argc)
		wrong("%s: one device at a time", argv[optind]);
	for (option = 0; option <= 'j'; option++) {
		if (name[option] && !(known_by[option] & 1U << options->command))
			wrong("%s does not know %s%s", commands[options->command],
			      option == 'j' ? "" : "--", name[option]);
	}
	check(options);
}
