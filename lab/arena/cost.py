# SPDX-License-Identifier: GPL-2.0
"""Estimates the processor time of one second of a scenario on user-mode Linux.

Measured on one core of 3 GHz; a guess for other machines, which is enough to
choose how long a scenario lasts.
"""

from __future__ import annotations

from lab.model.scenario import MAX_GSO_SEGS, Scenario
from lab.model.wire import FRAME_BYTES

PACKET_S, SEGMENT_S = 6e-6, 2.5e-6
"""Of a TCP packet through a router, its ACK included, and of each segment that it is made of."""
UDP_PACKET_S = 45e-6
"""One timer, two system calls."""
SHORT_FLOW_S = 0.9e-3
"""Sockets, handshake, a few packets."""
PACING_INTERVAL_S = 1 / 1024
"""What TCP puts into a super-packet: that much time at its pacing rate (sk_pacing_shift 10),"""
PACING_RATIO = 1.2
"""which is so much more than its rate,"""
MIN_SEGMENTS = 2
"""and at least that many segments (tcp_min_tso_segs)."""


def segments(scenario: Scenario) -> float:
    """Segments per super-packet of a flow that gets its share of the link."""
    if not scenario.gso:
        return 1.0
    bytes_per_s = scenario.rate_bps / 8 / scenario.n_flows
    wanted = bytes_per_s * PACING_RATIO * PACING_INTERVAL_S / FRAME_BYTES
    return min(scenario.gso_segs or MAX_GSO_SEGS, max(MIN_SEGMENTS, wanted))


def per_second(scenario: Scenario) -> float:
    """Seconds of processor time per second of the scenario; thin traffic adds next to nothing."""
    frames_per_s = scenario.rate_bps / 8 / FRAME_BYTES
    of_segments = segments(scenario)
    queues = scenario.hops + (1 if scenario.reverse else 0)
    tcp = queues * frames_per_s * (PACKET_S / of_segments + SEGMENT_S)
    udp = sum(stream.rate_bps for stream in scenario.udp) / 8 / FRAME_BYTES * UDP_PACKET_S
    short = scenario.churn.flows_per_s(scenario.rate_bps) * SHORT_FLOW_S if scenario.churn else 0.0
    return tcp + udp + short
