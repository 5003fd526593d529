/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_SCREEN_H
#define _MONITOR_SCREEN_H

#include "options.h"

/* Show the live view until the user quits. Ends the program on failure. */
void screen_run(const struct options *options);

#endif
