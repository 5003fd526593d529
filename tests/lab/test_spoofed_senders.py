# SPDX-License-Identifier: GPL-2.0
"""The flood of lab/scenarios/flood.py."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.mark.parametrize(("kind", "protocol", "header"), [("udp", 17, 8), ("syn", 6, 20)])
def test_each_packet_has_another_sender(
    scenario_program: Callable[[str], ModuleType], kind: str, protocol: int, header: int
) -> None:
    """IPv4 without options; UDP's length is that of the datagram."""
    packet = scenario_program("flood").packets(bytes([10, 0, 0, 1]), kind, 100)
    made = [packet() for _ in range(1000)]
    assert {len(one) for one in made} == {100}
    fixed = {one[:1] + one[9:10] + one[16:20] + one[22:24] for one in made}
    assert fixed == {bytes([0x45, protocol, 10, 0, 0, 1, 0, 9])}
    senders = {ipaddress.ip_address(one[12:16]) for one in made}
    assert len(senders) > 990
    assert all(sender in ipaddress.ip_network("172.16.0.0/12") for sender in senders)
    assert len({one[20:22] for one in made}) > 900
    assert all(one[20 + header :] == bytes(80 - header) for one in made)
    if kind == "udp":
        assert {one[24:26] for one in made} == {bytes([0, 80])}
