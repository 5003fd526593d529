# SPDX-License-Identifier: GPL-2.0
"""The figures of the ZRTT paper: methods, loads, and their looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.figures import bars, lines
from lab.figures.canvas import Canvas
from lab.figures.data import Load, Runs
from lab.output.looks import FEATURED, PAPER, RIVALS
from lab.results.report import ReportError

CONNECTIONS = 20
"""Of figures 2 to 5 and 7."""
ALL = (*PAPER, FEATURED, *RIVALS)


@dataclass(frozen=True)
class Bars:
    """Throughput of each connection: a panel per method and load."""

    name: str
    title: str
    methods: Sequence[str]
    loads: Sequence[str]
    """low, high or both: the ends of figure 7."""

    def draw(self, runs: Runs, ecn: str, canvas: Canvas) -> bool:
        """Returns whether there was anything to draw."""
        ends = {
            "low" if load.sessions == 1 else "high": load  # the last is that of most sessions
            for load in runs.loads(ecn)
            if load.connections == CONNECTIONS
        }
        panels = [
            (ends[load], method)
            for method in self.methods
            for load in self.loads
            if load in ends and method in runs.methods(ends[load])
        ]
        if panels:
            bars.draw(runs, panels, canvas, self.title)
        return bool(panels)


@dataclass(frozen=True)
class Lines:
    """Jain's index of each method against the load."""

    name: str
    title: str
    methods: Sequence[str]
    against: str
    """connections or sessions."""

    def _loads(self, runs: Runs, ecn: str) -> list[Load]:
        if self.against == "sessions":
            return [load for load in runs.loads(ecn) if load.connections == CONNECTIONS]
        return [load for load in runs.loads(ecn) if load.sessions == 1]

    def draw(self, runs: Runs, ecn: str, canvas: Canvas) -> bool:
        """Returns whether there was anything to draw."""
        loads = self._loads(runs, ecn)
        methods = [m for m in self.methods if any(m in runs.methods(load) for load in loads)]
        if len(loads) > 1 and methods:
            lines.draw(runs, loads, methods, self.against, canvas, self.title)
            return True
        return False


FIGURES = (
    Bars("fig2", "Figure 2: throughput with MRTT, low congestion", ("mrtt",), ("low",)),
    Bars("fig3", "Figure 3: throughput with MRTT, high congestion", ("mrtt",), ("high",)),
    Bars("fig4", "Figure 4: throughput with BLUE", ("blue",), ("low", "high")),
    Bars("fig5", "Figure 5: throughput with ZRTT", ("paper", FEATURED), ("low", "high")),
    Lines("fig6", "Figure 6: fairness against the number of connections",
          (*PAPER, FEATURED), "connections"),
    Lines("fig7", "Figure 7: fairness against the number of sessions",
          (*PAPER, FEATURED), "sessions"),
    Bars("fig2-all", "Throughput at low congestion, all methods", ALL, ("low",)),
    Bars("fig3-all", "Throughput at high congestion, all methods", ALL, ("high",)),
    Lines("fig6-all", "Fairness against the number of connections, all methods",
          ALL, "connections"),
    Lines("fig7-all", "Fairness against the number of sessions, all methods", ALL, "sessions"),
)  # fmt: skip


def draw_all(runs: Runs, out: Path) -> Iterator[Path]:
    """Draws what the runs suffice for; the files' paths, as they are written."""
    drawn = False
    for figure in FIGURES:
        for ecn in ("on", "off"):
            canvas = Canvas(runs.note(ecn))
            if figure.draw(runs, ecn, canvas):
                drawn = True
                yield from canvas.save(out / f"{figure.name}-ecn-{ecn}")
    if not drawn:
        raise ReportError("nothing to draw: these are no runs of lab/sweeps/paper.toml")
