# SPDX-License-Identifier: GPL-2.0
"""lab demo: zrtt against its rivals, in a few minutes."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab import demo, report
from lab.commands.parsing import Commands, Help
from lab.engine import KERNELS


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "demo",
        help="zrtt against its rivals, in a few minutes",
        description="Shares one bottleneck among 20 flows of 20 to 400 ms under five queues, "
        "prints a table and writes demo.json and demo.png.",
        formatter_class=Help,
    )
    p.add_argument("--kernel", choices=KERNELS, help="otherwise the newest that apt offers")
    p.add_argument("--seed", type=int, default=1, help="of start times and all else random")
    p.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="for the files")
    p.set_defaults(handler=_demo)


def _demo(args: argparse.Namespace) -> None:
    runs = demo.run(args.kernel or demo.choose_kernel(), args.seed, args.out)
    print(report.table(runs))
    first = runs[0].result
    print(f"\nLinux {first.kernel}, {first.clock}; picture in {args.out / 'demo.png'}")
