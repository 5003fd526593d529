# SPDX-License-Identifier: GPL-2.0
"""lab arena: scenarios drawn at random."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.arena import page, report
from lab.arena.figures import bouts
from lab.arena.plan import Scenario, Shard, default_qdiscs, numbers, parse_qdiscs, plan
from lab.commands import versions
from lab.commands.parsing import Commands, Help, seeds, told
from lab.host import files
from lab.kernels.kernel import KERNELS
from lab.model.line import PLACES
from lab.results import table
from lab.results.table import Row
from lab.runs import sweep


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "arena",
        help="scenarios drawn at random, a qdisc and its rivals in each",
        description="Draws scenarios at random, each from the seed and its number alone, runs all "
        "qdiscs in each and shows who is behind whom: fairness, utilisation, delay, short flows, "
        "what TCP gets beside UDP. Runs that the table has already, of the same command, kernel "
        "and sources, are not done again. Exit status 1 if a run failed, 2 if an option makes no "
        "sense.",
        formatter_class=Help,
    )
    p.add_argument("--seed", type=int, required=True, metavar="S", help="seed of the arena")
    p.add_argument("--count", type=int, required=True, metavar="N",
                   help="number of scenarios; their numbers are 1 to N")  # fmt: skip
    p.add_argument("--qdisc", action="append", default=[], metavar="NAME=WORDS",
                   help="a qdisc to run: its name, and the words to type to tc (default: its "
                   "name); repeatable; default zrtt, fq_codel, cake (flows), pie and, "
                   "on uml, dualpi2")  # fmt: skip
    p.add_argument("--kernel", choices=KERNELS, default="uml",
                   help="kernel of the guests")  # fmt: skip
    p.add_argument("--l4s", action="store_true",
                   help="all or some of the flows of each scenario are scalable (prague), and in "
                   "some scenarios others send as ECT(1), too; the scenarios are otherwise the "
                   "same; the default qdiscs are set up for ECT(1)")  # fmt: skip
    p.add_argument("--hosts", action="store_true",
                   help="hosts have 1 to 20 flows each in most scenarios, and are compared instead "
                   "of the flows; the scenarios are otherwise the same; default qdiscs zrtt (fair "
                   "srchost), fq_codel and cake (dual-srchost)")  # fmt: skip
    p.add_argument("--streams", action="store_true",
                   help="there are 1 to 12 UDP streams, each of a constant rate below an equal "
                   "share, in place of other UDP; the scenarios are otherwise the same")  # fmt: skip
    p.add_argument("--lines", nargs="?", choices=PLACES, const=PLACES[0], default="",
                   metavar="PLACE",
                   help="other scenarios: behind the qdisc, or with the word before that side of "
                   "it, is a hidden line of 0.4 to 100 Mbit/s and more, whose rate changes; "
                   "default qdiscs zrtt (bandwidth auto), fq_codel and cake-autorate")  # fmt: skip
    p.add_argument("--timestamps", metavar="on|off|FRACTION",
                   help="as that of lab run; the scenarios are otherwise the same")
    p.add_argument("--only", type=seeds, default=[], metavar="K,K,...",
                   help="run only scenarios of these numbers")  # fmt: skip
    p.add_argument("--shard", type=told(Shard.parse), default=Shard(), metavar="I/N",
                   help="run only part I of N, to share the work among machines")  # fmt: skip
    p.add_argument("--output", type=Path, metavar="FILE",
                   help="table of all runs, as that of lab sweep; default out/arena/SEED.csv, of a "
                   "shard out/arena/SEED-IofN.csv")  # fmt: skip
    p.add_argument("--merge", type=Path, nargs="+", default=[], metavar="FILE",
                   help="run nothing: show these tables together, such as those of shards")
    p.add_argument("--list", action="store_true", help="run nothing: print the scenarios")
    p.add_argument("--html", type=Path, metavar="FILE",
                   help="write an HTML page, losses first, to FILE")  # fmt: skip
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="number of guests at a time")  # fmt: skip
    p.add_argument("--fresh", action="store_true", help="repeat runs that the table has already")
    p.set_defaults(handler=_arena)


def _kinds(args: argparse.Namespace) -> dict[str, bool]:
    """What flows are asked for, as draw() takes it."""
    return {"hosts": args.hosts, "l4s": args.l4s, "streams": args.streams}


def _path(args: argparse.Namespace) -> Path:
    shard = f"-{args.shard.index}of{args.shard.count}" if args.shard.count > 1 else ""
    kind = "".join(f"-{name}" for name, asked in _kinds(args).items() if asked)
    line = {"": "", PLACES[0]: "-lines"}.get(args.lines, f"-lines-{args.lines}")
    return args.output or Path("out") / "arena" / f"{args.seed}{kind}{line}{shard}.csv"


def _run(args: argparse.Namespace, wanted: Sequence[Scenario]) -> tuple[list[Row], int]:
    """Does what the table lacks. Returns the rows of the sources as they are, and failures."""
    points = [point for scenario in wanted for point in scenario.points.values()]
    guests, path = sweep.RealGuests(), _path(args)
    with table.opened(path) as rows:
        outcome = sweep.run(
            points, rows, jobs=max(1, args.jobs), fresh=args.fresh, guests=guests
        )
        found = sweep.current(points, rows, guests)
    print(f"{outcome}; table: {path}", file=sys.stderr)
    return found, outcome.failed


def _arena(args: argparse.Namespace) -> int:
    qdiscs = parse_qdiscs(args.qdisc) or default_qdiscs(
        args.kernel, l4s=args.l4s, hosts=args.hosts, lines=args.lines
    )
    chosen = numbers(args.count, args.shard, args.only)
    more = {"timestamps": args.timestamps} if args.timestamps else {}
    wanted = plan(
        args.seed, chosen, qdiscs, args.kernel, lines=args.lines, more=more, **_kinds(args)
    )
    if args.list:
        print(report.scenarios(wanted))
        return 0
    failed = 0
    if args.merge:
        asked = {point.command for scenario in wanted for point in scenario.points.values()}
        merged = [row for path in args.merge for row in table.load(path)]
        rows = [row for row in merged if row.command in asked]
        versions.warn(rows)
    else:
        rows, failed = _run(args, wanted)
    found = bouts(wanted, rows)
    print(report.render(found))
    if args.html:
        files.write(args.html, page.render(found, rows))
    return 1 if failed else 0
