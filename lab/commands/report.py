# SPDX-License-Identifier: GPL-2.0
"""lab report: shows results again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lab import report, summary, sweepfile, table
from lab.commands.parsing import Commands


def add(commands: Commands) -> None:
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
