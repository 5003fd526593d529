/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _AGENT_REPORT_H
#define _AGENT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#define __printf(a, b)	__attribute__((format(printf, a, b)))
#define __noreturn	__attribute__((noreturn))

#define EXIT_USAGE	1	/* the command line is wrong */
#define EXIT_REFUSED	2	/* the system cannot do it */

/**
 * refuse() - print on stderr, in one line, why something cannot be done
 * @what: the device, namespace or path at fault
 * @format: why, as for printf()
 *
 * Return: -1, for the caller to pass on
 */
int __printf(2, 3) refuse(const char *what, const char *format, ...);

/* Whether a byte of a name is printable ASCII. */
bool is_plain(char byte);

/* Print a name, which may have any bytes: those that are not plain become \xNN. */
void print_name(FILE *out, const char *name);

/* End the program: out of memory. */
void __noreturn out_of_memory(void);

#endif
