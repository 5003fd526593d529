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

static const char help[] =
	"\n"
	"Adds RTT hints for zrtt routers to TCP packets that this host sends. A BPF\n"
	"program does so until it is detached; applications stay as they are.\n"
	"\n"
	"  attach DEV             add hints to packets that leave through DEV, or through\n"
	"                         all devices of a namespace but lo\n"
	"  detach DEV             stop, and leave nothing behind\n"
	"  status                 what is attached, and what became of the packets\n"
	"\n"
	"      --netns NAME       network namespace, by name or path; default: this one\n"
	"      --all              detach from all devices of all namespaces\n"
	"  -j, --json             print the status as JSON\n"
	"      --encoding ip      IPv4 option or IPv6 hop-by-hop header (default)\n"
	"      --encoding tcp     TCP option, in connections opened from now on\n"
	"      --every-packet     add a hint to each packet; default: one per connection\n"
	"                         and 50 ms\n"
	"      --to PREFIX        send hints to these addresses only; can be repeated;\n"
	"                         default: private and on-link ones\n"
	"      --to any           send hints to all addresses\n"
	"      --ipv4-option TYPE type of the IPv4 option, 2 to 255; default: 158\n"
	"      --cgroup PATH      with --encoding tcp: only sockets of this cgroup\n"
	"  -h, --help             print this\n"
	"  -V, --version          print the version\n"
	"\n"
	"Exit status: 0, 1 for a bad command line, 2 if the system refuses.\n"
	"Manual: zrtt-agent(8)\n";

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

/* The commands that accept an option, as bits. */
static const unsigned int accepted_by[] = {
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

/* Types 0 and 1 are the end of the option list and padding. */
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
		printf("%s%s", usage, help);
		exit(EXIT_SUCCESS);
	case 'V':
		puts("zrtt-agent " ZRTT_AGENT_VERSION);
		exit(EXIT_SUCCESS);
	default:
		/* getopt_long() has printed the reason. */
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

/* Refuse combinations of options that make no sense. */
static void check_combinations(const struct options *options)
{
	if (options->all && (options->dev || options->netns))
		wrong("--all excludes a device and --netns");
	if (options->command != COMMAND_STATUS && !options->dev &&
	    !options->netns && !options->all)
		wrong("%s: no device", commands[options->command]);
	if (options->cgroup && options->config.encoding != ZRTT_AGENT_TCP)
		wrong("--cgroup needs --encoding tcp");
	if (options->config.ipv4_option && options->config.encoding != ZRTT_AGENT_IP)
		wrong("--ipv4-option needs --encoding ip");
}

void options_parse(struct options *options, int argc, char **argv)
{
	const char *name[sizeof(accepted_by) / sizeof(*accepted_by)] = { };
	int index = 0, option;

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
		wrong("%s: only one device is allowed", argv[optind]);
	for (option = 0; option <= 'j'; option++) {
		if (name[option] && !(accepted_by[option] & 1U << options->command))
			wrong("%s has no option %s%s", commands[options->command],
			      option == 'j' ? "" : "--", name[option]);
	}
	check_combinations(options);
	if (!options->config.ipv4_option)
		options->config.ipv4_option = ZRTT_HINT_IPV4_TYPE;
}
