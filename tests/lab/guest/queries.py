# SPDX-License-Identifier: GPL-2.0
"""queries.py COMMAND...: prints, of each packet that comes to lo meanwhile, when it came (ns), its
source port and its length on IP (bytes).
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys

ETH_P_IP = 0x0800
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
BUFFER_BYTES = 1 << 24
ETHERNET_BYTES, IP_BYTES = 14, 20


def main() -> None:
    """All wait in the socket until the command is done."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packets.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    packets.bind(("lo", ETH_P_IP))
    subprocess.run(sys.argv[1:], check=True)
    while True:
        try:
            data, control, _, _ = packets.recvmsg(2048, 64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        seconds, ns = struct.unpack("qq", control[0][2])
        (length,) = struct.unpack_from("!2xH", data, ETHERNET_BYTES)
        (port,) = struct.unpack_from("!H", data, ETHERNET_BYTES + IP_BYTES)
        print("query", seconds * 10**9 + ns, port, length)


main()
