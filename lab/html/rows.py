# SPDX-License-Identifier: GPL-2.0
"""Reads the runs of a page from sweep tables or single results.

Columns are found by name, so a table of an older or a newer laboratory can be
shown, too: what it lacks is not known, what it has besides is not shown.
"""

from __future__ import annotations

import csv
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from lab.results import report
from lab.results.report import ReportError
from lab.results.result import Result
from lab.results.table import Row, whole_lines

NEEDED = ("cell", "qdisc", "seed", "jain")
"""Without these there is nothing to show."""
IN_THE_NAME = ("rate", "rtts", "cc")
"""Options of lab run that the name of a cell has in other words."""
NOT_COMPARED = ("kernel", "qdisc", "seed", "sample", "timeout", "json")
"""In which the runs of a cell may differ."""
_UNKNOWN: Mapping[str, tuple[type, Any]] = {"int": (int, 0), "float": (float, math.nan)}
"""How a column's type is read, and what stands for a value that is not there."""


def _row(values: Mapping[str, Any]) -> Row:
    """A row with what is known."""
    made = {}
    for field in fields(Row):
        read, unknown = _UNKNOWN.get(str(field.type), (str, ""))
        value = values.get(field.name)
        made[field.name] = unknown if value in (None, "") else read(value)
    return Row(**made)


def _of_table(path: Path) -> list[Row]:
    reader = csv.DictReader(whole_lines(path))
    missing = [name for name in NEEDED if name not in (reader.fieldnames or [])]
    if missing:
        raise ReportError(f"{path}: not a table of a sweep: no column {', '.join(missing)}")
    rows = []
    for number, record in enumerate(reader, 2):
        try:
            rows.append(_row(record))
        except ValueError as error:
            raise ReportError(f"{path}: row {number}: {error}") from error
    return rows


def _others(command: str) -> str:
    """All other options of lab run, as typed: what differs in them is another cell."""
    found, words = [], iter(shlex.split(command)[4:])  # behind python3 -m lab run
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        value = value if equals else next(words, "")
        if name not in IN_THE_NAME + NOT_COMPARED:
            found.append(f", {name} {value}")
    return "".join(sorted(found))


def _cell(result: Result) -> str:
    """What single runs must have in common to be compared."""
    flows = result.flows
    rtts = sorted({flow.rtt_ms for flow in flows})
    span = f"{rtts[0]:g} ms" if len(rtts) == 1 else f"{rtts[0]:g} to {rtts[-1]:g} ms"
    ccs = ", ".join(sorted({flow.cc for flow in flows}))
    others = _others(result.command)
    return f"{len(flows)} flows ({ccs}), {span}, {result.rate_mbps:g} Mbit/s{others}"


def _crossing(result: Result) -> str:
    """The flows that cross one router only, as a sweep says it."""
    hops = max((flow.hop for flow in result.cross), default=0)
    rtts = ",".join(f"{flow.rtt_ms:g}ms" for flow in result.cross if flow.hop == hops)
    return f"hops {hops}:{rtts}" if hops else ""


def _of_run(run: report.Run, name: str) -> Row:
    """The row that a sweep would have written."""
    result = run.result
    sojourn = {f"sojourn_{key}_ms": value for key, value in vars(result.sojourn_ms).items()}
    known = {
        "sweep": name,
        "cell": _cell(result),
        "qdisc": run.label,
        "words": result.label,
        "kernel": result.kernel,
        "cc": ",".join(dict.fromkeys(flow.cc for flow in result.flows)),
        "flows": len(result.flows),
        "rtts": ",".join(f"{flow.rtt_ms:g}ms" for flow in result.flows),
        "sessions": 1,
        "rate": f"{result.rate_mbps:g}mbit",
        "ecn": "on" if result.ecn else "off",
        "gso": "on" if result.gso else "off",
        "max_min_ratio": math.inf if result.max_min_ratio is None else result.max_min_ratio,
        "retransmits": sum(flow.retransmits for flow in result.flows),
        "goodputs_mbps": ";".join(f"{flow.goodput_mbps:.6g}" for flow in result.flows),
        "thin": ";".join(thin.packed() for thin in result.thin),
        "ecn_classes": ";".join(ecn.packed() for ecn in result.ecn_classes),
        "release": result.kernel,
        "extra": _crossing(result),
    }
    return _row(result.to_dict() | sojourn | known)


def load(paths: Sequence[Path]) -> list[Row]:
    """All runs of some tables and results. Raises ReportError if there are none."""
    rows: list[Row] = []
    for path in paths:
        try:
            if path.suffix == ".csv":
                rows += _of_table(path)
            else:
                rows += [_of_run(run, path.stem) for run in report.load(path)]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ReportError(f"{path}: {error}") from error
    if not rows:
        raise ReportError(f"{', '.join(map(str, paths))}: no runs in it")
    return rows
