# SPDX-License-Identifier: GPL-2.0
"""lab flood: what a flood of spoofed flows does to others, and what it costs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lab.commands.parsing import Commands, Help
from lab.host.progress import Board
from lab.model.scenario import ScenarioError
from lab.output import text_table
from lab.trials import flood, flood_cost
from lab.trials.flood import Flooded, as_percent
from lab.trials.flood_cost import Costs

HEAD = ("", "flood", "new flows", "Jain", "goodput", "sojourn", "p95")


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "flood",
        help="what a flood of spoofed flows does to others, and what it costs",
        description="Runs 20 flows on user-mode Linux, alone and beside floods: packets of 64 "
        "bytes, each the first of a flow. With --cost, counts "
        "instructions per packet in QEMU instead, for shares of such packets. Exit status 1 "
        "if fairness or cost changes more than it may.",
        formatter_class=Help,
    )
    p.add_argument("--cost", action="store_true",
                   help="count instructions instead of measuring fairness")  # fmt: skip
    p.add_argument("--duration", type=float, default=60.0, metavar="S",
                   help="seconds measured; with 493 the larger flood has a million "
                   "flows")  # fmt: skip
    p.add_argument("--share", type=float, action="append", metavar="PERCENT",
                   help="of the link that a flood takes, up to 200; repeatable; default: "
                   "1 and 5")  # fmt: skip
    p.add_argument("--packets", type=int, default=100_000, metavar="N",
                   help="packets timed for each figure of --cost")  # fmt: skip
    p.add_argument("--seed", type=int, default=1,
                   help="seed of start times and all other random choices")  # fmt: skip
    p.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    p.set_defaults(handler=_flood)


def fairness_lines(runs: Sequence[Flooded]) -> list[tuple[str, ...]]:
    """A line per run."""
    return [
        HEAD,
        *(
            (
                run.qdisc, as_percent(run.share), str(run.packets), f"{run.result.jain:.4f}",
                f"{run.goodput:.1%}", f"{run.result.sojourn_ms.mean:.1f} ms",
                f"{run.result.sojourn_ms.p95:.1f} ms",
            )
            for run in runs
        ),
    ]  # fmt: skip


def cost_lines(costs: Costs) -> list[tuple[str, ...]]:
    """A line per load, a column per qdisc."""
    names = list(dict.fromkeys(name for name, _ in costs))
    loads = dict.fromkeys(load for _, load in costs)
    return [
        ("instructions per packet", *names),
        *((str(load), *(f"{costs[name, load].total:.0f}" for name in names)) for load in loads),
    ]


def _flood(args: argparse.Namespace) -> int:
    if args.packets < 1:
        raise ScenarioError("--packets: at least 1")
    if not all(0 < percent <= 200 for percent in args.share or ()):
        raise ScenarioError("--share: above 0 and at most 200")
    if args.cost:
        costs = flood_cost.measure(args.packets, seed=args.seed)
        lines, problems = cost_lines(costs), flood_cost.problems(costs)
    else:
        shares = [percent / 100 for percent in args.share or ()] or flood.SHARES
        runs = flood.run(args.duration, args.seed, Board().track, shares)
        lines, problems = fairness_lines(runs), flood.problems(runs)
    lay_out = text_table.markdown if args.markdown else text_table.aligned
    print("\n".join(lay_out(lines)))
    for problem in problems:
        print(f"lab: {problem}", file=sys.stderr)
    return 1 if problems else 0
