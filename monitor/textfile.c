// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit.h"
#include "prometheus.h"
#include "textfile.h"

#define MODE	0644	/* node_exporter is another user */

/* A concurrent reader sees either the old file or the new one. */
void textfile_write(const char *path, const struct snapshot *snapshot, long hosts)
{
	struct stat status;
	char *part;
	FILE *out;
	int fd;

	if (!lstat(path, &status) && !S_ISREG(status.st_mode))
		errx(EXIT_TROUBLE, "%s: not a regular file", path);
	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		err(EXIT_TROUBLE, "%s", path);
	fd = mkstemp(part);
	if (fd < 0)
		err(EXIT_TROUBLE, "%s", path);
	out = fdopen(fd, "w");
	if (out)
		prometheus_print(out, snapshot, hosts);
	if (!out || fchmod(fd, MODE) || fflush(out) || ferror(out) || fclose(out) ||
	    rename(part, path)) {
		warn("%s", path);
		unlink(part);
		exit(EXIT_TROUBLE);
	}
	free(part);
}
