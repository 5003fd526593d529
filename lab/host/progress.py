# SPDX-License-Identifier: GPL-2.0
"""Says on stderr how far the work is: one line on a terminal, else few plain ones."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float, float], None]
"""Called with the virtual second reached and the last one."""

BAR_WIDTH = 30
LINES = 20
"""How often a bar speaks where there is no terminal."""


def spell(seconds: float) -> str:
    """For people: "2 min 5 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def stage(what: str, usual_s: float) -> Iterator[None]:
    """Shows that something of unknown progress is under way, and how long it took."""
    tty, ended, began = sys.stderr.isatty(), threading.Event(), time.monotonic()

    def tick() -> None:
        while not ended.wait(1):
            passed = spell(time.monotonic() - began)
            _write(f"\r\x1b[K{what}: {passed}, usually {spell(usual_s)}")

    _write(f"{what}, usually {spell(usual_s)}" + ("" if tty else "\n"))
    ticker = threading.Thread(target=tick, daemon=True)
    if tty:
        ticker.start()
    try:
        yield
    finally:
        ended.set()
        if tty:
            ticker.join()
        over = f"{what}: {spell(time.monotonic() - began)}\n"
        _write(f"\r\x1b[K{over}" if tty else over)


def say(line: str) -> None:
    """A line that stays."""
    _write(f"{line}\n")


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


class Board:
    """Progress of several runs at a time, and of all, where it is known how many there are."""

    def __init__(self, runs: int = 0) -> None:
        self._runs, self._over, self._began = runs, 0, time.monotonic()
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
                    _write(f"{label}: {now_s:.0f} of {total_s:.0f} s{self._left()}\n")

        return show

    def done(self, label: str, message: str) -> None:
        """The run is over: says so, and forgets it."""
        with self._lock:
            self._running.pop(label, None)
            self._over += 1
            print(f"{self._wipe}{label}: {message}{self._left()}", file=sys.stderr, flush=True)
            if self._tty:
                self._redraw()

    def _redraw(self) -> None:
        running = "  ".join(f"{label} {share:.0%}" for label, share in self._running.items())
        _write(f"{self._wipe}{running}{self._left()}")

    def _left(self) -> str:
        """How long all of them still take, as far as those so far tell."""
        share = (self._over + sum(self._running.values())) / self._runs if self._runs else 0.0
        if not 0.02 < share < 1:
            return ""
        return f"  ({spell((time.monotonic() - self._began) * (1 / share - 1))} left)"


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
            _write(f"\r\x1b[K{self._now}")
        elif LINES * over // self._total > self._shown:
            self._shown = LINES * over // self._total
            _write(f"{self._now}\n")

    def say(self, message: str) -> None:
        """A line above the bar."""
        _write(f"\r\x1b[K{message}\n{self._now}" if self._tty else f"{message}\n")

    def close(self) -> None:
        """Nothing more to come."""
        if self._tty and self._now:
            _write("\n")
