/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_EXIT_H
#define _MONITOR_EXIT_H

#define EXIT_NONE	1	/* there is no zrtt */
#define EXIT_TROUBLE	2	/* the command line is wrong, or the system refused */

#endif
