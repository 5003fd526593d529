# SPDX-License-Identifier: GPL-2.0
"""No packet grows beyond the path MTU, here of 1400 bytes."""

from __future__ import annotations

from itertools import product

import pytest
from agents import Agent
from flows import connection
from hosts import FAMILIES, REMOTE, Network
from packets import TCP

MTU = 1400
BYTES = 3_000_000
TIMEOUTS_MAX = 5
"""Of TCP, 0.2 s or more each: none is due, but a busy machine may be late with an answer."""
RETRANSMITS_MAX = 100
"""Of the first packets, which are too long."""

# Segments that a network card cuts, that the kernel cuts, and that nobody has to.
SEGMENTATION = ("card", "kernel", "none")
each_case = pytest.mark.parametrize(
    ("encoding", "family", "segmentation"), list(product(("ip", "tcp"), FAMILIES, SEGMENTATION))
)


def narrow(net: Network, segmentation: str) -> None:
    """Makes the link behind the router a short one."""
    net.r.ip("link", "set", "rb", "mtu", str(MTU))
    if segmentation != "card":
        net.features("a0", "tso off")
    if segmentation == "none":
        net.a.ip("link", "set", "a0", "gso_max_segs", "1")


def timeouts(net: Network) -> int:
    """How often TCP of a waited for an answer in vain."""
    lines = net.a.run("cat", "/proc/net/netstat").splitlines()
    names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
    return int(values[names.index("TCPTimeouts")])


@each_case
def test_path_mtu_is_discovered(
    net: Network, agent: Agent, encoding: str, family: int, segmentation: str
) -> None:
    narrow(net, segmentation)
    agent.attach("--every-packet", encoding=encoding)
    with net.seen("a", "a0") as near, net.seen("b", "b0") as far:
        with connection(net, family) as flow:
            flow.push(BYTES)
            assert flow.retransmits <= RETRANSMITS_MAX
        assert any(packet.too_big for packet in near.packets())
        got = [p for p in far.arrived() if p.proto == TCP]
    assert timeouts(net) <= TIMEOUTS_MAX
    assert max(packet.length for packet in got) <= MTU
    assert any(packet.hints for packet in got)
    assert agent.status().stamped > 0


@each_case
def test_known_path_mtu_is_not_exceeded(
    net: Network, agent: Agent, encoding: str, family: int, segmentation: str
) -> None:
    narrow(net, segmentation)
    gateway, prefix = {4: ("10.1.0.254", 32), 6: ("fd01::ff", 128)}[family]
    target = f"{REMOTE[family]}/{prefix}"
    net.a.ip("route", "add", target, "via", gateway, "mtu", "lock", str(MTU))
    agent.attach("--every-packet", encoding=encoding)
    with net.seen("a", "a0") as near, net.seen("b", "b0") as far:
        with connection(net, family) as flow:
            flow.push(BYTES)
        assert not any(packet.too_big for packet in near.packets())
        got = far.arrived()
    assert timeouts(net) <= TIMEOUTS_MAX
    assert not any(packet.fragment for packet in got)
    assert max(packet.length for packet in got) <= MTU
    assert any(packet.hints for packet in got)
