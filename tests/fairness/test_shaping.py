# SPDX-License-Identifier: GPL-2.0
"""zrtt with a bandwidth of its own is as fair as below htb, and its queue is no longer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from statistics import fmean

from lab.model.scenario import Link, Scenario
from lab.results.result import Result
from lab.runs import runner

RTTS_MS = tuple(20.0 * n for n in range(1, 21))
SEEDS = range(1, 9)
P95_SLACK_MS = 1.3
"""Seeds differ by 1 ms: the mean of eight may by a third of that, twice."""
MEAN_SLACK_MS = 0.2


def _run(link: Link, seed: int) -> Result:
    """Twenty RTTs on 20 Mbit/s."""
    return runner.run(
        Scenario(
            kernel="uml", qdisc="zrtt", link=link, rtts_ms=RTTS_MS, cc=("reno",), warmup_s=20,
            duration_s=20, seed=seed,
        ).check()
    )  # fmt: skip


@cache
def runs(link: Link) -> list[Result]:
    """Of all seeds."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: _run(link, seed), SEEDS))


def test_fairness_is_the_same() -> None:
    assert min(run.jain for link in (Link.OWN, Link.SHAPER) for run in runs(link)) > 0.99


def test_link_is_as_full() -> None:
    assert min(run.utilisation for run in runs(Link.OWN)) > 0.98


def test_queue_is_no_longer() -> None:
    own, below = ([run.sojourn_ms for run in runs(link)] for link in (Link.OWN, Link.SHAPER))
    assert fmean(q.p95 for q in own) <= fmean(q.p95 for q in below) + P95_SLACK_MS
    assert fmean(q.mean for q in own) <= fmean(q.mean for q in below) + MEAN_SLACK_MS
