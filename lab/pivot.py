# SPDX-License-Identifier: GPL-2.0
"""One metric of a sweep: a line per cell, a column per qdisc, in each the worst of the seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lab import textable
from lab.summary import group, natural
from lab.table import Row

MORE_IS_BETTER = (
    "jain", "jain_all", "utilisation", "min_phase_utilisation", "tcp_share", "goodput_mean_mbps",
    "cross_mean_mbps", "reverse_mean_mbps",
)  # fmt: skip
DIGITS = 4
UNKNOWN = "\N{EN DASH}"


def _worst(rows: Sequence[Row], metric: str) -> str:
    values = [float(getattr(row, metric)) for row in rows]
    if not values or any(map(math.isnan, values)):
        return UNKNOWN
    worst = min(values) if metric in MORE_IS_BETTER else max(values)
    return f"{worst:.{DIGITS}g}" if worst < 10**DIGITS else f"{worst:.0f}"


def render(rows: Sequence[Row], metric: str, *, markdown: bool) -> str:
    """The table, of the kernels one below the other."""
    groups = group(rows)
    parts = []
    for kernel in dict.fromkeys(key.kernel for key in groups):
        own = {(key.cell, key.qdisc): runs for key, runs in groups.items() if key.kernel == kernel}
        qdiscs = list(dict.fromkeys(qdisc for _, qdisc in own))
        cells = sorted({cell for cell, _ in own}, key=natural)
        lines = [[f"{metric}, {kernel}", *qdiscs]]
        lines += [[c, *(_worst(own.get((c, q), ()), metric) for q in qdiscs)] for c in cells]
        made = textable.markdown(lines) if markdown else textable.aligned(lines)
        parts += [*made, ""]
    return "\n".join(parts).rstrip()
