/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_SCREEN_H
#define _MONITOR_SCREEN_H

#include "options.h"

/* Show the live view until told to quit. Ends the program if that cannot be done. */
void screen_run(const struct options *options);

#endif
