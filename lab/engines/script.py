# SPDX-License-Identifier: GPL-2.0
"""Runs a single script in a guest, with modules of this project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.engines.job import GuestJob
from lab.engines.select import get_engine
from lab.toolchain import build


def run_script(
    kernel: str,
    script: Path,
    *,
    args: Sequence[str] = (),
    files: Mapping[str, Path] | Sequence[Path] = (),
    modules: Sequence[str] = (),
    kmods: Sequence[str] = (),
    programs: Sequence[str] = (),
    seed: int = 1,
    cpus: int = 1,
    virtual_time: bool = True,
    timeout_s: float = 600.0,
) -> tuple[int, str]:
    """Runs a script in a guest and returns its exit status and console.

    `files` may be a plain list: each file then keeps its own name. `kmods` are
    names of this project's modules ("sch_zrtt", "sch_meter"): they are built,
    inserted, and their tc plugins placed where tc looks for them.
    """
    engine = get_engine(kernel)
    placed = dict(files) if isinstance(files, Mapping) else {f.name: f for f in files}
    for name in kmods:
        placed.update(build.tc_plugin(name))
    job = GuestJob(
        script=script,
        args=args,
        files=placed,
        modules=modules,
        kmods=[build.kernel_module(name, engine.kernel) for name in kmods],
        programs=programs,
        seed=seed,
        cpus=cpus,
        virtual_time=virtual_time,
        timeout_s=timeout_s,
    )
    output = engine.run(job)
    return output.rc, output.console
