# SPDX-License-Identifier: GPL-2.0
"""What all figures have in common: sizes, fonts, titles, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.report import FIGURE_DPI, pyplot

TITLE_SIZE, TEXT_SIZE, NOTE_SIZE = 12, 9.5, 8.5
HEAD_INCHES = 0.55
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
        self._pyplot = pyplot()
        self.figure: Any = None

    def panels(self, grid: tuple[int, int], inches: tuple[float, float], title: str,
               remark: str, *, one_scale: bool = True) -> Any:  # fmt: skip
        """Axes in rows and columns below a title and a note."""
        width, height = inches
        height += HEAD_INCHES
        with self._pyplot.rc_context(STYLE):
            self.figure, axes = self._pyplot.subplots(
                *grid, figsize=(width, height), squeeze=False, sharex=True, sharey=one_scale,
                layout="constrained",
            )  # fmt: skip
        self.figure.get_layout_engine().set(rect=(0, 0, 1, 1 - HEAD_INCHES / height))
        note = self._note + (f"; {remark}" if remark else "")
        for text, size, weight, down in (
            (title, TITLE_SIZE, "bold", 0.08), (note, NOTE_SIZE, "normal", 0.31),
        ):  # fmt: skip
            place = (0.08 / width, 1 - down / height)
            self.figure.text(*place, text, size=size, weight=weight, va="top")
        return axes

    def save(self, stem: Path) -> Iterator[Path]:
        """Writes it as SVG and as PNG."""
        stem.parent.mkdir(parents=True, exist_ok=True)
        with self._pyplot.rc_context(STYLE):
            for suffix, options in ((".svg", {"metadata": {"Date": None}}), (".png", {})):
                path = stem.with_name(stem.name + suffix)
                self.figure.savefig(path, dpi=FIGURE_DPI, **options)
                yield path
        self._pyplot.close(self.figure)
