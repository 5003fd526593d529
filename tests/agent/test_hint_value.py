# SPDX-License-Identifier: GPL-2.0
"""The value of a hint is the minimum RTT of the sender's TCP."""

from __future__ import annotations

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import Network
from packets import UNIT_US

RTT_MS = 40
ERROR_MS = 5


@pytest.mark.needs("netem")
@pytest.mark.old_too
@each_carrier
def test_hint_is_the_minimum_rtt(net: Network, agent: Agent, encoding: str, family: int) -> None:
    net.delay(RTT_MS)
    agent.attach("--every-packet", encoding=encoding)
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        for _ in range(5):
            flow.push(100)
        least_us = flow.min_rtt_us
        hinted = [packet for packet in seen.packets() if packet.hints]
    assert RTT_MS * 1000 <= least_us <= (RTT_MS + ERROR_MS) * 1000
    assert len(hinted) >= 5
    for packet in hinted:
        ((carrier, _),) = packet.hints
        assert (carrier, packet.version) == (encoding, family)
        assert packet.hint_us is not None
        assert RTT_MS * 1000 - UNIT_US <= packet.hint_us <= (RTT_MS + ERROR_MS) * 1000
    assert hinted[-1].hint_us == least_us // UNIT_US * UNIT_US


def test_ipv4_option_has_the_configured_type(net: Network, agent: Agent) -> None:
    agent.attach("--every-packet", "--ipv4-option", "222")
    assert agent.status().ipv4_option == 222
    with net.seen("b", "b0") as seen, connection(net, 4) as flow:
        for _ in range(5):
            flow.push(100)
        least = max(1, flow.min_rtt_us // UNIT_US)
        packets = [packet for packet in seen.arrived() if packet.ip_options]
    assert len(packets) >= 5
    assert not any(packet.hints for packet in packets)
    assert {packet.ip_options[:2] for packet in packets} == {bytes([222, 4])}
    assert packets[-1].ip_options[2:] == least.to_bytes(2, "big")
