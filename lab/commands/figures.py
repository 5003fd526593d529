# SPDX-License-Identifier: GPL-2.0
"""lab figures: the figures of the papers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from lab.commands import versions
from lab.commands.parsing import Commands, Help
from lab.figures import catalogue, endpoints, times
from lab.figures.data import Runs
from lab.kernels.kernel import KERNELS
from lab.results import report, table


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "figures",
        help="the figures of the papers",
        description="Draws figures 2 to 7 of the ZRTT paper from the table of "
        "lab/sweeps/paper.toml: first with the paper's methods, then with all; ECN on and off. "
        "From the tables of libra.toml, nrhstcp.toml, exp.toml and together.toml those of the "
        "endpoint schemes. From the JSON of runs with --sample, goodput against time. As SVG and "
        "PNG. What there are no runs for is left out.",
        formatter_class=Help,
    )
    p.add_argument("files", type=Path, nargs="+", metavar="FILE",
                   help="one CSV table of lab sweep, or the JSON of one or more lab run")  # fmt: skip
    p.add_argument("--out", type=Path, default=Path("out") / "figures", metavar="DIR",
                   help="folder for the pictures")  # fmt: skip
    p.add_argument("--kernel", choices=KERNELS, default="uml", help="draw the runs of this kernel")
    p.add_argument("--name", default="times", help="file name of the picture of JSON")
    p.add_argument("--title", default="Goodput of each flow", help="title of the picture of JSON")
    p.set_defaults(handler=_figures)


def _of_table(path: Path, args: argparse.Namespace) -> Iterator[Path]:
    rows = [row for row in table.load(path) if row.kernel == args.kernel]
    versions.warn(rows)
    if rows and rows[0].sweep in endpoints.FIGURES:
        return endpoints.draw_all(rows, args.out)
    return catalogue.draw_all(Runs(rows, args.kernel), args.out)


def _of_runs(args: argparse.Namespace) -> Iterator[Path]:
    runs = [run.result for path in args.files for run in report.load(path)]
    return times.draw(runs, args.title).save(args.out / args.name)


def _figures(args: argparse.Namespace) -> None:
    of_table = any(path.suffix == ".csv" for path in args.files)
    if of_table and len(args.files) > 1:
        raise report.ReportError("one CSV table at a time, without JSON of runs")
    for path in _of_table(args.files[0], args) if of_table else _of_runs(args):
        print(path)
