/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attach to and detach from one device: from options to pins.
 */
#ifndef _AGENT_ATTACHMENT_H
#define _AGENT_ATTACHMENT_H

#include "options.h"
#include "pins.h"

/* For devices of the current namespace. 0 or -1. */
int attach_device(const struct options *options, const char *dev);
int attach_all(const struct options *options);
int detach_device(const char *dev);
int detach_namespace(const char *name);

/* In all namespaces. 0 or -1. */
int detach_all(void);

/* Forget attachments whose device or namespace is gone; 0 or -1. */
int forget_stale(void);

/* The attachment of a device: 0, or -1 after a message. */
int find_attachment(const char *dev, struct pins *pins);

#endif
