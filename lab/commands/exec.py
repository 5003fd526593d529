# SPDX-License-Identifier: GPL-2.0
"""lab exec: any program of this machine, in the laboratory's network."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from lab.commands.parsing import Commands, Help, limit_s, seeds
from lab.engines.job import GuestError
from lab.exec import plan, runner, targets
from lab.exec.figures import Direction, Figures
from lab.exec.plan import Plan
from lab.exec.rtts import Rtt
from lab.exec.targets import Done
from lab.host import files
from lab.host.progress import Board
from lab.kernels.kernel import KERNELS, OTHER_TICKS
from lab.model.options import ScenarioError
from lab.output import text_table
from lab.results.readings import ResultError, Sojourn

SOJOURN = ("sojourn", "p95", "p99", "max")
QDISCS = ("zrtt",)
RTTS = ("path", "RTT seen", "source")


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "exec",
        help="any program, over a qdisc in a guest",
        description="Runs programs of this machine as servers and clients in a guest, over a "
        "qdisc, as a file describes (docs/exec.md), and prints goodput and sojourn as the "
        "laboratory's meter sees them; a line for each run if there are several. What the programs "
        "write comes back. Of several runs, one that fails does not end the others. Exit status 0 "
        "only if no program failed.",
        formatter_class=Help,
    )
    p.add_argument("files", type=Path, nargs="+", metavar="FILE",
                   help="what to run, as lab/scenarios/curl.toml")  # fmt: skip
    p.add_argument("--kernel", choices=(*KERNELS, *OTHER_TICKS), default="uml",
                   help="kernel of the guest: Debian's, or user-mode Linux")  # fmt: skip
    p.add_argument("--qdisc", action="append", metavar="WORDS",
                   help='the qdisc: words after "tc qdisc add dev X parent Y"; may be repeated; '
                   "default: zrtt")  # fmt: skip
    p.add_argument("--only", default="*", metavar="PATTERN",
                   help="of the variants of files, those whose NAME:VARIANT is like this")  # fmt: skip
    p.add_argument("--seed", type=seeds, default=[1], metavar="N,...",
                   help="seed of all that is random in the guest; one run for each")  # fmt: skip
    p.add_argument("--out", type=Path, metavar="DIR",
                   help="where output and files of the programs go; default: out/exec/NAME; of "
                   "several runs: DIR/NAME/VARIANT/QDISC/SEED, in out/exec")  # fmt: skip
    p.add_argument("--timeout", type=limit_s, default=600.0, metavar="S",
                   help="give up on a run after so many seconds of real time")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE",
                   help="write all results to FILE; of several runs: a list")  # fmt: skip
    p.add_argument("--check", action="store_true",
                   help="exit status 1 if a target of a file is missed")  # fmt: skip
    p.set_defaults(handler=_exec)


def _plans(paths: Sequence[Path], only: str) -> list[Plan]:
    """All variants that are wanted. Raises ScenarioError if there is none."""
    found = [
        variant
        for path in paths
        for variant in plan.load(path)
        if fnmatchcase(f"{path.stem}:{variant.variant}", only)
    ]
    if not found:
        raise ScenarioError(f"--only {only}: no variant is like this")
    return found


def _exec(args: argparse.Namespace) -> int:
    wanted = list(product(_plans(args.files, args.only), args.qdisc or QDISCS, args.seed))
    board, runs, failed = Board(), list[Done](), 0
    for of, qdisc, seed in wanted:
        out: Path = args.out or Path("out") / "exec"
        if len(wanted) > 1:
            out = out / of.path.stem / of.variant / qdisc.replace("/", "_") / f"seed-{seed}"
        elif not args.out:
            out = out / of.path.stem
        files.emptied(out, [command.name for command in of.commands])
        options = runner.Options(
            qdisc=qdisc, kernel=args.kernel, seed=seed, timeout_s=args.timeout,
            command="python3 -m lab " + shlex.join(sys.argv[1:]),
        )  # fmt: skip
        label = " ".join(filter(None, (of.path.stem, of.variant, qdisc)))
        try:
            runs.append(Done(of, runner.run(of, options, out, board.track(label))))
        except (GuestError, ResultError) as error:
            if len(wanted) == 1:
                raise
            failed += 1
            _tell_failure(f"{label}, seed {seed}", error)
            continue
        if args.json:  # after each, as a long series may be stopped
            found = [_record(run, several=len(wanted) > 1) for run in runs]
            content = found if len(wanted) > 1 else found[0]
            files.write(args.json, json.dumps(content, indent=1) + "\n")
    if not runs:
        return 1
    if len(wanted) > 1:
        print("\n".join(_table(runs)))
    else:
        print("\n".join(_lines(runs[0].figures, runs[0].plan.min_rate_bps)))
        print(f"\nFiles: {out}")
    done = runs[0].figures
    print(f"\nLinux {done.kernel}, {done.clock}, seed {', '.join(map(str, args.seed))}")
    missed = targets.missed(runs)
    print("".join(f"missed: {line}\n" for line in missed), end="")
    return int(bool(failed or (missed and args.check)))


def _tell_failure(label: str, error: GuestError | ResultError) -> None:
    """Of one run of several: the others go on."""
    if isinstance(error, GuestError) and error.console:
        print(error.last_lines(), file=sys.stderr)
    print(f"failed: {label}: {error}", file=sys.stderr, flush=True)


def _record(run: Done, *, several: bool) -> dict[str, object]:
    """Of the JSON."""
    figures = asdict(run.figures)
    return {"file": run.plan.path.stem, "variant": run.plan.variant, **figures} if several else figures


def _table(runs: Sequence[Done]) -> list[str]:
    """A line for each run, of its first direction."""
    head = ("file", "variant", "qdisc", "seed", "each class (Mbit/s)", "samples: median, p95, number",
            "Jain *", "flows *", "utilisation", *SOJOURN[:2])  # fmt: skip
    rows = []
    for run in runs:
        figures, way = run.figures, run.figures.directions[0]
        means = ", ".join(f"{name} {mbps:.2f}" for name, mbps in way.class_means().items())
        samples = ", ".join(
            f"{name} {_sample(of.median)}, {_sample(of.p95)} {of.unit}, {of.count}"
            for name, of in figures.samples.items()
        )
        rows.append((
            run.plan.path.stem, run.plan.variant, figures.qdisc, str(figures.seed), means, samples,
            _jain(way, 4), str(sum(flow.counted for flow in way.flows)),
            f"{way.queue.utilisation:.1%}", *_sojourn(way.queue.sojourn_ms)[:2],
        ))  # fmt: skip
    return text_table.aligned([head, *rows], left=6)


def _sample(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _jain(way: Direction, digits: int) -> str:
    return "-" if way.jain is None else f"{way.jain:.{digits}f}"


def _lines(done: Figures, min_rate_bps: int) -> list[str]:
    lines = []
    for direction in done.directions:
        if len(done.directions) > 1:
            lines += [f"{direction.name}:"]
        lines += [*_flow_lines(direction, min_rate_bps), "", *_class_lines(direction), "",
                  *_total_lines(done.qdisc, direction), ""]  # fmt: skip
    lines += [
        f"{name}: {of.count} samples, median {_sample(of.median)}, p95 {_sample(of.p95)} {of.unit}"
        for name, of in done.samples.items()
    ]
    return lines if done.samples else lines[:-1]


def _sojourn(sojourn: Sojourn) -> tuple[str, ...]:
    values = (sojourn.mean, sojourn.p95, sojourn.p99, sojourn.max)
    return tuple(f"{value:.2f} ms" for value in values)


def _flow_lines(direction: Direction, min_rate_bps: int) -> list[str]:
    shows = any(flow.rtt for flow in direction.flows)
    head = ("flow", "", "class", "goodput", "there", "packets", "lost", "marks", *SOJOURN[:2],
            *RTTS * shows)  # fmt: skip
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
            *_rtt(flow.rtt) * shows,
        )
        for flow in direction.flows
        if flow.counted or flow.goodput_mbps * 1e6 >= min_rate_bps
    ]
    more = len(direction.flows) - len(rows)
    return [
        *text_table.aligned([head, *rows], left=3),
        *([f"{more} slower flows: in the JSON"] if more else []),
    ]


def _rtt(rtt: Rtt | None) -> tuple[str, ...]:
    if not rtt:
        return ("-",) * len(RTTS)
    return f"{rtt.path_ms:.1f} ms", f"{rtt.seen_ms:.1f} ms", rtt.source


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
        qdisc, _jain(direction, 3), str(counted), f"{queue.utilisation:.1%}",
        *_sojourn(queue.sojourn_ms), str(queue.marks), str(queue.drops),
    )  # fmt: skip
    top, line = text_table.aligned([head, row])
    return [top, "-" * len(top), line]
