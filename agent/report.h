/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_REPORT_H
#define _AGENT_REPORT_H

#define EXIT_USAGE	1	/* the command line is wrong */
#define EXIT_REFUSED	2	/* the system cannot do it */

/**
 * refuse() - say in one line on stderr why something cannot be done
 * @what: the device, namespace or path at fault
 * @format: why, as for printf()
 *
 * Return: -1, for the caller to pass on
 */
int refuse(const char *what, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* End the program for lack of memory. */
void out_of_memory(void) __attribute__((noreturn));

#endif
