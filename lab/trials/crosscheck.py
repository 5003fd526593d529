# SPDX-License-Identifier: GPL-2.0
"""Compares the results of two kernels for one scenario.

Each metric has an interval per kernel: the mean over the seeds, plus and minus
twice their standard deviation, or the metric's floor if that is more: below it,
a difference is of no concern to anybody. The kernels agree on a metric if the
two intervals overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from statistics import mean, stdev

from lab.host.progress import Board
from lab.model.scenario import Scenario
from lab.output import text_table
from lab.results.result import Result
from lab.runs import runner

DEVIATIONS = 2.0
HEAD = ("", "", "mean", "s.d.", "interval", "")


@dataclass(frozen=True)
class Metric:
    """A figure in which both kernels must agree."""

    name: str
    of: Callable[[Result], float]
    floor: float
    """Least half-width of an interval."""
    form: str
    """How to print it."""

    def text(self, value: float) -> str:
        """A value of it."""
        return format(value, self.form)


METRICS = (
    Metric("Jain's index", lambda r: r.jain, 0.005, ".4f"),
    Metric("utilisation", lambda r: r.utilisation, 0.005, ".4f"),
    Metric("mean sojourn, ms", lambda r: r.sojourn_ms.mean, 0.5, ".2f"),
    Metric("p95 sojourn, ms", lambda r: r.sojourn_ms.p95, 1.0, ".2f"),
)


@dataclass(frozen=True)
class Interval:
    """A metric's mean over the seeds and its tolerance."""

    mean: float
    deviation: float
    """Standard deviation of the sample."""
    reach: float
    """Half-width."""

    @classmethod
    def of(cls, values: Sequence[float], floor: float) -> Interval:
        """The interval of at least two values."""
        deviation = stdev(values)
        return cls(mean(values), deviation, max(DEVIATIONS * deviation, floor))

    def overlaps(self, other: Interval) -> bool:
        """Whether two intervals overlap."""
        return abs(self.mean - other.mean) <= self.reach + other.reach


@dataclass(frozen=True)
class Verdict:
    """A metric's intervals, by kernel."""

    metric: Metric
    intervals: Mapping[str, Interval]
    """By kernel; two of them."""

    @property
    def agree(self) -> bool:
        """Whether the kernels agree."""
        one, other = self.intervals.values()
        return one.overlaps(other)


Results = Mapping[str, Sequence[Result]]
"""By kernel, of at least two seeds each."""


def judge(results: Results) -> list[Verdict]:
    """A verdict per metric."""
    return [
        Verdict(
            metric,
            {
                kernel: Interval.of([metric.of(result) for result in runs], metric.floor)
                for kernel, runs in results.items()
            },
        )
        for metric in METRICS
    ]


def _lines(verdict: Verdict) -> list[tuple[str, ...]]:
    text = verdict.metric.text
    names = [verdict.metric.name, ""]
    words = ["agree" if verdict.agree else "DISAGREE", ""]
    return [
        (
            name,
            kernel,
            text(i.mean),
            text(i.deviation),
            f"{text(i.mean - i.reach)} .. {text(i.mean + i.reach)}",
            word,
        )
        for (kernel, i), name, word in zip(verdict.intervals.items(), names, words, strict=True)
    ]


def table(verdicts: Sequence[Verdict]) -> str:
    """Two lines per metric."""
    lines = [HEAD, *(line for verdict in verdicts for line in _lines(verdict))]
    return "\n".join(text_table.aligned(lines, len(HEAD)))


def run(scenario: Scenario, kernels: Sequence[str], seeds: Sequence[int], *, jobs: int,
        command: str) -> Results:  # fmt: skip
    """Runs a scenario with each seed on each kernel. Raises what runner.run() does."""
    board = Board()
    done: dict[tuple[str, int], Result] = {}
    with ThreadPoolExecutor(jobs) as pool:
        futures = {}
        for kernel in kernels:
            for seed in seeds:
                label = f"{kernel} seed {seed}"
                one = replace(scenario, kernel=kernel, seed=seed)
                job = pool.submit(runner.run, one, command=command, progress=board.track(label))
                futures[job] = (kernel, seed, label)
        try:
            for job in as_completed(futures):
                kernel, seed, label = futures[job]
                done[kernel, seed] = job.result()
                board.done(label, f"{done[kernel, seed].wall_s:.0f} s")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {kernel: [done[kernel, seed] for seed in seeds] for kernel in kernels}
