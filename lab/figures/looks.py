# SPDX-License-Identifier: GPL-2.0
"""What the methods are called and look like, in all figures alike."""

from __future__ import annotations

from dataclasses import dataclass

from lab.report import COLOURS, FEATURED

PAPER = ("blue", "mrtt", "prto", "csfq", "paper")
"""The methods of the paper, in its order."""
RIVALS = ("pfifo", "pie", "codel", "fq_codel", "cake", "dualpi2")

_GREY, _ORANGE, _SKY, _VERMILION, _GREEN, _PURPLE, _BLUE = COLOURS
_DARK = "#555555"


@dataclass(frozen=True)
class Look:
    """Of a method."""

    label: str
    colour: str
    marker: str


LOOKS = {
    "blue": Look("BLUE", _GREY, "s"),
    "mrtt": Look("MRTT", _ORANGE, "^"),
    "prto": Look("PRTO", _PURPLE, "v"),
    "csfq": Look("CSFQ", _GREEN, "D"),
    "paper": Look("ZRTT (paper)", _BLUE, "p"),
    FEATURED: Look("zrtt", _VERMILION, "o"),
    "pfifo": Look("pfifo", _DARK, "s"),
    "pie": Look("pie", _ORANGE, "^"),
    "codel": Look("codel", _SKY, "v"),
    "fq_codel": Look("fq_codel", _GREEN, "D"),
    "cake": Look("cake", _PURPLE, "P"),
    "dualpi2": Look("dualpi2", _BLUE, "X"),
    "tail-30ms": Look("drop tail, 30 ms", _SKY, "v"),
    "tail-180ms": Look("drop tail, 180 ms", _BLUE, "^"),
    "red-30ms": Look("RED, 30 ms", _ORANGE, "v"),
    "red-180ms": Look("RED, 180 ms", _VERMILION, "^"),
    "tail-42ms": Look("drop tail, 42 ms", _BLUE, "^"),
    "red-42ms": Look("RED, 42 ms", _VERMILION, "v"),
    "exp": Look("EXP-TCP", _VERMILION, "o"),
    "nrhstcp": Look("NR-HSTCP", _VERMILION, "o"),
    "highspeed": Look("HSTCP", _BLUE, "^"),
    "reno": Look("Reno", _DARK, "s"),
    "scalable": Look("Scalable", _GREEN, "D"),
}
