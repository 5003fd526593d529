# SPDX-License-Identifier: GPL-2.0
"""TCP gets its share soon where many streams begin that heed no mark."""

from __future__ import annotations

from lab.model.scenario import Scenario
from lab.model.udp import Udp
from lab.runs import runner

LEAST_MBPS = 1.5
"""Of two flows in 18 s, which are due 2.35: 1.3 where the gain of penalties is 1/16 at most."""


def test_tcp_comes_back_beside_streams_that_begin() -> None:
    scenario = Scenario(
        kernel="uml", qdisc="zrtt", rtts_ms=(20.0, 100.0), hint="none",
        udp=(Udp.parse("2mbit@9-27"),) * 15, warmup_s=9, duration_s=18,
    ).check()  # fmt: skip
    assert sum(flow.goodput_mbps for flow in runner.run(scenario).flows) >= LEAST_MBPS
