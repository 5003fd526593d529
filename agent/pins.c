// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <bpf/bpf.h>

#include "pins.h"
#include "report.h"

#define BPFFS	"/sys/fs/bpf"
#define PINS	BPFFS "/zrtt-agent"
#define MOUNTED	PINS "/mounted"		/* a folder: the agent mounted BPFFS */
#define LOCK	"/sys/fs"		/* any folder that is always there */

static int lock_fd = -1;

static int take_lock(void)
{
	lock_fd = open(LOCK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock_fd < 0 || flock(lock_fd, LOCK_EX))
		return refuse(LOCK, "%s", strerror(errno));
	return 0;
}

static bool is_mounted(void)
{
	struct statfs status;

	return !statfs(BPFFS, &status) && (__u32)status.f_type == BPF_FS_MAGIC;
}

static int make_folder(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static int create(void)
{
	bool mounted = is_mounted();
	int err;

	if (!mounted && mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return refuse(BPFFS, "cannot mount the BPF file system: %s",
			      strerror(errno));
	err = make_folder(PINS);
	if (!err && !mounted)
		err = make_folder(MOUNTED);
	return err ? refuse(PINS, "%s", strerror(-err)) : 0;
}

/*
 * `ip netns exec` starts commands in a mount namespace that ends with them,
 * and all that is pinned there too. Go to that of the machine, if allowed.
 */
static void leave_mount_namespace(void)
{
	int fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);
	struct stat machine, own;

	if (fd < 0)
		return;
	if (!fstat(fd, &machine) && !stat("/proc/self/ns/mnt", &own) &&
	    machine.st_ino != own.st_ino)
		setns(fd, CLONE_NEWNS);
	close(fd);
}

int pins_open(bool may_create)
{
	leave_mount_namespace();
	if (take_lock())
		return -1;
	return may_create ? create() : 0;
}

/* Whether anything is left. Names with a dot are the kernel's own. */
static bool others_pinned(void)
{
	DIR *dir = opendir(BPFFS);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return true;
	while (!found && (entry = readdir(dir)))
		found = !strchr(entry->d_name, '.');
	closedir(dir);
	return found;
}

void pins_close(void)
{
	struct pins *list;

	if (!pins_list(&list)) {
		bool mounted = !rmdir(MOUNTED);

		if (!rmdir(PINS) && mounted && !others_pinned())
			umount(BPFFS);
	}
	free(list);
	close(lock_fd);
}

static int by_name(const void *left, const void *right)
{
	const struct pins *a = left, *b = right;

	if (a->netns != b->netns)
		return a->netns < b->netns ? -1 : 1;
	return a->ifindex < b->ifindex ? -1 : a->ifindex > b->ifindex;
}

size_t pins_list(struct pins **list)
{
	DIR *dir = is_mounted() ? opendir(PINS) : NULL;
	struct dirent *entry;
	size_t count = 0;

	*list = NULL;
	while (dir && (entry = readdir(dir))) {
		unsigned long netns;
		unsigned int ifindex;

		if (sscanf(entry->d_name, "%lu-%u", &netns, &ifindex) != 2)
			continue;
		*list = realloc(*list, (count + 1) * sizeof(**list));
		if (!*list)
			out_of_memory();
		(*list)[count++] = (struct pins){ netns, ifindex };
	}
	if (dir)
		closedir(dir);
	if (count)
		qsort(*list, count, sizeof(**list), by_name);
	return count;
}

void pins_path(const struct pins *pins, const char *name, char path[PIN_PATH_MAX])
{
	snprintf(path, PIN_PATH_MAX, PINS "/%lu-%u/%s",
		 (unsigned long)pins->netns, pins->ifindex, name);
}

bool pins_have(const struct pins *pins, const char *name)
{
	char path[PIN_PATH_MAX];

	pins_path(pins, name, path);
	return !access(path, F_OK);
}

int pins_get(const struct pins *pins, const char *name)
{
	char path[PIN_PATH_MAX];

	pins_path(pins, name, path);
	return bpf_obj_get(path);
}

int pins_create(const struct pins *pins)
{
	return pins_mark(pins, "");
}

int pins_mark(const struct pins *pins, const char *name)
{
	char path[PIN_PATH_MAX];

	pins_path(pins, name, path);
	return mkdir(path, 0700) ? -errno : 0;
}

int pins_remove(const struct pins *pins)
{
	char path[PIN_PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	pins_path(pins, "", path);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		pins_path(pins, entry->d_name, path);
		remove(path);
	}
	closedir(dir);
	pins_path(pins, "", path);
	return rmdir(path) ? -errno : 0;
}
