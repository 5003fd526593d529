# SPDX-License-Identifier: GPL-2.0
"""lab exec: any program of this machine, in the laboratory's network."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from lab.commands.parsing import Commands, Help
from lab.exec import plan, runner
from lab.exec.figures import Direction, Figures
from lab.host import files
from lab.host.progress import Board
from lab.kernels.kernel import KERNELS, OTHER_TICKS
from lab.output import text_table
from lab.results.readings import Sojourn

SOJOURN = ("sojourn", "p95", "p99", "max")


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "exec",
        help="any program, over a qdisc in a guest",
        description="Runs programs of this machine as servers and clients in a guest, over a "
        "qdisc, as a file describes (docs/exec.md), and prints goodput and sojourn as the "
        "laboratory's meter sees them. What the programs write comes back. Exit status 0 only if "
        "no program failed.",
        formatter_class=Help,
    )
    p.add_argument("file", type=Path, metavar="FILE",
                   help="what to run, as lab/scenarios/curl.toml")  # fmt: skip
    p.add_argument("--kernel", choices=(*KERNELS, *OTHER_TICKS), default="uml",
                   help="kernel of the guest: Debian's, or user-mode Linux")  # fmt: skip
    p.add_argument("--qdisc", default="zrtt", metavar="WORDS",
                   help='the qdisc: words after "tc qdisc add dev X parent Y"')  # fmt: skip
    p.add_argument("--seed", type=int, default=1, help="seed of all that is random in the guest")
    p.add_argument("--out", type=Path, metavar="DIR",
                   help="where output and files of the programs go; default: "
                   "out/exec/NAME")  # fmt: skip
    p.add_argument("--timeout", type=float, default=600.0, metavar="S",
                   help="give up after so many seconds of real time")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")
    p.set_defaults(handler=_exec)


def _exec(args: argparse.Namespace) -> None:
    wanted = plan.load(args.file)
    out = args.out or Path("out") / "exec" / wanted.path.stem
    files.emptied(out, [command.name for command in wanted.commands])
    options = runner.Options(
        qdisc=args.qdisc, kernel=args.kernel, seed=args.seed, timeout_s=args.timeout,
        command="python3 -m lab " + shlex.join(sys.argv[1:]),
    )  # fmt: skip
    done = runner.run(wanted, options, out, Board().track(args.qdisc))
    if args.json:
        files.write(args.json, json.dumps(asdict(done), indent=1) + "\n")
    print("\n".join(_lines(done, wanted.min_rate_bps)))
    print(f"\nFiles: {out}\nLinux {done.kernel}, {done.clock}, seed {done.seed}")


def _lines(done: Figures, min_rate_bps: int) -> list[str]:
    lines = []
    for direction in done.directions:
        if len(done.directions) > 1:
            lines += [f"{direction.name}:"]
        lines += [*_flow_lines(direction, min_rate_bps), "", *_class_lines(direction), "",
                  *_total_lines(done.qdisc, direction), ""]  # fmt: skip
    return lines[:-1]


def _sojourn(sojourn: Sojourn) -> tuple[str, ...]:
    values = (sojourn.mean, sojourn.p95, sojourn.p99, sojourn.max)
    return tuple(f"{value:.2f} ms" for value in values)


def _flow_lines(direction: Direction, min_rate_bps: int) -> list[str]:
    head = ("flow", "", "class", "goodput", "there", "packets", "lost", "marks", *SOJOURN[:2])
    rows = [
        (
            f"{flow.protocol} {flow.source} > {flow.destination}",
            "*" if flow.counted else "",
            flow.flow_class,
            f"{flow.goodput_mbps:.3f} Mbit/s",
            f"{flow.first_s:.1f}..{flow.last_s:.1f} s",
            str(flow.packets),
            str(flow.lost),
            str(flow.marks),
            *_sojourn(flow.sojourn_ms)[:2],
        )
        for flow in direction.flows
        if flow.goodput_mbps * 1e6 >= min_rate_bps
    ]
    more = len(direction.flows) - len(rows)
    return [
        *text_table.aligned([head, *rows], left=3),
        *([f"{more} slower flows: in the JSON"] if more else []),
    ]


def _class_lines(direction: Direction) -> list[str]:
    head = ("class", "flows", "goodput", "packets", "lost", "marks", *SOJOURN)
    rows = [
        (
            of.name, str(of.flows), f"{of.goodput_mbps:.3f} Mbit/s", str(of.packets),
            str(of.lost), str(of.marks), *_sojourn(of.sojourn_ms),
        )
        for of in direction.classes
    ]  # fmt: skip
    return text_table.aligned([head, *rows])


def _total_lines(qdisc: str, direction: Direction) -> list[str]:
    queue, counted = direction.queue, sum(flow.counted for flow in direction.flows)
    head = ("", "Jain *", "flows *", "utilisation", *SOJOURN, "marks", "drops")
    row = (
        qdisc, "-" if direction.jain is None else f"{direction.jain:.3f}", str(counted),
        f"{queue.utilisation:.1%}", *_sojourn(queue.sojourn_ms), str(queue.marks),
        str(queue.drops),
    )  # fmt: skip
    top, line = text_table.aligned([head, row])
    return [top, "-" * len(top), line]
