# SPDX-License-Identifier: GPL-2.0
"""lab flent: a batch file of flent, in guests."""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.commands.parsing import Commands, Help, limit_s, told
from lab.engines.select import get_engine
from lab.flent import batch, plots, summary
from lab.flent.network import Network
from lab.host.progress import Board
from lab.kernels.kernel import KERNELS
from lab.model.scenario import parse_rtts
from lab.model.units import parse_rate, parse_time
from lab.output import pictures, text_table


def _override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.lower(), value


def _rates(text: str) -> tuple[int, int]:
    """Bits per second down and up from "20mbit" or "100mbit/20mbit"."""
    down, slash, up = text.partition("/")
    return parse_rate(down), parse_rate(up if slash else down)


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "flent",
        help="a batch file of flent, in guests",
        description="Runs flent's batches unchanged, each in a guest with hosts, a router and a "
        "client that flent reaches by name (lab/flent/network.py draws it); gives data files for "
        "any flent that has the tests in flent-configs, pictures of them, and a table of latency "
        "and goodput. docs/flent.md shows it.",
        formatter_class=Help,
    )
    p.add_argument("file", type=Path, metavar="FILE",
                   help="batch file, such as flent-configs/zrtt.batch")  # fmt: skip
    p.add_argument("--batch", action="append", default=[], metavar="NAME",
                   help="run this batch only; repeatable; default: all batches")  # fmt: skip
    p.add_argument("--override", action="append", default=[], type=_override, metavar="KEY=VALUE",
                   help="flent's --batch-override, such as length=10 or for_qdiscs=zrtt,cake; "
                   "repeatable")  # fmt: skip
    p.add_argument("--kernel", choices=KERNELS, default="uml", help="kernel of the guest")
    p.add_argument("--rate", type=told(_rates), default="20mbit", metavar="RATE[/RATE]",
                   help="rate of the bottleneck: of both directions, or down/up, such as "
                   "100mbit/20mbit")  # fmt: skip
    p.add_argument("--line", type=told(parse_time), metavar="TIME",
                   help="the bottleneck is a line beyond the router, with the rates of --rate and a "
                   "FIFO of so much room in each direction; for batches that attach qdiscs to the "
                   "root, such as flent-configs/line.batch")  # fmt: skip
    p.add_argument("--rtts", default="20ms..200ms/10", metavar="LIST",
                   help="RTTs, one host for each: 20ms,40ms,... or FIRST..LAST/COUNT")  # fmt: skip
    p.add_argument("--seed", type=int, default=1, help="seed of all random choices")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="number of guests at a time")  # fmt: skip
    p.add_argument("--timeout", type=limit_s, default=3600.0, metavar="S",
                   help="give up a batch after so many seconds of real time")  # fmt: skip
    p.add_argument("--out", type=Path, default=Path("out/flent"), metavar="DIR",
                   help="folder for data files and pictures")  # fmt: skip
    p.set_defaults(handler=_flent)


def _flent(args: argparse.Namespace) -> None:
    network = Network(*args.rate, parse_rtts(args.rtts), args.line).check()
    batches = batch.load(args.file, args.batch)
    pictures.pyplot()  # now rather than after minutes, if it is missing
    engine = get_engine(args.kernel)
    painter = plots.Painter()
    board = Board()

    def run(one: batch.Batch) -> tuple[list[Path], list[Path]]:
        files = batch.run(
            engine, one, network,
            overrides=dict(args.override), seed=args.seed, out=args.out,
            timeout_s=args.timeout, progress=board.track(one.name),
        )  # fmt: skip
        drawn = painter.draw_all(files)
        board.done(one.name, f"{len(files)} data files, {len(drawn)} pictures")
        return files, drawn

    with ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
        try:
            done = list(pool.map(run, batches))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    for files, drawn in done:
        print(*files, *drawn, sep="\n")
    every = [path for files, _ in done for path in files]
    print(*text_table.aligned(summary.lines(every, network.host_rtts_ms)), sep="\n")
    print(summary.LEGEND)
