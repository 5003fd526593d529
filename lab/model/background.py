# SPDX-License-Identifier: GPL-2.0
"""Background traffic: flows that cross one router, reverse flows, short flows."""

from __future__ import annotations

from dataclasses import dataclass

from lab.model.options import ScenarioError, words
from lab.model.units import UnitError, parse_rate


@dataclass(frozen=True)
class Background:
    """How background traffic differs from the flows."""

    cc: str = ""
    """Its congestion control; empty: as the flows have it."""
    rate_bps: int | None = None
    """Of the link of each host whose flow crosses one router; None: as fast as it goes."""

    @classmethod
    def parse(cls, text: str) -> Background:
        """Reads "cc=reno rate=100mbit"."""
        option = f"--background {text!r}"
        given = words(text, option, needed=(), others=("cc", "rate"))
        try:
            rate = parse_rate(given["rate"]) if "rate" in given else None
        except UnitError as error:
            raise ScenarioError(f"{option}: {error}") from error
        return cls(given.get("cc", ""), rate)
