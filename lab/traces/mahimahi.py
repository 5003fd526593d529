# SPDX-License-Identifier: GPL-2.0
"""Traces in mahimahi's format.

Each line of a file is a time in milliseconds at which the line lets 1500 bytes go; as many
as leave within one millisecond repeat it. The last time is also the length of the trace,
after which it begins anew. In the laboratory a line stands for a frame of 1514 bytes: the
1500 and Ethernet's header, as everywhere in its figures.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

MAX_MS = 3_600_000
MAX_SLOTS = 4_000_000
FRAME_BITS = 1514 * 8


class TraceError(ValueError):
    """A trace that cannot be read."""


def parse(text: str) -> tuple[int, ...]:
    """The times of a trace, in milliseconds. Raises TraceError."""
    words = text.split("\n")
    lines = words[:-1] if words[-1] == "" else words
    for number, line in enumerate(lines, 1):
        if not (line.isascii() and line.isdecimal()):
            raise TraceError(f"line {number}, {line!r}: want a time in ms")
        if int(line) > MAX_MS:
            raise TraceError(f"line {number}, {line!r}: at most {MAX_MS} ms")
    times = tuple(map(int, lines))
    for number, (before, after) in enumerate(pairwise(times), 2):
        if after < before:
            raise TraceError(f"line {number}, {after}: before the line above it, {before}")
    if not times or not times[-1]:
        raise TraceError("no time after 0 ms")
    if len(times) > MAX_SLOTS:
        raise TraceError(f"{len(times)} lines, at most {MAX_SLOTS}")
    return times


def text(times: Iterable[int]) -> str:
    """The file that parse() reads."""
    return "".join(f"{ms}\n" for ms in times)


def frames_before(times: Sequence[int], ms: float) -> int:
    """How many may have left before that time, the trace repeated."""
    laps, rest = divmod(ms, times[-1])
    return int(laps) * len(times) + bisect_left(times, rest)


def mean_bps(times: Sequence[int], from_ms: float, to_ms: float) -> float:
    """Rate of the frames that may leave in that time."""
    frames = frames_before(times, to_ms) - frames_before(times, from_ms)
    return frames * FRAME_BITS * 1000 / (to_ms - from_ms)
