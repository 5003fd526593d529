# SPDX-License-Identifier: GPL-2.0
"""Says whether packets cost more than they did: instructions against a committed result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab import textable
from lab.bench_result import Bench
from lab.bench_subjects import SUBJECTS, Cell
from lab.report import ReportError

TOLERANCE = 0.03
HEAD = ("", "flows", "baseline", "now", "change", "")


@dataclass(frozen=True)
class Verdict:
    """On a cell."""

    name: str
    flows: int
    baseline: float
    now: float

    @property
    def change(self) -> float:
        """Relative to the baseline."""
        return self.now / self.baseline - 1

    @property
    def worse(self) -> bool:
        """By more than may be."""
        return self.change > TOLERANCE


def cells(baseline: Bench) -> list[Cell]:
    """What must be measured again."""
    known = {(subject.name, subject.qdisc): subject for subject in SUBJECTS}
    missing = [c.name for c in baseline.costs if (c.name, c.qdisc) not in known]
    if missing:
        raise ReportError(f"the baseline has {missing[0]}, which is another now; measure it anew")
    return [Cell(known[c.name, c.qdisc], c.flows) for c in baseline.costs]


def judge(baseline: Bench, now: Bench) -> list[Verdict]:
    """A verdict per cell."""
    return [
        Verdict(old.name, old.flows, old.total, new.total)
        for old, new in zip(baseline.costs, now.costs, strict=True)
    ]


def render(verdicts: Sequence[Verdict]) -> str:
    """A line per cell."""
    lines = [
        (v.name, str(v.flows), f"{v.baseline:.1f}", f"{v.now:.1f}", f"{v.change:+.1%}",
         "WORSE" if v.worse else "ok")
        for v in verdicts
    ]  # fmt: skip
    return "\n".join(textable.aligned([HEAD, *lines]))
