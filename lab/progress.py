# SPDX-License-Identifier: GPL-2.0
"""Says on stderr how far the runs are: one line on a terminal, else each tenth."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

Progress = Callable[[float, float], None]
"""Called with the virtual second reached and the last one."""

BAR_WIDTH = 30
LINES = 20
"""How often a bar speaks where there is no terminal."""


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


class Bar:
    """Progress of many short runs: a bar on a terminal, else a line each twentieth."""

    def __init__(self, total: int) -> None:
        self._tty = sys.stderr.isatty()
        self._total, self._shown = total, 0
        self._began = time.monotonic()
        self._now = ""

    def show(self, done: int, failed: int) -> None:
        """So many runs are over."""
        over = done + failed
        left_s = (time.monotonic() - self._began) / over * (self._total - over)
        self._now = f"{over} of {self._total} runs, {failed} failed, {left_s / 60:.0f} min left"
        if self._tty:
            full = BAR_WIDTH * over // self._total
            self._now = f"[{'#' * full}{'.' * (BAR_WIDTH - full)}] {self._now}"
            self._write(f"\r\x1b[K{self._now}")
        elif LINES * over // self._total > self._shown:
            self._shown = LINES * over // self._total
            self._write(f"{self._now}\n")

    def say(self, message: str) -> None:
        """A line above the bar."""
        self._write(f"\r\x1b[K{message}\n{self._now}" if self._tty else f"{message}\n")

    def close(self) -> None:
        """Nothing more to come."""
        if self._tty and self._now:
            self._write("\n")

    @staticmethod
    def _write(text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)
