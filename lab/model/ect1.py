# SPDX-License-Identifier: GPL-2.0
"""Who sends as ECT(1), the codepoint of L4S (RFC 9331), entitled to it or not."""

from __future__ import annotations

from dataclasses import dataclass

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
