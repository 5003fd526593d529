# SPDX-License-Identifier: GPL-2.0
"""Measures cells in one guest.

On a stock kernel QEMU counts instructions, the same in each run. User-mode Linux
runs at native speed: there the cells take turns in several rounds, so that what
slows the machine down for a while slows them all, and medians are taken.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from lab import bench_build, build
from lab.bench_result import Bench, Cost, Reading, Settings, cost, parse
from lab.bench_subjects import Cell
from lab.engine import GuestError, GuestJob, get_engine
from lab.kernels import KernelError
from lab.progress import Bar

SCRIPT = build.REPO / "lab" / "guest" / "bench.sh"
MODULES = (
    "dummy", "sch_red", "sch_codel", "sch_pie", "sch_sfb", "sch_sfq", "sch_fq", "sch_fq_codel",
    "sch_fq_pie", "sch_cake",
)  # fmt: skip
MEMORY_MB = 2048
TIMEOUT_S = 7200.0
NATIVE = "uml"
SETTLE_MS = 1200
"""Flows count for zrtt's averages when they are a second old."""
MEASURED = "measured "
"""What the script says after each cell."""


def _parameters(cell: Cell, settings: Settings, number: int) -> str:
    values = {
        "flows": cell.flows,
        "backlog": settings.backlog,
        "packets": settings.packets,
        "slices": settings.slices,
        "passes": cell.subject.passes,
        "settle_ms": SETTLE_MS,
        "gap_ns": settings.gap_ns,
        "seed": settings.seed + number,
        "ect": int(settings.ect),
        "hint": int(cell.subject.hint),
        "hash": int(settings.hashed),
    }
    return " ".join(f"{name}={value}" for name, value in values.items())


def plan(cells: Sequence[Cell], settings: Settings) -> str:
    """What the script reads: round by round, a line per cell."""
    return "".join(
        f"{cell.subject.qdisc}|{_parameters(cell, settings, number)}\n"
        for number in range(settings.rounds)
        for cell in cells
    )


def _costs(cells: Sequence[Cell], readings: Sequence[Reading]) -> list[Cost]:
    return [cost(cell, readings[number :: len(cells)]) for number, cell in enumerate(cells)]


def run(cells: Sequence[Cell], settings: Settings, command: str) -> Bench:
    """Measures the cells. Raises GuestError if the guest does not get to the end."""
    engine = get_engine(settings.kernel)
    native = settings.kernel == NATIVE
    total = len(cells) * settings.rounds
    bar, done = Bar(total), 0

    def watch(line: str) -> None:
        nonlocal done
        if line.startswith(MEASURED):
            done += 1
            bar.show(done, 0)

    with tempfile.TemporaryDirectory(prefix="zrtt-bench-") as folder:
        lines = Path(folder) / "plan"
        lines.write_text(plan(cells, settings))
        module = bench_build.qbench(engine.kernel)
        job = GuestJob(
            script=SCRIPT,
            files={"plan": lines, module.name: module} | build.tc_plugin("sch_zrtt"),
            modules=MODULES,
            kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
            seed=settings.seed,
            memory_mb=MEMORY_MB,
            virtual_time=not native,
            timeout_s=TIMEOUT_S,
            watch=watch,
        )
        output = engine.run(job)
    bar.close()
    if output.rc:
        raise GuestError(f"the guest's script ended with status {output.rc}", output.console)
    readings = parse(output.result)
    if len(readings) != total:
        raise GuestError(f"{len(readings)} of {total} measurements came back", output.console)
    if not native and not all(reading.counted for reading in readings):
        raise KernelError("QEMU uses KVM here, which does not count instructions")
    first = readings[0]
    return Bench(
        settings=settings,
        release=engine.kernel.release,
        unit="ns" if native else "instructions",
        empty=first.empty_ticks * (1e6 / first.ticks_per_ms if native else 1.0),
        command=command,
        costs=_costs(cells, readings),
    )
