# SPDX-License-Identifier: GPL-2.0
"""lab demo: zrtt against its rivals, in a few minutes."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.commands.parsing import Commands, Help
from lab.kernels.kernel import KERNELS
from lab.results import report
from lab.trials import demo

NEXT = """
What to look at next:
  {out}/demo.png          goodput of each flow against its RTT: flat is fair
  {out}/demo.json         all figures
  docs/algorithm.md     how it works        docs/results.md   what was measured, bad cells too
  README.md             to install it       docs/lab.md       experiments of your own:
    /usr/bin/python3 -m lab run --rate 50mbit --rtts 10ms,100ms --qdisc fq_codel"""


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "demo",
        help="zrtt against its rivals, in a few minutes",
        description="Shares one bottleneck among 20 flows of 20 to 400 ms, without hints, under "
        "four queues, prints a table and writes demo.json and demo.png.",
        formatter_class=Help,
    )
    p.add_argument("--kernel", choices=KERNELS,
                   help="kernel of the guests; default: the newest that apt offers")  # fmt: skip
    p.add_argument("--seed", type=int, default=1,
                   help="seed of start times and all other random choices")  # fmt: skip
    p.add_argument("--out", type=Path, default=Path("out"), metavar="DIR",
                   help="folder for demo.json and demo.png")  # fmt: skip
    p.add_argument("--full", action="store_true",
                   help="also mode mrtt, and 120 s rather than 80 for each queue, as in "
                   "docs/demo.png")  # fmt: skip
    p.set_defaults(handler=_demo)


def _demo(args: argparse.Namespace) -> None:
    runs = demo.run(args.kernel or demo.choose_kernel(), args.seed, args.out, full=args.full)
    print(report.table(runs))
    first = runs[0].result
    print(f"\nLinux {first.kernel}, {first.clock}\n{NEXT.format(out=args.out)}")
