# SPDX-License-Identifier: GPL-2.0
"""Connections that end leave no entry in the agent's maps."""

from __future__ import annotations

import pytest
from agents import Agent
from flows import come_and_go
from hosts import Network
from kernel_objects import map_bytes, present

CONNECTIONS = 10_000


@pytest.mark.parametrize("encoding", ["ip", "tcp"])
def test_maps_do_not_grow(net: Network, agent: Agent, encoding: str) -> None:
    before = present()
    agent.attach(encoding=encoding)
    made = present(before)
    come_and_go(net, 4, 10)
    at_first = map_bytes(made)
    come_and_go(net, 4, CONNECTIONS)
    assert at_first
    assert map_bytes(made) == at_first
    assert agent.status().stamped >= CONNECTIONS
