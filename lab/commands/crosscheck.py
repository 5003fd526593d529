# SPDX-License-Identifier: GPL-2.0
"""lab crosscheck: one scenario on user-mode Linux and on a stock kernel."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import Any

from lab.commands.parsing import Commands, Help, seeds
from lab.kernels.kernel import KERNELS
from lab.model import grid
from lab.model.scenario import Scenario, ScenarioError
from lab.trials import crosscheck

REFERENCE = "uml"
# Small enough that three seeds take minutes in an emulated machine.
CELL = {
    "rate": "10mbit", "rtts": "20ms..200ms/10", "cc": "cubic", "warmup": "15", "duration": "30",
}  # fmt: skip


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "crosscheck",
        help="one scenario on user-mode Linux and on a stock kernel",
        description="Runs one scenario, with several seeds, on user-mode Linux and on a stock "
        "kernel in QEMU, and says of each metric whether the two agree: whether the intervals "
        "mean +- max(2 standard deviations, a floor) overlap. Exit status 1 if they do not. "
        "The options of the scenario are those of lab run.",
        formatter_class=Help,
    )
    p.add_argument("--kernel", choices=[k for k in KERNELS if k != REFERENCE], default="6.12",
                   help="stock kernel to compare with")  # fmt: skip
    p.add_argument("--seeds", type=seeds, default=[1, 2, 3], metavar="1,2,...",
                   help="seeds on each kernel, at least two")  # fmt: skip
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="number of guests at a time")  # fmt: skip
    p.add_argument("--qdisc", default="zrtt", metavar="WORDS",
                   help='the qdisc: words after "tc qdisc add dev X parent Y"')  # fmt: skip
    for name in grid.FIELDS:
        action = "append" if name in grid.REPEATED else "store"
        p.add_argument(f"--{name}", action=action, default=CELL.get(name), metavar="VALUE",
                       help=f"see --{name} of lab run")  # fmt: skip
    p.set_defaults(handler=_crosscheck)


def _scenario(args: argparse.Namespace) -> Scenario:
    fields: dict[str, Any] = {}
    for name, parse in grid.FIELDS.items():
        value = getattr(args, name)
        if value is not None:
            fields |= parse(value)
    return Scenario(qdisc=args.qdisc, **fields).check()


def _crosscheck(args: argparse.Namespace) -> int:
    scenario = _scenario(args)
    if len(args.seeds) < 2:
        raise ScenarioError("--seeds: at least two, as one has no spread")
    command = "python3 -m lab " + shlex.join(sys.argv[1:])
    results = crosscheck.run(
        scenario, (REFERENCE, args.kernel), args.seeds, jobs=max(1, args.jobs), command=command
    )  # fmt: skip
    verdicts = crosscheck.judge(results)
    print(crosscheck.table(verdicts))
    releases = " and ".join(runs[0].kernel for runs in results.values())
    print(f"\n{scenario.qdisc}, {len(args.seeds)} seeds, Linux {releases}")
    return 0 if all(verdict.agree for verdict in verdicts) else 1
