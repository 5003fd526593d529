# SPDX-License-Identifier: GPL-2.0
"""Measures what a packet costs in each cell, all in one guest.

On a stock kernel QEMU counts instructions, the same in each run. User-mode Linux
runs at native speed: there the cells take turns in several rounds, so that what
slows the machine down for a while slows them all, and medians are taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from lab.bench import guest
from lab.bench.result import Bench, Settings, cost, parse
from lab.bench.subjects import Cell
from lab.engines.select import get_engine
from lab.results.readings import ResultError

SETTLE_MS = 1200
"""Flows count for zrtt's averages when they are a second old."""


def plan(cells: Sequence[Cell], settings: Settings) -> list[str]:
    """The plan, round by round, a line per cell."""
    return [
        guest.line(
            cell,
            backlog=settings.backlog,
            receivers=cell.subject.receivers(cell.flows),
            packets=settings.packets,
            slices=settings.slices,
            passes=cell.subject.passes,
            settle_ms=SETTLE_MS,
            gap_ns=settings.gap_ns,
            seed=settings.seed + number,
            ect=settings.ect,
            hint=cell.subject.hint,
            hash=settings.hashed,
        )
        for number in range(settings.rounds)
        for cell in cells
    ]


def run(cells: Sequence[Cell], settings: Settings, command: str) -> Bench:
    """Measures the cells. Raises what guest.run() raises."""
    engine = get_engine(settings.kernel)
    native = settings.kernel == guest.NATIVE
    lines = plan(cells, settings)
    readings = parse(guest.run(engine, "bench.sh", lines, settings.seed))
    if len(readings) != len(lines):
        raise ResultError(f"{len(readings)} of {len(lines)} measurements came back")
    if not native and not all(reading.counted for reading in readings):
        raise ResultError("the guest's clock does not count instructions")
    return Bench(
        settings=settings,
        release=engine.kernel.release,
        unit="ns" if native else "instructions",
        empty=readings[0].empty_ticks * readings[0].per_tick,
        command=command,
        costs=[cost(cell, readings[n :: len(cells)]) for n, cell in enumerate(cells)],
    )
