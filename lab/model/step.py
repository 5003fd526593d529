# SPDX-License-Identifier: GPL-2.0
"""Changes of the path while traffic runs."""

from __future__ import annotations

from dataclasses import dataclass

from lab.model.options import ScenarioError, words
from lab.model.units import parse_rate, parse_time


@dataclass(frozen=True)
class Step:
    """A change of the path while traffic runs."""

    at_s: float
    """Since the start of the traffic, warm-up included."""
    rate_bps: int | None = None
    delay_ms: float | None = None
    """Added to every RTT."""
    jitter_ms: float | None = None
    """The delay differs by up to that, either way, of each packet there and back; none overtakes another."""

    @classmethod
    def parse(cls, text: str) -> Step:
        """Reads "t=30 rate=5mbit delay=20ms jitter=5ms"."""
        option = f"--step {text!r}"
        given = words(text, option, needed=("t",), others=("rate", "delay", "jitter"))
        if len(given) < 2:
            raise ScenarioError(f"{option}: neither rate nor delay nor jitter")
        try:
            return cls(
                at_s=float(given["t"]),
                rate_bps=parse_rate(given["rate"]) if "rate" in given else None,
                delay_ms=parse_time(given["delay"]) if "delay" in given else None,
                jitter_ms=parse_time(given["jitter"]) if "jitter" in given else None,
            )
        except ValueError as error:
            raise ScenarioError(f"{option}: {error}") from error


@dataclass(frozen=True)
class Phase:
    """A part of the measured interval in which the bottleneck's rate stays."""

    from_s: float
    to_s: float
    rate_bps: int
