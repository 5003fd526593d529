# SPDX-License-Identifier: GPL-2.0
"""Runs a plan in one guest: a line per cell, with a qdisc and the parameters of qbench."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from lab.bench.subjects import Cell
from lab.engines.job import Engine, GuestError, GuestJob
from lab.host.progress import Bar
from lab.toolchain import build

SCRIPTS = build.REPO / "lab" / "guest"
NATIVE = "uml"
MODULES = (
    "dummy", "sch_red", "sch_codel", "sch_pie", "sch_sfb", "sch_sfq", "sch_fq", "sch_fq_codel",
    "sch_fq_pie", "sch_cake",
)  # fmt: skip
MEMORY_MB = 2048
TIMEOUT_S = 7200.0
MEASURED = "measured "
"""What the scripts say after each line."""


def line(cell: Cell, **parameters: int) -> str:
    """A line of a plan."""
    words = [f"{name}={int(value)}" for name, value in parameters.items()]
    return f"{cell.subject.qdisc}|shape={cell.shape} flows={cell.flows} {' '.join(words)}\n"


def run(engine: Engine, script: str, lines: Sequence[str], seed: int,
        plugins: Sequence[str] = ()) -> str:  # fmt: skip
    """Runs a plan and returns the script's result. Raises GuestError if it does not finish."""
    bar, done = Bar(len(lines)), 0

    def watch(said: str) -> None:
        nonlocal done
        if said.startswith(MEASURED):
            done += 1
            bar.show(done, 0)

    with tempfile.TemporaryDirectory(prefix="zrtt-bench-") as folder:
        plan = Path(folder) / "plan"
        plan.write_text("".join(lines))
        module = build.kernel_module("qbench", engine.kernel)
        job = GuestJob(
            script=SCRIPTS / script,
            files={plan.name: plan, module.name: module} | build.tc_plugin("sch_zrtt"),
            modules=MODULES,
            kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
            seed=seed,
            memory_mb=MEMORY_MB,
            virtual_time=engine.kernel.name != NATIVE,
            counted=engine.kernel.name != NATIVE,
            plugins=plugins,
            timeout_s=TIMEOUT_S,
            watch=watch,
        )
        output = engine.run(job)
    bar.close()
    if output.rc:
        raise GuestError(f"the guest's script ended with status {output.rc}", output.console)
    return output.result
