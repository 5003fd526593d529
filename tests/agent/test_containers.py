# SPDX-License-Identifier: GPL-2.0
"""Namespaces: the agent works inside one; outside, a packet has no connection any more."""

from __future__ import annotations

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import FAMILIES, Network
from packets import TCP, Packet

from lab.agent import done, program, statuses


def exchange(net: Network, family: int) -> list[Packet]:
    """TCP packets that b gets from a."""
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        for _ in range(5):
            flow.push(5000)
        return [p for p in seen.packets() if p.proto == TCP and not p.outgoing]


@pytest.mark.parametrize("family", FAMILIES)
def test_all_devices_of_a_namespace(net: Network, agent: Agent, family: int) -> None:
    done("attach", "--netns", net.a.name)
    (status,) = statuses("--netns", net.a.name)
    assert (status.netns, status.dev) == (net.a.name, "a0")
    assert any(packet.hints for packet in exchange(net, family))
    done("detach", "--netns", net.a.name)
    assert statuses("--netns", net.a.name) == []
    assert not any(packet.hints for packet in exchange(net, family))


def test_from_inside(net: Network, agent: Agent) -> None:
    """As in a container that runs the agent itself."""
    net.a.run(program(), "attach", "a0")
    assert any(packet.hints for packet in exchange(net, 4))
    net.a.run(program(), "detach", "a0")
    assert not any(packet.hints for packet in exchange(net, 4))


@each_carrier
def test_outside_of_it(net: Network, agent: Agent, encoding: str, family: int) -> None:
    outside = Agent(net.r, agent.cgroup)
    outside.attach("--every-packet", dev="rb", encoding=encoding)
    got = exchange(net, family)
    status = outside.status("rb")
    outside.leave()
    assert not any(packet.hints for packet in got)
    assert status.stamped == 0
    assert 0 < status.skipped["no_socket"] <= len(got)


def test_others_are_left_alone(net: Network, agent: Agent) -> None:
    """The TCP option is for a cgroup, but only for what leaves by the device."""
    agent.attach("--every-packet", encoding="tcp")
    with net.seen("r", "rb") as seen, connection(net, 4, "10.2.0.254", net.r) as flow:
        flow.push(5000)
        assert not any(packet.hints for packet in seen.packets())
