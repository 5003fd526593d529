# SPDX-License-Identifier: GPL-2.0
"""The congestion controls on a link of the laboratory: equality with Reno, response to ECN."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.model.scenario import Link, Scenario
from lab.runs import runner

SLOW = Scenario(
    kernel="uml", qdisc="pfifo limit 5", rate_bps=1_000_000, link=Link.WIRE, rtts_ms=(30.0, 40.0),
    cc=("reno",), hint="none", warmup_s=5, duration_s=30,
)  # fmt: skip
MARKED = replace(
    SLOW, qdisc="codel target 5ms limit 1000 ecn", rate_bps=20_000_000, rtts_ms=(20.0, 40.0)
)


def test_nrhstcp_is_reno_on_a_slow_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the packet, in guests that differ in nothing else: windows are below Low_Window."""
    monkeypatch.setattr(runner, "module_names", lambda _: ["sch_meter", "tcp_nrhstcp"])
    twins = [runner.run(replace(SLOW, cc=(cc,))) for cc in ("reno", "nrhstcp")]
    reno, nrhstcp = ([(f.goodput_mbps, f.retransmits) for f in twin.flows] for twin in twins)
    assert all(retransmits > 0 for _, retransmits in reno)
    assert nrhstcp == reno


@pytest.mark.parametrize("cc", ["libra", "nrhstcp", "exp"])
def test_response_to_marks(cc: str) -> None:
    """A sender that ignores marks would end its slow start only by a loss."""
    result = runner.run(replace(MARKED, cc=(cc,)))
    assert result.marks > 0
    assert result.drops == 0
    assert sum(flow.retransmits for flow in result.flows) == 0
    assert result.utilisation > 0.9
