# SPDX-License-Identifier: GPL-2.0
"""lab figures: the figures of the ZRTT paper."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab import table
from lab.commands.parsing import Commands, Help
from lab.engine import KERNELS
from lab.figures.catalogue import draw_all
from lab.figures.data import Runs
from lab.report import ReportError


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "figures",
        help="the figures of the ZRTT paper",
        description="Draws figures 2 to 7 of the ZRTT paper from the table of "
        "lab/sweeps/paper.toml: first with the paper's methods, then with all; ECN on and off; "
        "as SVG and PNG. What the table has no runs for is left out.",
        formatter_class=Help,
    )
    p.add_argument("table", type=Path, metavar="TABLE.csv", help="of lab sweep")
    p.add_argument("--out", type=Path, default=Path("out") / "figures", metavar="DIR",
                   help="for the pictures")  # fmt: skip
    p.add_argument("--kernel", choices=KERNELS, default="uml", help="whose runs to draw")
    p.set_defaults(handler=_figures)


def _figures(args: argparse.Namespace) -> None:
    try:
        rows = table.load(args.table)
    except OSError as error:
        raise ReportError(f"{args.table}: {error.strerror}") from error
    for path in draw_all(Runs(rows, args.kernel), args.out):
        print(path)
