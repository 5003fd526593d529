# SPDX-License-Identifier: GPL-2.0
"""A host has no more than its ceiling, though the link has no queue then: P_b is 0."""

from __future__ import annotations

from functools import cache

import pytest

from lab.model.scenario import Scenario
from lab.results.result import Result
from lab.runs import runner

CEIL_MBPS = 10.0
ECN = (True, False)


@cache
def run(ecn: bool) -> Result:
    """Three hosts of one to eight flows, on five times what they may have together."""
    return runner.run(
        Scenario(
            kernel="uml", qdisc="zrtt fair srchost ceil 10mbit", rate_bps=150_000_000,
            rtts_ms=(10.0, 20.0, 60.0), sessions_of=(1, 8, 3), cc=("cubic",), ecn=ecn, warmup_s=10,
            duration_s=20, seed=1,
        ).check()
    )  # fmt: skip


@pytest.mark.parametrize("ecn", ECN)
def test_no_host_has_more_than_its_ceiling(ecn: bool) -> None:
    assert max(host.goodput_mbps for host in run(ecn).hosts) <= CEIL_MBPS


@pytest.mark.parametrize("ecn", ECN)
def test_each_host_has_nearly_that(ecn: bool) -> None:
    assert min(host.goodput_mbps for host in run(ecn).hosts) > 0.85 * CEIL_MBPS


@pytest.mark.parametrize("ecn", ECN)
def test_flows_of_a_host_have_the_same(ecn: bool) -> None:
    assert run(ecn).within_jain > 0.95
