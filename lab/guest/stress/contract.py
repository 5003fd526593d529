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
        if self.name in (*MASK_BITS, "OVERHEAD", "MEMORY_LIMIT", "WEIGHT_DSCP"):
            return True
        return (0 if self.name in RATES_OR_NONE else self.low) <= value <= self.high

    def accepts(self, value: int) -> bool:
        """Whether the parameter accepts the value."""
        if self.name == "FLOWS" and value & (value - 1):
            return False
        if self.name in MASK_BITS:
            return _adjacent(value, MASK_BITS[self.name])
        if self.name == "WEIGHT_DSCP":
            return all(WEIGHT[1] <= weight <= WEIGHT[2] for weight in weights(value))
        if self.name == "OVERHEAD":
            return value == OVERHEAD_RAW or self.low <= _signed(value) <= self.high
        if self.name in RATES_OR_NONE and not value:
            return True
        return self.low <= value <= self.high


def _signed(value: int) -> int:
    """32 bits as a signed number."""
    return value - (value >> 31 << 32)


AUTO_RATE_MAX = 1_250_000_000
AUTO_RATES = (16_000, AUTO_RATE_MAX)
"""The least and the largest by default, bytes per second."""
RATES_OR_NONE = ("BANDWIDTH", "CEIL")
MASK_BITS = {"MARK_RTT": 16, "FAIR_MASK": 24, "WEIGHT_MASK": 8}
"""Most adjacent bits of each."""
FAIR_MARK = 4
FAIR_ONE_END = (1, 2, FAIR_MARK)
"""Each flow has one host."""
DSCPS = 64
WEIGHT = (1 << 8, 1 << 4, 1 << 14)
"""Of 1, the least, and the largest, Q8."""


def _adjacent(mask: int, most: int) -> bool:
    """So many bits or fewer, one beside the other."""
    return mask == 0 or f"{mask:b}".rstrip("0") in {"1" * bits for bits in range(1, most + 1)}


def weights(value: int) -> list[int]:
    """By DSCP."""
    return [weight for (weight,) in struct.iter_unpack("=H", value.to_bytes(2 * DSCPS, "little"))]


def of_weights(values: list[int]) -> int:
    """As they are sent."""
    return int.from_bytes(struct.pack(f"={DSCPS}H", *values), "little")


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
    Attribute("FAIR", 0, FAIR_MARK),
    Attribute("FAIR_MASK", 0, 0xFFFFFF << 8),
    Attribute("PREFIX6", 1, 128),
    Attribute("NAT", 0, 1, size=1),
    Attribute("WEIGHT_MASK", 0, 0xFF << 24),
    Attribute("WEIGHT_DSCP", 0, (1 << 16 * DSCPS) - 1, size=2 * DSCPS),
    Attribute("AUTO", 0, 2),
    Attribute("AUTO_MIN", 1000, AUTO_RATE_MAX, size=8),
    Attribute("AUTO_MAX", 1000, AUTO_RATE_MAX, size=8),
    Attribute("QUIC", 0, 1, size=1),
    Attribute("CEIL", 1000, 12_500_000_000, size=8),
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


def _fit(found: Values, before: Values) -> bool:
    """Whether what is found may be set together, on top of what was."""
    known = {name: found.get(number, before.get(number, 0)) for name, number in NUMBER.items()}
    plain = of_weights([WEIGHT[0]] * DSCPS)
    usual_values = {"FAIR": 0, "L4S": 0, "WEIGHT_MASK": 0, "WEIGHT_DSCP": plain, "CEIL": 0}
    for name, usual in usual_values.items():
        if NUMBER[name] not in found and (NUMBER["MODE"] in found or not before):
            known[name] = usual
    if NUMBER["FAIR_MASK"] not in found and {NUMBER["FAIR"], NUMBER["MODE"]} & set(found):
        known["FAIR_MASK"] = 0
    fields = [known[name] for name in MASK_BITS]
    apart = sum(fields) == fields[0] | fields[1] | fields[2]
    if not apart or (known["FAIR"] == FAIR_MARK) != bool(known["FAIR_MASK"]):
        return False
    if known["CEIL"] and (known["L4S"] or known["FAIR"] not in FAIR_ONE_END):
        return False
    lanes = any(found.get(NUMBER[name]) for name in ("LANES", "L4S"))
    more = known["FAIR"] or known["WEIGHT_MASK"] or known["WEIGHT_DSCP"] != plain
    return known["MODE"] == MODE_ZRTT or not (lanes or more)


def _line(found: Values, before: Values) -> Values | None:
    """What is found of the line, and follows: one whose rate is to be found has none, and needs
    timestamps. None if that does not go together."""
    auto, bandwidth, timestamps = (NUMBER[name] for name in ("AUTO", "BANDWIDTH", "TIMESTAMPS"))
    ends = (NUMBER["AUTO_MIN"], NUMBER["AUTO_MAX"])
    least, largest = (
        found.get(end, before.get(end, usual)) for end, usual in zip(ends, AUTO_RATES, strict=True)
    )
    on = found.get(auto, 0 if bandwidth in found else before.get(auto, 0))
    if least > largest or (on and not found.get(timestamps, 1)):
        return None
    if not on:
        return None if set(ends) & set(found) and auto not in found else found
    return {kind: value for kind, value in found.items() if kind != bandwidth} | {timestamps: 1}


def judge(options: bytes, before: Values | None = None) -> Values | None:
    """The values that these options set, the last of a kind; None if they must be refused.

    What was before is of the qdisc which is changed.
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
    if not _fit(found, before or {}):
        return None
    if not all(ATTRIBUTES[kind].accepts(value) for kind, value in found.items()):
        return None
    return _line(found, before or {})
