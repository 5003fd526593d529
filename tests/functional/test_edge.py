# SPDX-License-Identifier: GPL-2.0
"""Connections whose every packet has a hint, through a router that removes them."""

from __future__ import annotations

import pytest
from frames import DESTINATION, ETH, HOP_BY_HOP, TCP, V4, V6
from guests import Report

BYTES = 1 << 16
MTU = 1500
KINDS = {"ipv4": V4, "hop": V6, "dst": V6}
STRIPPED = ("split", "whole", "late")


def heads(report: Report, kind: str, way: str) -> list[bytes]:
    """IP headers of the connection's packets, as the receiver got them."""
    frames = [bytes.fromhex(line) for line in report.lines(f"edge.{kind}.{way}.heads")]
    ethertype, proto = KINDS[kind].to_bytes(2, "big"), 9 if kind == "ipv4" else 6
    unicast = [f[14:] for f in frames if f[:6] == ETH[:6] and f[12:14] == ethertype]
    return [packet for packet in unicast if packet[proto] in (TCP, HOP_BY_HOP, DESTINATION)]


def length(packet: bytes) -> int:
    """Bytes of a packet, as its header says."""
    at, base = (2, 0) if packet[0] >> 4 == 4 else (4, 40)
    return base + int.from_bytes(packet[at : at + 2], "big")


def has_options(packet: bytes) -> bool:
    """Whether the IP header has any."""
    return packet[0] != 0x45 if packet[0] >> 4 == 4 else packet[6] != TCP


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [*STRIPPED, "left", "ifb"])
def test_connection_completes(report: Report, kind: str, way: str) -> None:
    assert report.lines(f"edge.{kind}.{way}.bytes") == [str(BYTES)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", STRIPPED)
def test_receiver_sees_no_options(report: Report, kind: str, way: str) -> None:
    packets = heads(report, kind, way)
    assert sum(length(packet) for packet in packets) > BYTES
    assert not [packet.hex() for packet in packets if has_options(packet)]


@pytest.mark.parametrize("kind", KINDS)
def test_receiver_sees_options_that_are_left(report: Report, kind: str) -> None:
    """Else the test above shows nothing."""
    data = [packet for packet in heads(report, kind, "left") if length(packet) > MTU / 2]
    assert sum(length(packet) for packet in data) > BYTES
    assert all(has_options(packet) for packet in data)


@pytest.mark.parametrize("kind", KINDS)
def test_gso_packets_are_segmented_where_they_should_be(report: Report, kind: str) -> None:
    longest = {way: max(map(length, heads(report, kind, way))) for way in STRIPPED}
    # Linux now and then segments what it forwards with a destination header, hint or not
    assert longest["whole"] > 5 * MTU or kind == "dst"
    assert longest["split"] <= MTU
    assert longest["late"] <= MTU


@pytest.mark.parametrize("part", ["stats", "ifb"])
def test_every_hint_is_removed(report: Report, part: str) -> None:
    qdisc = report.qdisc(f"edge.{part}")
    assert qdisc["hint_stripped"] == qdisc["hint_ok"] > BYTES // MTU
    assert qdisc["drop_mark"] == 0
