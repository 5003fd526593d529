# SPDX-License-Identifier: GPL-2.0
"""Compares instructions per packet with a committed result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.bench.result import Bench
from lab.bench.subjects import SUBJECTS, Cell
from lab.output import text_table
from lab.results.report import ReportError

TOLERANCE = 0.03
HEAD = ("", "shape", "flows", "baseline", "now", "change", "")


@dataclass(frozen=True)
class Verdict:
    """The comparison of one cell."""

    name: str
    shape: str
    flows: int
    baseline: float
    now: float

    @property
    def change(self) -> float:
        """Relative to the baseline."""
        return self.now / self.baseline - 1

    @property
    def worse(self) -> bool:
        """Whether the increase is above the tolerance."""
        return self.change > TOLERANCE


def cells(baseline: Bench) -> list[Cell]:
    """The cells of the baseline, to measure again."""
    known = {(subject.name, subject.qdisc): subject for subject in SUBJECTS}
    missing = [c.name for c in baseline.costs if (c.name, c.qdisc) not in known]
    if missing:
        raise ReportError(f"the baseline has {missing[0]}, which is another now; measure it anew")
    return [Cell(known[c.name, c.qdisc], c.flows, c.shape) for c in baseline.costs]


def judge(baseline: Bench, now: Bench) -> list[Verdict]:
    """A verdict per cell."""
    return [
        Verdict(old.name, old.shape, old.flows, old.total, new.total)
        for old, new in zip(baseline.costs, now.costs, strict=True)
    ]


def render(verdicts: Sequence[Verdict]) -> str:
    """A line per cell."""
    lines = [
        (v.name, v.shape, str(v.flows), f"{v.baseline:.1f}", f"{v.now:.1f}", f"{v.change:+.1%}",
         "WORSE" if v.worse else "ok")
        for v in verdicts
    ]  # fmt: skip
    return "\n".join(text_table.aligned([HEAD, *lines], left=2))
