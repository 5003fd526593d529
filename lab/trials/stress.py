# SPDX-License-Identifier: GPL-2.0
"""Runs the stress test of lab/guest/stress on a kernel with sanitizers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lab.engines.job import GuestError, GuestJob
from lab.engines.select import get_engine
from lab.kernels.kernel import DEBUG
from lab.toolchain import build
from lab.trials import stress_log

MODULE = "sch_zrtt"
SCRIPT = build.REPO / "lab" / "guest" / "stress.sh"
PACKAGE = build.REPO / "lab" / "guest" / "stress"
LAB_MODULES = ("__init__", "host/__init__", "host/netns", "host/process")
"""What the package uses of this one."""
PROGRAMS = ("python3", "nft")
MEMORY_MB = 2048
TIMEOUT_S = 1800.0

STEPS = {"faults": 1, "fuzz": 5000, "storm": 30}
"""Of a guest: a minute or less."""
SHARES = {"faults": 1, "fuzz": 4, "storm": 7}
"""Of the time."""
KINDS = tuple(STEPS)


@dataclass(frozen=True)
class Round:
    """One guest."""

    kind: str
    seed: int
    count: int
    """Messages or steps."""
    virtual_time: bool = True

    def __str__(self) -> str:
        clock = "" if self.virtual_time else " in real time"
        return f"{self.kind}, seed {self.seed}, {self.count} steps{clock}"


@dataclass(frozen=True)
class Verdict:
    """The outcome of a round."""

    said: str
    reports: str
    """Of the kernel or of the package; nothing if all is well."""
    wall_s: float = 0.0


def _files() -> Iterator[tuple[str, Path]]:
    for module in LAB_MODULES:
        name = f"lab/{module}.py"
        yield name, build.REPO / name
    for path in sorted(PACKAGE.glob("*.py")):
        yield path.relative_to(build.REPO).as_posix(), path


def run(one: Round, module: Path | None = None) -> Verdict:
    """Runs a round with the module, or with another build of it."""
    engine = get_engine(DEBUG)
    job = GuestJob(
        script=SCRIPT,
        args=(one.kind, str(one.seed), str(one.count)),
        files=dict(_files()),
        kmods=[module or build.kernel_module(MODULE, engine.kernel)],
        programs=PROGRAMS,
        seed=one.seed,
        memory_mb=MEMORY_MB,
        virtual_time=one.virtual_time,
        timeout_s=TIMEOUT_S,
    )
    try:
        output = engine.run(job)
    except GuestError as error:
        return Verdict("", f"{stress_log.reports(error.console)}{error}")
    if output.rc:
        return Verdict("", f"{output.console}status {output.rc}", output.wall_s)
    result = json.loads(output.result)
    found = stress_log.reports(output.console) + result["complaints"] + result["finding"]
    return Verdict(result["said"], found, output.wall_s)


def go_on(kinds: Sequence[str], seed: int, seconds: float) -> Iterator[tuple[Round, Verdict]]:
    """Rounds of these kinds until the time is over, one at least, each with the next seed.

    Half of the storms, as the seed has it, are in real time: these never repeat,
    but interrupts come where virtual time has none.
    """
    ends = time.monotonic() + seconds
    spent = dict.fromkeys(kinds, 0.0)
    while True:
        kind = min(kinds, key=lambda kind: spent[kind] / SHARES[kind])
        virtual_time = kind != "storm" or Random(seed).random() < 0.5
        one = Round(kind, seed, STEPS[kind], virtual_time)
        verdict = run(one)
        yield one, verdict
        spent[kind] += verdict.wall_s
        seed += 1
        if time.monotonic() >= ends:
            return
