# SPDX-License-Identifier: GPL-2.0
"""Records what passes a device, whole and with nothing lost, and writes it down for tshark."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from packets import Packet, parse

from lab.host.netns import Namespace
from lab.toolchain.build import REPO

OUT = REPO / "out" / "agent-tests"
ETH_P_ALL = 3
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
BUFFER_BYTES = 256 * 1024 * 1024
FRAME_MAX = 1 << 18
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, FRAME_MAX, 1)
"""Times in ns, Ethernet."""


@dataclass(frozen=True)
class Frame:
    """As a packet socket hands it out: without a tag that a device keeps beside it."""

    at_ns: int
    outgoing: bool
    data: bytes


class Capture:
    """What a device sends and receives from now on. It all waits in the socket until asked for."""

    def __init__(self, space: Namespace, device: str) -> None:
        with space.entered():
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self._socket.bind((device, ETH_P_ALL))
        self.frames: list[Frame] = []

    def _read(self) -> None:
        while True:
            try:
                data, control, _, address = self._socket.recvmsg(FRAME_MAX, 64, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            times = [value for _, kind, value in control if kind == SO_TIMESTAMPNS]
            seconds, ns = struct.unpack("qq", times[0])
            outgoing = address[2] == socket.PACKET_OUTGOING
            self.frames.append(Frame(seconds * 10**9 + ns, outgoing, data))
        counts = self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        _, dropped = struct.unpack("II", counts)
        assert not dropped, f"{dropped} frames did not fit into the buffer"

    def packets(self) -> list[Packet]:
        """All IP packets so far."""
        self._read()
        read = (parse(frame.data, frame.outgoing, frame.at_ns) for frame in self.frames)
        return [packet for packet in read if packet]

    def arrived(self) -> list[Packet]:
        """Packets so far that came to the device, but for what IPv6 hosts may say at any time."""
        return [p for p in self.packets() if not p.outgoing and not p.of_neighbours]

    def save(self, name: str) -> None:
        """Writes all frames so far to a pcap file in OUT."""
        self._read()
        OUT.mkdir(parents=True, exist_ok=True)
        with (OUT / name).open("wb") as stream:
            stream.write(PCAP_HEADER)
            for frame in self.frames:
                seconds, ns = divmod(frame.at_ns, 10**9)
                size = len(frame.data)
                stream.write(struct.pack("<IIII", seconds, ns, size, size) + frame.data)

    def close(self) -> None:
        """Stops recording."""
        self._socket.close()


def merged(names: Iterable[str]) -> tuple[bytes, list[int]]:
    """One pcap file of many in OUT, and how many frames it has of each."""
    whole, counts = PCAP_HEADER, []
    for name in names:
        records = (OUT / name).read_bytes()[len(PCAP_HEADER) :]
        at, count = 0, 0
        while at < len(records):
            (size,) = struct.unpack_from("<I", records, at + 8)
            at, count = at + 16 + size, count + 1
        whole += records
        counts.append(count)
    return whole, counts
