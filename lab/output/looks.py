# SPDX-License-Identifier: GPL-2.0
"""Names, colours and markers of queues and congestion controls, in all pictures and pages."""

from __future__ import annotations

from dataclasses import dataclass, replace

FEATURED = "zrtt"
"""The queue that is emphasised; no other has its colour."""
PAPER = ("blue", "mrtt", "prto", "csfq", "paper")
"""The methods of the paper, in its order."""
RIVALS = ("pfifo", "pie", "codel", "fq_codel", "cake", "dualpi2")

# Colours that colour-blind readers can tell apart (Okabe and Ito).
COLOURS = ("#999999", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#0072B2")
_GREY, _ORANGE, _SKY, _VERMILION, _GREEN, _PURPLE, _BLUE = COLOURS
_DARK, _PALE = "#555555", "#a8a8a8"
ON_BLACK = {
    _GREY: "#b4b4b4", _ORANGE: "#f2be3e", _SKY: "#a8dcff", _VERMILION: "#ff8b4d",
    _GREEN: "#2ecb9b", _PURPLE: "#e79bc8", _BLUE: "#4aa3ff", _DARK: "#dddddd", _PALE: "#8a8a8a",
}  # fmt: skip
"""What each is on a page that is shown light on dark."""


@dataclass(frozen=True)
class Look:
    """The look of a queue or a congestion control."""

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
    "tail-42ms": Look("drop tail, 42 ms", _BLUE, "^"),
    "red-30ms": Look("RED, 30 ms", _ORANGE, "v"),
    "red-180ms": Look("RED, 180 ms", _PURPLE, "^"),
    "red-42ms": Look("RED, 42 ms", _PURPLE, "v"),
    "exp": Look("EXP-TCP", _VERMILION, "o"),
    "nrhstcp": Look("NR-HSTCP", _VERMILION, "o"),
    "highspeed": Look("HSTCP", _BLUE, "^"),
    "reno": Look("Reno", _DARK, "s"),
    "scalable": Look("Scalable", _GREEN, "D"),
}


def look(name: str) -> Look:
    """Of any name: a variant, as zrtt-hint, has the look of what it is a variant of."""
    if name in LOOKS:
        return LOOKS[name]
    known = LOOKS.get(name.partition("-")[0], Look(name, _PALE, "."))
    return replace(known, label=name)


def is_featured(name: str) -> bool:
    """Whether it is the featured queue or a variant of it."""
    return name.partition("-")[0] == FEATURED
