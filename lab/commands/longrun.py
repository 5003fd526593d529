# SPDX-License-Identifier: GPL-2.0
"""lab longrun: a day of virtual time in one guest."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lab.commands.parsing import Commands, Help
from lab.host import files
from lab.host.progress import Board
from lab.model.scenario import ScenarioError
from lab.output import text_table
from lab.trials import longrun
from lab.trials.longrun import LongRun

HEAD = ("part", "Jain", "goodput", "delay", "RTT_avg", "P_b", "flows")
MIN_MINUTES = 10


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "longrun",
        help="a day of virtual time in one guest",
        description="Runs flows, short flows and steps of the link's rate on user-mode Linux for "
        "many hours of virtual time, in parts that are alike, and reads the counters every "
        "minute. Exit status 1 if the last part comes out other than the first, if a counter "
        "went back, or if packets are not accounted for.",
        formatter_class=Help,
    )
    p.add_argument("--parts", type=int, default=24, metavar="N", help="number of parts, 2 to 30")
    p.add_argument("--minutes", type=int, default=60, metavar="N",
                   help=f"minutes of a part, at least {MIN_MINUTES}")  # fmt: skip
    p.add_argument("--seed", type=int, default=1,
                   help="seed of start times and all other random choices")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    p.set_defaults(handler=_longrun)


def table(done: LongRun) -> str:
    """A line per part."""
    lines = [
        (str(number), f"{part.jain:.4f}", f"{part.utilisation:.1%}", f"{part.delay_ms:.1f} ms",
         f"{part.rtt_avg_ms:.1f} ms", f"{part.prob:.2%}", f"{part.flows:.1f}")
        for number, part in enumerate(done.parts, 1)
    ]  # fmt: skip
    return "\n".join(text_table.aligned([HEAD, *lines]))


def _longrun(args: argparse.Namespace) -> int:
    if not 2 <= args.parts <= longrun.MAX_PARTS:
        raise ScenarioError(f"--parts: 2 to {longrun.MAX_PARTS}")
    if args.minutes < MIN_MINUTES:
        raise ScenarioError(f"--minutes: at least {MIN_MINUTES}")
    board = Board()
    done = longrun.run(
        args.parts, args.minutes * 60, seed=args.seed, progress=board.track("longrun")
    )
    board.done("longrun", f"{done.wall_s:.0f} s")
    print(table(done))
    print(
        f"\nLinux {done.kernel}, {done.packets} packets; wraps of 32-bit clocks: microseconds"
        f" {done.us_wraps}, jiffies {int(done.jiffies_wrapped)}"
    )
    for problem in done.problems:
        print(f"lab: {problem}", file=sys.stderr)
    if args.json:
        files.write(args.json, json.dumps(asdict(done), indent=1) + "\n")
    return 1 if done.problems else 0
