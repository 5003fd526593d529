# SPDX-License-Identifier: GPL-2.0
"""wire.py SECONDS: prints, of the packets that come to the router from the hosts within that time,
how many there were by protocol, destination port, kind (syn, data or ack) and ECN field.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections import Counter

ETH_P_IP = 0x0800
PACKET_HOST = 0
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 1 << 24
ETHERNET_BYTES = 14
SYN = 2


def kind_of(data: bytes, header: int) -> str:
    """Of a TCP segment in its frame."""
    (length,) = struct.unpack_from("!2xH", data, ETHERNET_BYTES)
    tcp = ETHERNET_BYTES + header
    if data[tcp + 13] & SYN:
        return "syn"
    return "data" if length > header + (data[tcp + 12] >> 4) * 4 else "ack"


def main() -> None:
    """Counts them by what they are."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    packets.settimeout(0.5)
    until, seen = time.monotonic() + float(sys.argv[1]), Counter[str]()
    while time.monotonic() < until:
        try:
            data, (device, _, direction, *_) = packets.recvfrom(2048)
        except TimeoutError:
            continue
        if direction != PACKET_HOST or not device.startswith("r"):
            continue
        header = (data[ETHERNET_BYTES] & 15) * 4
        ecn, protocol = data[ETHERNET_BYTES + 1] & 3, data[ETHERNET_BYTES + 9]
        (port,) = struct.unpack_from("!2xH", data, ETHERNET_BYTES + header)
        udp = protocol == socket.IPPROTO_UDP
        seen[f"{'udp' if udp else 'tcp'} {port} {'data' if udp else kind_of(data, header)} {ecn}"] += 1
    for what, count in sorted(seen.items()):
        print("wire", what, count)


main()
