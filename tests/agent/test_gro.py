# SPDX-License-Identifier: GPL-2.0
"""Receivers that merge packets and receivers that do not get the same bytes and hints."""

from __future__ import annotations

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import Network
from packets import TCP

BYTES = 3_000_000
MTU = 1500


@pytest.mark.parametrize("gro", ["on", "off"])
@pytest.mark.parametrize("options", [(), ("--every-packet",)], ids=["sampled", "every packet"])
@each_carrier
def test_bytes_and_hints_arrive(
    net: Network, agent: Agent, encoding: str, family: int, options: tuple[str, ...], gro: str
) -> None:
    net.features("b0", f"gro {gro}")
    agent.attach(*options, encoding=encoding)
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        flow.push(BYTES)
        got = [p for p in seen.arrived() if p.proto == TCP]
    assert any(packet.hints for packet in got)
    if gro == "off":
        assert max(packet.length for packet in got) <= MTU
    elif not options:
        assert max(packet.length for packet in got) > MTU
