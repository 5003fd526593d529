# SPDX-License-Identifier: GPL-2.0
"""Goodput of each flow against time: a panel per run that kept samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lab.figures.canvas import TEXT_SIZE, Canvas
from lab.output.looks import COLOURS
from lab.results.report import ReportError, listed
from lab.results.result import Result

PANEL_INCHES = (4.3, 2.4)
COLUMNS = 2


def _panel(axes: Any, run: Result) -> None:
    times = [row[0] / 1000 for row in run.samples]
    for number, received in enumerate(list(zip(*run.samples, strict=True))[1:]):
        mbps = [
            (after - before) * 8e-6 / (until - since)
            for (before, after), (since, until) in zip(
                pairwise(received), pairwise(times), strict=True
            )
        ]  # fmt: skip
        axes.plot(times[1:], mbps, color=COLOURS[1 + number % (len(COLOURS) - 1)], linewidth=1)
    name = ", ".join(dict.fromkeys(flow.cc for flow in run.flows))
    axes.set_title(f"{name}: Jain {run.jain:.3f}", loc="left", size=TEXT_SIZE)


def draw(runs: Sequence[Result], title: str) -> Canvas:
    """Draws the panels. Raises ReportError if a run has no samples."""
    if not all(len(run.samples) > 1 for run in runs):
        raise ReportError("nothing to draw: lab run --sample keeps what was received meanwhile")
    canvas = Canvas(
        f"{listed(f'{run.rate_mbps:g}' for run in runs)} Mbit/s, "
        f"Linux {listed(run.kernel.partition('-')[0] for run in runs)}, "
        f"seed {listed(run.seed for run in runs)}"
    )
    columns = min(COLUMNS, len(runs))
    rows = -(-len(runs) // columns)
    width, height = PANEL_INCHES
    remark = f"Jain's index of the last {listed(f'{run.measured_s:.0f}' for run in runs)} s"
    grid = canvas.panels((rows, columns), (columns * width, rows * height), title, remark)
    for axes, run in zip(grid.flat, runs, strict=False):
        _panel(axes, run)
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    canvas.figure.supxlabel("time (s)", size=TEXT_SIZE)
    for axes in grid[:, 0]:
        axes.set_ylabel("goodput (Mbit/s)")
    return canvas
