// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "netns.h"
#include "report.h"

#define NETNS_DIR	"/run/netns"	/* of ip-netns(8) */

#define NETNS_OWN	"/proc/self/ns/net"

static ino_t home;
static int chosen_fd = -1;

ino_t netns_home(void)
{
	return home;
}

static ino_t id_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_ino;
}

ino_t netns_id(void)
{
	return id_of(NETNS_OWN);
}

static int enter_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = setns(fd, CLONE_NEWNET) ? -errno : 0;
	close(fd);
	return err;
}

static void path_of(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s%s", strchr(name, '/') ? "" : NETNS_DIR "/",
		 name);
}

bool netns_exists(const char *name)
{
	char path[PATH_MAX];

	path_of(name, path);
	return id_of(path);
}

static int enter_name(const char *name)
{
	char path[PATH_MAX];
	int err;

	path_of(name, path);
	err = enter_path(path);
	if (err == -ENOENT)
		return refuse(name, "no such network namespace");
	if (err == -EINVAL)
		return refuse(name, "not a network namespace");
	return err ? refuse(name, "%s", strerror(-err)) : 0;
}

int netns_choose(const char *name)
{
	home = netns_id();
	if (name && enter_name(name))
		return -1;
	chosen_fd = open(NETNS_OWN, O_RDONLY | O_CLOEXEC);
	return chosen_fd < 0 ? refuse(NETNS_OWN, "%s", strerror(errno)) : 0;
}

int netns_return(void)
{
	return setns(chosen_fd, CLONE_NEWNET) ?
		refuse(NETNS_OWN, "%s", strerror(errno)) : 0;
}

/* Find @id as FOLDER/NAME/suffix; @path is set if it is found. */
static bool find_in(const char *folder, const char *suffix, ino_t id,
		    char path[PATH_MAX], char name[NETNS_TEXT_MAX])
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		snprintf(path, PATH_MAX, "%s/%s%s", folder, entry->d_name, suffix);
		snprintf(name, NETNS_TEXT_MAX, "%s", entry->d_name);
		found = id_of(path) == id;
	}
	closedir(dir);
	return found;
}

int netns_enter_id(ino_t id)
{
	char name[NETNS_TEXT_MAX], path[PATH_MAX];

	if (netns_id() == id)
		return 0;
	if (!find_in(NETNS_DIR, "", id, path, name) &&
	    !find_in("/proc", "/ns/net", id, path, name))
		return -1;
	return enter_path(path) ? -1 : 0;
}

void netns_name(ino_t id, char name[NETNS_TEXT_MAX])
{
	char path[PATH_MAX];

	if (!find_in(NETNS_DIR, "", id, path, name))
		snprintf(name, NETNS_TEXT_MAX, "net:[%lu]", (unsigned long)id);
}
