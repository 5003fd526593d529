# SPDX-License-Identifier: GPL-2.0
"""Builds Ethernet frames by hand, well-formed and not, and checks checksums."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

ETH = bytes.fromhex("02000000000b02000000000a")
V4, V6, VLAN, QINQ, PPPOE, TEB = 0x0800, 0x86DD, 0x8100, 0x88A8, 0x8864, 0x6558
TCP, UDP, HOP_BY_HOP, ROUTING, FRAGMENT, AH, NO_NEXT_HEADER, DESTINATION = (
    6,
    17,
    0,
    43,
    44,
    51,
    59,
    60,
)
IPIP, GRE = 4, 47
NOT_ECT, ECT1, ECT0, CE = range(4)
MORE_FRAGMENTS = 0x2000
IPV4_TYPE, IPV6_TYPE, TCP_KIND, TCP_EXID = 0x9E, 0x1E, 0xFE, 0x5A52
NOP = 1


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4_hint(units: int) -> bytes:
    """The hint as an IPv4 option."""
    return struct.pack("!BBH", IPV4_TYPE, 4, units)


def ipv6_hint(units: int) -> bytes:
    """The hint as an option of an IPv6 extension header."""
    return struct.pack("!BBH", IPV6_TYPE, 2, units)


def tcp_hint(units: int) -> bytes:
    """The hint as a TCP option."""
    return struct.pack("!BBHH", TCP_KIND, 6, TCP_EXID, units)


@dataclass(frozen=True)
class Frame:
    """One packet of one flow; the fields that are not None override the truth."""

    port: int
    version: int = 4
    proto: int = UDP
    ecn: int = NOT_ECT
    dscp: int = 0
    ip_options: bytes = b""
    """IPv4 options, padded to 4 bytes here."""
    extensions: tuple[tuple[int, bytes], ...] = ()
    """IPv6 extension headers: type, and all bytes behind the next-header byte."""
    tcp_options: bytes = b""
    seq: int = 1
    payload: bytes = b"payload"
    tags: tuple[tuple[int, int], ...] = ()
    """VLAN tags in the frame: TPID and identifier."""
    pppoe: bool = False
    fragment: int = 0
    """Flags and offset of an IPv4 fragment."""
    ihl: int | None = None
    doff: int | None = None
    total_length: int | None = None
    cut: int | None = None
    """Bytes that are left of the frame."""
    ends: tuple[bytes, bytes] | None = None
    """Source and destination address, if not those of all."""

    def bytes(self) -> bytes:
        """The frame as it is on the wire."""
        packet = self._ipv4() if self.version == 4 else self._ipv6()
        network = V4 if self.version == 4 else V6
        if self.pppoe:
            ppp = 0x0021 if self.version == 4 else 0x0057
            packet = struct.pack("!BBHHH", 0x11, 0, 7, len(packet) + 2, ppp) + packet
            network = PPPOE
        kinds = [tpid for tpid, _ in self.tags] + [network]
        head = ETH + struct.pack("!H", kinds[0])
        for (_, vid), kind in zip(self.tags, kinds[1:], strict=True):
            head += struct.pack("!HH", vid, kind)
        return (head + packet)[: self.cut]

    def line(self) -> str:
        """The frame as the program frames reads it."""
        return self.bytes().hex()

    def with_(self, **changes: object) -> Frame:
        """The same with other fields."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def in_ipip(self, version: int) -> Frame:
        """Its packet, of IPv4, in one of this version (RFC 2003, RFC 2473)."""
        return Frame(0, version=version, proto=IPIP, payload=self.bytes()[len(ETH) + 2 :])

    def in_gre(self) -> Frame:
        """Its packet, of IPv4, behind a header of GRE (RFC 2784)."""
        payload = struct.pack("!HH", 0, V4) + self.bytes()[len(ETH) + 2 :]
        return Frame(0, proto=GRE, payload=payload)

    def in_gretap(self) -> Frame:
        """Its frame behind a header of GRE."""
        return Frame(0, proto=GRE, payload=struct.pack("!HH", 0, TEB) + self.bytes())

    def _traffic_class(self) -> int:
        return self.dscp << 2 | self.ecn

    def _transport(self, pseudo: bytes) -> bytes:
        if self.fragment & 0x1FFF or self.proto in {IPIP, GRE}:
            return self.payload
        if self.proto == TCP:
            options = self.tcp_options + bytes(-len(self.tcp_options) % 4)
            doff = self.doff if self.doff is not None else 5 + len(options) // 4
            head = struct.pack("!HHIIBBHHH", self.port, 9, self.seq, 1, doff << 4, 0x10, 512, 0, 0)
            segment, at = head + options + self.payload, 16
        else:
            length = 8 + len(self.payload)
            segment = struct.pack("!HHHH", self.port, 9, length, 0) + self.payload
            at = 6
        pseudo += struct.pack("!IHBB", len(segment), 0, 0, self.proto)
        value = checksum(pseudo + segment)
        return segment[:at] + struct.pack("!H", value) + segment[at + 2 :]

    def _ipv4(self) -> bytes:
        source, target = self.ends or (bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
        options = self.ip_options + bytes(-len(self.ip_options) % 4)
        body = self._transport(source + target)
        ihl = self.ihl if self.ihl is not None else 5 + len(options) // 4
        length = 20 + len(options) + len(body)
        if self.total_length is not None:
            length = self.total_length
        head = struct.pack(
            "!BBHHHBBH",
            0x40 | ihl,
            self._traffic_class(),
            length,
            0x4444,
            self.fragment,
            64,
            self.proto,
            0,
        )
        head += source + target + options
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body

    def _ipv6(self) -> bytes:
        usual = (bytes.fromhex("fd" + "00" * 14 + end) for end in ("01", "02"))
        source, target = self.ends or usual
        body = self._transport(source + target)
        kinds = [kind for kind, _ in self.extensions] + [self.proto]
        for (_, rest), after in zip(reversed(self.extensions), reversed(kinds[1:]), strict=True):
            body = bytes([after]) + rest + body
        length = len(body) if self.total_length is None else self.total_length
        head = struct.pack("!IHBB", 0x60000000 | self._traffic_class() << 20, length, kinds[0], 64)
        return head + source + target + body


def extension(options: bytes) -> bytes:
    """An options header without its next-header byte, padded to 8 bytes."""
    pad = -(2 + len(options)) % 8
    options += b"" if pad == 0 else bytes(1) if pad == 1 else bytes([1, pad - 2]) + bytes(pad - 2)
    return bytes([(2 + len(options)) // 8 - 1]) + options


def ecn_of(frame: bytes) -> int:
    """The ECN bits of an untagged frame."""
    if frame[12:14] == struct.pack("!H", V4):
        return frame[15] & 3
    return (frame[15] >> 4) & 3


def checksums_hold(frame: bytes) -> bool:
    """Whether the IPv4 header and the TCP segment of an untagged frame add up."""
    packet = frame[14:]
    if packet[0] >> 4 == 4:
        header = (packet[0] & 15) * 4
        if checksum(packet[:header]) != 0:
            return False
        proto, addresses, segment = packet[9], packet[12:20], packet[header:]
    else:
        proto, at, addresses = packet[6], 40, packet[8:40]
        while proto in (HOP_BY_HOP, DESTINATION, ROUTING):
            proto, at = packet[at], at + 8 * (packet[at + 1] + 1)
        segment = packet[at:]
    return checksum(addresses + struct.pack("!IHBB", len(segment), 0, 0, proto) + segment) == 0
