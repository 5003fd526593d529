# SPDX-License-Identifier: GPL-2.0
"""lab stress: sch_zrtt on the kernel that finds its own bugs."""

from __future__ import annotations

import argparse

from lab.commands.parsing import Commands, Help
from lab.model.scenario import ScenarioError
from lab.trials import stress


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "stress",
        help="try to break sch_zrtt, on a kernel with sanitizers",
        description="Boots guests of a kernel with KASAN, UBSAN, lockdep, kmemleak and fault "
        "injection (lab kernel debug), one after the other, until the time is over: allocations "
        "that fail one by one (faults), netlink messages that no tc sends (fuzz), and changes of "
        "everything at random under traffic (storm). Exit status 1 if the kernel complains or does "
        "what it must not.",
        formatter_class=Help,
    )
    p.add_argument("--minutes", type=float, default=30.0, metavar="N", help="minutes of real time")
    p.add_argument("--seed", type=int, default=1,
                   help="seed of the first guest; each next guest has the next")  # fmt: skip
    p.add_argument("--only", choices=stress.KINDS, help="run this kind of guest only")
    p.set_defaults(handler=_stress)


def _stress(args: argparse.Namespace) -> int:
    if not args.minutes > 0:
        raise ScenarioError("--minutes: more than 0")
    kinds = (args.only,) if args.only else stress.KINDS
    failed = 0
    for one, verdict in stress.go_on(kinds, args.seed, 60 * args.minutes):
        print(f"{one}, {verdict.wall_s:.0f} s: {verdict.said}{verdict.reports}", flush=True)
        failed += bool(verdict.reports)
    print(f"{failed} guests with reports" if failed else "no reports")
    return 1 if failed else 0
