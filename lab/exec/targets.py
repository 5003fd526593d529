# SPDX-License-Identifier: GPL-2.0
"""What a file expects of zrtt, and which runs missed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.exec.figures import Figures
from lab.exec.plan import Plan, Target

OURS = "zrtt"


@dataclass(frozen=True)
class Done:
    """A plan that was run."""

    plan: Plan
    figures: Figures

    @property
    def kind(self) -> str:
        """Of the qdisc, without its options."""
        return self.figures.qdisc.split()[0]

    def beside(self, other: Done) -> bool:
        """Whether the other is the same run over another qdisc."""
        return (self.plan.path, self.plan.variant, self.figures.seed) == (
            other.plan.path, other.plan.variant, other.figures.seed,
        )  # fmt: skip


def missed(runs: Sequence[Done]) -> list[str]:
    """A line for each target that a run of zrtt missed."""
    return [
        line
        for run in runs
        if run.kind == OURS
        for target in run.plan.targets
        for line in _judged(run, target, [other for other in runs if run.beside(other)])
    ]


def _judged(run: Done, target: Target, beside: Sequence[Done]) -> list[str]:
    value = run.figures.metrics().get(target.metric)
    name = " ".join(filter(None, (run.plan.path.stem, run.plan.variant)))
    what = f"{name}, {run.figures.qdisc}, seed {run.figures.seed}: {target.metric}"
    if value is None:
        return [f"{what}: there is none"]
    found = []
    if target.min is not None and value < target.min:
        found.append(f"{what} {value:.4g}, want at least {target.min:g}")
    if target.max is not None and value > target.max:
        found.append(f"{what} {value:.4g}, want at most {target.max:g}")
    for rival in (other for other in beside if other.kind in target.not_above):
        limit = rival.figures.metrics().get(target.metric)
        if limit is not None and value > limit:
            found.append(f"{what} {value:.4g}, want at most {rival.figures.qdisc}'s {limit:.4g}")
    return found
