# SPDX-License-Identifier: GPL-2.0
"""On a VLAN, and below one."""

from __future__ import annotations

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import Network
from packets import TCP

from lab.host.netns import Namespace
from lab.senders.agent import Status

BYTES = 300_000
NEAR = {4: "10.5.0.1", 6: "fd05::1"}
FAR = {4: "10.5.0.254", 6: "fd05::ff"}
PREFIX = {4: 24, 6: 64}


def tag(space: Namespace, device: str, addresses: dict[int, str]) -> None:
    """A VLAN on a device of a host."""
    vlan = f"{device}.5"
    lines = [f"link add link {device} name {vlan} type vlan id 5", f"link set {vlan} up"]
    for family, address in addresses.items():
        lines.append(f"addr add {address}/{PREFIX[family]} dev {vlan}{' nodad' * (family == 6)}")
    space.ip_batch(lines)


def hints_and_status(
    net: Network, agent: Agent, encoding: str, family: int, device: str
) -> tuple[bool, Status]:
    """Whether packets have hints when they leave the VLAN, and what the agent says."""
    tag(net.a, "a0", NEAR)
    tag(net.r, "ra", FAR)
    agent.attach("--every-packet", dev=device, encoding=encoding)
    with net.seen("r", "ra.5") as seen:
        with connection(net, family, FAR[family], net.r) as flow:
            flow.push(BYTES)
        got = [p for p in seen.arrived() if p.proto == TCP]
    return any(packet.hints for packet in got), agent.status(device)


@pytest.mark.needs("vlan")
@each_carrier
def test_agent_on_a_vlan(net: Network, agent: Agent, encoding: str, family: int) -> None:
    hinted, status = hints_and_status(net, agent, encoding, family, "a0.5")
    assert hinted
    assert status.stamped > 0


@pytest.mark.needs("vlan")
@pytest.mark.parametrize("encoding", ["ip", "tcp"])
def test_agent_below_a_vlan(net: Network, agent: Agent, encoding: str) -> None:
    """What the agent counts as stamped is, and all bytes arrive."""
    hinted, status = hints_and_status(net, agent, encoding, 4, "a0")
    assert status.packets > 0
    assert hinted == bool(status.stamped)
