# SPDX-License-Identifier: GPL-2.0
"""Packets that are not TCP of a local connection, or that have options, are not changed."""

from __future__ import annotations

import socket
import struct

import pytest
from agents import Agent
from flows import FAMILY, PATTERN, connection, listening
from hosts import FAMILIES, LOCAL, REMOTE, Network
from packets import ICMP, ICMPV6, SYN, TCP, UDP

ROUTER_ALERT = bytes([0x94, 4, 0, 0])
FRAGMENTED_BYTES = 4000
SIZES = (1, 1000, FRAGMENTED_BYTES)
each_family = pytest.mark.parametrize("family", FAMILIES)
each_encoding = pytest.mark.parametrize("encoding", ["ip", "tcp"])


def test_ip_options_are_left_alone(net: Network, agent: Agent) -> None:
    agent.attach("--every-packet")
    with net.seen("b", "b0") as seen, connection(net, 4, ip_options=ROUTER_ALERT) as flow:
        for _ in range(5):
            flow.push(5000)
        got = seen.arrived()
    assert {packet.ip_options for packet in got} == {ROUTER_ALERT}
    status = agent.status()
    assert status.stamped == 0
    assert status.skipped["options"] > 0


def test_tcp_options_fit_beside_ip_options(net: Network, agent: Agent) -> None:
    agent.attach("--every-packet", encoding="tcp")
    with net.seen("b", "b0") as seen, connection(net, 4, ip_options=ROUTER_ALERT) as flow:
        for _ in range(5):
            flow.push(5000)
        got = seen.arrived()
    assert {packet.ip_options for packet in got} == {ROUTER_ALERT}
    assert any(packet.hints for packet in got)


@each_encoding
@each_family
def test_udp_is_not_changed(net: Network, agent: Agent, encoding: str, family: int) -> None:
    agent.attach("--every-packet", encoding=encoding)
    with net.b.entered():
        far = socket.socket(FAMILY[family], socket.SOCK_DGRAM)
    with net.a.entered():
        near = socket.socket(FAMILY[family], socket.SOCK_DGRAM)
    with net.seen("b", "b0") as seen, far, near:
        far.bind((REMOTE[family], 0))
        far.settimeout(2)
        for size in SIZES:
            near.sendto(PATTERN[:size], far.getsockname()[:2])
            assert far.recv(1 << 16) == PATTERN[:size]
        got = seen.arrived()
    assert sum(packet.fragment for packet in got) == 3
    assert [len(packet.payload) for packet in got if packet.proto == UDP and not packet.fragment] \
        == list(SIZES[:2])  # fmt: skip
    assert not any(packet.ip_options or packet.hints for packet in got)
    assert agent.status().stamped == 0


@each_family
def test_icmp_echo_is_not_changed(net: Network, agent: Agent, family: int) -> None:
    agent.attach("--every-packet")
    with net.seen("b", "b0") as seen:
        net.ping(family)
        net.ping(family, "-s", str(FRAGMENTED_BYTES))
        got = seen.arrived()
    assert [packet.proto for packet in got if not packet.fragment] == [
        ICMP if family == 4 else ICMPV6
    ]
    assert not any(packet.ip_options or packet.hints for packet in got)
    assert agent.status().stamped == 0


def segment(source_port: int, port: int) -> bytes:
    """A TCP header that asks for a connection."""
    return struct.pack("!HHIIBBHHH", source_port, port, 1, 0, 5 << 4, SYN, 512, 0, 0)


@each_family
@each_encoding
def test_segments_of_raw_sockets_are_not_changed(net: Network, agent: Agent, encoding: str, family: int) -> None:
    """Those of a raw socket: no connection is known for them. The answer is refused by a."""
    agent.attach("--every-packet", encoding=encoding)
    with net.a.entered():
        raw = socket.socket(FAMILY[family], socket.SOCK_RAW, TCP)
    with net.seen("b", "b0") as seen, listening(net, family) as server, raw:
        sent = segment(40000, server.getsockname()[1])
        raw.sendto(sent, (REMOTE[family], 0))
        net.ping(family)
        got = [p for p in seen.arrived() if p.proto == TCP]
    assert got[0].body == sent
    assert not any(packet.ip_options or packet.hints for packet in got)
    status = agent.status()
    assert status.stamped == 0
    assert status.skipped["no_socket"] == len(got)


def test_packets_to_own_addresses_have_no_effect(net: Network, agent: Agent) -> None:
    """Packets to itself never come to the device."""
    agent.attach("--every-packet")
    with connection(net, 4, LOCAL[4], net.a) as flow:
        flow.push(1000)
    status = agent.status()
    assert status.packets == status.skipped["not_tcp"]
