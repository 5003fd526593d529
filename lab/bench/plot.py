# SPDX-License-Identifier: GPL-2.0
"""Draws the cost of a packet against the number of flows: a line per qdisc, of one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from lab.bench.cost_table import count
from lab.bench.result import Bench, Cost
from lab.figures.canvas import STYLE, TEXT_SIZE
from lab.figures.lines import spread_out
from lab.output import pictures
from lab.output.looks import FEATURED, is_featured, look
from lab.results.report import ReportError

INCHES = (8.4, 5.2)
LABEL_GAP, LABEL_X = 0.042, 1.06
"""Between names, and where they begin, of the axes' height and width."""
HEADROOM = 1.25


def _line(axes: Any, name: str, costs: Sequence[Cost]) -> None:
    own, featured = look(name), name == FEATURED
    at = [cost.flows for cost in costs]
    axes.fill_between(
        at, [cost.low for cost in costs], [cost.high for cost in costs],
        color=own.colour, alpha=0.18, linewidth=0,
    )  # fmt: skip
    axes.plot(
        at, [cost.total for cost in costs], color=own.colour, marker=own.marker, markersize=4,
        linewidth=3 if featured else 1.3, zorder=3 if featured else 2, clip_on=False,
        linestyle="--" if is_featured(name) and not featured else "-",
    )  # fmt: skip


def _name(axes: Any, name: str, end: Cost, place: float) -> None:
    axes.annotate(
        look(name).label, xy=(end.flows, end.total), xytext=(LABEL_X, place), va="center",
        textcoords="axes fraction", weight="bold" if name == FEATURED else "normal",
        arrowprops={"arrowstyle": "-", "color": look(name).colour, "linewidth": 0.8, "shrinkA": 1,
                    "shrinkB": 4, "relpos": (0, 0.5)},
    )  # fmt: skip


def _axes(axes: Any, unit: str, lines: Mapping[str, Sequence[Cost]]) -> None:
    shown = [cost for costs in lines.values() for cost in costs]
    for name, costs in lines.items():
        _line(axes, name, costs)
    axes.set(xscale="log", yscale="log", ylabel=f"{unit} per packet, enqueue and dequeue")
    bottom, top = min(c.low for c in shown), max(c.high for c in shown)
    bottom, top = bottom / HEADROOM, top * HEADROOM
    axes.set_ylim(bottom, top)
    ends = {name: costs[-1] for name, costs in lines.items()}
    heights = [log(end.total / bottom) / log(top / bottom) for end in ends.values()]
    for (name, end), place in zip(ends.items(), spread_out(heights, LABEL_GAP), strict=True):
        _name(axes, name, end, place)
    flows = sorted({cost.flows for cost in shown})
    axes.set_xticks(flows, [count(number) for number in flows])
    ticks = [t for t in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if bottom <= t <= top]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("flows")


def plot(bench: Bench, path: Path) -> None:
    """Writes the picture of the first shape, in the format that the file's name says."""
    shape = bench.costs[0].shape
    shown = [cost for cost in bench.costs if cost.shape == shape]
    if len({cost.flows for cost in shown}) < 2:
        raise ReportError("--plot: one number of flows makes no line")
    lines = {
        name: sorted((c for c in shown if c.name == name), key=lambda c: c.flows)
        for name in dict.fromkeys(cost.name for cost in shown)
    }
    with pictures.pyplot().rc_context(STYLE):
        figure, axes = pictures.pyplot().subplots(figsize=INCHES, layout="constrained")
        _axes(axes, bench.unit, lines)
        release = bench.release.partition("-")[0]
        title = f"Cost of a packet, shape {shape}, Linux {release}"
        axes.set_title(title, loc="left", size=TEXT_SIZE)
        pictures.save(figure, path)
        pictures.pyplot().close(figure)
