# SPDX-License-Identifier: GPL-2.0
"""TCP has its share of a slow link beside calls that ask for more than all of it."""

from __future__ import annotations

import pytest

from lab.model.scenario import Scenario
from lab.model.thin import parse_thin
from lab.runs import runner

RATE_BPS = 512_000
CALLS = 8
"""Of 86 kbit/s each."""


@pytest.mark.parametrize("seed", [4, 5])
def test_tcp_has_its_share(seed: int) -> None:
    """It had nothing with these seeds where thin may get 16 KiB ahead: what waits is late then."""
    rtts_ms = (64.4, 20.0)
    scenario = Scenario(
        kernel="uml", qdisc="zrtt", rate_bps=RATE_BPS, rtts_ms=rtts_ms, hint="none",
        thin=parse_thin(f"voip*{CALLS}"), warmup_s=20, duration_s=20, seed=seed,
    ).check()  # fmt: skip
    due_mbps = RATE_BPS / 1e6 / (len(rtts_ms) + CALLS)
    assert min(flow.goodput_mbps for flow in runner.run(scenario).flows) >= 0.7 * due_mbps
