# SPDX-License-Identifier: GPL-2.0
"""Numbers of the netlink contract, read from the uapi header itself."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from uapi import ATTRIBUTES, HEADER

ROOT = HEADER.parents[3]

_TEXT = HEADER.read_text()
_WIDTHS = {"__u64": "Q", "__u32": "I"}


def _body(struct_name: str) -> str:
    return _TEXT.split(f"struct {struct_name} {{")[1].split("\n};")[0]


def _fields(body: str) -> list[tuple[str, str]]:
    """(field, struct format) of the numbers of a structure, in order."""
    declared = re.findall(r"^\t(__u\d+) (\w+);", body, re.MULTILINE)
    return [(field, _WIDTHS[kind]) for kind, field in declared]


_BEFORE, _BEHIND = _body("tc_zrtt_xstats").split("\tstruct tc_zrtt_lane_stats")
XSTATS = _fields(_BEFORE)
"""Without the lanes."""
_LATER = _fields(_BEHIND)
HOST_STATS = [(field, width) for field, width in _LATER if field.startswith("host")]
"""Behind the lanes."""
LATER_STATS = _LATER[len(HOST_STATS) :]
"""Behind these: of QUIC, and of a line whose rate is found."""
LANE_STATS = _fields(_body("tc_zrtt_lane_stats"))
LANES = [
    name.lower() for name in re.findall(r"^\tTC_ZRTT_LANE_(\w+),", _TEXT, re.MULTILINE)
]
"""Names of the lanes, in their order."""


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


def _pack(fields: list[tuple[str, str]], values: Mapping[str, int]) -> bytes:
    layout = "=" + "".join(width for _, width in fields)
    return struct.pack(layout, *(values[field] for field, _ in fields))


def pack_xstats(
    values: Mapping[str, int],
    lanes: Sequence[Mapping[str, int]] = (),
    hosts: Mapping[str, int] | None = None,
    later: Mapping[str, int] | None = MappingProxyType({}),
) -> bytes:
    """struct tc_zrtt_xstats as the kernel lays it out; without lanes, without hosts behind them,
    or without what is behind those, as one before these did. What is later is 0 if not given."""
    packed = _pack(XSTATS, values) + b"".join(_pack(LANE_STATS, lane) for lane in lanes)
    if hosts is None:
        return packed
    packed += _pack(HOST_STATS, hosts)
    if later is None:
        return packed
    return packed + _pack(LATER_STATS, {field: 0 for field, _ in LATER_STATS} | dict(later))
