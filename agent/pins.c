// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpffs.h"
#include "pins.h"
#include "report.h"

static int by_name(const void *left, const void *right)
{
	const struct pins *a = left, *b = right;

	if (a->netns != b->netns)
		return a->netns < b->netns ? -1 : 1;
	return a->ifindex < b->ifindex ? -1 : a->ifindex > b->ifindex;
}

size_t pins_list(struct pins **list)
{
	DIR *dir = opendir(PINS);
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
