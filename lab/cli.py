# SPDX-License-Identifier: GPL-2.0
"""The command line of the laboratory."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from lab import (
    build,
    demo,
    grid,
    initramfs,
    kernels,
    report,
    runner,
    summary,
    sweep,
    sweepfile,
    table,
)
from lab.engine import KERNELS, GuestError, get_engine
from lab.progress import Board
from lab.result import Result, ResultError
from lab.scenario import CCS, Scenario, ScenarioError
from lab.units import UnitError

CONSOLE_LINES = 40
EXPECTED_ERRORS = (
    ScenarioError,
    UnitError,
    kernels.KernelError,
    build.BuildError,
    initramfs.InitramfsError,
    report.ReportError,
    ResultError,
    GuestError,
    table.TableError,
)


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults, but for options that have none."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return super()._get_help_string(action) if action.default else action.help


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    p = commands.add_parser(
        "run",
        help="one scenario in one guest",
        description="Runs TCP flows of different RTTs through a qdisc on a real kernel in a "
        "guest, and prints what came of it. Exit status 0 only if the run finished and its "
        "numbers add up.",
        formatter_class=_Help,
    )
    p.add_argument("--kernel", choices=KERNELS, default="6.12", help="Debian's, or user-mode Linux")
    p.add_argument("--qdisc", default="zrtt", metavar="WORDS",
                   help='what to type after "tc qdisc add dev X parent Y"')  # fmt: skip
    p.add_argument("--rate", default="20mbit", help="of the bottleneck")
    p.add_argument("--rtts", default="20ms..400ms/20", metavar="LIST",
                   help="20ms,40ms,... or FIRST..LAST/COUNT; one host each")  # fmt: skip
    p.add_argument("--sessions", type=int, default=1, metavar="K", help="flows per RTT")
    p.add_argument("--cc", default="cubic", metavar="NAME",
                   help=f"{', '.join(CCS)} or mix:A,B given to the flows in turn")  # fmt: skip
    p.add_argument("--ecn", choices=("on", "off"), default="on", help="flows negotiate ECN")
    p.add_argument("--gso", choices=("on", "off"), default="off",
                   help="super-packets through the qdisc")  # fmt: skip
    p.add_argument("--hint", default="packet", metavar="MODE",
                   help="RTT hint in each packet, sampled (50 ms of each 500), none, or the "
                   "fraction of flows that hint in each packet")  # fmt: skip
    p.add_argument("--liar", action="append", default=[], metavar="N:FACTOR",
                   help="flow N (from 0) states FACTOR times its RTT; repeatable")  # fmt: skip
    p.add_argument("--warmup", type=float, default=20.0, metavar="S", help="not measured")
    p.add_argument("--duration", type=float, default=60.0, metavar="S", help="measured")
    p.add_argument("--seed", type=int, default=1, help="of start times and all else random")
    p.add_argument("--step", action="append", default=[], metavar="'t=S rate=R delay=D'",
                   help="S seconds after the start set the rate, or add D to all RTTs; "
                   "repeatable")  # fmt: skip
    p.add_argument("--sample", type=float, default=0.0, metavar="S",
                   help="record the goodput of each flow every S seconds; 0 = no")  # fmt: skip
    p.add_argument("--timeout", type=float, default=3600.0, metavar="S",
                   help="give up after that long on this machine's clock")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write the full result there")
    p.set_defaults(handler=_run)


def _scenario(args: argparse.Namespace) -> Scenario:
    fields: dict[str, Any] = {}
    for name, parse in grid.FIELDS.items():
        fields |= parse(getattr(args, name))
    return Scenario(
        kernel=args.kernel,
        qdisc=args.qdisc,
        seed=args.seed,
        sample_ms=round(args.sample * 1000),
        **fields,
    ).check()


def _run(args: argparse.Namespace) -> None:
    scenario = _scenario(args)
    command = "python3 -m lab " + shlex.join(sys.argv[1:])
    board = Board()
    done = runner.run(
        scenario,
        command=command,
        progress=board.track(scenario.qdisc),
        timeout_s=args.timeout,
    )
    board.done(scenario.qdisc, f"{done.wall_s:.0f} s, {done.cpu_s:.0f} s of CPU")
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(done.to_dict(), indent=1) + "\n")
    _print_result(done)


def _print_result(done: Result) -> None:
    for flow in done.flows:
        print(
            f"{flow.rtt_ms:6.0f} ms  {flow.cc:5}  {flow.goodput_mbps:8.3f} Mbit/s"
            f"  {flow.retransmits:5} retransmitted  {flow.marks:6} marks"
        )
    print()
    print(report.table([report.Run(done.label, done)]))
    print(f"\nLinux {done.kernel}, {done.clock}, seed {done.seed}, {done.reruns} reruns")


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    p = commands.add_parser(
        "demo",
        help="zrtt against its rivals, in a few minutes",
        description="Shares one bottleneck among 20 flows of 20 to 400 ms under five queues, "
        "prints a table and writes demo.json and demo.png.",
        formatter_class=_Help,
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


def _seeds(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def _add_sweep(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    p = commands.add_parser(
        "sweep",
        help="a grid of scenarios, into a table",
        description="Runs all scenarios of a sweep file (lab/sweepfile.py explains it) and adds a "
        "row for each to a table. Runs that the table has already, of the same command, kernel and "
        "sources, are not done again. Exit status 1 if a run failed, 2 if the file makes no sense.",
        formatter_class=_Help,
    )
    p.add_argument("file", type=Path, metavar="FILE", help="such as lab/sweeps/fairness.toml")
    p.add_argument("--output", type=Path, metavar="FILE",
                   help="the table; default out/sweep/NAME.csv")  # fmt: skip
    p.add_argument("--only", action="append", default=[], metavar="CELL[:QDISC]",
                   help="patterns of what to run; repeatable")  # fmt: skip
    p.add_argument("--kernel", action="append", default=[], choices=KERNELS,
                   help="instead of the file's; repeatable")  # fmt: skip
    p.add_argument("--seeds", type=_seeds, default=[], metavar="1,2,...", help="instead of its own")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="guests at a time")  # fmt: skip
    p.add_argument("--fresh", action="store_true", help="run all, known or not")
    p.set_defaults(handler=_sweep)


def _sweep(args: argparse.Namespace) -> int:
    plan = sweepfile.load(args.file)
    points = plan.points(kernels=args.kernel, seeds=args.seeds, only=args.only)
    if not points:
        raise grid.GridError(f"{args.file}: --only {' '.join(args.only)}: matches nothing")
    path = args.output or Path("out") / "sweep" / f"{plan.name}.csv"
    with table.opened(path) as rows:
        outcome = sweep.run(points, rows, jobs=max(1, args.jobs), fresh=args.fresh)
    print(f"{outcome}; table: {path}", file=sys.stderr)
    return 1 if outcome.failed else 0


def _add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    p = commands.add_parser(
        "report",
        help="show results again",
        description="Prints the table of runs kept as JSON, and draws them; of the CSV table of a "
        "sweep, worst, median and best over the seeds.",
    )
    p.add_argument("files", type=Path, nargs="+", metavar="FILE",
                   help="JSON of run --json or demo, or one CSV of sweep")  # fmt: skip
    p.add_argument("--png", type=Path, metavar="FILE", help="draw throughput against RTT there")
    p.add_argument("--markdown", action="store_true", help="of a sweep: for documents")
    p.add_argument("--check", type=Path, metavar="FILE",
                   help="of a sweep: its sweep file; prints the targets that were missed, "
                   "with exit status 1 if there are any")  # fmt: skip
    p.set_defaults(handler=_report)


def _report(args: argparse.Namespace) -> int:
    if [path.suffix for path in args.files] == [".csv"]:
        return _report_sweep(args)
    if args.markdown or args.check:
        raise report.ReportError("--markdown and --check are for the CSV of a sweep")
    runs = [run for path in args.files for run in report.load(path)]
    print(report.table(runs))
    if args.png:
        report.plot(runs, args.png)
    return 0


def _report_sweep(args: argparse.Namespace) -> int:
    rows = table.load(args.files[0])
    print(summary.render(rows, markdown=args.markdown))
    misses = summary.misses(sweepfile.load(args.check), rows) if args.check else []
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if misses else 0


def _add_kernel(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    p = commands.add_parser(
        "kernel",
        help="find, fetch, build and list kernels",
        description="Fetches the newest of Debian's kernels into the cache, with the headers "
        "to build modules for them, builds user-mode Linux, and says what they are.",
    )
    p.add_argument("kernels", nargs="*", choices=[[], *KERNELS], metavar="KERNEL",
                   help=f"some of {', '.join(KERNELS)}; default all")  # fmt: skip
    p.set_defaults(handler=_kernel)


def _kernel(args: argparse.Namespace) -> None:
    for name in args.kernels or KERNELS:
        kernel = get_engine(name).kernel
        print(f"{name:5} {kernel.release}  {kernel.image}")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="python3 -m lab",
        description="The laboratory of sch_zrtt: real kernels in virtual time.",
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    _add_demo(commands)
    _add_sweep(commands)
    _add_report(commands)
    _add_kernel(commands)
    return top


def main() -> int:
    """Runs a command. Returns the exit status."""
    args = parser().parse_args()
    try:
        return args.handler(args) or 0
    except grid.GridError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except EXPECTED_ERRORS as error:
        if isinstance(error, GuestError) and error.console:
            print("\n".join(error.console.splitlines()[-CONSOLE_LINES:]), file=sys.stderr)
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
