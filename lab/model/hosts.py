# SPDX-License-Identifier: GPL-2.0
"""What tells hosts apart beside their RTT: weights, subscribers, receivers, idle times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.model.options import ScenarioError, words

MAX_WEIGHT = 255
MAX_SUBSCRIBER = 255
MAX_DSCP = 63
MAX_RECEIVERS = 100
SUBSCRIBER_SHIFT = 8
"""Of a packet's mark: the subscriber is in the second byte, the weight in the first."""
SETTLED_S = 10.0
"""Shares are judged from so long on after hosts went idle or came back."""
LEAST_S = 2 * SETTLED_S
"""On and off: what is left to judge is as long."""


@dataclass(frozen=True)
class Idle:
    """The last hosts have nothing to send at times, all at once, again and again."""

    hosts: int
    on_s: float
    """From the start of the traffic, and after each idle time."""
    off_s: float

    @classmethod
    def parse(cls, text: str) -> Idle:
        """Reads "hosts=4 on=30 off=30"."""
        option = f"--idle {text!r}"
        given = words(text, option, needed=("hosts", "on", "off"))
        try:
            made = cls(int(given["hosts"]), float(given["on"]), float(given["off"]))
        except ValueError as error:
            raise ScenarioError(f"{option}: want numbers, times in seconds") from error
        if made.hosts < 1 or not min(made.on_s, made.off_s) >= LEAST_S:
            raise ScenarioError(f"{option}: a host or more, on and off {LEAST_S:g} s or more")
        return made

    def times(self, total_s: float) -> list[tuple[float, float, bool]]:
        """From when to when those hosts send, or do not (False)."""
        found, at_s, on = [], 0.0, True
        while at_s < total_s:
            until_s = min(total_s, at_s + (self.on_s if on else self.off_s))
            found.append((at_s, until_s, on))
            at_s, on = until_s, not on
        return found


def parse_sessions(text: str) -> dict[str, int | tuple[int, ...]]:
    """Reads "20", flows of each host, or "1,20": of the first, of the second."""
    try:
        counts = tuple(map(int, text.split(",")))
    except ValueError as error:
        raise ScenarioError(f"--sessions {text!r}: want K, or K,K,...") from error
    if len(counts) == 1:
        return {"sessions": counts[0]}
    return {"sessions": 0, "sessions_of": counts}


def numbers(option: str, least: int, most: int) -> Callable[[str], tuple[int, ...]]:
    """A parser of "1,2,4": whole numbers within these bounds."""

    def parse(text: str) -> tuple[int, ...]:
        try:
            found = tuple(map(int, text.split(",")))
        except ValueError:
            found = ()
        if not found or not all(least <= number <= most for number in found):
            raise ScenarioError(f"{option} {text!r}: want numbers from {least} to {most}")
        return found

    return parse


parse_weights = numbers("--weights", 1, MAX_WEIGHT)
parse_subscribers = numbers("--subscribers", 1, MAX_SUBSCRIBER)
parse_dscps = numbers("--dscp", 0, MAX_DSCP)
parse_receivers = numbers("--receivers", 1, 1 << 16)
