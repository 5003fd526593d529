# SPDX-License-Identifier: GPL-2.0
"""lab report: shows results again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lab.commands import versions
from lab.commands.parsing import Commands, told
from lab.host import files
from lab.html import page, rows
from lab.output import pictures
from lab.results import pivot, report, summary, table
from lab.results.table import Row
from lab.runs import sweepfile


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "report",
        help="tables, pictures and pages of earlier results",
        description="Prints the table of runs kept as JSON, and draws them; of the CSV table of a "
        "sweep, worst, median and best over the seeds. With --html, writes a page of tables and "
        "plots instead, one file that needs nothing else.",
    )
    p.add_argument("files", type=Path, nargs="+", metavar="FILE",
                   help="JSON of lab run or lab demo, or CSV tables of lab sweep; both at a time "
                   "only with --html")  # fmt: skip
    p.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page to FILE")
    p.add_argument("--png", type=told(pictures.named), metavar="FILE",
                   help="draw throughput against RTT, as PNG or SVG")  # fmt: skip
    p.add_argument("--markdown", action="store_true",
                   help="print the tables of a sweep as Markdown")  # fmt: skip
    p.add_argument("--metric", action="append", default=[], type=told(pivot.Columns.parse),
                   metavar="NAME[:QDISC,...]",
                   help="one figure of a sweep, of the worst seed, by cell and qdisc: "
                   f"{', '.join(table.METRICS)}; repeatable, for one table of all")  # fmt: skip
    p.add_argument("--spread", action="store_true",
                   help="with --metric: median, least and most of the seeds")
    p.add_argument("--check", type=Path, metavar="FILE",
                   help="the sweep file of a sweep: prints the targets that were missed, "
                   "with exit status 1 if there are any")  # fmt: skip
    p.set_defaults(handler=_report)


def _report(args: argparse.Namespace) -> int:
    if args.spread and not args.metric:
        raise report.ReportError("--spread goes with --metric")
    of_sweep = {path.suffix for path in args.files} == {".csv"}
    if not (of_sweep or args.html) and any(path.suffix == ".csv" for path in args.files):
        raise report.ReportError("CSV tables and JSON of runs are shown together by --html only")
    if not of_sweep and (args.markdown or args.check or args.metric):
        raise report.ReportError("--markdown, --metric and --check are for the CSV of a sweep")
    if of_sweep and args.png:
        raise report.ReportError("--png is for the JSON of runs; of a sweep, --html has pictures")
    if args.html:
        return _write_page(args)
    if of_sweep:
        return _report_sweep(args)
    runs = [run for path in args.files for run in report.load(path)]
    print(report.table(runs))
    if args.png:
        report.plot(runs, args.png)
    return 0


def _rows(args: argparse.Namespace) -> list[Row]:
    """Of all tables; of a run that several have, the last one's counts."""
    return [row for path in args.files for row in table.load(path)]


def _warn(args: argparse.Namespace, shown: list[Row]) -> None:
    versions.warn(shown)
    if len(args.files) > 1:  # that one table has later runs of the same is no surprise
        versions.warn_of_hidden(shown)


def _misses(args: argparse.Namespace, known: list[Row]) -> list[str]:
    """Targets of the sweep file missed, which are printed."""
    misses = summary.misses(sweepfile.load(args.check), known)
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    return misses


def _report_sweep(args: argparse.Namespace) -> int:
    rows_of_sweep = _rows(args)
    if not rows_of_sweep:
        raise report.ReportError(f"{', '.join(map(str, args.files))}: no runs in it")
    _warn(args, rows_of_sweep)
    if args.metric:
        print(pivot.render(rows_of_sweep, *args.metric, spread=args.spread, markdown=args.markdown))
    else:
        print(summary.render(rows_of_sweep, markdown=args.markdown))
    return 1 if args.check and _misses(args, rows_of_sweep) else 0


def _write_page(args: argparse.Namespace) -> int:
    if args.png or args.markdown or args.metric:
        raise report.ReportError("--html goes with --check only")
    shown = rows.load(args.files)
    _warn(args, shown)
    # rows of the page may lack columns, which targets are about
    misses = _misses(args, _rows(args)) if args.check else None
    text = page.render(shown, misses)
    files.write(args.html, text)
    print(f"{args.html}: {len(shown)} runs, {len(text.encode()) / 1e6:.1f} MB")
    return 1 if misses else 0
