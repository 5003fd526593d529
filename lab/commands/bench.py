# SPDX-License-Identifier: GPL-2.0
"""lab bench: what a packet costs in zrtt and in its rivals."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from lab import bench_run, bench_subjects, bench_table
from lab.bench_result import Settings
from lab.bench_subjects import FLOWS
from lab.commands.parsing import Commands, Help
from lab.engine import KERNELS

NATIVE_ROUNDS, NATIVE_SLICES, NATIVE_PACKETS = 5, 20, 40_000
COUNTED_PACKETS = 50_000
COUNTED_GAP_NS = 12_000
"""1 Gbit/s: in each flow's time as many packets pass as on a link."""


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "bench",
        help="what a packet costs in zrtt and in its rivals",
        description="Drives qdiscs directly, by bench/qbench.c, and times their enqueue and "
        "dequeue: on a stock kernel in instructions, that QEMU counts and that repeat; with "
        "--kernel uml in nanoseconds of this machine, which should have nothing else to do.",
        formatter_class=Help,
    )
    p.add_argument("--kernel", choices=KERNELS, default="6.12", help="Debian's, or user-mode Linux")
    p.add_argument("--only", action="append", default=[], metavar="NAME",
                   help="patterns of what to measure; repeatable")  # fmt: skip
    p.add_argument("--flows", type=_flows, default=FLOWS, metavar="1,100,...", help="how many")
    p.add_argument("--packets", type=int, metavar="N",
                   help=f"timed per cell and round; default {COUNTED_PACKETS} counted, "
                   f"{NATIVE_PACKETS} native")  # fmt: skip
    p.add_argument("--rounds", type=int, metavar="N",
                   help="that the cells take turns in; default 1 counted, "
                   f"{NATIVE_ROUNDS} native")  # fmt: skip
    p.add_argument("--backlog", type=int, default=50, metavar="N", help="packets kept queued")
    p.add_argument("--gap", type=int, metavar="NS",
                   help="time between packets, 0 = none to spare; default "
                   f"{COUNTED_GAP_NS}, 1 Gbit/s, counted, 0 native")  # fmt: skip
    p.add_argument("--hash", choices=("preset", "none"), default="none",
                   help="packets come with a hash, as from a NIC, or without")  # fmt: skip
    p.add_argument("--ect", choices=("on", "off"), default="on", help="packets can be marked")
    p.add_argument("--seed", type=int, default=1, help="of the order of flows and all else random")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the result there")
    p.add_argument("--markdown", action="store_true", help="print a table for documents")
    p.set_defaults(handler=_bench)


def _flows(text: str) -> tuple[int, ...]:
    """Reads 1,100,..."""
    counts = tuple(int(word) for word in text.split(","))
    if not all(1 <= count <= bench_subjects.FLOWS_MAX for count in counts):
        raise ValueError(text)
    return counts


def _settings(args: argparse.Namespace) -> Settings:
    native = args.kernel == bench_run.NATIVE
    gap_ns = 0 if native else COUNTED_GAP_NS
    return Settings(
        kernel=args.kernel,
        packets=args.packets or (NATIVE_PACKETS if native else COUNTED_PACKETS),
        rounds=args.rounds or (NATIVE_ROUNDS if native else 1),
        slices=NATIVE_SLICES if native else 1,
        backlog=args.backlog,
        gap_ns=gap_ns if args.gap is None else args.gap,
        ect=args.ect == "on",
        hashed=args.hash == "preset",
        seed=args.seed,
    )


def _bench(args: argparse.Namespace) -> None:
    cells = bench_subjects.cells(args.only, args.flows)
    command = "python3 -m lab " + shlex.join(sys.argv[1:])
    done = bench_run.run(cells, _settings(args), command)
    if args.json:
        done.save(args.json)
    print(bench_table.render(done, markdown=args.markdown))
