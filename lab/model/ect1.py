# SPDX-License-Identifier: GPL-2.0
"""Who sends as ECT(1), the codepoint of L4S (RFC 9331), entitled to it or not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lab.model.options import ScenarioError

SCALABLE = ("prague",)
"""Congestion controls whose data are ECT(1), and that negotiate ECN whatever --ecn says."""
UDP = "udp"


@dataclass(frozen=True)
class Ect1:
    """Those that are not entitled to it: their data are ECT(1) nevertheless."""

    flows: frozenset[int] = frozenset()
    """Long flows."""
    ccs: frozenset[str] = frozenset()
    """All flows of these congestion controls."""
    udp: bool = False
    """All of --udp."""

    @classmethod
    def parse(cls, text: str) -> Ect1:
        """Reads "cubic,4,udp": congestion controls, numbers of flows, or udp."""
        given = text.split(",")
        if not all(given):
            raise ScenarioError(f"--ect1 {text!r}: want names, numbers of flows or udp")
        names = [word for word in given if not word.isdecimal()]
        return cls(
            flows=frozenset(int(word) for word in given if word.isdecimal()),
            ccs=frozenset(name for name in names if name != UDP),
            udp=UDP in names,
        )

    def lies(self, cc: str, index: int | None = None) -> bool:
        """Whether a flow is one of these; only a long flow has an index."""
        return cc not in SCALABLE and (cc in self.ccs or index in self.flows)


class EcnClass(StrEnum):
    """Classes of all traffic by the ECN field with which it came, in the meter's order."""

    CLASSIC = "classic"
    """Not-ECT or ECT(0)."""
    L4S = "l4s"
    """ECT(1)."""
    LIAR = "liar"
    """ECT(1) of --ect1."""

    @property
    def number(self) -> int:
        """In the meter."""
        return list(EcnClass).index(self)


@dataclass(frozen=True)
class EcnResult:
    """A class over the measured interval. Packets count the segments of a super-packet."""

    name: str
    sent: int
    """Packets that came to the first queue."""
    mbps: float
    """What left the last, on the wire."""
    mean_ms: float
    """Sojourn, of what left, in the worst of the queues; inf if nothing left the last."""
    p95_ms: float
    p99_ms: float
    max_ms: float

    def packed(self) -> str:
        """As a word, for a table."""
        figures = (self.mbps, self.mean_ms, self.p95_ms, self.p99_ms, self.max_ms)
        return ":".join([self.name, str(self.sent), *(f"{figure:.6g}" for figure in figures)])

    @classmethod
    def unpacked(cls, word: str) -> EcnResult:
        """Reads what packed() made. Raises ValueError."""
        name, sent, *figures = word.split(":")
        return cls(name, int(sent), *map(float, figures))
