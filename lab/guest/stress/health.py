# SPDX-License-Identifier: GPL-2.0
"""Reads the kernel's own findings, such as kmemleak's."""

from __future__ import annotations

import time
from pathlib import Path

from lab.host.process import said

MODULE = "sch_zrtt"
DEBUG = Path("/sys/kernel/debug")
KMEMLEAK = DEBUG / "kmemleak"
OLD_S = 6.0
"""Memory younger than 5 s is none that kmemleak reports."""
GONE_S = 60.0
"""What namespaces need to be gone, once deleted."""


class StillThereError(RuntimeError):
    """Something cannot be taken away, or looked at."""


def begin() -> None:
    """Discards findings from before the test."""
    said(StillThereError, "mount", "-t", "debugfs", "debug", DEBUG)
    KMEMLEAK.write_text("clear")


def unload() -> None:
    """Unloads the module, once its last users are gone."""
    patience = GONE_S
    while int(Path(f"/sys/module/{MODULE}/refcnt").read_text()) and patience > 0:
        time.sleep(0.1)
        patience -= 0.1
    said(StillThereError, "rmmod", MODULE)


def _locks_are_checked() -> bool:
    lines = Path("/proc/lockdep_stats").read_text().splitlines()
    return any(line.split() == ["debug_locks:", "1"] for line in lines)


def complaints() -> str:
    """Leaked memory; empty if there is none."""
    for _ in range(2):  # the first scan may take a stale register for a pointer
        time.sleep(OLD_S)
        KMEMLEAK.write_text("scan")
    found = KMEMLEAK.read_text()
    return found if _locks_are_checked() else f"{found}lockdep has given up\n"
