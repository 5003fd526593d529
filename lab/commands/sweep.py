# SPDX-License-Identifier: GPL-2.0
"""lab sweep: a grid of scenarios, into a table."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lab.commands.parsing import Commands, Help, seeds
from lab.kernels.kernel import KERNELS
from lab.results import table
from lab.runs import sweep, sweepfile


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "sweep",
        help="a grid of scenarios, into a table",
        description="Runs all scenarios of a sweep file (lab/runs/sweepfile.py explains it) and "
        "adds a row for each to a table. Runs that the table has already, of the same command, "
        "kernel and sources, are not done again. Exit status 1 if a run failed, 2 if the file "
        "makes no sense.",
        formatter_class=Help,
    )
    p.add_argument("file", type=Path, metavar="FILE",
                   help="sweep file, as lab/sweeps/fairness.toml")  # fmt: skip
    p.add_argument("--output", type=Path, metavar="FILE",
                   help="the table; default: out/sweep/NAME.csv")  # fmt: skip
    p.add_argument("--only", action="append", default=[], metavar="CELL[:QDISC]",
                   help="patterns of cells and qdiscs to run; repeatable")  # fmt: skip
    p.add_argument("--kernel", action="append", default=[], choices=KERNELS,
                   help="kernel of the guests instead of the file's; repeatable")  # fmt: skip
    p.add_argument("--seeds", type=seeds, default=[], metavar="1,2,...",
                   help="seeds instead of the file's")  # fmt: skip
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="number of guests at a time")  # fmt: skip
    p.add_argument("--fresh", action="store_true", help="repeat runs that the table has already")
    p.set_defaults(handler=_sweep)


def _sweep(args: argparse.Namespace) -> int:
    plan = sweepfile.load(args.file)
    points = plan.points(kernels=args.kernel, seeds=args.seeds, only=args.only)
    path = args.output or Path("out") / "sweep" / f"{plan.name}.csv"
    with table.opened(path) as rows:
        outcome = sweep.run(points, rows, jobs=max(1, args.jobs), fresh=args.fresh)
    print(f"{outcome}; table: {path}", file=sys.stderr)
    return 1 if outcome.failed else 0
