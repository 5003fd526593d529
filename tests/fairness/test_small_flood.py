# SPDX-License-Identifier: GPL-2.0
"""A call does not wait behind streams of small packets that are below their due share at first."""

from __future__ import annotations

from lab.model.scenario import Scenario
from lab.model.thin import Thin
from lab.model.udp import Udp
from lab.runs import runner

P99_MS = 5


def test_call_does_not_wait_for_small_packets() -> None:
    scenario = Scenario(
        kernel="uml", qdisc="zrtt", rtts_ms=(20.0, 30.0, 40.0, 80.0), hint="none",
        udp=(Udp.parse("2mbit@10-20 size=100"),) * 10, thin=(Thin.parse("voip"),),
        warmup_s=10, duration_s=10,
    ).check()  # fmt: skip
    run = runner.run(scenario)
    (call,) = run.thin
    assert call.p99_ms <= P99_MS
    assert not call.lost
