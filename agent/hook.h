/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a program sees the packets that leave a device: tcx, or the qdisc
 * clsact on kernels that have no tcx (before 6.6).
 */
#ifndef _AGENT_HOOK_H
#define _AGENT_HOOK_H

#include <stdbool.h>

#include "pins.h"

struct bpf_program;

/* Attach and pin. In the namespace of the device. 0 or -errno. */
int hook_attach(const struct pins *pins, const struct bpf_program *program);

/* Whether what is pinned still sees packets; enters the device's namespace. */
bool hook_is_alive(const struct pins *pins);

/* Detach, as far as there is something; enters the device's namespace. */
void hook_detach(const struct pins *pins);

#endif
