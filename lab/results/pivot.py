# SPDX-License-Identifier: GPL-2.0
"""Metrics of a sweep: a line per cell, a column per metric and qdisc, in each the seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from lab.output import text_table
from lab.results.report import ReportError
from lab.results.summary import group, natural
from lab.results.table import METRICS, Row

DIGITS = 4
UNKNOWN = "\N{EN DASH}"


@dataclass(frozen=True)
class Columns:
    """A metric, and the qdiscs it is shown of: all if none are named."""

    metric: str
    qdiscs: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Columns:
        """Reads "jain" or "jain:zrtt,cake". Raises ValueError."""
        metric, colon, qdiscs = text.partition(":")
        if metric not in METRICS:
            raise ValueError(f"no metric {metric!r}; one of {', '.join(METRICS)}")
        named = tuple(qdiscs.split(",")) if colon else ()
        if not all(named):
            raise ValueError(f"{text!r}: want METRIC or METRIC:QDISC,...")
        return cls(metric, named)


def _number(value: float) -> str:
    return f"{value:.{DIGITS}g}" if value < 10**DIGITS else f"{value:.0f}"


def _shown(rows: Sequence[Row], metric: str, *, spread: bool) -> str:
    values = [float(getattr(row, metric)) for row in rows]
    if not values or any(map(math.isnan, values)):
        return UNKNOWN
    if not spread:
        return _number(METRICS[metric](values))
    least, most = _number(min(values)), _number(max(values))
    return least if least == most else f"{_number(median(values))} ({least}{UNKNOWN}{most})"


def render(rows: Sequence[Row], *metrics: Columns, spread: bool, markdown: bool) -> str:
    """The table, of the kernels one below the other: the worst seed, or median and extremes."""
    groups = group(rows)
    known = list(dict.fromkeys(key.qdisc for key in groups))
    for unknown in {qdisc for shown in metrics for qdisc in shown.qdiscs} - set(known):
        raise ReportError(f"no run of {unknown} in the table; of {', '.join(known)}")
    columns = [(shown.metric, q) for shown in metrics for q in shown.qdiscs or known]
    alone = len(metrics) == 1
    parts = []
    for kernel in dict.fromkeys(key.kernel for key in groups):
        own = {(key.cell, key.qdisc): runs for key, runs in groups.items() if key.kernel == kernel}
        cells = sorted({cell for cell, _ in own}, key=natural)
        head = f"{metrics[0].metric}, {kernel}" if alone else f"cell, {kernel}"
        lines = [[head, *(q if alone else f"{q} {metric}" for metric, q in columns)]]
        lines += [
            [c, *(_shown(own.get((c, q), ()), metric, spread=spread) for metric, q in columns)]
            for c in cells
        ]
        made = text_table.markdown(lines) if markdown else text_table.aligned(lines)
        parts += [*made, ""]
    return "\n".join(parts).rstrip()
