# SPDX-License-Identifier: GPL-2.0
"""lab ablation: what each step of mode zrtt is for."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lab.ablation import study
from lab.ablation.steps import STEPS
from lab.ablation.study import Figure, Rungs
from lab.commands import versions
from lab.commands.parsing import Commands, Help, seeds
from lab.host import files
from lab.output import text_table
from lab.results import table
from lab.runs import sweep

HEAD = ("without", "in its place", "cell", "figure", "zrtt", "without")
LEFT_COLUMNS = 4
SHARES = ("utilisation", "min_phase_utilisation", "tcp_share")
DIGITS = {"jain": 4, "sojourn_p95_ms": 1, "sojourn_max_ms": 0}
"""Of others 2."""


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "ablation",
        help="what each step of mode zrtt is worth",
        description="Takes the steps of mode zrtt (docs/algorithm.md) away, one at a time, by a "
        "parameter of tc or by an edit of the sources, runs that and zrtt where it should matter, "
        "and shows the least and the most of the seeds; likewise of the ladder, from the paper's "
        "law up to zrtt. lab/ablation/steps.py lists both. Runs that the table has already are not "
        "done again. Exit status 1 if a run failed.",
        formatter_class=Help,
    )
    p.add_argument("--only", action="append", default=[], metavar="STEP",
                   help=f"patterns of steps: {', '.join(STEPS)}, ladder; repeatable")  # fmt: skip
    p.add_argument("--cell", action="append", default=[], metavar="CELL",
                   help="patterns of scenarios; repeatable")  # fmt: skip
    p.add_argument("--seeds", type=seeds, default=[1, 2, 3], metavar="1,2,...",
                   help="seeds of each scenario")  # fmt: skip
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="number of guests at a time")  # fmt: skip
    p.add_argument("--output", type=Path, default=Path("out/ablation.csv"), metavar="FILE",
                   help="table of all runs, as that of lab sweep")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE, by seed")
    p.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    p.set_defaults(handler=_ablation)


def _one(value: float, metric: str) -> str:
    return f"{value:.1%}" if metric in SHARES else f"{value:.{DIGITS.get(metric, 2)}f}"


def _spread(values: Sequence[float], metric: str) -> str:
    """Of the seeds, the least and the most."""
    ends = [_one(end(values), metric) for end in (min, max)] if values else ["–"]
    return " .. ".join(dict.fromkeys(ends))


def _steps(figures: Sequence[Figure]) -> list[tuple[str, ...]]:
    return [HEAD] + [
        (figure.step, STEPS[figure.step].title, figure.cell, figure.metric,
         _spread(figure.zrtt, figure.metric), _spread(figure.without, figure.metric))
        for figure in figures
    ]  # fmt: skip


def _ladder(rungs: Rungs) -> list[tuple[str, ...]]:
    columns = list(next(iter(rungs.values()), ()))
    return [("", *(f"{cell}: {metric}" for cell, metric in columns))] + [
        (name, *(_spread(values[column], column[1]) for column in columns))
        for name, values in rungs.items()
    ]


def _ablation(args: argparse.Namespace) -> int:
    points = study.points(args.only, args.cell, args.seeds)
    guests = study.Guests()
    with table.opened(args.output) as rows:
        outcome = sweep.run(points, rows, jobs=max(1, args.jobs), guests=guests)
        done = sweep.current(points, rows, guests)
    versions.warn(done)
    figures, rungs = study.figures(done), study.ladder(done)
    form = text_table.markdown if args.markdown else text_table.aligned
    parts = [form(_steps(figures), LEFT_COLUMNS)] if figures else []
    parts += [form(_ladder(rungs))] if rungs else []
    print("\n\n".join("\n".join(part) for part in parts))
    print(f"{outcome}; table: {args.output}", file=sys.stderr)
    if args.json:
        _save(args.json, figures, rungs)
    return 1 if outcome.failed else 0


def _save(path: Path, figures: Sequence[Figure], rungs: Rungs) -> None:
    ladder = [
        {"rung": rung, "cell": cell, "metric": metric, "values": values}
        for rung, columns in rungs.items()
        for (cell, metric), values in columns.items()
    ]
    content = {"steps": [asdict(figure) for figure in figures], "ladder": ladder}
    files.write(path, json.dumps(content, indent=1) + "\n")
