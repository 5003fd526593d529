# SPDX-License-Identifier: GPL-2.0
"""Finds unexpected messages in a guest's kernel log.

The console shows warnings and worse only, so whatever is not known to be
harmless is a report.
"""

from __future__ import annotations

import re

from lab.engines.job import STARTED

KERNEL = re.compile(r"\[ *\d+\.\d+\] ")
HARMLESS = re.compile(
    "|".join(
        (
            "loading out-of-tree module taints kernel",
            "reboot: Power down",
            "hrtimer: interrupt took",  # the host is busy
            "is non-work-conserving",  # a shaper below another
            # bad messages
            "netlink: .*(invalid length|leftover after parsing)",
            r"(nla\w*|net_ratelimit): \d+ callbacks suppressed",  # of lines that are here
            # allocations that were made to fail
            "default qdisc .* fail, fallback to noqueue",
            "kmemleak: Cannot allocate a scan area",  # it looks at more, then
            "VM_FAULT_OOM leaked out to the #PF handler",
        )
    )
)


def reports(console: str) -> str:
    """The lines of the kernel, once the guest has started."""
    lines = console.partition(STARTED)[2].splitlines()
    found = [line for line in lines if KERNEL.match(line) and not HARMLESS.search(line)]
    return "".join(f"{line}\n" for line in found)
