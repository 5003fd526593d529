# SPDX-License-Identifier: GPL-2.0
"""Ethernet frames at random: hints of all encodings, tags, extension headers, damage.

Checksums are nobody's concern on a router's egress, so they are noise.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

IPV4, IPV6, VLAN, QINQ, PPPOE_SESSION, ARP = 0x0800, 0x86DD, 0x8100, 0x88A8, 0x8864, 0x0806
TCP, UDP = 6, 17
HOP_BY_HOP, ROUTING, FRAGMENT, AUTH, DESTINATION = 0, 43, 44, 51, 60
ADDRESSES = 64
"""Few, so that flows have many packets."""
PAYLOAD_MAX = 1400
DAMAGED = 0.2


def _payload(rng: Random) -> bytes:
    return bytes(rng.choice((0, 1, 8, rng.randint(0, PAYLOAD_MAX))))


def _options(rng: Random, hint: bytes, room: int) -> bytes:
    """Options of any type, with the hint among them, perhaps of a wrong length."""
    data = b""
    for _ in range(rng.randint(0, 4)):
        match rng.randrange(4):
            case 0:
                data += bytes([rng.choice((0, 1))])
            case 1:
                data += bytes([rng.getrandbits(8), rng.choice((0, 1, 2, 255)), 7])
            case 2:
                data += hint
            case 3:
                body = rng.randbytes(rng.randint(0, 6))
                data += bytes([rng.getrandbits(8), len(body) + 2]) + body
    return data[:room]


def _padded(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)


def _tcp(rng: Random) -> bytes:
    stamps = struct.pack("!BBII", 8, 10, rng.getrandbits(8), rng.getrandbits(8))
    hint = struct.pack("!BBHH", 254, 6, 0x5A52, rng.getrandbits(16))
    options = _padded(_options(rng, rng.choice((hint, stamps)), 40), 4)
    flags = rng.choice((0x02, 0x12, 0x10, 0x18, 0x11, rng.getrandbits(8)))
    words = 5 + len(options) // 4 if rng.random() > 0.1 else rng.getrandbits(4)
    ports = rng.randint(1, ADDRESSES), rng.randint(1, ADDRESSES)
    head = struct.pack("!HHIIBBHHH", *ports, rng.getrandbits(32), rng.getrandbits(32),
                       words << 4, flags, 512, 0, 0)  # fmt: skip
    return head + options + _payload(rng)


def _udp(rng: Random) -> bytes:
    payload = _payload(rng)
    return struct.pack("!HHHH", rng.randint(1, ADDRESSES), 9, 8 + len(payload), 0) + payload


def _segment(rng: Random) -> tuple[int, bytes]:
    """Protocol and bytes of what is above IP."""
    made: dict[int, Callable[[Random], bytes]] = {TCP: _tcp, UDP: _udp}
    protocol = rng.choice((TCP, TCP, UDP, rng.getrandbits(8)))
    return protocol, made.get(protocol, _payload)(rng)


def _ipv4(rng: Random) -> bytes:
    protocol, segment = _segment(rng)
    hint = struct.pack("!BBH", 0x9E, rng.choice((4, 4, 4, 3, 0, 60)), rng.getrandbits(16))
    options = _padded(_options(rng, hint, 40), 4)
    words = 5 + len(options) // 4 if rng.random() > 0.1 else rng.getrandbits(4)
    length = 20 + len(options) + len(segment)
    if rng.random() < 0.1:
        length = rng.choice((0, 19, 20, length - 1, rng.getrandbits(16)))
    part = rng.choice((0, 0, 0, 0x4000, 0x2000, rng.getrandbits(14)))
    head = struct.pack("!BBHHHBBH", 0x40 | words, rng.getrandbits(8), length, 0, part, 64,
                       protocol, 0)  # fmt: skip
    source, target = (bytes([10, 0, side, rng.randint(1, ADDRESSES)]) for side in (1, 2))
    return head + source + target + options + segment


def _extension(rng: Random, after: int) -> tuple[int, bytes]:
    """Its type, and its bytes in front of what is of type `after`."""
    kind = rng.choice((HOP_BY_HOP, HOP_BY_HOP, DESTINATION, ROUTING, FRAGMENT, AUTH))
    if kind == FRAGMENT:
        return kind, struct.pack("!BBHI", after, 0, rng.choice((0, 1, rng.getrandbits(16))), 1)
    hint = struct.pack("!BBH", 0x1E, rng.choice((2, 2, 2, 0, 200)), rng.getrandbits(16))
    body = _padded(bytes(2) + _options(rng, hint, 38), 8)
    length = len(body) // (4 if kind == AUTH else 8) - 1
    if rng.random() < 0.1:
        length = rng.getrandbits(8)
    return kind, bytes([after, length % 256]) + body[2:]


def _ipv6(rng: Random) -> bytes:
    after, data = _segment(rng)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 9))):
        after, head = _extension(rng, after)
        data = head + data
    length = len(data) if rng.random() > 0.1 else rng.getrandbits(16)
    ends = (b"\xfd" + bytes(14) + bytes([rng.randint(1, ADDRESSES)]) for _ in range(2))
    first = 0x60000000 | rng.getrandbits(28)
    return struct.pack("!IHBB", first, length, after, 64) + b"".join(ends) + data


def frame(rng: Random) -> bytes:
    """At least an Ethernet header, at most what fits a device."""
    kind = rng.choice((IPV4, IPV4, IPV6, IPV6, ARP, rng.getrandbits(16)))
    packet = {IPV4: _ipv4, IPV6: _ipv6}.get(kind, _payload)(rng)
    if rng.random() < 0.1:
        ppp = 0x0021 if kind == IPV4 else 0x0057
        packet = struct.pack("!BBHHH", 0x11, 0, 7, len(packet) + 2, ppp) + packet
        kind = PPPOE_SESSION
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        packet = struct.pack("!HH", rng.getrandbits(16), kind) + packet
        kind = rng.choice((VLAN, QINQ))
    data = bytearray(b"\x02" + bytes(11) + struct.pack("!H", kind) + packet)
    if rng.random() < DAMAGED:
        if rng.random() < 0.5:
            del data[rng.randint(14, len(data)) :]
        else:
            data[rng.randrange(12, len(data))] = rng.getrandbits(8)
    return bytes(data[: PAYLOAD_MAX + 14 + 4])
