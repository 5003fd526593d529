#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A video call over UDP, one way, that adapts its rate to loss and delay.

    adapts.py receive PORT          # prints each second the mean delay in ms, and the loss
    adapts.py send HOST PORT        # prints each second the rate in kbit/s

The receiver reports ten times a second. The sender changes its rate by the rules of Google
Congestion Control (Holmer et al., draft-ietf-rmcat-gcc-02) in a simple form: the lower of a
rate by delay, which falls to 0.85 of what came if the delay grows past a threshold, and one by
loss, which falls if more than 10 % is lost. Hosts of the laboratory have one clock, so the
delay is one way.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from dataclasses import dataclass

LEAST_BPS, MOST_BPS = 1_000_000, 3_000_000
PACKET_BYTES = 1200
HEADER_BYTES = 28
"""Of IPv4 and UDP."""
DATA = struct.Struct("!Qd")
"""Number of the packet, time it was sent at."""
REPORT = struct.Struct("!ddd")
"""Of the last interval: bit/s that came, share lost, mean delay over the least so far in s."""
REPORT_S = 0.1
HIGH_LOSS, LOW_LOSS = 0.10, 0.02
OVERUSE_S, OVERUSE_GROWTH_S = 0.0125, 0.002
"""The delay that is too much if it grows, and by how much from a report to the next."""
MAX_DELAY_S = 0.1
"""Too much even if it does not grow."""
DECREASE, GROWTH_PER_S = 0.85, 1.08


@dataclass
class Rate:
    """What the sender sends at."""

    by_delay_bps: float = LEAST_BPS
    by_loss_bps: float = LEAST_BPS
    delay_s: float = 0.0

    @property
    def bps(self) -> float:
        """Within the limits of the codec."""
        return min(max(min(self.by_delay_bps, self.by_loss_bps), LEAST_BPS), MOST_BPS)

    def report(self, came_bps: float, lost: float, delay_s: float) -> None:
        """Sections 5.5 and 6 of the draft."""
        growth_s, self.delay_s = delay_s - self.delay_s, delay_s
        growing = delay_s > OVERUSE_S and growth_s > OVERUSE_GROWTH_S
        if growing or delay_s > MAX_DELAY_S:
            self.by_delay_bps = max(DECREASE * came_bps, LEAST_BPS)
        else:
            self.by_delay_bps = min(self.by_delay_bps * GROWTH_PER_S**REPORT_S, MOST_BPS)
        if lost > HIGH_LOSS:
            self.by_loss_bps = max(self.by_loss_bps * (1 - 0.5 * lost), LEAST_BPS)
        elif lost < LOW_LOSS:
            self.by_loss_bps = min(self.by_loss_bps * 1.05**REPORT_S, MOST_BPS)


def send(host: str, port: int) -> None:
    """Packets at the rate, evenly spaced."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect((host, port))
        rate, number, sent = Rate(), 0, 0
        start = due = said = time.monotonic()
        padding = bytes(PACKET_BYTES - DATA.size)
        while True:
            link.settimeout(max(due - time.monotonic(), 1e-6))
            try:
                rate.report(*REPORT.unpack(link.recv(REPORT.size)))
                continue
            except TimeoutError:
                pass
            now = time.monotonic()
            link.send(DATA.pack(number, now) + padding)
            number, sent = number + 1, sent + PACKET_BYTES
            due = max(due, now - 0.1) + (PACKET_BYTES + HEADER_BYTES) * 8 / rate.bps
            if now - said >= 1:
                print(f"{sent * 8 / (now - said) / 1000:.0f} {now - start:.0f}", flush=True)
                said, sent = now, 0


def receive(port: int) -> None:
    """Counts, and reports to the sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind(("", port))
        least_s, expected, total, total_lost = 1e9, 0, 0, 0
        delays: list[float] = []
        second: list[float] = []
        begin = said = time.monotonic()
        while True:
            data, sender = link.recvfrom(2048)
            now = time.monotonic()
            number, sent_at = DATA.unpack_from(data)
            least_s = min(least_s, now - sent_at)
            delays.append(now - sent_at)
            second.append(now - sent_at)
            if now - begin >= REPORT_S:
                lost = max(number + 1 - expected - len(delays), 0)
                came_bps = len(delays) * (PACKET_BYTES + HEADER_BYTES) * 8 / (now - begin)
                mean_s = sum(delays) / len(delays) - least_s
                share = lost / (lost + len(delays))
                link.sendto(REPORT.pack(came_bps, share, mean_s), sender)
                total, total_lost = total + lost + len(delays), total_lost + lost
                expected, begin, delays = number + 1, now, []
            if now - said >= 1:
                mean_ms = sum(second) / len(second) * 1000
                print(f"{mean_ms:.1f} {total_lost} of {total}", flush=True)
                said, second = now, []


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["send", host, port]:
            send(host, int(port))
        case ["receive", port]:
            receive(int(port))
        case _:
            sys.exit(__doc__)
