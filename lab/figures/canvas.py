# SPDX-License-Identifier: GPL-2.0
"""Sizes, fonts, titles and files of all figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

from lab.output import pictures

TITLE_SIZE, TEXT_SIZE, NOTE_SIZE = 12, 9.5, 8.5
HEAD_INCHES, LINE_INCHES = 0.55, 0.15
NOTE_LETTERS = 15.5
"""Of a note, in an inch."""
FORMATS = (".svg", ".png")
STYLE = {
    "font.size": TEXT_SIZE,
    "font.sans-serif": ["DejaVu Sans"],  # each text of an SVG names all of them
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",  # text stays text, a tenth of the size
    "svg.hashsalt": "lab",  # the same file from the same table
}


class Canvas:
    """A figure being drawn."""

    def __init__(self, note: str) -> None:
        self._note = note
        self._pyplot = pictures.pyplot()
        self.figure: Any = None

    def panels(self, grid: tuple[int, int], inches: tuple[float, float], title: str,
               remark: str, *, one_scale: bool = True) -> Any:  # fmt: skip
        """Axes in rows and columns below a title and a note."""
        width, height = inches
        note = wrap(self._note + (f"; {remark}" if remark else ""), int(width * NOTE_LETTERS))
        head = HEAD_INCHES + (len(note) - 1) * LINE_INCHES
        height += head
        with self._pyplot.rc_context(STYLE):
            self.figure, axes = self._pyplot.subplots(
                *grid, figsize=(width, height), squeeze=False, sharex=True, sharey=one_scale,
                layout="constrained",
            )  # fmt: skip
        self.figure.get_layout_engine().set(rect=(0, 0, 1, 1 - head / height))
        for text, size, weight, down in (
            (title, TITLE_SIZE, "bold", 0.08),
            ("\n".join(note), NOTE_SIZE, "normal", 0.31),
        ):  # fmt: skip
            place = (0.08 / width, 1 - down / height)
            self.figure.text(*place, text, size=size, weight=weight, va="top")
        return axes

    def save(self, stem: Path) -> Iterator[Path]:
        """Writes it in each format."""
        with self._pyplot.rc_context(STYLE):
            for suffix in FORMATS:
                path = stem.with_name(stem.name + suffix)
                pictures.save(self.figure, path)
                yield path
        self._pyplot.close(self.figure)
