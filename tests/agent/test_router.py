# SPDX-License-Identifier: GPL-2.0
"""A router with zrtt reads the agent's hints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import Network

RTT_MS = 40
ERROR_MS = 5
HINT_EVERY_S = 0.05


def _zrtt(net: Network) -> dict[str, Any]:
    said = net.r.run("tc", "-s", "-j", "qdisc", "show", "dev", "rb")
    (qdisc,) = [qdisc for qdisc in json.loads(said) if qdisc["kind"] == "zrtt"]
    return dict(qdisc)


@pytest.mark.needs("netem", "zrtt")
@each_carrier
def test_router_learns_the_rtt(net: Network, agent: Agent, encoding: str, family: int) -> None:
    net.delay(RTT_MS)
    net.r.tc("qdisc", "add", "dev", "rb", "root", "zrtt", "nohandshake")
    agent.attach(encoding=encoding)
    with connection(net, family) as flow:
        flow.push(100)
        assert _zrtt(net)["hint_ok"] <= 1  # nothing was acknowledged before
        flow.trickle(10 * HINT_EVERY_S)
        heard = _zrtt(net)
    assert heard["hint_ok"] >= 5
    assert (heard["hint_bad"], heard["hint_clamped"]) == (0, 0)
    assert heard["flows_hinted"] == 1
    assert RTT_MS <= heard["rtt_avg_us"] / 1000 <= RTT_MS + ERROR_MS


@pytest.mark.needs("netem", "zrtt")
@each_carrier
def test_router_has_no_hints_without_agent(
    net: Network, agent: Agent, encoding: str, family: int
) -> None:
    net.r.tc("qdisc", "add", "dev", "rb", "root", "zrtt", "nohandshake")
    agent.attach("--to", "192.0.2.0/24", encoding=encoding)
    with connection(net, family) as flow:
        flow.trickle(4 * HINT_EVERY_S)
        heard = _zrtt(net)
    assert (heard["hint_ok"], heard["hint_bad"], heard["flows_hinted"]) == (0, 0, 0)
    assert heard["rtt_avg_us"] == 0
