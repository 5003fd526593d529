# SPDX-License-Identifier: GPL-2.0
"""No object stays after detach, or after the device or namespace is deleted."""

from __future__ import annotations

import pytest
from agents import Agent
from flows import connection
from hosts import Network
from kernel_objects import filters, left_of, present

from lab.senders.agent import done, run, statuses

each_encoding = pytest.mark.parametrize("encoding", ["ip", "tcp"])
LOOKS, LOOK_S = 120, 0.5
USERS_FILTER = "u32 match u32 0 0 flowid 1:1"


@pytest.mark.old_too
@each_encoding
def test_detach_leaves_nothing(net: Network, agent: Agent, encoding: str) -> None:
    before, tc_before = present(), filters(net.a, "a0")
    agent.attach(encoding=encoding)
    made = present(before)
    assert made.programs and made.maps
    with connection(net, 4) as flow:
        flow.push(100_000)
        agent.detach()
        flow.push(100_000)
    assert not left_of(made), left_of(made)
    assert filters(net.a, "a0") == tc_before
    assert statuses("--netns", net.a.name) == []


@each_encoding
def test_a_deleted_device_leaves_nothing(net: Network, agent: Agent, encoding: str) -> None:
    before = present()
    net.a.ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
    agent.attach(dev="v0", encoding=encoding)
    made = present(before)
    net.a.ip("link", "del", "v0")
    assert statuses("--netns", net.a.name) == []
    net.a.ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
    assert statuses("--netns", net.a.name) == []
    agent.attach(dev="v0", encoding=encoding)
    again = present(before)
    agent.detach(dev="v0")
    assert not left_of(made), left_of(made)
    assert not left_of(again), left_of(again)


@pytest.mark.old_too
@each_encoding
def test_a_device_that_moves_is_detached(net: Network, agent: Agent, encoding: str) -> None:
    """By the next command, whatever it is about; then it can be attached where it is."""
    before = present()
    net.a.ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
    agent.attach(dev="v0", encoding=encoding)
    made = present(before)
    net.a.ip("link", "set", "v0", "netns", net.b.name)
    assert statuses("--netns", net.b.name) == []
    assert not left_of(made), left_of(made)
    there = Agent(net.b, agent.cgroup)
    there.attach(dev="v0", encoding=encoding)
    again = present(before)
    there.detach(dev="v0")
    assert not left_of(again), left_of(again)


@each_encoding
def test_a_deleted_namespace_leaves_nothing(net: Network, agent: Agent, encoding: str) -> None:
    before = present()
    agent.attach(encoding=encoding)
    made = present(before)
    net.a.delete()
    # its devices go a little later, and what the agent had there when one looks again
    for _ in range(LOOKS):
        assert net.a.name not in {status.netns for status in statuses()}
        left = left_of(made, LOOK_S)
        if not left:
            break
    assert not left


@pytest.mark.needs("solitude")
def test_detach_all_covers_all_namespaces(net: Network, agent: Agent) -> None:
    """Of all namespaces: those of others, too, were this not a guest."""
    before = present()
    agent.attach()
    Agent(net.b, agent.cgroup).attach(dev="b0", encoding="tcp")
    made = present(before)
    assert len(statuses()) == 2
    done("detach", "--all")
    assert statuses() == []
    assert not left_of(made), left_of(made)


@pytest.mark.old_too
def test_filters_of_the_user_stay(net: Network, agent: Agent) -> None:
    net.a.tc("qdisc", "add", "dev", "a0", "clsact")
    net.a.tc("filter", "add", "dev", "a0", "egress", "protocol", "all", *USERS_FILTER.split())
    before = filters(net.a, "a0")
    agent.attach()
    agent.detach()
    assert filters(net.a, "a0") == before


@each_encoding
def test_a_second_attach_is_refused(net: Network, agent: Agent, encoding: str) -> None:
    before = present()
    agent.attach("--every-packet", encoding=encoding)
    made = present(before)
    said = run("attach", "a0", "--netns", net.a.name)
    assert (said.returncode, said.stderr.count("\n")) == (2, 1)
    assert "a0" in said.stderr
    assert present(before) == made
    assert (agent.status().encoding, agent.status().every_packet) == (encoding, True)


def test_attach_again_with_other_options(net: Network, agent: Agent) -> None:
    before = present()
    for encoding in ("tcp", "ip", "tcp"):
        agent.attach(encoding=encoding)
        assert agent.status().encoding == encoding
        made = present(before)
        done("detach", "--netns", net.a.name)
        assert not left_of(made), left_of(made)
