# SPDX-License-Identifier: GPL-2.0
"""Panels of points: a figure of each run against one of its options, a series per method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from lab.figures.canvas import TEXT_SIZE, Canvas
from lab.figures.data import Spread
from lab.output.looks import FEATURED, LOOKS
from lab.results import summary
from lab.results.table import Row

PANEL_INCHES = (4.3, 3.1)
SPREAD_SHARE = 0.7
"""Of the room of a category, for its series beside each other."""
_Key = str | float
BOUND = {"color": "black", "linestyle": (0, (4, 3)), "linewidth": 0.9, "zorder": 1}


@dataclass(frozen=True)
class Panel:
    """One figure of the runs of some cells."""

    title: str
    cells: str
    """A pattern."""
    value: Callable[[Row], float]
    bounds: tuple[float, ...] = ()
    """Dashed lines."""
    log: bool = False


@dataclass(frozen=True)
class Points:
    """Panels that share their axis."""

    name: str
    title: str
    panels: Sequence[Panel]
    against: Callable[[Row], _Key]
    """A name or a number: names are placed side by side, numbers joined by lines."""
    series: Callable[[Row], str]
    label: str = ""
    """Of the axis."""
    log: bool = False

    def draw(self, rows: Sequence[Row], note: str) -> Canvas | None:
        """Draws the panels; None if there are no runs for them."""
        found = [(panel, _points(panel, rows, self)) for panel in self.panels]
        shown = [(panel, own) for panel, own in found if own]
        if not shown:
            return None
        canvas, (width, height) = Canvas(note), PANEL_INCHES
        inches = (len(shown) * width, height)
        (line,) = canvas.panels((1, len(shown)), inches, self.title, "", one_scale=False)
        keys = list(
            dict.fromkeys(key for _, own in shown for points in own.values() for key in points)
        )
        for axes, (panel, own) in zip(line, shown, strict=True):
            _draw_panel(axes, panel, own, keys)
            axes.set_xlabel(self.label)
            if self.log:
                axes.set_xscale("log")
        _legend(line)
        return canvas


_Found = Mapping[str, Mapping[_Key, Spread]]


def _points(panel: Panel, rows: Iterable[Row], of: Points) -> _Found:
    """Points by method and place on the axis, in the order of the table."""
    found: dict[str, dict[_Key, Spread]] = defaultdict(dict)
    for key, seeds in summary.group(rows).items():
        if fnmatchcase(key.cell, panel.cells):
            values = [panel.value(row) for row in seeds]
            found[of.series(seeds[0])][of.against(seeds[0])] = Spread.of(values)
    return found


def _legend(line: Sequence[Any]) -> None:
    """The legend of all panels, beside the last."""
    known: dict[str, Any] = {}
    for axes in line:
        handles, labels = axes.get_legend_handles_labels()
        known |= zip(labels, handles, strict=True)
    line[-1].legend(
        known.values(), known, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False
    )


def _draw_panel(axes: Any, panel: Panel, found: _Found, keys: Sequence[_Key]) -> None:
    named = isinstance(keys[0], str)
    for number, (method, points) in enumerate(found.items()):
        aside = SPREAD_SHARE * ((number + 0.5) / len(found) - 0.5)
        ordered = list(points) if named else sorted(points)
        at = [keys.index(key) + aside if named else key for key in ordered]
        _series(axes, at, [points[key] for key in ordered], method, joined=not named)
    if named:
        axes.set_xticks(range(len(keys)), keys, rotation=35, ha="right")
        axes.grid(visible=False, axis="x")
    if panel.log:
        axes.set_yscale("log")
    for bound in panel.bounds:
        axes.axhline(bound, **BOUND)
    axes.set_title(panel.title, loc="left", size=TEXT_SIZE)


def _series(axes: Any, at: Sequence[float], spreads: Sequence[Spread], method: str, *,
            joined: bool) -> None:  # fmt: skip
    look = LOOKS[method]
    means = [spread.mean for spread in spreads]
    axes.errorbar(
        at, means,
        yerr=[[mean - s.least for mean, s in zip(means, spreads, strict=True)],
              [s.most - mean for mean, s in zip(means, spreads, strict=True)]],
        color=look.colour, marker=look.marker, markersize=5, elinewidth=1, label=look.label,
        linewidth=1.6 if joined else 0, zorder=4 if method == FEATURED else 3,
    )  # fmt: skip
