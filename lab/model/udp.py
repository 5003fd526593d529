# SPDX-License-Identifier: GPL-2.0
"""Unresponsive UDP beside the flows: a constant rate, whatever is lost."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lab.model.options import ScenarioError
from lab.model.units import UnitError, parse_rate
from lab.model.wire import FRAME_BYTES

NS_PER_S = 10**9
HEADER_BYTES = 42
"""Ethernet, IPv4 and UDP."""
MIN_BYTES = 60
"""Of a frame of Ethernet, without its checksum."""


@dataclass(frozen=True)
class Udp:
    """A stream of frames of one size."""

    rate_bps: int
    """As on the wire, headers counted."""
    from_s: float = 0.0
    """Since the start of the traffic, warm-up included."""
    to_s: float | None = None
    """None: the end."""
    host: int | None = None
    """From that one of the flows' hosts; None: from one of its own."""
    frame_bytes: int = FRAME_BYTES

    @classmethod
    def parse(cls, text: str) -> Udp:
        """Reads "5mbit", "5mbit@30-50" or "5mbit@30-50 host=2 size=100"."""
        match = re.fullmatch(
            r"([^@ ]+)(?:@(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?))?(?: host=(\d+))?(?: size=(\d+))?", text
        )
        if not match:
            raise ScenarioError(
                f"--udp {text!r}: want RATE[@FROM-TO][ host=N][ size=BYTES], in seconds"
            )
        try:
            rate = parse_rate(match[1])
        except UnitError as error:
            raise ScenarioError(f"--udp {text!r}: {error}") from error
        host = int(match[4]) if match[4] else None
        size = int(match[5]) if match[5] else FRAME_BYTES
        if not MIN_BYTES <= size <= FRAME_BYTES:
            raise ScenarioError(f"--udp {text!r}: size {MIN_BYTES} to {FRAME_BYTES} bytes")
        if not match[2]:
            return cls(rate, host=host, frame_bytes=size)
        return cls(rate, float(match[2]), float(match[3]), host, size)

    @property
    def interval_ns(self) -> int:
        """Between two frames."""
        return round(self.frame_bytes * 8 * NS_PER_S / self.rate_bps)

    @property
    def payload_bytes(self) -> int:
        """Of each frame."""
        return self.frame_bytes - HEADER_BYTES

    def mbps(self, frames: int, seconds: float) -> float:
        """Their rate on the wire."""
        return frames * self.frame_bytes * 8 / seconds / 1e6


@dataclass(frozen=True)
class UdpResult:
    """One stream over the measured interval."""

    rate_mbps: float
    """While it sends."""
    sent_mbps: float
    delivered_mbps: float
    loss: float
    """Share of what was sent; what queues at both ends of the interval blurs it."""

    @classmethod
    def of(cls, udp: Udp, begin: list[int], end: list[int], seconds: float) -> UdpResult:
        """From the frames sent and received before the interval and at its end."""
        sent, received = (after - before for before, after in zip(begin, end, strict=True))
        return cls(
            rate_mbps=udp.rate_bps / 1e6,
            sent_mbps=udp.mbps(sent, seconds),
            delivered_mbps=udp.mbps(received, seconds),
            loss=max(0.0, 1 - received / sent) if sent else 0.0,
        )
