# SPDX-License-Identifier: GPL-2.0
"""Numbers of the netlink contract, read from the uapi header itself."""

from __future__ import annotations

import re
import struct

from uapi import ATTRIBUTES, HEADER

ROOT = HEADER.parents[3]

_TEXT = HEADER.read_text()
_WIDTHS = {"__u64": "Q", "__u32": "I"}

# (field, struct format) of struct tc_zrtt_xstats, in order
XSTATS = [
    (field, _WIDTHS[kind])
    for kind, field in re.findall(
        r"^\t(__u\d+) (\w+);", _TEXT.split("struct tc_zrtt_xstats {")[1], re.MULTILINE
    )
]


def pack_option(name: str, value: int) -> tuple[int, bytes]:
    """Number and payload of one attribute; what is below 0 as its complement."""
    attribute = ATTRIBUTES[name]
    return attribute.number, (value % (1 << 8 * attribute.bytes)).to_bytes(
        attribute.bytes, "little"
    )


def unpack_option(name: str, payload: bytes) -> int:
    """The value of one attribute, checked for its size."""
    assert len(payload) == ATTRIBUTES[name].bytes, name
    return int.from_bytes(payload, "little", signed=name == "OVERHEAD")


def shown_xstats(values: dict[str, int]) -> dict[str, int]:
    """The statistics by the names that they are shown by: of two rates, the wider."""
    shown = dict(values)
    rate = shown.pop("dq_rate64")
    return shown | {"dq_rate": rate or shown["dq_rate"]}


def pack_xstats(values: dict[str, int]) -> bytes:
    """struct tc_zrtt_xstats as the kernel lays it out."""
    layout = "=" + "".join(width for _, width in XSTATS)
    return struct.pack(layout, *(values[field] for field, _ in XSTATS))
