# SPDX-License-Identifier: GPL-2.0
"""Tables as text: the first columns to the left, the others, which are figures, to the right."""

from __future__ import annotations

from collections.abc import Sequence

Lines = Sequence[Sequence[str]]


def aligned(lines: Lines, left: int = 1) -> list[str]:
    """For a terminal."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def one(line: Sequence[str]) -> str:
        names = map(str.ljust, line[:left], widths)
        figures = map(str.rjust, line[left:], widths[left:])
        return "  ".join([*names, *figures]).rstrip()

    return [one(line) for line in lines]


def markdown(lines: Lines, left: int = 1) -> list[str]:
    """For documents; the first line is the head."""
    head, *others = lines
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return [f"| {' | '.join(line)} |" for line in (head, rule, *others)]
