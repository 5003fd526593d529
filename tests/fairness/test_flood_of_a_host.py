# SPDX-License-Identifier: GPL-2.0
"""A host that floods is soon held at its share, also where marks are rare."""

from __future__ import annotations

from lab.model.scenario import Scenario
from lab.model.udp import Udp
from lab.runs import runner

RATE_MBPS = 50
MOST_MBPS = 1.2 * RATE_MBPS / 4
"""Of the flood of the fourth host in 10 s: 1.48 times its share where its penalty does not follow
its bucket."""


def test_flood_of_a_host_has_its_share() -> None:
    scenario = Scenario(
        kernel="uml", qdisc="zrtt fair srchost", rate_bps=RATE_MBPS * 1_000_000,
        rtts_ms=(10.0, 20.0, 40.0), sessions=4, hint="none",
        udp=(Udp.parse("80mbit"),), warmup_s=10, duration_s=10,
    ).check()  # fmt: skip
    assert runner.run(scenario).udp[0].delivered_mbps <= MOST_MBPS
