# SPDX-License-Identifier: GPL-2.0
"""Thin traffic beside the flows: calls, games, single queries, pings.

Each class is a host of its own, by whose address the meter knows it (lab/kmod/meter.h).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from lab.model.options import ScenarioError

HEADER_BYTES = 42
"""Ethernet 14, IPv4 20, UDP or ICMP 8."""
NS_PER_MS = 10**6
MAX_STREAMS = 50
"""Of a class."""
DRAIN_S = 1.0
"""Thin traffic ends so long before the measurement: what has not left the queue by then is lost."""


class Kind(StrEnum):
    """The classes, in the order in which the meter has them."""

    VOIP = "voip"
    GAME = "game"
    DNS = "dns"
    PING = "ping"

    @property
    def number(self) -> int:
        """Of the class in the meter, and of its host."""
        return list(Kind).index(self)


@dataclass(frozen=True)
class Shape:
    """What a stream of a class sends."""

    how: str
    """As lab/guest/traffic/thin.c has it: steady, query or ping."""
    payload_bytes: int
    """Of UDP or ICMP; a query has up to 20 more."""
    interval_ns: int
    """Between two packets, or its mean."""


SHAPES = {
    Kind.VOIP: Shape("steady", 200, 20 * NS_PER_MS),
    Kind.GAME: Shape("steady", 100, 10**9 // 128),
    Kind.DNS: Shape("query", 32, 100 * NS_PER_MS),
    Kind.PING: Shape("ping", 56, 200 * NS_PER_MS),
}


@dataclass(frozen=True)
class Thin:
    """The streams of a class."""

    kind: Kind
    streams: int = 1

    @property
    def shape(self) -> Shape:
        """What each sends."""
        return SHAPES[self.kind]

    @property
    def packets_per_s(self) -> float:
        """Of all its streams."""
        return self.streams * 1e9 / self.shape.interval_ns

    @property
    def wire_bps(self) -> float:
        """About what all its streams send, headers counted."""
        return self.packets_per_s * 8 * (self.shape.payload_bytes + HEADER_BYTES)

    @classmethod
    def parse(cls, text: str) -> Thin:
        """Reads "voip" or "voip*3"."""
        match = re.fullmatch(r"([a-z]+)(?:\*(\d+))?", text)
        if not match or match[1] not in list(Kind):
            raise ScenarioError(
                f"--thin {text!r}: want NAME or NAME*COUNT, of {', '.join(Kind)}; as voip*3,dns"
            )
        made = cls(Kind(match[1]), int(match[2] or 1))
        if not 1 <= made.streams <= MAX_STREAMS:
            raise ScenarioError(f"--thin {text!r}: 1 to {MAX_STREAMS} streams")
        return made


def parse_thin(text: str) -> tuple[Thin, ...]:
    """Reads "voip*3,dns", each class once."""
    found = tuple(map(Thin.parse, text.split(",")))
    kinds = [thin.kind for thin in found]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise ScenarioError(f"--thin {text!r}: {kind} twice; write {kind}*2")
    return found


@dataclass(frozen=True)
class ThinResult:
    """A class over the measured interval."""

    name: str
    streams: int
    sent: int
    """Packets that came to the first queue."""
    lost: int
    """Of these, packets that did not leave the last."""
    mbps: float
    """What left the last, on the wire."""
    mean_ms: float
    """Sojourn, of what left, in the worst of the queues; inf if nothing left the last."""
    p95_ms: float
    p99_ms: float
    max_ms: float

    @property
    def loss(self) -> float:
        """Share of what was sent."""
        return self.lost / self.sent if self.sent else 0.0

    def packed(self) -> str:
        """As a word, for a table."""
        counts = f"{self.name}:{self.streams}:{self.sent}:{self.lost}"
        figures = (self.mbps, self.mean_ms, self.p95_ms, self.p99_ms, self.max_ms)
        return ":".join([counts, *(f"{figure:.6g}" for figure in figures)])

    @classmethod
    def unpacked(cls, word: str) -> ThinResult:
        """Reads what packed() made. Raises ValueError."""
        name, *parts = word.split(":")
        return cls(name, *map(int, parts[:3]), *map(float, parts[3:]))
