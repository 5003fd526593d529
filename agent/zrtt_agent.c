// SPDX-License-Identifier: GPL-2.0
/*
 * zrtt-agent	hints from unmodified TCP senders, see zrtt-agent(8).
 *
 * The command ends at once; pins keep what it attaches.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attachment.h"
#include "bpffs.h"
#include "netns.h"
#include "options.h"
#include "report.h"
#include "status.h"

/* Prints the messages of libbpf and of the kernel's verifier. */
#define DEBUG_VARIABLE	"ZRTT_AGENT_DEBUG"

static int print_debug(enum libbpf_print_level level, const char *format,
		       va_list args)
{
	return level <= LIBBPF_INFO && getenv(DEBUG_VARIABLE) ?
		vfprintf(stderr, format, args) : 0;
}

static bool may(const struct __user_cap_data_struct *data, int capability)
{
	return data[CAP_TO_INDEX(capability)].effective &
	       CAP_TO_MASK(capability);
}

static int check_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return refuse("capget", "%s", strerror(errno));
	if (may(data, CAP_NET_ADMIN) &&
	    (may(data, CAP_BPF) || may(data, CAP_SYS_ADMIN)))
		return 0;
	fputs("zrtt-agent: must be root (CAP_BPF, CAP_NET_ADMIN)\n", stderr);
	return -1;
}

static int check_bpf(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(__u32),
				sizeof(__u32), 1, NULL);

	if (fd == -ENOSYS)
		return refuse("bpf", "this kernel has no BPF");
	if (fd == -EPERM)
		return refuse("bpf", "not permitted by a sandbox or lockdown");
	if (fd < 0)
		return refuse("bpf", "%s", strerror(-fd));
	close(fd);
	return 0;
}

static int run(const struct options *options)
{
	switch (options->command) {
	case COMMAND_ATTACH:
		return options->dev ? attach_device(options, options->dev) :
				      attach_all(options);
	case COMMAND_DETACH:
		if (options->all)
			return detach_all();
		return options->dev ? detach_device(options->dev) :
				      detach_namespace(options->netns);
	case COMMAND_STATUS:
		return status_print(options);
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct options options = { };
	int err;

	options_parse(&options, argc, argv);
	libbpf_set_print(print_debug);
	if (check_capabilities() || check_bpf() || netns_choose(options.netns) ||
	    bpffs_enter(options.command == COMMAND_ATTACH))
		return EXIT_REFUSED;
	err = forget_stale() || run(&options);
	if (!err && fflush(stdout))
		err = refuse("standard output", "%s", strerror(errno));
	bpffs_leave();
	scope_free(&options.scope);
	return err ? EXIT_REFUSED : EXIT_SUCCESS;
}
