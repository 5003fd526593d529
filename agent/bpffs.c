// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "bpffs.h"
#include "netns.h"
#include "report.h"

#define MARK	BPFFS "/zrtt-agent-mounted"	/* exists if the agent mounted it */
#define LOCK	"/run/zrtt-agent.lock"		/* of root: who can open a file can lock it */

/* As systemd does. */
#define MOUNT_FLAGS	(MS_NOSUID | MS_NODEV | MS_NOEXEC)

static int lock_fd = -1;

/*
 * `ip netns exec` starts a command in its own mount namespace; what is pinned
 * there is lost when the command ends. Enter the machine's mount namespace.
 */
static bool enter_mounts_of_machine(void)
{
	int fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);
	struct stat machine, own;
	bool there = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &machine) && !stat("/proc/self/ns/mnt", &own))
		there = machine.st_ino == own.st_ino || !setns(fd, CLONE_NEWNS);
	close(fd);
	return there;
}

/* `ip netns exec` mounts /sys again, under the name of the namespace. */
static bool mounts_are_borrowed(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;
	bool borrowed = false;

	if (!mounts)
		return false;
	while ((mount = getmntent(mounts))) {
		if (!strcmp(mount->mnt_dir, "/sys"))
			borrowed = netns_exists(mount->mnt_fsname);
	}
	endmntent(mounts);
	return borrowed;
}

static int take_lock(void)
{
	lock_fd = open(LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
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

	if (!mounted && mount("bpf", BPFFS, "bpf", MOUNT_FLAGS, "mode=0700"))
		return refuse(BPFFS, "cannot mount the BPF file system: %s",
			      strerror(errno));
	err = make_folder(PINS);
	if (!err && !mounted)
		err = make_folder(MARK);
	return err ? refuse(PINS, "%s", strerror(-err)) : 0;
}

int bpffs_enter(bool may_create)
{
	if (!enter_mounts_of_machine() && mounts_are_borrowed())
		return refuse(BPFFS, "ends with `ip netns exec`; use --netns instead");
	if (take_lock())
		return -1;
	return may_create ? create() : 0;
}

/* Whether anything is pinned. Names with a dot are the kernel's own. */
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

void bpffs_leave(void)
{
	if (!rmdir(PINS) && !rmdir(MARK) && !others_pinned())
		umount(BPFFS);
	close(lock_fd);
}
