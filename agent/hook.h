/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The egress hook of a device: tcx, or the qdisc clsact on kernels without tcx
 * (before 6.6).
 */
#ifndef _AGENT_HOOK_H
#define _AGENT_HOOK_H

#include <stdbool.h>

#include "pins.h"

struct bpf_program;

/* Attach and pin. In the namespace of the device. 0 or -errno. */
int hook_attach(const struct pins *pins, const struct bpf_program *program);

/* Whether the pinned program is still attached; enters the device's namespace. */
bool hook_is_alive(const struct pins *pins);

/* Detach what is attached, if anything; enters the device's namespace. */
void hook_detach(const struct pins *pins);

#endif
