# SPDX-License-Identifier: GPL-2.0
"""Numbers of the netlink contract, read from the uapi header itself."""

from __future__ import annotations

import re
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include/uapi/linux/pkt_sched_zrtt.h"

_TEXT = HEADER.read_text()
_WIDTHS = {"__u64": "Q", "__u32": "I"}

# TCA_ZRTT_NAME -> number and size in bytes
ATTRS: dict[str, int] = {}
SIZES: dict[str, int] = {}
for _number, (_name, _bits) in enumerate(
    re.findall(r"^\tTCA_ZRTT_(\w+),\s*/\* u(\d+),", _TEXT, re.MULTILINE), start=1
):
    ATTRS[_name] = _number
    SIZES[_name] = int(_bits) // 8

# (field, struct format) of struct tc_zrtt_xstats, in order
XSTATS = [
    (field, _WIDTHS[kind])
    for kind, field in re.findall(
        r"^\t(__u\d+) (\w+);", _TEXT.split("struct tc_zrtt_xstats {")[1], re.MULTILINE
    )
]


def pack_option(name: str, value: int) -> tuple[int, bytes]:
    """Number and payload of one attribute."""
    return ATTRS[name], struct.pack("=B" if SIZES[name] == 1 else "=I", value)


def pack_xstats(values: dict[str, int]) -> bytes:
    """struct tc_zrtt_xstats as the kernel lays it out."""
    layout = "=" + "".join(width for _, width in XSTATS)
    return struct.pack(layout, *(values[field] for field, _ in XSTATS))
