# SPDX-License-Identifier: GPL-2.0
"""On a VLAN, and below one."""

from __future__ import annotations

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import Network
from packets import TCP

from lab.netns import Namespace

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


@pytest.mark.needs("vlan")
@pytest.mark.parametrize("device", ["a0.5", "a0"], ids=["on it", "below it"])
@each_carrier
def test_hints_are_there(
    net: Network, agent: Agent, encoding: str, family: int, device: str
) -> None:
    tag(net.a, "a0", NEAR)
    tag(net.r, "ra", FAR)
    agent.attach("--every-packet", dev=device, encoding=encoding)
    with net.seen("r", "ra.5") as seen:
        with connection(net, family, FAR[family], net.r) as flow:
            flow.push(BYTES)
        got = [p for p in seen.packets() if p.proto == TCP and not p.outgoing]
    status = agent.status(device)
    assert status.packets > 0
    if device == "a0.5":
        assert any(packet.hints for packet in got)
    assert bool(status.stamped) == any(packet.hints for packet in got)
