// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <net/if.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "clsact.h"
#include "hook.h"
#include "netns.h"

#define TCX_EGRESS	47	/* BPF_TCX_EGRESS of linux/bpf.h since 6.6 */

static int attach_tcx(const struct pins *pins, int prog_fd)
{
	enum bpf_attach_type type = TCX_EGRESS;
	char path[PIN_PATH_MAX];
	int err, fd;

	fd = bpf_link_create(prog_fd, pins->ifindex, type, NULL);
	if (fd < 0)
		return fd;
	pins_path(pins, PIN_LINK, path);
	err = bpf_obj_pin(fd, path);
	close(fd);
	return err;
}

static int attach_clsact(const struct pins *pins,
			 const struct bpf_program *program)
{
	char path[PIN_PATH_MAX];
	bool added;
	int err;

	err = clsact_attach(pins->ifindex, bpf_program__fd(program), &added);
	if (err)
		return err;
	pins_path(pins, PIN_FILTER, path);
	err = bpf_obj_pin(bpf_program__fd(program), path);
	if (!err && added)
		err = pins_mark(pins, PIN_CLSACT);
	if (err)
		clsact_detach(pins->ifindex, added);
	return err;
}

int hook_attach(const struct pins *pins, const struct bpf_program *program)
{
	int err = attach_tcx(pins, bpf_program__fd(program));

	/* The error of kernels that lack this attach type. */
	return err == -EINVAL ? attach_clsact(pins, program) : err;
}

/* Interface index of a tcx link, 0 if the device is gone. */
static unsigned int link_ifindex(int link_fd)
{
	struct bpf_link_info info = { };
	__u32 len = sizeof(info);

	/* Like xdp, tcx has the index first; headers before 6.6 lack tcx. */
	if (bpf_obj_get_info_by_fd(link_fd, &info, &len))
		return 0;
	return info.xdp.ifindex;
}

static __u32 program_id(int prog_fd)
{
	struct bpf_prog_info info = { };
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &len) ? 0 : info.id;
}

/* A tcx link moves to another namespace with its device, which may keep its index. */
static bool has_moved(const struct pins *pins)
{
	char name[IF_NAMESIZE];

	return !netns_enter_id(pins->netns) && !if_indextoname(pins->ifindex, name);
}

bool hook_is_alive(const struct pins *pins)
{
	bool alive;
	int fd;

	fd = pins_get(pins, PIN_LINK);
	if (fd >= 0) {
		alive = link_ifindex(fd) == pins->ifindex && !has_moved(pins);
		close(fd);
		return alive;
	}
	fd = pins_get(pins, PIN_FILTER);
	if (fd < 0)
		return false;
	alive = !netns_enter_id(pins->netns) &&
		clsact_program(pins->ifindex) == program_id(fd);
	close(fd);
	return alive;
}

void hook_detach(const struct pins *pins)
{
	int fd = pins_get(pins, PIN_LINK);

	if (fd >= 0) {
		bpf_link_detach(fd);
		close(fd);
	} else if (hook_is_alive(pins)) {
		clsact_detach(pins->ifindex, pins_have(pins, PIN_CLSACT));
	}
}
