# SPDX-License-Identifier: GPL-2.0
"""Jain's index against the load: a line per method, named at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.figures.canvas import Canvas
from lab.figures.data import Load, Runs
from lab.output.looks import FEATURED, LOOKS, PAPER, RIVALS, Look

INCHES = (8.4, 4.6)
LABEL_GAP = 0.055
"""Between names, of the axes' height."""
LABEL_X = 1.05
"""Of the axes' width."""
BACKGROUND, NAME, BACKGROUND_NAME = "#a8a8a8", "#222222", "#777777"
"""Names are dark: few of the colours can be read on white."""
TOP = 1.004
AXIS = {"connections": "connections of one session", "sessions": "sessions per connection"}


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Moves places between 0 and 1 apart by at least a gap, each as little as possible."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[int]] = []
    starts: list[float] = []
    for i in order:
        groups.append([i])
        starts.append(places[i])
        while len(groups) > 1 and starts[-1] < starts[-2] + gap * len(groups[-2]):
            merged = groups[-2] + groups[-1]
            del groups[-2:], starts[-2:]
            middle = sum(places[j] - gap * n for n, j in enumerate(merged)) / len(merged)
            groups.append(merged)
            starts.append(min(max(middle, 0.0), 1.0 - gap * (len(merged) - 1)))
    moved = [0.0] * len(places)
    for group, start in zip(groups, starts, strict=True):
        for n, i in enumerate(group):
            moved[i] = start + n * gap
    return moved


def _line(axes: Any, runs: Runs, loads: Sequence[Load], method: str, against: str,
          colour: str) -> tuple[float, float]:  # fmt: skip
    """Draws a method; returns where its line ends."""
    known = [load for load in loads if method in runs.methods(load)]
    at = [getattr(load, against) for load in known]
    spreads = [runs.jain(load, method) for load in known]
    featured, faint = method == FEATURED, colour == BACKGROUND
    axes.fill_between(
        at, [s.least for s in spreads], [s.most for s in spreads],
        color=colour, alpha=0.12 if faint else 0.18, linewidth=0, zorder=1,
    )  # fmt: skip
    axes.plot(
        at, [s.mean for s in spreads], color=colour, marker=LOOKS[method].marker,
        markersize=3 if faint else 5, linewidth=3 if featured else 0.9 if faint else 1.6,
        linestyle="--" if faint else "-", zorder=4 if featured else 2 if faint else 3,
        clip_on=False,
    )  # fmt: skip
    return at[-1], spreads[-1].mean


def _name(axes: Any, look: Look, colour: str, end: tuple[float, float], place: float,
          featured: bool) -> None:  # fmt: skip
    """Writes a method's name beside the axes, with a line to where its own ends."""
    axes.annotate(
        look.label, xy=end, xycoords="data", xytext=(LABEL_X, place), textcoords="axes fraction",
        va="center", color=BACKGROUND_NAME if colour == BACKGROUND else NAME,
        weight="bold" if featured else "normal",
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 1, "shrinkA": 1,
                    "shrinkB": 4, "relpos": (0, 0.5)},
    )  # fmt: skip


def draw(runs: Runs, loads: Sequence[Load], methods: Sequence[str], against: str,
         canvas: Canvas, title: str) -> None:  # fmt: skip
    """Draws the methods; beside rivals, those of the paper stay in the background."""
    behind = PAPER if set(methods) & set(RIVALS) else ()
    ((axes,),) = canvas.panels((1, 1), INCHES, title, "grey: the paper's" if behind else "")
    colours = {m: BACKGROUND if m in behind else LOOKS[m].colour for m in methods}
    ends = {m: _line(axes, runs, loads, m, against, colours[m]) for m in methods}
    axes.set_ylim(top=TOP)
    axes.margins(x=0.01)
    bottom, top = axes.get_ylim()
    places = spread_out([(y - bottom) / (top - bottom) for _, y in ends.values()], LABEL_GAP)
    for (method, end), place in zip(ends.items(), places, strict=True):
        _name(axes, LOOKS[method], colours[method], end, place, method == FEATURED)
    axes.set_xticks([getattr(load, against) for load in loads])
    axes.set_xlabel(AXIS[against])
    axes.set_ylabel("Jain's index of goodput")
