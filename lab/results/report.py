# SPDX-License-Identifier: GPL-2.0
"""Shows results: as a table, and as a picture of throughput against RTT."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.host import files
from lab.output import pictures, text_table
from lab.output.looks import FEATURED, look
from lab.results import share
from lab.results.result import Result

HOSTS_HEAD = ("of hosts", "within")
HEAD = ("", "Jain", "max/min", "utilisation", "sojourn", "p95", "marks", "drops")

FIGURE_INCHES = (9, 5.5)


class ReportError(RuntimeError):
    """Results that cannot be read or drawn."""


@dataclass(frozen=True)
class Run:
    """A result and what to call it."""

    label: str
    result: Result


def listed(values: Iterable[object]) -> str:
    """Each once, in their order."""
    return ", ".join(dict.fromkeys(str(value) for value in values if value != ""))


def save(runs: Sequence[Run], path: Path) -> None:
    """Writes runs so that load() reads them."""
    content = {"runs": [{"label": r.label, "result": r.result.to_dict()} for r in runs]}
    files.write(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def load(path: Path) -> list[Run]:
    """Reads what save() wrote, or the JSON of a single run."""
    try:
        content = json.loads(path.read_text())
        if "runs" in content:
            found = [Run(r["label"], Result.from_dict(r["result"])) for r in content["runs"]]
        else:
            found = [Run(content["label"], Result.from_dict(content))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path}: not a result: {error!r}") from error
    if not found:
        raise ReportError(f"{path}: no runs in it")
    return found


def _cells(run: Run, *, hosts: bool) -> tuple[str, ...]:
    r = run.result
    return (
        run.label,
        f"{r.jain:.3f}",
        *([f"{r.host_jain:.4f}", f"{r.within_jain:.3f}"] if hosts else []),
        f"{r.max_min_ratio:.2f}" if r.max_min_ratio else "inf",
        f"{r.utilisation:.1%}",
        f"{r.sojourn_ms.mean:.1f} ms",
        f"{r.sojourn_ms.p95:.1f} ms",
        str(r.marks),
        str(r.drops),
    )


def table(runs: Sequence[Run]) -> str:
    """One line per run; hosts are told of where they are not flows."""
    hosts = any(run.result.hosts_differ for run in runs)
    titles = (*HEAD[:2], *(HOSTS_HEAD if hosts else ()), *HEAD[2:])
    head, *lines = text_table.aligned([titles, *(_cells(run, hosts=hosts) for run in runs)])
    return "\n".join([head, "-" * len(head), *lines])


def plot(runs: Sequence[Run], path: Path) -> None:
    """Goodput of each flow against its RTT, one line per run."""
    figure, axes = pictures.pyplot().subplots(figsize=FIGURE_INCHES, layout="constrained")
    results = [run.result for run in runs]
    for run in runs:
        flows = sorted(run.result.flows, key=lambda flow: flow.rtt_ms)
        axes.plot(
            [flow.rtt_ms for flow in flows],
            [flow.goodput_mbps for flow in flows],
            marker=look(run.label).marker,
            markersize=4,
            linewidth=2.6 if run.label == FEATURED else 1.4,
            zorder=3 if run.label == FEATURED else 2,
            color=look(run.label).colour,
            label=f"{run.label}  (Jain {run.result.jain:.3f})",
        )
    _draw_fair_shares(axes, runs)
    axes.set_xlabel("round-trip time of the flow without queue (ms)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_title(
        f"{listed(len(result.flows) for result in results)} TCP flows "
        f"({', '.join(sorted({f.cc for result in results for f in result.flows}))}) share "
        f"{listed(f'{result.rate_mbps:g}' for result in results)} Mbit/s, "
        f"{listed(map(_hints, results))}, Linux {listed(result.kernel for result in results)}",
        fontsize=11,
    )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    pictures.save(figure, path)
    pictures.pyplot().close(figure)


def _hints(result: Result) -> str:
    hinted = sum(flow.hinted for flow in result.flows)
    return "no hints" if not hinted else f"{hinted} of them hinting"


def _draw_fair_shares(axes: Any, runs: Sequence[Run]) -> None:
    """A dashed line for each: runs of the same link have but one."""
    for fair in dict.fromkeys(f"{share.of_result(run.result):.3g}" for run in runs):
        label = f"fair share: {share.MEANING} ({fair} Mbit/s)"
        axes.axhline(float(fair), color="black", linestyle=(0, (4, 3)), linewidth=1, zorder=1,
                     label=label)  # fmt: skip
