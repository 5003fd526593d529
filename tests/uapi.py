# SPDX-License-Identifier: GPL-2.0
"""The parameters as the uapi header declares them, one to a line with its size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "include/uapi/linux/pkt_sched_zrtt.h"


@dataclass(frozen=True)
class Attribute:
    """Of TCA_OPTIONS."""

    number: int
    bytes: int


_PARAMETERS = HEADER.read_text().split("#define TCA_ZRTT_MAX")[0]
_LINE = r"^\tTCA_ZRTT_(\w+),(?:\s+/\* (?:__)?[us](\d+)(?:\[(\d+)\])?,)?"
_DECLARED = re.findall(_LINE, _PARAMETERS, re.MULTILINE)
ATTRIBUTES = {
    name: Attribute(number, int(bits) // 8 * int(count or 1))
    for number, (name, bits, count) in enumerate(_DECLARED)
    if bits  # not UNSPEC, and not PAD
}
"""By name, without TCA_ZRTT_."""
