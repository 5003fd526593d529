# SPDX-License-Identifier: GPL-2.0
"""The tables of a page: results of some runs, a line per qdisc."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean, median
from typing import Any

from lab.results.table import Row

UNKNOWN = "\N{EN DASH}"
TELLING = 0.005
"""Differences below that are nothing to show a column for."""

Runs = Mapping[str, Sequence[Row]]
"""Name of a qdisc -> its runs."""


def values(rows: Iterable[Any], metric: str) -> list[float]:
    """A metric of those runs that know it."""
    known = (float(getattr(row, metric)) for row in rows)
    return [value for value in known if not math.isnan(value)]


@dataclass(frozen=True)
class Column:
    """A figure made of several runs."""

    head: str
    meaning: str
    metric: str
    combine: Callable[[list[float]], float]
    form: str
    """As format() takes it."""
    best: Callable[[Iterable[float]], float] | None = None
    """Which of several is the best; None if that cannot be said."""
    plain: Callable[[Any], float] | None = None
    """What the metric is in runs where it tells nothing."""

    def of(self, rows: Sequence[Any]) -> float:
        known = values(rows, self.metric)
        return self.combine(known) if known else math.nan

    def text(self, value: float) -> str:
        return UNKNOWN if math.isnan(value) else format(value, self.form)

    def tells(self, rows: Iterable[Any]) -> bool:
        """Whether there is a reason to show it."""
        if not self.plain:
            return True
        known = ((value, self.plain(row)) for row in rows for value in values([row], self.metric))
        return any(abs(value - plain) > TELLING for value, plain in known)


def _nothing(_: Row) -> float:
    """For metrics that are shown whenever they are known."""
    return -math.inf


COLUMNS = (
    Column("Jain, worst", "Jain's index of goodput: 1 = all flows get the same; the worst run",
           "jain", min, ".3f", max),
    Column("median", "Jain's index, the median of the runs",
           "jain", median, ".3f", max),
    Column("max/min", "goodput of the fastest flow over the slowest's; the worst run",
           "max_min_ratio", max, ".2f", min),
    Column("class", "mean goodput of the best-off congestion control over that of all flows; "
           "the worst run", "max_class_ratio", max, ".2f", min, lambda row: 1.0),
    Column("utilisation", "share of the bottleneck's rate that was used; the worst run",
           "utilisation", min, ".1%", max),
    Column("phase", "utilisation between two changes of the rate; the worst phase, the worst run",
           "min_phase_utilisation", min, ".1%", max, lambda row: row.utilisation),
    Column("TCP", "share of the bottleneck's rate that TCP used; the worst run",
           "tcp_share", min, ".1%", max, lambda row: row.utilisation),
    Column("sojourn, ms", "mean time in the queue; the worst run",
           "sojourn_mean_ms", max, ".1f", min),
    Column("p95, ms", "95 % of the packets were shorter in the queue; the worst run",
           "sojourn_p95_ms", max, ".1f", min),
    Column("max, ms", "longest time in the queue; the worst run",
           "sojourn_max_ms", max, ".0f", min),
    Column("short, s", "mean completion time of the short flows; the worst run",
           "fct_mean_s", max, ".2f", min, _nothing),
    Column("short p95, s", "95 % of the short flows took less; the worst run",
           "fct_p95_s", max, ".2f", min, _nothing),
    Column("unfinished", "short flows that did not end in time; the worst run",
           "short_unfinished", max, ".0f", min, lambda row: 0.0),
    Column("cross", "Mbit/s of a flow over one router only, mean of the runs",
           "cross_mean_mbps", fmean, ".2f", None, _nothing),
    Column("reverse", "Mbit/s of a flow the other way, mean of the runs",
           "reverse_mean_mbps", fmean, ".2f", None, _nothing),
    Column("thin p99, ms", "time in the queue of calls, games, queries and pings; the worst of "
           "them in the worst run", "thin_p99_ms", max, ".2f", min, _nothing),
    Column("thin lost", "share of them that was lost, likewise", "thin_loss", max, ".1%", min,
           _nothing),
    Column("L4S p99, ms", "time in the queue of ECT(1) packets of senders entitled to it; the "
           "worst run", "l4s_p99_ms", max, ".2f", min, _nothing),
    Column("classic, ms", "mean time in the queue of other packets, where there are ECT(1) ones; "
           "the worst run", "classic_mean_ms", max, ".1f", min, _nothing),
    Column("ECT(1) liar", "rate of the best-off sender of ECT(1) that is not entitled to it, to "
           "its fair share; the worst run", "ect1_share", max, ".2f", min, _nothing),
    Column("marks", "packets marked with CE, mean of the runs",
           "marks", fmean, ".0f"),
    Column("drops", "packets dropped, mean of the runs",
           "drops", fmean, ".0f"),
)  # fmt: skip


def _head(text: str, meaning: str = "") -> str:
    title = f' title="{escape(meaning)}"' if meaning else ""
    return f'<th scope="col"{title}>{escape(text)}</th>'


def _value(column: Column, value: float, best: str, style: str = "") -> str:
    text = column.text(value)
    shown = f"<strong>{text}</strong>" if text == best else text
    return f'<td data-value="{value:g}"{style}>{shown}</td>'


def _best(column: Column, found: Iterable[float]) -> str:
    """The best value as it is shown: what looks equal is equally good. inf never is."""
    known = [value for value in found if not math.isnan(value)]
    if not column.best or len(known) < 2 or math.isinf(best := column.best(known)):
        return ""
    return column.text(best)


def summary(runs: Mapping[str, Sequence[Any]], of: Sequence[Column] = COLUMNS,
            name: str = "qdisc") -> str:  # fmt: skip
    """What came of the runs, a line per qdisc or other name; columns that tell nothing are not
    there."""
    used = [row for rows in runs.values() for row in rows]
    columns = [column for column in of if column.tells(used)]
    figures = {qdisc: [column.of(rows) for column in columns] for qdisc, rows in runs.items()}
    bests = [
        _best(column, (own[number] for own in figures.values()))
        for number, column in enumerate(columns)
    ]
    heads = [_head(name), _head("runs"), *(_head(c.head, c.meaning) for c in columns)]
    lines = [f"<thead><tr>{''.join(heads)}</tr></thead>", "<tbody>"]
    for qdisc, own in figures.items():
        count = len(runs[qdisc])
        cells = "".join(map(_value, columns, own, bests))
        head = f'<th scope="row">{escape(qdisc)}</th>'
        lines.append(f'<tr>{head}<td data-value="{count}">{count}</td>{cells}</tr>')
    lines.append("</tbody>")
    return '<div class="wide"><table class="sortable">' + "\n".join(lines) + "</table></div>"


def _shade(jain: float) -> str:
    """Shade of a Jain's index, steeper near 1, where the index changes little."""
    return "" if math.isnan(jain) else f' style="--shade:{jain**4:.0%}"'


def glance(qdiscs: Sequence[str], cells: Mapping[str, Runs], anchors: Mapping[str, str]) -> str:
    """The worst Jain of each cell and qdisc: the fairer, the darker."""
    worst = COLUMNS[0]
    heads = [_head("cell"), *map(_head, qdiscs)]
    lines = [f"<thead><tr>{''.join(heads)}</tr></thead>", "<tbody>"]
    for cell, runs in cells.items():
        jains = [worst.of(runs.get(qdisc, ())) for qdisc in qdiscs]
        best = _best(worst, jains)
        link = f'<a href="#{anchors[cell]}">{escape(cell)}</a>'
        shaded = "".join(_value(worst, jain, best, _shade(jain)) for jain in jains)
        lines.append(f'<tr><th scope="row">{link}</th>{shaded}</tr>')
    lines.append("</tbody>")
    table = '<table class="sortable glance">' + "\n".join(lines) + "</table>"
    return f'<div class="wide">{table}</div>'
