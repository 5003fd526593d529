/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_TEXTFILE_H
#define _MONITOR_TEXTFILE_H

#include "snapshot.h"

/**
 * textfile_write() - put all metrics into a file, at once or not at all
 * @path: of node_exporter's textfile collector
 * @snapshot: what to write
 *
 * Ends the program if the file cannot be written.
 */
void textfile_write(const char *path, const struct snapshot *snapshot);

#endif
