# SPDX-License-Identifier: GPL-2.0
"""counts.py PORT: counts UDP packets until it is ended, then writes the number to a file."""

import signal
import socket
import sys
from pathlib import Path

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", int(sys.argv[1])))
received = 0


def end(*_: object) -> None:
    Path("received").write_text(str(received))
    sys.exit()


signal.signal(signal.SIGTERM, end)
while receiver.recv(65536):
    received += 1
