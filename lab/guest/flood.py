# SPDX-License-Identifier: GPL-2.0
"""flood.py DEVICE MAC COUNT INTERVAL_NS: SYNs of 64 bytes, each of another sender.

They go to a closed port of the receivers' host, which knows no way back to the senders.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

PORT, RECEIVER = 9, bytes([10, 255, 0, 2])
SENDERS = 172 << 24 | 16 << 16
"""172.16.0.0/12: room for a million."""
FRAME_BYTES = 64


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of whole words."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(to: bytes, number: int) -> bytes:
    """A SYN of the sender of that number, without a TCP checksum."""
    length = FRAME_BYTES - 14
    sender = struct.pack("!I", SENDERS + number)
    head = struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, 64, socket.IPPROTO_TCP, 0)
    check = checksum(head + sender + RECEIVER)
    network = head[:10] + struct.pack("!H", check) + sender + RECEIVER
    syn = struct.pack("!HHIIBBHHH", 1024 + number % 60000, PORT, number, 0, 5 << 4, 2, 65535, 0, 0)
    return (to + bytes(6) + b"\x08\x00" + network + syn).ljust(FRAME_BYTES, b"\0")


def main() -> None:
    """Sends them, each when it is due."""
    device, mac, count, interval_ns = sys.argv[1:]
    to = bytes.fromhex(mac.replace(":", ""))
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    packets.bind((device, 0))
    begin_ns = time.monotonic_ns()
    for number in range(int(count)):
        early_ns = begin_ns + number * int(interval_ns) - time.monotonic_ns()
        if early_ns > 0:
            time.sleep(early_ns / 1e9)
        packets.send(frame(to, number))


main()
