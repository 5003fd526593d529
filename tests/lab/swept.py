# SPDX-License-Identifier: GPL-2.0
"""Sweeps without guests, for tests."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from lab.engines.job import GuestError
from lab.model.grid import Point, Sweep
from lab.model.scenario import Scenario
from lab.results import table
from lab.results.result import FlowResult, PhaseResult, Result, Sojourn
from lab.runs import sweep

PLAIN_CELLS = "seeds = [1, 2]\n[qdiscs]\nours = 'zrtt'\ntheirs = 'cake'\n[cells.c]\nrtts = '9ms'\n"


def result_of(scenario: Scenario, command: str, jain: float) -> Result:
    """A result like those of a guest."""
    flow = FlowResult(20.0, "cubic", True, 1.25, 3, 7, 20.1, 0.0, 1.3)
    return Result(
        label=scenario.qdisc, jain=jain, max_min_ratio=None, utilisation=0.995,
        phases=[PhaseResult(20.0, 30.0, 10.0, 0.75), PhaseResult(30.0, 80.0, 10.0, 0.999)],
        sojourn_ms=Sojourn(mean=15.5, p50=14.0, p95=28.0, p99=33.0, max=41.0),
        marks=14, drops=2, packets=1000, goodput_mbps=2.75, rate_mbps=10.0, measured_s=60.0,
        flows=[flow, replace(flow, cc="reno", goodput_mbps=1.5, retransmits=4)], samples=[], qdisc={},
        kernel=f"{scenario.kernel}-release", clock="", gso=False, ecn=True, seed=scenario.seed,
        reruns=1, wall_s=2.5, cpu_s=2.0, command=command,
    )  # fmt: skip


class FakeGuests:
    """Does no run, but remembers which it was asked for."""

    def __init__(self, jains: dict[str, float] | None = None) -> None:
        self.commands: list[str] = []
        self.broken: set[str] = set()
        """Qdiscs whose runs fail."""
        self.source = "1"
        self._jains = jains or {}
        self._lock = threading.Lock()

    def release(self, kernel: str) -> str:
        return f"{kernel}-release"

    def inputs(self, point: Point) -> str:
        return self.source if point.scenario.qdisc_words[0] == "zrtt" else "0"

    def run(self, point: Point) -> Result:
        with self._lock:
            self.commands.append(point.command)
        kind = point.scenario.qdisc_words[0]
        if kind in self.broken:
            raise GuestError("guest panicked")
        return result_of(point.scenario, point.command, self._jains.get(kind, 0.5))


def do(plan: Sweep, path: Path, guests: FakeGuests, *, fresh: bool = False) -> sweep.Outcome:
    """Runs a sweep without guests."""
    with table.opened(path) as rows:
        return sweep.run(plan.points(), rows, jobs=2, fresh=fresh, guests=guests)
