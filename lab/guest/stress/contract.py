# SPDX-License-Identifier: GPL-2.0
"""The values that sch_zrtt accepts, from include/uapi/linux/pkt_sched_zrtt.h.

A second reader of TCA_OPTIONS, as the kernel's strict one: whatever bytes are
sent, it says whether they must be refused, or what must be found set.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

KIND = "zrtt"
P_ONE = 1 << 30
ALPHA_LIMIT = 4 << 16
OVERHEAD_RAW = (1 << 31) - 1
MODE_ZRTT = 0
"""The only one that has lanes."""

NESTED = 0x8000
TYPE_MASK = 0x3FFF
HEADER = struct.Struct("=HH")
ALIGN = 4
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
"""Bytes of memory."""


@dataclass(frozen=True)
class Attribute:
    """A parameter: its range, both ends allowed, and its size in bytes."""

    name: str
    low: int
    high: int
    size: int = 4

    @property
    def values(self) -> int:
        """That its bytes can have: those below 0 follow the others."""
        return 1 << 8 * self.size

    def may_be(self, value: int) -> bool:
        """Whether the value may occur, even if a later one overrides it."""
        if self.name in ("MARK_RTT", "OVERHEAD", "MEMORY_LIMIT"):
            return True
        return (0 if self.name == "BANDWIDTH" else self.low) <= value <= self.high

    def accepts(self, value: int) -> bool:
        """Whether the parameter accepts the value."""
        if self.name == "FLOWS" and value & (value - 1):
            return False
        if self.name == "MARK_RTT":
            return _adjacent(value)
        if self.name == "OVERHEAD":
            return value == OVERHEAD_RAW or self.low <= _signed(value) <= self.high
        if self.name == "BANDWIDTH" and not value:
            return True
        return self.low <= value <= self.high


def _signed(value: int) -> int:
    """32 bits as a signed number."""
    return value - (value >> 31 << 32)


def _adjacent(mask: int) -> bool:
    """At most 16 bits, one beside the other."""
    return mask == 0 or f"{mask:b}".rstrip("0") in {"1" * bits for bits in range(1, 17)}


_INORDER = (
    Attribute("MODE", 0, 4),
    Attribute("LIMIT", 1, 1_000_000),
    Attribute("CONTROLLER", 0, 2),
    Attribute("TARGET", 100, 1_000_000),
    Attribute("TUPDATE", 1000, 1_000_000),
    Attribute("THRESHOLD", 1, 1_000_000),
    Attribute("FREEZE", 1000, 10_000_000),
    Attribute("INCREMENT", 1, P_ONE),
    Attribute("DECREMENT", 1, P_ONE),
    Attribute("ALPHA_LAW", 0, 2),
    Attribute("ALPHA", 0, ALPHA_LIMIT),
    Attribute("ALPHA_MAX", 0, ALPHA_LIMIT),
    Attribute("PTH", P_ONE // 10_000, P_ONE),
    Attribute("FEEDBACK", 0, 3),
    Attribute("MARK_MAX", 0, P_ONE),
    Attribute("FLOWS", 64, 1 << 22),
    Attribute("HINT", 0, 2),
    Attribute("STRIP", 0, 1, size=1),
    Attribute("HANDSHAKE", 0, 1, size=1),
    Attribute("ECN", 0, 1, size=1),
    Attribute("SPLIT_GSO", 0, 1, size=1),
    Attribute("MARK_RTT", 0, 0xFFFF << 16),
    Attribute("TIMESTAMPS", 0, 1, size=1),
    Attribute("NAMES", 0, 1, size=1),
    Attribute("BANDWIDTH", 1000, 125_000_000_000, size=8),
    Attribute("OVERHEAD", -64, 256),
    Attribute("MPU", 0, 256),
    Attribute("ATM", 0, 2),
    None,  # TCA_ZRTT_PAD
    Attribute("MEMORY_LIMIT", 1, min(MACHINE, (1 << 32) - 1)),
    Attribute("LANES", 0, 1, size=1),
    Attribute("L4S", 0, 1, size=1),
)
ATTRIBUTES = {number: known for number, known in enumerate(_INORDER, start=1) if known}
NUMBER = {attribute.name: number for number, attribute in ATTRIBUTES.items()}

Values = dict[int, int]
"""By the number of the attribute."""


def encode(kind: int, payload: bytes) -> bytes:
    """One attribute, padded."""
    length = HEADER.size + len(payload)
    return HEADER.pack(length, kind) + payload + bytes(-length % ALIGN)


def encode_values(values: Values) -> bytes:
    """Of TCA_OPTIONS."""
    return b"".join(
        encode(number, value.to_bytes(ATTRIBUTES[number].size, "little"))
        for number, value in values.items()
    )


def judge(options: bytes, mode: int = MODE_ZRTT) -> Values | None:
    """The values that these options set, the last of a kind; None if they must be refused.

    The mode is that of the qdisc which is changed.
    """
    found: Values = {}
    at = 0
    while len(options) - at >= HEADER.size:
        length, kind = HEADER.unpack_from(options, at)
        if not HEADER.size <= length <= len(options) - at:
            break
        attribute = ATTRIBUTES.get(kind & TYPE_MASK)
        payload = options[at + HEADER.size : at + length]
        if attribute is None or kind & NESTED or len(payload) != attribute.size:
            return None
        value = int.from_bytes(payload, "little")
        if not attribute.may_be(value):
            return None
        found[kind & TYPE_MASK] = value
        at += length + -length % ALIGN
    if at < len(options):
        return None
    lanes = any(found.get(NUMBER[name]) for name in ("LANES", "L4S"))
    if lanes and found.get(NUMBER["MODE"], mode) != MODE_ZRTT:
        return None
    return found if all(ATTRIBUTES[kind].accepts(value) for kind, value in found.items()) else None
