# SPDX-License-Identifier: GPL-2.0
"""lab bench: what a packet costs in zrtt and in its rivals."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.bench import cost_table, gate, measure, memory, plot, profile, result
from lab.bench.guest import NATIVE
from lab.bench.subjects import COMPARED, COMPARED_FLOWS, FLOWS, FLOWS_MAX, SHAPES, USUAL, cells
from lab.commands.parsing import Commands, Help, told
from lab.kernels.kernel import KERNELS
from lab.model.grid import GridError
from lab.output import pictures

NUMBER_MAX, BACKLOG_MAX = 1_000_000_000, 100_000
"""Of qbench's parameters."""
NATIVE_ROUNDS, NATIVE_SLICES, NATIVE_PACKETS = 5, 20, 40_000
COUNTED_PACKETS = 100_000
COUNTED_GAP_NS = 12_000
"""1 Gbit/s: in each flow's time as many packets pass as on a link."""


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "bench",
        help="what a packet costs in zrtt and in its rivals",
        description="Drives qdiscs directly, by lab/bench/kmod/qbench.c, and times their enqueue "
        "and dequeue: on a stock kernel in instructions, which QEMU counts and which repeat; with "
        "--kernel uml in nanoseconds of this machine, which should have nothing else to do. "
        "--check exits with status 1 if anything costs over 3 % more than the file says.",
        formatter_class=Help,
    )
    what = p.add_mutually_exclusive_group()
    what.add_argument("--memory", action="store_true", help="measure memory instead of time")
    what.add_argument("--profile", action="store_true",
                      help="show the instructions of one cell by function")  # fmt: skip
    what.add_argument("--check", type=Path, metavar="FILE",
                      help="repeat the measurements of FILE, with its settings, and compare; "
                      "other options are its own")  # fmt: skip
    p.add_argument("--kernel", choices=KERNELS, default="6.12",
                   help="kernel of the guest: Debian's, or user-mode Linux")  # fmt: skip
    p.add_argument("--only", action="append", default=[], metavar="NAME",
                   help="patterns of the qdiscs to measure; repeatable")  # fmt: skip
    p.add_argument("--shape", action="append", default=[], choices=SHAPES,
                   help="shape of the packets; repeatable. frag: headers and a page, as "
                   "segments of a GSO packet are; linear: in one piece; timestamps: that, with "
                   "TCP timestamps; ack: a pure one, ack-plain: without timestamps; vlan: frag "
                   "with a tag beside it; "
                   f"frag6, ack6: IPv6. Default: {USUAL}, and the others for "
                   f"{', '.join(COMPARED)} at {_list(COMPARED_FLOWS)} flows")  # fmt: skip
    p.add_argument("--flows", type=_flows, metavar="1,100,...",
                   help=f"numbers of flows; default {_list(FLOWS)}")  # fmt: skip
    p.add_argument("--packets", type=_number(1, NUMBER_MAX), metavar="N",
                   help=f"packets timed per cell and round; default {COUNTED_PACKETS} counted, "
                   f"{NATIVE_PACKETS} native")  # fmt: skip
    p.add_argument("--rounds", type=_number(1, NUMBER_MAX), metavar="N",
                   help="rounds of all cells; default 1 counted, "
                   f"{NATIVE_ROUNDS} native")  # fmt: skip
    p.add_argument("--backlog", type=_number(0, BACKLOG_MAX), default=50, metavar="N",
                   help="packets kept in the queue")  # fmt: skip
    p.add_argument("--gap", type=_number(0, NUMBER_MAX), metavar="NS",
                   help="nanoseconds between packets, 0 = as fast as possible; default "
                   f"{COUNTED_GAP_NS}, 1 Gbit/s, counted, 0 native")  # fmt: skip
    p.add_argument("--hash", choices=("preset", "none"), default="none",
                   help="whether packets have a hash, as from a NIC")  # fmt: skip
    p.add_argument("--ect", choices=("on", "off"), default="on",
                   help="whether packets are ECN-capable")  # fmt: skip
    p.add_argument("--seed", type=_number(1, NUMBER_MAX), default=1,
                   help="seed of the order of flows and all other random choices")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    p.add_argument("--plot", type=told(pictures.named), metavar="FILE",
                   help="draw cost against number of flows, as SVG or PNG")  # fmt: skip
    p.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    p.set_defaults(handler=_bench)


def _number(least: int, most: int) -> Callable[[str], int]:
    """Reads a number between two others."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: {least} to {most} is possible")
        return int(text)

    return read


def _list(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _flows(text: str) -> list[int]:
    return [_number(1, FLOWS_MAX)(word) for word in text.split(",")]


def _bench(args: argparse.Namespace) -> int:
    if args.check:
        return _check(args)
    if args.memory:
        return _memory(args)
    if args.profile:
        return _profile(args)
    if args.plot:
        pictures.pyplot()  # now rather than after minutes, if it is missing
    wanted = cells(args.only or ["*"], args.flows or (), args.shape)
    done = measure.run(wanted, _settings(args), _command())
    print(cost_table.render(done, markdown=args.markdown))
    if args.json:
        done.save(args.json)
    if args.plot:
        plot.plot(done, args.plot)
    return 0


def _command() -> str:
    return "python3 -m lab " + shlex.join(sys.argv[1:])


def _settings(args: argparse.Namespace) -> result.Settings:
    native = args.kernel == NATIVE
    gap_ns = 0 if native else COUNTED_GAP_NS
    return result.Settings(
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


def _memory(args: argparse.Namespace) -> int:
    if args.kernel == NATIVE or args.plot:
        raise GridError(f"--memory: not with --kernel {NATIVE} or --plot")
    if len(args.shape) > 1:
        raise GridError("--memory: one shape")
    wanted = cells(args.only or memory.SUBJECTS, args.flows or memory.FLOWS,
                   args.shape or [USUAL])  # fmt: skip
    done = memory.run(wanted, args.kernel, args.seed)
    print(memory.render(done, markdown=args.markdown))
    if args.json:
        memory.save(done, args.json)
    return 0


def _profile(args: argparse.Namespace) -> int:
    wanted = cells(args.only or ["*"], args.flows or FLOWS, args.shape or [USUAL])
    if args.kernel == NATIVE or len(wanted) > 1:
        raise GridError(f"--profile: one name, one number of flows, one shape, and not {NATIVE}")
    print(profile.run(wanted[0], _settings(args)))
    return 0


def _check(args: argparse.Namespace) -> int:
    baseline = result.load(args.check)
    now = measure.run(gate.cells(baseline), baseline.settings, _command())
    verdicts = gate.judge(baseline, now)
    print(gate.render(verdicts))
    if now.release != baseline.release:
        print(f"\nThe baseline is of Linux {baseline.release}, this is {now.release}.")
    if args.json:
        now.save(args.json)
    return int(any(verdict.worse for verdict in verdicts))
