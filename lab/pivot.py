# SPDX-License-Identifier: GPL-2.0
"""One metric of a sweep: a line per cell, a column per qdisc, in each the seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from lab import textable
from lab.summary import group, natural
from lab.table import Row

MORE_IS_BETTER = (
    "jain", "jain_all", "utilisation", "min_phase_utilisation", "tcp_share", "goodput_mean_mbps",
    "cross_mean_mbps", "reverse_mean_mbps",
)  # fmt: skip
DIGITS = 4
UNKNOWN = "\N{EN DASH}"


def _number(value: float) -> str:
    return f"{value:.{DIGITS}g}" if value < 10**DIGITS else f"{value:.0f}"


def _shown(rows: Sequence[Row], metric: str, *, spread: bool) -> str:
    values = [float(getattr(row, metric)) for row in rows]
    if not values or any(map(math.isnan, values)):
        return UNKNOWN
    if not spread:
        return _number(min(values) if metric in MORE_IS_BETTER else max(values))
    least, most = _number(min(values)), _number(max(values))
    return least if least == most else f"{_number(median(values))} ({least}{UNKNOWN}{most})"


def render(rows: Sequence[Row], metric: str, *, spread: bool, markdown: bool) -> str:
    """The table, of the kernels one below the other: the worst seed, or median and extremes."""
    groups = group(rows)
    parts = []
    for kernel in dict.fromkeys(key.kernel for key in groups):
        own = {(key.cell, key.qdisc): runs for key, runs in groups.items() if key.kernel == kernel}
        qdiscs = list(dict.fromkeys(qdisc for _, qdisc in own))
        cells = sorted({cell for cell, _ in own}, key=natural)
        lines = [[f"{metric}, {kernel}", *qdiscs]]
        lines += [
            [c, *(_shown(own.get((c, q), ()), metric, spread=spread) for q in qdiscs)]
            for c in cells
        ]
        made = textable.markdown(lines) if markdown else textable.aligned(lines)
        parts += [*made, ""]
    return "\n".join(parts).rstrip()
