# SPDX-License-Identifier: GPL-2.0
"""Cross-checks: when two kernels agree, and what is said if they do not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lab import cli
from lab.model.scenario import Scenario
from lab.results.result import FlowResult, Result, Sojourn
from lab.runs import runner
from lab.trials import crosscheck
from lab.trials.crosscheck import METRICS, Interval

FLOW = FlowResult(20.0, "cubic", True, 1.25, 3, 7, 20.1, 0.0, 1.3)
RESULT = Result(
    label="zrtt", jain=0.99, max_min_ratio=1.1, utilisation=0.99,
    sojourn_ms=Sojourn(mean=15.0, p50=14.0, p95=28.0, p99=33.0, max=41.0),
    marks=14, drops=2, packets=1000, goodput_mbps=2.5, rate_mbps=10.0, measured_s=60.0,
    flows=[FLOW], samples=[], qdisc={}, kernel="6.12.1", clock="", gso=False, ecn=True, seed=1,
    reruns=0, wall_s=2.5, cpu_s=2.0, command="",
)  # fmt: skip
OTHERS = {
    "Jain's index": replace(RESULT, jain=0.979),
    "utilisation": replace(RESULT, utilisation=0.979),
    "mean sojourn, ms": replace(RESULT, sojourn_ms=replace(RESULT.sojourn_ms, mean=16.1)),
    "p95 sojourn, ms": replace(RESULT, sojourn_ms=replace(RESULT.sojourn_ms, p95=30.1)),
}
"""Each differs from RESULT in one metric, by more than two floors."""


def disagreements(one: Sequence[Result], other: Sequence[Result]) -> list[str]:
    """The metrics that two kernels with such results disagree on."""
    return [
        verdict.metric.name
        for verdict in crosscheck.judge({"uml": one, "6.12": other})
        if not verdict.agree
    ]


def test_reach_is_two_deviations() -> None:
    interval = Interval.of([1.0, 2.0, 3.0], floor=0.5)
    assert (interval.mean, interval.deviation, interval.reach) == (2.0, 1.0, 2.0)


def test_reach_is_the_floor_of_like_seeds() -> None:
    assert Interval.of([1.0, 1.0, 1.0], floor=0.5).reach == 0.5


@pytest.mark.parametrize(("distance", "overlap"), [(3.0, True), (3.01, False), (-3.01, False)])
def test_intervals_overlap(distance: float, overlap: bool) -> None:
    one, other = Interval(10.0, 0.5, 1.0), Interval(10.0 + distance, 1.0, 2.0)
    assert one.overlaps(other) is overlap
    assert other.overlaps(one) is overlap


def test_like_results_agree() -> None:
    assert disagreements([RESULT] * 3, [RESULT] * 3) == []


@pytest.mark.parametrize("metric", [metric.name for metric in METRICS])
def test_unlike_results_disagree(metric: str) -> None:
    assert disagreements([RESULT] * 3, [OTHERS[metric]] * 3) == [metric]
    assert disagreements([OTHERS[metric]] * 3, [RESULT] * 3) == [metric]


def test_spread_of_the_seeds_excuses() -> None:
    spread = [replace(RESULT, jain=jain) for jain in (0.94, 0.96, 0.98)]
    assert disagreements([RESULT] * 3, spread) == []
    assert disagreements([RESULT] * 3, [replace(r, jain=r.jain - 0.05) for r in spread]) != []


@pytest.mark.parametrize(("other", "status"), [(RESULT, 0), (OTHERS["utilisation"], 1)])
def test_exit_status(
    other: Result, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Scenario] = []

    def run(scenario: Scenario, **_: object) -> Result:
        asked.append(scenario)
        return RESULT if scenario.kernel == "uml" else other

    monkeypatch.setattr(runner, "run", run)
    words = ["lab", "crosscheck", "--kernel", "6.1", "--seeds", "4,5", "--rate", "5mbit"]
    monkeypatch.setattr(sys, "argv", [*words, "--liar", "0:2"])
    assert cli.main() == status
    wanted = {(kernel, seed) for kernel in ("uml", "6.1") for seed in (4, 5)}
    assert {(scenario.kernel, scenario.seed) for scenario in asked} == wanted
    assert {(s.rate_bps, s.liars[0], len(s.flows)) for s in asked} == {(5_000_000, 2.0, 10)}
    lines = capsys.readouterr().out.splitlines()
    assert ("DISAGREE" in lines[3]) == bool(status)
    assert lines[3].split()[:7] == "utilisation uml 0.9900 0.0000 0.9850 .. 0.9950".split()


def test_one_seed_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "crosscheck", "--seeds", "1,1"])
    assert cli.main() == 1
    assert "--seeds: at least two" in capsys.readouterr().err
