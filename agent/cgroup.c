// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <bpf/bpf.h>

#include "cgroup.h"
#include "report.h"

static int find_root(char path[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;
	int found = -1;

	if (!mounts)
		return -1;
	while (found && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, "cgroup2"))
			continue;
		snprintf(path, PATH_MAX, "%s", mount->mnt_dir);
		found = 0;
	}
	endmntent(mounts);
	return found;
}

int cgroup_open(const char *path)
{
	char root[PATH_MAX];
	struct statfs status;
	int fd;

	if (!path) {
		if (find_root(root))
			return refuse("--encoding tcp", "no cgroup2 is mounted");
		path = root;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return refuse(path, "%s", strerror(errno));
	if (fstatfs(fd, &status) || (__u32)status.f_type != CGROUP2_SUPER_MAGIC) {
		close(fd);
		return refuse(path, "not a cgroup of version 2");
	}
	return fd;
}

int cgroup_attach(const struct pins *pins, int cgroup_fd, int prog_fd)
{
	char path[PIN_PATH_MAX];
	int err, fd;

	fd = bpf_link_create(prog_fd, cgroup_fd, BPF_CGROUP_SOCK_OPS, NULL);
	if (fd < 0)
		return fd;
	pins_path(pins, PIN_CGROUP, path);
	err = bpf_obj_pin(fd, path);
	close(fd);
	return err;
}

void cgroup_detach(const struct pins *pins)
{
	int fd = pins_get(pins, PIN_CGROUP);

	if (fd < 0)
		return;
	bpf_link_detach(fd);
	close(fd);
}
