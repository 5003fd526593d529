# SPDX-License-Identifier: GPL-2.0
"""Reads frames: sizes, options, and the hint in any of its encodings."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

ETHERNET_BYTES, TAG_BYTES = 14, 4
IPV4, IPV6, VLAN = 0x0800, 0x86DD, 0x8100
ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
HOP_BY_HOP, FRAGMENT = 0, 44
MORE_OR_OFFSET = 0x3FFF
FIN, SYN, RST = 1, 2, 4
IPV4_TYPE, IPV6_TYPE, TCP_KIND, TCP_EXID = 0x9E, 0x1E, 0xFE, 0x5A52
END, NOP, TIMESTAMP = 0, 1, 8
UNIT_US = 32
TOO_BIG = {(ICMP, 3, 4), (ICMPV6, 2, 0)}
"""Protocol, type and code of what a router says of a packet that does not fit."""
NEIGHBOUR_TYPES = {130, 131, 132, 133, 134, 135, 136, 137, 143}


@dataclass(frozen=True)
class Packet:
    """What the tests want to know of a packet."""

    outgoing: bool
    """Sent by where it was seen."""
    version: int
    length: int
    """Of the IP packet."""
    proto: int
    ip_options: bytes
    """IPv4 options, or the hop-by-hop header."""
    fragment: bool
    body: bytes
    """What is behind the IP headers."""
    hints: tuple[tuple[str, int], ...]
    """Encodings, ip or tcp, and units."""
    seen_ns: int
    """When it passed the device, by the machine's clock, which may be set in between."""

    @property
    def hint_us(self) -> int | None:
        """What its only hint says."""
        if not self.hints:
            return None
        ((_, units),) = self.hints
        return units * UNIT_US

    @property
    def of_neighbours(self) -> bool:
        """Neighbour discovery or its multicast groups (RFC 4861, 3810)."""
        return self.proto == ICMPV6 and self.body[0] in NEIGHBOUR_TYPES

    @property
    def ports(self) -> tuple[int, int]:
        """Of TCP and UDP: source and destination."""
        source, destination = struct.unpack("!HH", self.body[:4])
        return source, destination

    @property
    def flags(self) -> int:
        """Of TCP."""
        return self.body[13]

    @property
    def sent_ms(self) -> int:
        """When TCP made it, by its timestamp. It may wait for the processor before it leaves."""
        (value,) = [value for kind, value in _tcp_options(self.body) if kind == TIMESTAMP]
        (sent,) = struct.unpack("!I", value[:4])
        return int(sent)

    @property
    def payload(self) -> bytes:
        """Of TCP and UDP."""
        return self.body[(self.body[12] >> 4) * 4 :] if self.proto == TCP else self.body[8:]

    @property
    def too_big(self) -> bool:
        """Whether a router complains of the size of a packet."""
        return (self.proto, *self.body[:2]) in TOO_BIG


def _options(area: bytes, pad: int, end: int | None, extra: int) -> Iterator[tuple[int, bytes]]:
    """Types and values of a list; `extra` bytes are not counted in an option's length."""
    at = 0
    while at < len(area) and area[at] != end:
        if area[at] == pad:
            at += 1
            continue
        length = area[at + 1] + extra
        assert 2 <= length <= len(area) - at, f"options do not add up: {area.hex()}"
        yield area[at], area[at + 2 : at + length]
        at += length


def _units(value: bytes) -> int:
    assert len(value) == 2, f"a hint of {len(value)} bytes"
    (units,) = struct.unpack("!H", value)
    return units


def _tcp_options(body: bytes) -> Iterator[tuple[int, bytes]]:
    return _options(body[20 : (body[12] >> 4) * 4], NOP, END, 0)


def _tcp_hints(body: bytes) -> Iterator[tuple[str, int]]:
    for kind, value in _tcp_options(body):
        if kind == TCP_KIND and value[:2] == struct.pack("!H", TCP_EXID):
            yield "tcp", _units(value[2:])


def _ipv4(packet: bytes) -> tuple[int, int, bool, bytes, int, list[tuple[str, int]]]:
    header = (packet[0] & 15) * 4
    (length,) = struct.unpack("!H", packet[2:4])
    (fragment,) = struct.unpack("!H", packet[6:8])
    options = packet[20:header]
    found = _options(options, NOP, END, 0)
    hints = [("ip", _units(value)) for kind, value in found if kind == IPV4_TYPE]
    return length, packet[9], bool(fragment & MORE_OR_OFFSET), options, header, hints


def _ipv6(packet: bytes) -> tuple[int, int, bool, bytes, int, list[tuple[str, int]]]:
    (length,) = struct.unpack("!H", packet[4:6])
    proto, header, area = packet[6], 40, b""
    hints: list[tuple[str, int]] = []
    if proto == HOP_BY_HOP:
        size = (packet[41] + 1) * 8
        proto, header, area = packet[40], 40 + size, packet[40 : 40 + size]
        found = _options(area[2:], END, None, 2)
        hints = [("ip", _units(value)) for kind, value in found if kind == IPV6_TYPE]
    return length + 40, proto, proto == FRAGMENT, area, header, hints


def parse(frame: bytes, outgoing: bool, seen_ns: int) -> Packet | None:
    """A packet, or None if it is not IP; a tag in front of it is skipped."""
    (kind,) = struct.unpack("!H", frame[12:14])
    start = ETHERNET_BYTES
    if kind == VLAN:
        (kind,) = struct.unpack("!H", frame[16:18])
        start += TAG_BYTES
    if kind not in (IPV4, IPV6):
        return None
    packet = frame[start:]
    read = _ipv4 if kind == IPV4 else _ipv6
    length, proto, fragment, options, header, hints = read(packet)
    body = packet[header:length]
    if proto == TCP and not fragment:
        hints += _tcp_hints(body)
    version = 4 if kind == IPV4 else 6
    return Packet(
        outgoing, version, length, proto, options, fragment, body, tuple(hints), seen_ns
    )  # fmt: skip
