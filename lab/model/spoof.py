# SPDX-License-Identifier: GPL-2.0
"""Spoofed packets: a flow's addresses and ports, with random sequence numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lab.model.options import ScenarioError, words
from lab.model.units import UnitError, parse_rate
from lab.model.wire import FRAME_BYTES

NS_PER_S = 10**9
MAX_SPOOF = 15
DEFAULT_FROM_S = 5.0
"""Flows start in the first 3 s."""
MIN_EVERY_S = 0.001


class Kind(StrEnum):
    """The kind of spoofed packets."""

    SYN = "syn"
    """54 bytes, once or at intervals."""
    DATA = "data"
    """Full segments at a rate."""
    NOTHING = "nothing"
    """Nothing is: the victim of a control run."""


@dataclass(frozen=True)
class Spoof:
    """An attacker and its victim. It sees no packet, so its sequence numbers are random."""

    flow: int
    """Index of the victim among the flows of --rtts."""
    kind: Kind
    rate_bps: int | None = None
    """Of data, as on the wire, headers counted."""
    every_s: float | None = None
    """Between two SYNs; None: there is one."""
    ect: bool = False
    from_s: float = DEFAULT_FROM_S
    """Since the start of the traffic, warm-up included."""
    to_s: float | None = None
    """None: the end."""

    @classmethod
    def parse(cls, text: str) -> Spoof:
        """Reads "flow=19 send=syn every=1" or "flow=19 send=data rate=1mbit ect=on"."""
        option = f"--spoof {text!r}"
        given = words(
            text, option, needed=("flow", "send"), others=("rate", "every", "ect", "from", "to")
        )
        try:
            kind = Kind(given["send"])
        except ValueError as error:
            raise ScenarioError(f"{option}: send one of {', '.join(Kind)}") from error
        try:
            made = cls(
                flow=int(given["flow"]),
                kind=kind,
                rate_bps=parse_rate(given["rate"]) if "rate" in given else None,
                every_s=float(given["every"]) if "every" in given else None,
                ect={"on": True, "off": False}[given.get("ect", "off")],
                from_s=float(given.get("from", DEFAULT_FROM_S)),
                to_s=float(given["to"]) if "to" in given else None,
            )
        except KeyError as error:
            raise ScenarioError(f"{option}: ect is on or off") from error
        except (UnitError, ValueError) as error:
            raise ScenarioError(f"{option}: {error}") from error
        if (made.rate_bps is not None) != (kind == Kind.DATA):
            raise ScenarioError(f"{option}: a rate for data, and for nothing else")
        if made.every_s is not None and (kind != Kind.SYN or not made.every_s >= MIN_EVERY_S):
            raise ScenarioError(f"{option}: every is for SYNs, {MIN_EVERY_S:g} s or more")
        return made

    @property
    def interval_ns(self) -> int:
        """Between two packets; 0: there is one only."""
        if self.rate_bps:
            return round(FRAME_BYTES * 8 * NS_PER_S / self.rate_bps)
        return round((self.every_s or 0) * NS_PER_S)


@dataclass(frozen=True)
class SpoofResult:
    """One attacker, and its victim's share of the link."""

    flow: int
    kind: str
    packets: int
    """Sent in the whole run, not all of which the queue let pass."""
    victim_mbps: float
    """Goodput over the measured interval."""
