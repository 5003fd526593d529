# SPDX-License-Identifier: GPL-2.0
"""Throughput of each connection: a panel of bars per method and load."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

from lab.figures.canvas import TEXT_SIZE, Canvas
from lab.figures.data import Load, Runs, Spread
from lab.output.looks import LOOKS
from lab.results import share

COLUMNS = 6
PANEL_INCHES = {1: (6.4, 3.2), 2: (4.6, 3.0), 4: (4.6, 2.5)}
"""By the number of panels, if there are few."""
SMALL_INCHES = (2.1, 2.2)
BAR_SHARE, HEADROOM = 0.72, 1.04
SEEDS = {"color": "black", "linewidth": 0.9}
FAIR = {"color": "black", "linestyle": (0, (4, 3)), "linewidth": 0.9, "zorder": 3}

FAIR_REMARK = f"dashed: {share.MEANING}"


def _bars(axes: Any, at: Sequence[float], spreads: Sequence[Spread], colour: str) -> None:
    """Draws all bars, and all seeds, as one path each, to keep the SVG small."""
    half = BAR_SHARE / 2 * (at[1] - at[0])
    edges = [edge for x in at for edge in (x - half, x + half)]
    heights = [height for spread in spreads for height in (spread.mean, 0.0)]
    axes.stairs(heights[:-1], edges, fill=True, color=colour)
    axes.plot(
        [x for place in at for x in (place, place, nan)],
        [y for spread in spreads for y in (spread.least, spread.most, nan)],
        **SEEDS,
    )


def _panel(axes: Any, runs: Runs, load: Load, method: str, *, with_load: bool) -> None:
    look, jain = LOOKS[method], runs.jain(load, method)
    spreads, rtts = runs.goodputs(load, method), runs.rtts_ms(load, method)
    _bars(axes, rtts, spreads, look.colour)
    axes.axhline(runs.fair_mbps(load, method), **FAIR)
    where = f", {load}" if with_load else ""
    axes.set_title(f"{look.label}{where}: Jain {jain.mean:.3f}", loc="left", size=TEXT_SIZE)
    axes.grid(visible=False, axis="x")
    axes.set_xlim(0, max(rtts) + rtts[0])


def draw(runs: Runs, panels: Sequence[tuple[Load, str]], canvas: Canvas, title: str) -> None:
    """Draws the panels in rows, with one scale."""
    count = len(panels)
    small = count not in PANEL_INCHES
    columns = min(count, COLUMNS if small else 2)
    rows = -(-count // columns)
    width, height = PANEL_INCHES.get(count, SMALL_INCHES)
    remark, of_all = FAIR_REMARK, small and len({load for load, _ in panels}) == 1
    if of_all:
        remark = f"{panels[0][0]}; {remark}"
    grid = canvas.panels((rows, columns), (columns * width, rows * height), title, remark)
    for axes, (load, method) in zip(grid.flat, panels, strict=False):
        _panel(axes, runs, load, method, with_load=not of_all)
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    most = max(spread.most for panel in panels for spread in runs.goodputs(*panel))
    grid[0, 0].set_ylim(0, HEADROOM * most)
    canvas.figure.supxlabel("round-trip time of the connection without queue (ms)", size=TEXT_SIZE)
    for axes in grid[:, 0]:
        axes.set_ylabel("goodput (Mbit/s)")
