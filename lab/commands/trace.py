# SPDX-License-Identifier: GPL-2.0
"""lab trace: a trace of a line whose rate changes all the time."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.commands.parsing import Commands, Help
from lab.host import files
from lab.traces import mahimahi, models

MAX_S = 3600


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_S:
        raise argparse.ArgumentTypeError(f"{text!r}: seconds, 1 to {MAX_S}")
    return int(text)


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "trace",
        help="a trace of a line whose rate changes all the time",
        description="Writes a trace in mahimahi's format, of a model (lab/traces/models.py) and a "
        "seed, for lab run --line trace=FILE; --line model=NAME:SEED is the same without a file. "
        "No trace is a recording of a network.",
        formatter_class=Help,
    )
    p.add_argument("model", choices=models.MODELS, help="what kind of line")
    p.add_argument("--seed", type=int, default=1, help="seed of all random choices")
    p.add_argument("--seconds", type=_seconds, default=models.LENGTH_S, metavar="S",
                   help="length; a run that is longer has it begin anew")  # fmt: skip
    p.add_argument("--output", type=Path, metavar="FILE",
                   help="where to; default: out/trace/MODEL-SEED")  # fmt: skip
    p.set_defaults(handler=_trace)


def _trace(args: argparse.Namespace) -> None:
    times = models.trace(args.model, args.seed, args.seconds)
    path = args.output or Path("out/trace") / f"{args.model}-{args.seed}"
    files.write(path, mahimahi.text(times))
    each_s = sorted(
        mahimahi.mean_bps(times, ms, ms + 1000) / 1e6 for ms in range(0, times[-1] - 999, 1000)
    )
    print(
        f"{path}: {len(times)} frames in {times[-1] / 1000:g} s,"
        f" {mahimahi.mean_bps(times, 0, times[-1]) / 1e6:.2f} Mbit/s;"
        f" of a second {each_s[0]:.2f} to {each_s[-1]:.2f}, median {each_s[len(each_s) // 2]:.2f}"
    )
