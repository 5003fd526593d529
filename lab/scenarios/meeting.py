#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A video call as browsers send it: voice and pictures in one flow of UDP.

    meeting.py send HOST PORT       # 160 bytes of voice each 20 ms, 30 pictures per second
    meeting.py receive PORT         # prints in ms, for each picture, when its last packet came

The packets of a picture leave at once. The delay is from there, on the one clock that hosts of
the laboratory have. A picture that misses a packet is not printed.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

VOICE_S, VOICE_BYTES = 0.02, 160
PICTURE_S, PICTURE_PACKETS, PACKET_BYTES = 1 / 30, 5, 1200
"""1.44 Mbit/s."""
DATA = struct.Struct("!QBd")
"""Number of the picture, packets of it behind this one, time it was sent at."""
VOICE = 255
"""In place of the number of packets."""


def send(host: str, port: int) -> None:
    """Voice and pictures, each on its own beat."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect((host, port))
        voice = picture = time.monotonic()
        number = 0
        while True:
            time.sleep(max(min(voice, picture) - time.monotonic(), 0))
            now = time.monotonic()
            if voice <= now:
                link.send(DATA.pack(0, VOICE, now).ljust(VOICE_BYTES, b"\0"))
                voice += VOICE_S
            if picture <= now:
                for behind in reversed(range(PICTURE_PACKETS)):
                    link.send(DATA.pack(number, behind, now).ljust(PACKET_BYTES, b"\0"))
                picture += PICTURE_S
                number += 1


def receive(port: int) -> None:
    """Counts the packets of the latest picture."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind(("", port))
        latest, came = -1, 0
        while True:
            number, behind, sent_s = DATA.unpack_from(link.recv(2048))
            if behind == VOICE:
                continue
            came = came + 1 if number == latest else 1
            latest = number
            if came == PICTURE_PACKETS:
                print(f"{(time.monotonic() - sent_s) * 1000:.1f}", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["send", host, port]:
            send(host, int(port))
        case ["receive", port]:
            receive(int(port))
        case _:
            sys.exit(__doc__)
