# SPDX-License-Identifier: GPL-2.0
"""Says on stderr how far the runs are: one line on a terminal, else each tenth."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

Progress = Callable[[float, float], None]
"""Called with the virtual second reached and the last one."""


class Board:
    """Progress of several runs at a time."""

    def __init__(self) -> None:
        self._tty = sys.stderr.isatty()
        self._wipe = "\r\x1b[K" if self._tty else ""
        self._lock = threading.Lock()
        self._running: dict[str, float] = {}

    def track(self, label: str) -> Progress:
        """What a run of that name is to call."""

        def show(now_s: float, total_s: float) -> None:
            with self._lock:
                before = self._running.get(label, 0.0)
                self._running[label] = now_s / total_s
                if self._tty:
                    self._redraw()
                elif int(10 * now_s / total_s) > int(10 * before):
                    print(f"{label}: {now_s:.0f} of {total_s:.0f} s", file=sys.stderr, flush=True)

        return show

    def done(self, label: str, message: str) -> None:
        """The run is over: says so, and forgets it."""
        with self._lock:
            self._running.pop(label, None)
            print(f"{self._wipe}{label}: {message}", file=sys.stderr, flush=True)
            if self._tty:
                self._redraw()

    def _redraw(self) -> None:
        running = "  ".join(f"{label} {share:.0%}" for label, share in self._running.items())
        print(f"{self._wipe}{running}", end="", file=sys.stderr, flush=True)
