# SPDX-License-Identifier: GPL-2.0
"""sends.py HOST PORT COUNT BYTES GAP_S: sends UDP packets of so many bytes at even gaps."""

import socket
import sys
import time

host, port, count, size, gap_s = sys.argv[1:]
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
began = time.monotonic()
for number in range(int(count)):
    time.sleep(max(0.0, began + number * float(gap_s) - time.monotonic()))
    sender.sendto(bytes(int(size)), (host, int(port)))
print(f"sent {count}")
