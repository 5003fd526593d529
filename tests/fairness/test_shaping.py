# SPDX-License-Identifier: GPL-2.0
"""zrtt with a bandwidth of its own is as fair as below htb, and its queue is no longer."""

from __future__ import annotations

from functools import cache

from lab import runner
from lab.result import Result
from lab.scenario import Link, Scenario

RTTS_MS = tuple(20.0 * n for n in range(1, 21))
SLACK_MS = 0.2


@cache
def run(link: Link) -> Result:
    """Twenty RTTs on 20 Mbit/s."""
    return runner.run(
        Scenario(
            kernel="uml", qdisc="zrtt", link=link, rtts_ms=RTTS_MS, cc=("reno",), warmup_s=20,
            duration_s=20,
        ).check()
    )  # fmt: skip


def test_fairness_is_the_same() -> None:
    assert min(run(link).jain for link in (Link.OWN, Link.SHAPER)) > 0.99


def test_link_is_as_full() -> None:
    assert run(Link.OWN).utilisation > 0.98


def test_queue_is_no_longer() -> None:
    own, below = run(Link.OWN).sojourn_ms, run(Link.SHAPER).sojourn_ms
    assert own.p95 <= below.p95 + SLACK_MS
    assert own.mean <= below.mean + SLACK_MS
