# SPDX-License-Identifier: GPL-2.0
"""lab tdc: cases of tdc, in guests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.commands.parsing import Commands, Help, limit_s
from lab.engines.select import get_engine
from lab.kernels.debian import SERIES
from lab.kernels.kernel import KERNELS
from lab.trials import tdc
from lab.trials.tdc import Outcome

SUITES = (str(tdc.SUITE), "codel", "fq_codel")


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "tdc",
        help="cases of tdc, in guests",
        description="Runs tdc, the kernel's tester of qdiscs, on files of cases. Fails if "
        "a case fails, is skipped, or is not reached.",
        formatter_class=Help,
    )
    p.add_argument("suites", nargs="*", metavar="FILE",
                   help="file of cases, or the name of one in the kernel's source, such as codel; "
                   "default: zrtt's, codel and fq_codel")  # fmt: skip
    p.add_argument("--kernel", action="append", choices=KERNELS,
                   help="kernel of the guests; repeatable; default: "
                   f"{' and '.join(SERIES)}")  # fmt: skip
    p.add_argument("--timeout", type=limit_s, default=1800.0, metavar="S",
                   help="give up a guest after so many seconds of real time")  # fmt: skip
    p.set_defaults(handler=_tdc)


def _tdc(args: argparse.Namespace) -> int:
    suites = [tdc.suite(name) for name in args.suites or SUITES]
    engines = [get_engine(kernel) for kernel in args.kernel or SERIES]
    failed = False
    with ThreadPoolExecutor(max_workers=len(engines)) as pool:
        done = pool.map(lambda engine: tdc.run(engine, suites, args.timeout), engines)
        for engine, outcomes in zip(engines, done, strict=True):
            print("\n".join(_report(engine.kernel.name, suites, outcomes)), flush=True)
            failed = failed or any(outcome.failure for outcome in outcomes)
    return int(failed)


def _report(kernel: str, suites: Sequence[Path], outcomes: Sequence[Outcome]) -> list[str]:
    """A line per file, and what was said of each failure."""
    lines = []
    for path in suites:
        own = [outcome for outcome in outcomes if outcome.case.file == path]
        failures = [outcome for outcome in own if outcome.failure]
        lines.append(
            f"{kernel:5} {path.stem:10} {len(own) - len(failures):4} passed"
            f" {len(failures):4} failed"
        )
        lines += [f"{f.case.id} {f.case.name}\n{f.failure}" for f in failures]
    return lines
