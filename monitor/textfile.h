/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_TEXTFILE_H
#define _MONITOR_TEXTFILE_H

#include "snapshot.h"

/**
 * textfile_write() - write all metrics to a file, atomically
 * @path: of node_exporter's textfile collector
 * @snapshot: what to write
 * @hosts: as of prometheus_print()
 *
 * Ends the program if the file cannot be written.
 */
void textfile_write(const char *path, const struct snapshot *snapshot, long hosts);

#endif
