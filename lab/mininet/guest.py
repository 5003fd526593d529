# SPDX-License-Identifier: GPL-2.0
"""Runs `lab mininet` in a guest, by the same command as on a machine."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.engines.job import GuestError, GuestJob
from lab.engines.select import get_engine
from lab.mininet import packages
from lab.model.scenario import Scenario
from lab.net import topology
from lab.runs import runner
from lab.toolchain import build

LAB = Path(__file__).parents[1]
SUFFIXES = (".py", ".css", ".js", ".html", ".toml")
MEMORY_MB = 2048
SCRIPT = """#!/bin/sh
set -eu
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts # Mininet talks to its nodes through terminals
export PYTHONDONTWRITEBYTECODE=1
{environment}
python3 -m lab mininet {words} >"$RESULT"
"""


def _lab_files() -> Iterator[tuple[str, Path]]:
    """This package, as the guest is to find it."""
    for path in sorted(LAB.rglob("*")):
        if path.suffix in SUFFIXES:
            yield path.relative_to(LAB.parent).as_posix(), path


def run(kernel: str, words: Sequence[str], qdisc: str, cc: str, *, seed: int,
        timeout_s: float) -> str:  # fmt: skip
    """Runs the command in the guest; returns its output. Raises GuestError if it fails there."""
    needs = Scenario(kernel=kernel, qdisc=qdisc, cc=(cc,), seed=seed).check()
    engine = get_engine(kernel)
    names = runner.module_names(needs)
    files, environment = dict(_lab_files()), ""
    if kernel != "uml":
        files |= packages.files()
        environment = packages.ENVIRONMENT
    for name in runner.plugin_names(needs):
        files |= build.tc_plugin(name)
    with tempfile.TemporaryDirectory(prefix="zrtt-mininet-") as folder:
        script = Path(folder) / "script"
        script.write_text(SCRIPT.format(words=shlex.join(words), environment=environment))
        output = engine.run(
            GuestJob(
                script=script,
                files=files,
                modules=topology.modules(needs),
                kmods=[build.kernel_module(name, engine.kernel) for name in names],
                programs=packages.PROGRAMS,
                seed=seed,
                memory_mb=MEMORY_MB,
                timeout_s=timeout_s,
            )
        )
    if output.rc:
        raise GuestError(f"lab mininet failed with status {output.rc} there", output.console)
    return output.result
