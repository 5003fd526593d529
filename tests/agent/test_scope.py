# SPDX-License-Identifier: GPL-2.0
"""Hints go to private and on-link destinations, or where --to says, and nowhere else."""

from __future__ import annotations

import pytest
from agents import Agent
from flows import connection
from hosts import FAMILIES, GATEWAY, PUBLIC, PUBLIC_ON_LINK, REMOTE, Network

from lab.host.netns import Namespace

PUBLIC_PREFIX = {4: "203.0.113.0/24", 6: "2001:db8:2::/48"}
each_family = pytest.mark.parametrize("family", FAMILIES)
each_encoding = pytest.mark.parametrize("encoding", ["ip", "tcp"])


def hinted(net: Network, family: int, address: str, host: Namespace | None = None) -> bool:
    """Whether a connection to there has hints."""
    with net.seen("a", "a0") as seen, connection(net, family, address, host) as flow:
        for _ in range(5):
            flow.push(100)
        return any(packet.hints for packet in seen.packets())


@each_family
@each_encoding
def test_default_is_private_and_on_link(
    net: Network, agent: Agent, encoding: str, family: int
) -> None:
    agent.attach(encoding=encoding)
    assert hinted(net, family, REMOTE[family])
    assert hinted(net, family, GATEWAY[family], net.r)
    assert agent.status().skipped.get("scope", 0) == 0
    assert not hinted(net, family, PUBLIC[family])
    assert agent.status().skipped["scope"] > 0
    assert hinted(net, family, PUBLIC_ON_LINK[family], net.r)


@each_family
@each_encoding
def test_to_replaces_the_default(net: Network, agent: Agent, encoding: str, family: int) -> None:
    agent.attach("--to", PUBLIC_PREFIX[family], encoding=encoding)
    assert agent.status().to == [PUBLIC_PREFIX[family]]
    assert hinted(net, family, PUBLIC[family])
    assert not hinted(net, family, REMOTE[family])
    assert not hinted(net, family, PUBLIC_ON_LINK[family], net.r)


@each_encoding
def test_to_is_repeated(net: Network, agent: Agent, encoding: str) -> None:
    wanted = [PUBLIC_PREFIX[4], PUBLIC_PREFIX[6], f"{REMOTE[4]}/32"]
    agent.attach(*(word for prefix in wanted for word in ("--to", prefix)), encoding=encoding)
    assert set(agent.status().to) == set(wanted)
    assert all(hinted(net, family, PUBLIC[family]) for family in FAMILIES)
    assert hinted(net, 4, REMOTE[4])
    assert not hinted(net, 6, REMOTE[6])


@each_encoding
def test_any_covers_all_addresses(net: Network, agent: Agent, encoding: str) -> None:
    agent.attach("--to", "0.0.0.0/0", "--to", "::/0", encoding=encoding)
    assert all(hinted(net, family, PUBLIC[family]) for family in FAMILIES)
    assert all(hinted(net, family, REMOTE[family]) for family in FAMILIES)
