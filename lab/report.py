# SPDX-License-Identifier: GPL-2.0
"""Shows results: as a table, and as a picture of throughput against RTT."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import textable
from lab.result import Result

HEAD = ("", "Jain", "max/min", "utilisation", "sojourn", "p95", "marks", "drops")

# Colours that colour-blind readers can tell apart (Okabe and Ito).
COLOURS = ("#999999", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#0072B2")
FEATURED = "zrtt"
FIGURE_INCHES = (9, 5.5)
FIGURE_DPI = 140


class ReportError(RuntimeError):
    """Results that cannot be read or drawn."""


@dataclass(frozen=True)
class Run:
    """A result and what to call it."""

    label: str
    result: Result


def save(runs: Sequence[Run], path: Path) -> None:
    """Writes runs so that load() reads them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"runs": [{"label": r.label, "result": r.result.to_dict()} for r in runs]}
    path.write_text(json.dumps(content, indent=1) + "\n")


def load(path: Path) -> list[Run]:
    """Reads what save() wrote, or the JSON of a single run."""
    try:
        content = json.loads(path.read_text())
        if "runs" in content:
            return [Run(r["label"], Result.from_dict(r["result"])) for r in content["runs"]]
        return [Run(content["label"], Result.from_dict(content))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path}: not a result: {error!r}") from error


def _cells(run: Run) -> tuple[str, ...]:
    r = run.result
    return (
        run.label,
        f"{r.jain:.3f}",
        f"{r.max_min_ratio:.2f}" if r.max_min_ratio else "inf",
        f"{r.utilisation:.1%}",
        f"{r.sojourn_ms.mean:.1f} ms",
        f"{r.sojourn_ms.p95:.1f} ms",
        str(r.marks),
        str(r.drops),
    )


def table(runs: Sequence[Run]) -> str:
    """One line per run."""
    head, *lines = textable.aligned([HEAD, *map(_cells, runs)])
    return "\n".join([head, "-" * len(head), *lines])


def pyplot() -> Any:
    """matplotlib, drawing to files. Only pictures need it, so it is imported here."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as module
    except ImportError as error:
        hint = "install python3-matplotlib and run with Debian's /usr/bin/python3"
        raise ReportError(f"no matplotlib in {sys.executable}: {hint}") from error
    return module


def plot(runs: Sequence[Run], path: Path) -> None:
    """Goodput of each flow against its RTT, one line per run."""
    figure, axes = pyplot().subplots(figsize=FIGURE_INCHES, layout="constrained")
    first = runs[0].result
    fair = first.goodput_mbps / len(first.flows)
    axes.axhline(fair, color="black", linestyle=(0, (4, 3)), linewidth=1, zorder=1)
    for number, run in enumerate(runs):
        flows = sorted(run.result.flows, key=lambda flow: flow.rtt_ms)
        axes.plot(
            [flow.rtt_ms for flow in flows],
            [flow.goodput_mbps for flow in flows],
            marker="o",
            markersize=4,
            linewidth=2.6 if run.label == FEATURED else 1.4,
            zorder=3 if run.label == FEATURED else 2,
            color=COLOURS[number % len(COLOURS)],
            label=f"{run.label}  (Jain {run.result.jain:.3f})",
        )
    axes.annotate("fair\nshare", (1, fair), xycoords=("axes fraction", "data"), va="center",
                  xytext=(4, 0), textcoords="offset points", fontsize=9)  # fmt: skip
    axes.set_xlabel("round-trip time of the flow without queue (ms)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_title(
        f"{len(first.flows)} TCP flows ({', '.join(sorted({f.cc for f in first.flows}))}) "
        f"share {first.rate_mbps:g} Mbit/s, Linux {first.kernel}",
        fontsize=11,
    )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=FIGURE_DPI)
    pyplot().close(figure)
