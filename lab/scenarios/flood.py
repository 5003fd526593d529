# SPDX-License-Identifier: GPL-2.0
"""flood.py HOST KIND BYTES MBIT: packets to HOST, each of another sender, until it is ended.

The senders are of 172.16.0.0/12, which the meter counts as one, and their ports are random. KIND is
udp or syn. BYTES are those of the IP packet, MBIT the rate of these in Mbit/s. Checksums of UDP and
TCP are wrong, but for one in 65536: HOST drops what it gets, and answers nothing.
"""

from __future__ import annotations

import random
import socket
import struct
import sys
import time
from collections.abc import Callable

SENDERS = 172 << 24 | 16 << 16
SENDERS_BITS = 20
PORT = 9
IP_BYTES = 20
TTL = 64
WRONG_CHECKSUM = 1
SYN = 2


def udp(port: int, length: int) -> bytes:
    """A header for a datagram of that length."""
    return struct.pack("!HHHH", port, PORT, length, WRONG_CHECKSUM)


def syn(port: int, _length: int) -> bytes:
    """The header that opens a connection."""
    return struct.pack("!HHIIBBHHH", port, PORT, port, 0, 5 << 4, SYN, 65535, WRONG_CHECKSUM, 0)


KINDS: dict[str, tuple[int, Callable[[int, int], bytes]]] = {
    "udp": (socket.IPPROTO_UDP, udp),
    "syn": (socket.IPPROTO_TCP, syn),
}


def packets(to: bytes, kind: str, length: int) -> Callable[[], bytes]:
    """Makes one packet after the other; the kernel adds what it knows of the IP header."""
    protocol, transport = KINDS[kind]
    draw = random.Random(1).getrandbits
    head = struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, TTL, protocol, 0)

    def packet() -> bytes:
        sender = struct.pack("!I", SENDERS + draw(SENDERS_BITS))
        body = transport(1024 + draw(15), length - IP_BYTES)
        return (head + sender + to + body).ljust(length, b"\0")

    return packet


def main() -> None:
    """Sends them, each when it is due."""
    host, kind, length, mbit = sys.argv[1:]
    address = socket.gethostbyname(host)
    packet = packets(socket.inet_aton(address), kind, int(length))
    interval_s = int(length) * 8 / float(mbit) / 1e6
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    due_s = time.monotonic()
    while True:
        early_s = due_s - time.monotonic()
        if early_s > 0:
            time.sleep(early_s)
        raw.sendto(packet(), (address, 0))
        due_s += interval_s


if __name__ == "__main__":
    main()
